import type { Source } from './requirement.js';

export const backends: Source = {
  prefix: 'S1',
  title: 'Windows and strategies for every backend',
  about:
    'Issue 278 of autonomous-dev: window sizes, compaction strategies and checkpoints for models other than Claude.',
  count: 25,
  items: [
    {
      id: 'S1.01',
      asks: 'Window sizes and strategies can be configured, and a checkpoint surrounds each compaction.',
      verdict: 'adapted',
      why: 'The checkpoint is a copy of the agent’s session file, from which the conversation can be brought back.',
      shownBy: [
        [
          'core/strategies/strategies.test.ts',
          'by $strategy $whose, is a session of the same agent with what stays, exactly',
        ],
        [
          'worker/blackbox.test.ts',
          'before a compaction has the whole file, the last number, and the state of the repository',
        ],
      ],
    },
    {
      id: 'S1.02',
      asks: 'Assume no window of 200,000 tokens for all models.',
      verdict: 'works',
      shownBy: [
        ['core/windows.test.ts', 'is the one of the most trusted who spoke, whatever the order'],
        ['core/config/layers.test.ts', 'the backend %s is taken to have a window of %i'],
      ],
    },
    {
      id: 'S1.03',
      asks: 'Do not rely on an agent that compacts by itself, and let the strategy be replaced.',
      verdict: 'works',
      shownBy: [
        ['agents/own-compaction.test.ts', 'says which setting it comes from'],
        [
          'core/compaction/strategy.test.ts',
          'is asked for by the effect that would type the command, and verified by a smaller answer of the agent',
        ],
      ],
    },
    {
      id: 'S1.04',
      asks: 'A fresh installation works with Claude’s defaults and without a configuration.',
      verdict: 'works',
      shownBy: [
        ['cli/library.test.ts', 'are Claude’s where nobody says anything'],
        ['cli/doctor.test.ts', 'finds nothing wrong on a fresh machine, where most things are not there yet'],
      ],
    },
    {
      id: 'S1.05',
      asks: 'Who has no size in their configuration gets that of the backend, without a question or a change of files.',
      verdict: 'works',
      shownBy: [
        ['cli/config/start.test.ts', 'needs no configuration, asks for none, and makes none'],
        ['cli/library.test.ts', 'are Claude’s where nobody says anything'],
      ],
    },
    {
      id: 'S1.06',
      asks: 'With `BACKEND=openai` assume 128,000 tokens, use an own strategy, copy first, and warn that there is less room.',
      verdict: 'adapted',
      why: 'The window is assumed only where the agent does not name its own, and less room is told when a smaller window follows a larger one.',
      shownBy: [
        ['core/config/layers.test.ts', 'the backend %s is taken to have a window of %i'],
        ['core/config/strategy.test.ts', 'says what a backend changes'],
        ['core/compaction/strategy.test.ts', 'of %j with CUSTOM_CONTEXT_COMPACTION is %s'],
        ['core/compaction/copy.test.ts', 'is asked for once the gate is open, before the countdown begins'],
        ['core/capacity.test.ts', 'is said once in the footer and the log, when another model runs'],
      ],
    },
    {
      id: 'S1.07',
      asks: 'A small local window of 8,192 tokens is respected, compacted at 85 %, and resumed.',
      verdict: 'works',
      shownBy: [
        ['core/config/layers.test.ts', 'a window of %i at %s%% begins auto at %i'],
        ['cli/library.test.ts', 'say where a compaction is due: %j'],
      ],
    },
    {
      id: 'S1.08',
      asks: 'What the user has set is respected, never overwritten, and named as theirs.',
      verdict: 'works',
      shownBy: [
        ['core/ladder.test.ts', 'sets single tiers, in percent or tokens'],
        ['cli/config/config.test.ts', 'says where a value comes from, and what it hides'],
      ],
    },
    {
      id: 'S1.09',
      asks: 'Six variables of the environment set window, threshold, backend, own compacting, strategy and checkpoint.',
      verdict: 'adapted',
      why: 'They are read from your environment and a dotenv file that you name, never from the `.env` of a project, which may be somebody else’s.',
      shownBy: [
        ['core/config/layers.test.ts', '%s=%s'],
        [
          'cli/config/config.test.ts',
          'reads another file where one is named, and a dotenv file of the user’s only',
        ],
      ],
    },
    {
      id: 'S1.10',
      asks: 'Functions tell other programs window, threshold, whether a compaction is due, backend, and who compacts.',
      verdict: 'works',
      shownBy: [
        ['cli/library.test.ts', 'have the window of the backend %s'],
        ['cli/library.test.ts', 'say where a compaction is due: %j'],
      ],
    },
    {
      id: 'S1.11',
      asks: 'Four strategies: the agent’s own, an anchored summary, the last messages, groups of what belongs together.',
      verdict: 'adapted',
      why: 'What stays is written as a new session, with which the agent continues: the old one is left as it was. No model is asked but the summariser that the user names.',
      shownBy: [
        [
          'core/strategies/strategies.test.ts',
          'by $strategy $whose, is a session of the same agent with what stays, exactly',
        ],
        [
          'core/strategies/strategies.test.ts',
          'asks for one part after another, each with the summary so far',
        ],
      ],
    },
    {
      id: 'S1.12',
      asks: 'Make a checkpoint, try, remove it afterwards, and restore it when something fails.',
      verdict: 'adapted',
      why: 'A failed compaction leaves the agent’s conversation as it was, so there is nothing to restore by itself; copies stay for an undo, within limits of age and size.',
      shownBy: [
        ['session-files/undo.test.ts', 'takes the newest copy from before the compaction'],
        ['typing/shortener.test.ts', 'that %s says why, and leaves the session as it was'],
        ['cli/checkpoint.test.ts', 'prunes by age, by size, and everything'],
      ],
    },
    {
      id: 'S1.13',
      asks: 'Clear by itself only above the threshold and after the checkpoint was made.',
      verdict: 'adapted',
      why: 'ctxwrap compacts and never clears. The order is the same: first the copy, then the countdown.',
      shownBy: [
        ['core/compaction/copy.test.ts', 'is asked for once the gate is open, before the countdown begins'],
        ['core/compaction/copy.test.ts', 'nothing is typed at auto, and the footer says why'],
      ],
    },
    {
      id: 'S1.14',
      asks: 'A hook at the start of a session notices a compaction and brings the work back.',
      verdict: 'adapted',
      why: 'Hooks are given to Claude for one launch, or installed by yourself from the examples; work comes back as context, not as a turn that nobody asked for.',
      shownBy: [
        ['cli/hooks.test.ts', 'SessionStart tells the model, after a compaction only'],
        ['cli/hooks.test.ts', 'PreCompact keeps how full the window is, and adds nothing to the summary'],
      ],
    },
    {
      id: 'S1.15',
      asks: 'Scenarios: fresh, another backend, small windows, upgrades, wrong sizes, failures in the middle, changes under way.',
      verdict: 'adapted',
      why: 'A wrong size gives way to the default and is told with the command that mends it; a change that comes during a compaction applies behind it.',
      shownBy: [
        ['cli/library.test.ts', 'say where a compaction is due: %j'],
        [
          'worker/live-settings.test.ts',
          'wait for the end of the episode: what is under way ends as it began',
        ],
      ],
    },
    {
      id: 'S1.16',
      asks: 'Installing and updating keep the user’s values; mistakes are told with a fix; changes are on record.',
      verdict: 'works',
      shownBy: [
        ['cli/config/config.test.ts', 'says what is wrong, where, why, and the command that mends it'],
        ['cli/config/init.test.ts', 'keeps what is there, and what was there in a second file'],
        [
          'cli/config/set.test.ts',
          'has a line for each change, with the names of the keys and without their values',
        ],
      ],
    },
    {
      id: 'S1.17',
      asks: 'Check paths, refuse links, keep files to their user, clean names for logs, and keep an audit log.',
      verdict: 'works',
      shownBy: [
        ['storage/state-folder.test.ts', 'never replaces or follows a link'],
        ['storage/audit.test.ts', 'is readable by the user only and gets one line after the other'],
      ],
    },
    {
      id: 'S1.18',
      asks: 'Copy before every compaction, say how large the conversation was before and after, and keep the way of working.',
      verdict: 'adapted',
      why: 'What the user demanded is kept on record through shortenings, and can be given back after the agent’s own compactions.',
      shownBy: [
        [
          'core/compaction/copy.test.ts',
          'is made anew after the agent has worked, compacted, or changed the conversation',
        ],
        [
          'core/strategies/strategies.test.ts',
          'keeps on record what the user demanded, which files were changed and what the plan still holds, again and again',
        ],
      ],
    },
    {
      id: 'S1.19',
      asks: 'A new backend needs no code, and every value that is found out can be overridden.',
      verdict: 'works',
      shownBy: [
        [
          'agents/defined-agent.test.ts',
          'is started by its word, and its file, title, dialog and footer are read live and in a replay',
        ],
        ['e2e/configuration.test.ts', 'is read from its screen, and compacted'],
        ['core/session.test.ts', 'measures against the window the user named, before and after readings'],
      ],
    },
    {
      id: 'S1.20',
      asks: 'Ids that are no paths, JSON only, atomic writing, locks, and an older copy when a file is damaged.',
      verdict: 'works',
      shownBy: [
        [
          'storage/state-folder.test.ts',
          'is readable by the user only, complete, and leaves no temporary file',
        ],
        ['storage/requests.test.ts', 'with an id that could name another file is not written'],
        ['storage/blackbox.test.ts', 'is read from the index before, where the index is damaged'],
      ],
    },
    {
      id: 'S1.21',
      asks: 'Python 3.11, Claude Code 2, macOS and Linux, nothing new to install, a small model if wanted.',
      verdict: 'different',
      why: 'ctxwrap is written for Node 20 and newer; nothing has to be compiled, and no model is asked that the user has not named.',
      shownBy: [
        ['package.test.ts', 'needs nothing that has to be compiled or run to be installed'],
        ['session-files/summary-server.test.ts', 'nothing is asked where the user has named nobody'],
      ],
    },
    {
      id: 'S1.22',
      asks: 'The environment comes before the project, and that before the backend’s defaults.',
      verdict: 'adapted',
      why: 'Options come before all, and your own file has a place, too. A project may only have less done, in a file of its own: no text of a project is searched for settings.',
      shownBy: [
        [
          'core/config/every-key.test.ts',
          'comes from an option before the environment, the project and the user, and remembers them',
        ],
        ['core/config/layers.test.ts', 'may only have less done: %s is %j, the project says %j'],
      ],
    },
    {
      id: 'S1.23',
      asks: 'Bring an old function back that says whether to clear.',
      verdict: 'not for a wrapper',
      why: 'There is no such function to bring back. `shouldTriggerCompaction` answers the question, and `ctxwrap compact` acts on it.',
      shownBy: [['cli/library.test.ts', 'have no boundary where the ladder has none']],
    },
    {
      id: 'S1.24',
      asks: 'Names the research behind the strategies, how well they compress, and an estimate of effort.',
      verdict: 'record of history',
      why: 'Nothing is promised from papers: what strategies leave was measured, and a test holds the documentation to it.',
      shownBy: [['core/strategies/measured.test.ts', 'is what the documentation says of %s with %i tokens']],
    },
    {
      id: 'S1.25',
      asks: 'Names related issues about checkpoints and resuming.',
      verdict: 'record of history',
      why: 'What they are about is there as copies of sessions that are found again later.',
      shownBy: [
        [
          'cli/kept-history.test.ts',
          'is found by its id, with the conversation before a compaction, its recap and its undoing',
        ],
      ],
    },
  ],
};
