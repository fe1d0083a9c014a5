import type { Source } from './requirement.js';

export const monitor: Source = {
  prefix: 'S0',
  title: 'A monitor that compacts before it restarts',
  about:
    'An audit of the context monitor of crewly, which runs Claude Code, Gemini CLI and Codex for teams of agents.',
  count: 28,
  items: [
    {
      id: 'S0.01',
      asks: 'Compact a full session first and restart it only in the last resort, in Claude, Gemini and Codex.',
      verdict: 'adapted',
      why: 'The agent is its user’s: ctxwrap compacts it, and never kills it to recover. When it ends at hard, one line names the command that continues.',
      shownBy: [
        [
          'e2e/compact.test.ts',
          'is compacted after a countdown, without the user, and the footer says from how much to how much',
        ],
        ['core/handoff-offer.test.ts', 'that ended at hard one line says how to continue'],
      ],
    },
    {
      id: 'S0.02',
      asks: 'Separate parts for monitoring, thresholds, exits, restarts, each runtime, the PTY and the settings.',
      verdict: 'adapted',
      why: 'The parts are there, but one process wraps one agent: in place of services for many sessions there are floors of pure and impure modules.',
      shownBy: [
        ['architecture.test.ts', 'are all there is, and none is empty'],
        ['architecture.test.ts', 'import only the floors below them'],
      ],
    },
    {
      id: 'S0.03',
      asks: 'Data flows from the PTY’s output over a percentage to a state and then to the thresholds.',
      verdict: 'adapted',
      why: 'The percentage is read from the drawn rows and from session files, not from the raw bytes, in which text of a conversation could pass for it.',
      shownBy: [
        ['core/session.test.ts', 'shows a reading with its percentage and tier'],
        ['agents/codex-screen.test.ts', 'is the same at each width the recorded screen had'],
      ],
    },
    {
      id: 'S0.04',
      asks: 'At 70 % warn, at 85 % compact, at 95 % compact and then recover.',
      verdict: 'adapted',
      why: 'These percentages hold with `ladder: "percent"` and where the window is not known; above them nothing is killed.',
      shownBy: [
        ['core/ladder.test.ts', 'is 70/85/95 percent for a window of %s'],
        ['core/ladder.test.ts', 'percent is 70/85/95 of the window, handoff 70/85 without auto'],
      ],
    },
    {
      id: 'S0.05',
      asks: 'Every 30 seconds, compact a session that has put out 512 KB since the last time.',
      verdict: 'different',
      why: 'A terminal program puts out most of its bytes to draw the same thing again. ctxwrap counts new text, and lets it compact only a session that is at warn by its own number.',
      shownBy: [
        [
          'core/compaction/unasked.test.ts',
          'counts from warn on, where both reach auto: $text tokens behind $used',
        ],
        [
          'core/compaction/unasked.test.ts',
          'the next one by text waits for ten minutes, and the footer says so',
        ],
      ],
    },
    {
      id: 'S0.06',
      asks: 'Know each agent’s compact command, and whether Escape has to come before it.',
      verdict: 'adapted',
      why: 'Each agent has its command and its way of typing it; the Escape key does not come before it, because it interrupts a turn and throws drafts away.',
      shownBy: [
        [
          'agents/prompt.test.ts',
          'of no agent presses Escape, Ctrl-C or Ctrl-U: they interrupt, quit and throw drafts away',
        ],
        ['replay/recordings.test.ts', 'in %s holds the command as it was typed'],
      ],
    },
    {
      id: 'S0.07',
      asks: 'Restart no agent by itself unless that was switched on.',
      verdict: 'works',
      shownBy: [['cli/restart.test.ts', 'nothing follows, unless it has ended for that']],
    },
    {
      id: 'S0.08',
      asks: 'Compact on growth before the agent itself reports a full window.',
      verdict: 'adapted',
      why: 'New text behind the last number counts from warn on, and the countdown says that it is an estimate.',
      shownBy: [
        [
          'core/compaction/unasked.test.ts',
          'is what the countdown names, and the record of the attempt; what is measured later is the number alone',
        ],
      ],
    },
    {
      id: 'S0.09',
      asks: 'Treat Escape as each runtime needs it.',
      verdict: 'adapted',
      why: 'What is typed is data of each agent, and Escape is in none of it; what must be taken back is taken back with Backspace.',
      shownBy: [
        [
          'agents/prompt.test.ts',
          'of no agent presses Escape, Ctrl-C or Ctrl-U: they interrupt, quit and throw drafts away',
        ],
        ['typing/typist.test.ts', 'is retracted with Backspaces for exactly the typed text'],
      ],
    },
    {
      id: 'S0.10',
      asks: 'At most three attempts, a minute apart, tried again from time to time.',
      verdict: 'works',
      shownBy: [
        ['core/compaction/bounds.test.ts', 'the next one comes after 60 s and a countdown'],
        ['core/compaction/any-story.test.ts', 'the bounds of an episode hold, and the pauses'],
      ],
    },
    {
      id: 'S0.11',
      asks: 'Let the user switch compacting on growth off.',
      verdict: 'works',
      shownBy: [
        ['e2e/panel.test.ts', 'switches proactive off and on'],
        ['core/compaction/unasked.test.ts', 'counts only as long as the user wants it'],
      ],
    },
    {
      id: 'S0.12',
      asks: 'Test life cycle, parsing, thresholds, compacting, recovery, pauses, old numbers and growth.',
      verdict: 'works',
      shownBy: [
        [
          'core/compaction/any-story.test.ts',
          'reach every outcome and every phase, so that the rules above are not about nothing',
        ],
        ['core/any-events.test.ts', 'what counts is explained'],
      ],
    },
    {
      id: 'S0.13',
      asks: 'Find the number in Gemini, which the monitor could not see.',
      verdict: 'adapted',
      why: 'Gemini never showed the token counts that the audit names. Its real footers of all versions are read, and its session file where the footer shows nothing.',
      shownBy: [
        ['agents/gemini-screen.test.ts', 'is read below its header in %i columns'],
        ['agents/gemini-screen.test.ts', 'is what the footer of an old version leaves: %s'],
      ],
    },
    {
      id: 'S0.14',
      asks: 'Read Gemini by patterns for its text, or by a way of its own.',
      verdict: 'works',
      shownBy: [
        ['agents/shown-context.test.ts', 'the amount in %j is %o'],
        ['agents/gemini.test.ts', 'counts the prompt of the last answer in the window of its model'],
      ],
    },
    {
      id: 'S0.15',
      asks: 'Verify after two minutes at most whether a compaction has worked.',
      verdict: 'works',
      shownBy: [
        ['core/compaction/outcomes.test.ts', 'by a number that is a tenth lower: $used'],
        ['core/compaction/outcomes.test.ts', 'in a timeout after %i ms in which no end was seen'],
      ],
    },
    {
      id: 'S0.16',
      asks: 'Tell the agent before it is compacted.',
      verdict: 'adapted',
      why: 'A message to the agent would be a turn that costs money. The user is told by a countdown, and the agent by the focus behind its command, only while it is at rest.',
      shownBy: [
        ['core/compaction/gate.test.ts', 'the command is typed after 1.5 s of rest and a countdown of 10 s'],
        ['typing/typist.test.ts', 'takes the focus where the agent takes one, and not elsewhere'],
      ],
    },
    {
      id: 'S0.17',
      asks: 'Make sure that Codex’ compact command exists.',
      verdict: 'works',
      shownBy: [
        ['agents/codex-compact-result.test.ts', 'is told once each time in the recording $cast'],
        ['e2e/verify.test.ts', 'passes an agent that behaves as expected, and keeps the result for doctor'],
      ],
    },
    {
      id: 'S0.18',
      asks: 'Leave no timer behind that could act on a session after its end or on the next one of its name.',
      verdict: 'works',
      shownBy: [
        [
          'core/compaction/any-story.test.ts',
          'nothing follows after the end of the agent, and nothing is waited for',
        ],
        ['storage/alarm.test.ts', 'can be cleared, and never fires after it was stopped'],
      ],
    },
    {
      id: 'S0.19',
      asks: 'Read amounts such as 500K or 1.5M, and reckon the percentage from them.',
      verdict: 'adapted',
      why: 'Amounts are read with the side that they name, used or left. To compact as soon as such a text is seen would compact at the start.',
      shownBy: [
        ['agents/shown-context.test.ts', 'the amount in %j is %o'],
        ['agents/shown-context.test.ts', 'says which side a number without a word is of'],
      ],
    },
    {
      id: 'S0.20',
      asks: 'After a compaction compare the number with the threshold, and keep in the state whether it worked.',
      verdict: 'works',
      shownBy: [
        [
          'core/compaction/outcomes.test.ts',
          'by a lower number at the next turn, where the agent has only said so',
        ],
        ['core/compaction/policy-news.test.ts', 'is told to other programs, from the first one on'],
      ],
    },
    {
      id: 'S0.21',
      asks: 'Keep the handle of the waiting timer, and clear it when the session stops.',
      verdict: 'works',
      shownBy: [
        ['storage/alarm.test.ts', 'can be cleared, and never fires after it was stopped'],
        [
          'worker/requests-watch.test.ts',
          'does not keep the process running, and leaves no timer and no handle behind',
        ],
      ],
    },
    {
      id: 'S0.22',
      asks: 'A table of what worked before the plan.',
      verdict: 'record of history',
      why: 'It describes another program. What works in which agent here is in docs/agents.md.',
      shownBy: [['cli/doctor.test.ts', 'are those of %s in docs/agents.md']],
    },
    {
      id: 'S0.23',
      asks: 'Detection, growth, threshold, verification and clean timers in all three agents.',
      verdict: 'works',
      shownBy: [
        ['agents/real-logs.test.ts', 'of $runtime ($file) gives the numbers the agent had'],
        ['replay/recordings.test.ts', 'a command is typed only where its truth says ready: %s'],
      ],
    },
    {
      id: 'S0.24',
      asks: 'The change can be taken back in one step, and nothing has to be migrated.',
      verdict: 'adapted',
      why: 'There is nothing to take back in the agent: `--mode off` passes every byte, and nothing of ctxwrap is in its files.',
      shownBy: [['e2e/footer.test.ts', 'passes every byte as it is, both ways, with %j']],
    },
    {
      id: 'S0.25',
      asks: 'Test amounts of Gemini, verification and clean timers; all other tests and the build stay green.',
      verdict: 'works',
      shownBy: [
        ['agents/shown-context.test.ts', '%j says %d %s, %s'],
        ['package.test.ts', 'is one that publint finds nothing wrong with'],
      ],
    },
    {
      id: 'S0.26',
      asks: 'Notice when the agent has ended, and restart it with its task.',
      verdict: 'adapted',
      why: 'ctxwrap is the agent’s parent and knows its end exactly. It has no tasks to give again, and ends as the agent did.',
      shownBy: [
        ['cli/session.test.ts', 'ended by %s: the same signal ends us'],
        ['core/handoff-offer.test.ts', 'that ended at hard one line says how to continue'],
      ],
    },
    {
      id: 'S0.27',
      asks: 'Restart the orchestrator, with a pause between restarts.',
      verdict: 'not for a wrapper',
      why: 'There is no orchestrator. The one restart that ctxwrap makes, to continue with a shortened session, is bounded, too.',
      shownBy: [
        [
          'typing/shortener.test.ts',
          'is done at most three times an hour, unless it is how an attempt to compact is carried out',
        ],
      ],
    },
    {
      id: 'S0.28',
      asks: 'For each runtime its start, its detection, its signs of being ready, and the folders it is given.',
      verdict: 'adapted',
      why: 'Each agent is recognised, and known to be ready, by what it draws. Its arguments and folders are the user’s business.',
      shownBy: [
        ['replay/recordings.test.ts', 'is recognised in %s, and is not taken for another one'],
        [
          'replay/recordings.test.ts',
          'in %s is empty whenever the agent is ready, and never where keys could do harm',
        ],
      ],
    },
  ],
};
