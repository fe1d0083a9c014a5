import type { Source } from './requirement.js';

export const contextHandoff: Source = {
  prefix: 'S4',
  title: 'Handing work over before the window is full',
  about:
    'Research in ultraplan for a monitor that has subagents hand their work over at 70 % and return at 85 %.',
  count: 18,
  items: [
    {
      id: 'S4.01',
      asks: 'Estimate usage, prepare a handoff at 70 %, force a return at 85 %, and let others read the state.',
      verdict: 'adapted',
      why: 'Real numbers come first. No agent can be made to return from outside; at 85 % a handoff is written and offered.',
      shownBy: [
        ['core/live-handoff.test.ts', 'at 85 % it is written once, and then offered'],
        ['core/session-record.test.ts', 'names the handoff that was written, for whoever reads it back'],
      ],
    },
    {
      id: 'S4.02',
      asks: 'Use atomic state files, an event log, checkpoints and polling.',
      verdict: 'works',
      shownBy: [
        ['worker/publish.test.ts', 'writes that the session runs, its state, and how it ended'],
        ['storage/event-journal.test.ts', 'is readable by the user only, one object a line, numbered'],
      ],
    },
    {
      id: 'S4.03',
      asks: 'A stack of packages for ids, validation and git, and nothing new.',
      verdict: 'different',
      why: 'Node makes ids, and git is asked as a program; packages are the ones that the product was asked to use and a few more, each in one place.',
      shownBy: [['architecture.test.ts', 'import only their own packages']],
    },
    {
      id: 'S4.04',
      asks: 'Modules for estimate, monitor, thresholds, checkpoint and polling.',
      verdict: 'adapted',
      why: 'The same parts are in other folders, by floors.',
      shownBy: [['architecture.test.ts', 'are all there is, and none is empty']],
    },
    {
      id: 'S4.05',
      asks: 'Four characters are a token; the window is 200,000, or a million where a variable says so.',
      verdict: 'works',
      shownBy: [
        ['cli/library.test.ts', '%d are %d tokens of 200,000: %s'],
        ['core/config/layers.test.ts', '%s=%s'],
      ],
    },
    {
      id: 'S4.06',
      asks: 'Add up each session’s text, with its ratio, its status and when it was last warned of.',
      verdict: 'adapted',
      why: 'The sum is one witness of several: a counted number takes its place.',
      shownBy: [
        [
          'worker/estimate-source.test.ts',
          'is reported at most once a second, and is never wrong by more than 1 % when it could be reported',
        ],
        ['core/session-record.test.ts', 'holds the number, its tier, and the boundaries with their reasons'],
      ],
    },
    {
      id: 'S4.07',
      asks: 'At 70 % say to finish and prepare, at 85 % return.',
      verdict: 'adapted',
      why: 'It is said to the user: the agent gets no message that it did not ask for.',
      shownBy: [
        [
          'core/live-handoff.test.ts',
          'the footer prepares for a handoff from 70 % on, and none is written yet',
        ],
        ['core/live-handoff.test.ts', 'at 85 % it is written once, and then offered'],
      ],
    },
    {
      id: 'S4.08',
      asks: 'Hand over what is done, what remains, decisions, patterns, issues and changed files, in one form.',
      verdict: 'works',
      shownBy: [
        [
          'core/handoff.test.ts',
          'holds what was edited, what git says, the plan, the last commands and the last requests',
        ],
        ['core/handoff.test.ts', 'of a conversation without edits, plan and summary claims none'],
      ],
    },
    {
      id: 'S4.09',
      asks: 'A file for each agent with its usage and heartbeat, which is read every five seconds; one that is missing is none.',
      verdict: 'works',
      shownBy: [
        [
          'worker/publish.test.ts',
          'writes at most once a second because of changes, and every five seconds without any',
        ],
        [
          'storage/session-records.test.ts',
          'that are broken, renamed, links, folders or far too large are skipped',
        ],
      ],
    },
    {
      id: 'S4.10',
      asks: 'Do not hurry at 70 %, do not count by the API, do not watch files in a way that blocks, keep states simple.',
      verdict: 'adapted',
      why: 'Changes are watched where the system reports them, and looked for where not; counted numbers are better than estimates and cost nothing here.',
      shownBy: [
        ['storage/rest.test.ts', 'does not rest where the system does not report changes'],
        ['core/compaction/work.test.ts', 'the compaction waits, and the footer says for what'],
      ],
    },
    {
      id: 'S4.11',
      asks: 'Use what exists for atomic writing, events, checkpoints, ids and polling.',
      verdict: 'works',
      shownBy: [
        [
          'storage/state-folder.test.ts',
          'is readable by the user only, complete, and leaves no temporary file',
        ],
        [
          'storage/event-journal.test.ts',
          'loses and tears nothing for a reader that looks at least once between two changes of the file',
        ],
      ],
    },
    {
      id: 'S4.12',
      asks: 'Avoid estimates taken for counts, hurry, old state files, large checkpoints, and polling too often.',
      verdict: 'works',
      shownBy: [
        ['core/session.test.ts', 'marks an estimate and an assumed window'],
        [
          'cli/handoff.test.ts',
          'says on standard error what to leave out when it is too long, and that is enough',
        ],
      ],
    },
    {
      id: 'S4.13',
      asks: 'One function takes characters and two thresholds, and gives tokens, ratio, status and action.',
      verdict: 'works',
      shownBy: [
        ['cli/library.test.ts', '%d are %d tokens of 200,000: %s'],
        ['cli/library.test.ts', 'have thresholds and a window of the caller’s'],
      ],
    },
    {
      id: 'S4.14',
      asks: 'The whole form of the state: ids, times, characters, tokens, ratio, status, task and checkpoint.',
      verdict: 'adapted',
      why: 'The names are those of ctxwrap’s other records. Characters are published where tokens are estimated from them, and the task where the agent has written a plan.',
      shownBy: [
        ['core/session-record.test.ts', 'has the plan and the estimate only where they are known'],
        ['core/session-record.test.ts', 'holds the number, its tier, and the boundaries with their reasons'],
        ['core/session-record.test.ts', 'is read back as it was written'],
        ['worker/publish.test.ts', 'writes that the session runs, its state, and how it ended'],
        [
          'worker/publish.test.ts',
          'writes at most once a second because of changes, and every five seconds without any',
        ],
        ['core/session-record.test.ts', 'names the handoff that was written, for whoever reads it back'],
      ],
    },
    {
      id: 'S4.15',
      asks: 'Poll for states that are active, old for a minute, gone, or ready to hand over, and call back.',
      verdict: 'adapted',
      why: 'Events come of themselves and once each; a state is old after a minute, and over when its process is gone.',
      shownBy: [
        ['core/session-record.test.ts', 'is $is with a heartbeat at $heartbeatAt of $now, running: $runs'],
        ['core/session-record.test.ts', 'names the handoff that was written, for whoever reads it back'],
        ['cli/library.test.ts', 'has a type for every event that a session writes'],
      ],
    },
    {
      id: 'S4.16',
      asks: 'A builder to put a checkpoint together, which holds each file once.',
      verdict: 'adapted',
      why: 'The library has the builder. ctxwrap’s own come from the records, so that nothing is in them that nobody recorded.',
      shownBy: [
        [
          'core/handoff.test.ts',
          'holds what was edited, what git says, the plan, the last commands and the last requests',
        ],
        ['core/handoff.test.ts', 'says nothing that is not in the evidence'],
        ['cli/library.test.ts', 'lists what was added, each text and file once'],
      ],
    },
    {
      id: 'S4.17',
      asks: 'The state of the art: estimates, polling, and that nobody can have Claude compact from a program.',
      verdict: 'different',
      why: 'A hook cannot, but the owner of the terminal can: that is what ctxwrap does, when it is safe.',
      shownBy: [
        [
          'e2e/compact.test.ts',
          'is compacted after a countdown, without the user, and the footer says from how much to how much',
        ],
        ['cli/compact.test.ts', 'says what it asks for, leaves a request, and says what came of it'],
      ],
    },
    {
      id: 'S4.18',
      asks: 'Open: how often to poll, how to know the window, how large a checkpoint may be.',
      verdict: 'adapted',
      why: 'Changes come as events, so that how often to poll is for the reader to choose. A window that the agent names comes before any variable.',
      shownBy: [
        ['core/windows.test.ts', 'is the one of the most trusted who spoke, whatever the order'],
        ['cli/ps.test.ts', 'ps looks as often as %j says, and every 5 s unless it is told'],
        ['cli/ps.test.ts', 'ps refuses %j'],
        ['core/handoff.test.ts', 'says which parts are the largest and what to leave out'],
        ['core/handoff.test.ts', 'is as short as recommended when what is advised is left out'],
      ],
    },
  ],
};
