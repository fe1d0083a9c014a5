import type { Source } from './requirement.js';

export const product: Source = {
  prefix: 'C',
  title: 'The product itself',
  about: 'What the command, its parts and its packages had to be, before anything was built.',
  count: 12,
  items: [
    {
      id: 'C.1',
      asks: '`ctxwrap` before an agent’s name starts it, with its arguments and its exit status.',
      verdict: 'works',
      shownBy: [
        ['cli/session.test.ts', 'gets its own arguments, --help included'],
        ['cli/session.test.ts', 'ended by %s: the same signal ends us'],
      ],
    },
    {
      id: 'C.2',
      asks: 'The user’s terminal is passed through a PTY.',
      verdict: 'works',
      shownBy: [
        ['e2e/identical.test.ts', 'any output looks and answers as in a terminal without the footer row'],
        ['main-thread/output.test.ts', 'are written before anything looks at them'],
      ],
    },
    {
      id: 'C.3',
      asks: 'A parser of regular expressions for each agent scans what passes through.',
      verdict: 'adapted',
      why: 'The expressions are applied to the rows as they are drawn: in the bytes a text is hardly ever in one piece.',
      shownBy: [
        ['agents/claude-screen.test.ts', 'reads "$text" as $used % used'],
        ['agents/claude-traps.test.ts', 'the imitations in a recording are never read'],
      ],
    },
    {
      id: 'C.4',
      asks: 'A small footer, drawn by Ink, shows warn, auto and hard.',
      verdict: 'works',
      shownBy: [
        ['ui/frame.test.ts', 'is drawn by Ink as the text that was chosen to fit'],
        [
          'worker/footer-drawer.test.ts',
          'is a plain line until Ink is loaded, and the same items in colour from then on',
        ],
      ],
    },
    {
      id: 'C.5',
      asks: 'Compact commands are typed by the rules of each agent.',
      verdict: 'works',
      shownBy: [
        [
          'typing/typist.test.ts',
          'is typed, checked in the prompt and submitted, while the user’s keys are held',
        ],
        [
          'agents/prompt.test.ts',
          'of no agent presses Escape, Ctrl-C or Ctrl-U: they interrupt, quit and throw drafts away',
        ],
      ],
    },
    {
      id: 'C.6',
      asks: 'An overlay like /context, with keys.',
      verdict: 'works',
      shownBy: [
        [
          'e2e/panel.test.ts',
          'shows what is known, and closes without a trace; no key of it reaches the agent',
        ],
      ],
    },
    {
      id: 'C.7',
      asks: 'A shell alias puts ctxwrap before the agent’s name.',
      verdict: 'works',
      shownBy: [
        [
          'cli/shell.test.ts',
          'starts an agent that is installed through ctxwrap, and the agent alone behind `command`',
        ],
      ],
    },
    {
      id: 'C.8',
      asks: 'Use commander to parse, node-pty for the PTY, chalk for colours, Ink and React to draw, and Vitest to test.',
      verdict: 'adapted',
      why: 'They are bundled when ctxwrap is built, so that an installation has one dependency: node-pty with binaries for each system.',
      shownBy: [
        ['architecture.test.ts', 'import only their own packages'],
        ['package.test.ts', 'needs nothing that has to be compiled or run to be installed'],
      ],
    },
    {
      id: 'C.9',
      asks: 'At the top level are package.json, tsconfig.json, bin, src, test, README.md and CHANGELOG.md.',
      verdict: 'works',
      shownBy: [['package.test.ts', 'has its parts at the top level, where everybody looks for them']],
    },
    {
      id: 'C.10',
      asks: 'The strategy that holds is logged by name and can be chosen at launch and by the control interface; `BACKEND` says what it changes; changes are on record.',
      verdict: 'works',
      shownBy: [
        [
          'core/config/every-key.test.ts',
          'comes from an option before the environment, the project and the user, and remembers them',
        ],
        [
          'core/compaction/audit.test.ts',
          'names the strategy that shortened the conversation, and none for the agent’s own compaction',
        ],
        [
          'core/compaction/strategy.test.ts',
          'can be chosen while the session runs, and given up for the command',
        ],
        ['core/config/strategy.test.ts', 'says what a backend changes'],
        [
          'cli/config/set.test.ts',
          'has a line for each change, with the names of the keys and without their values',
        ],
      ],
    },
    {
      id: 'C.11',
      asks: 'Other programs see a state and an event when a handoff is ready.',
      verdict: 'works',
      shownBy: [
        ['core/session-record.test.ts', 'names the handoff that was written, for whoever reads it back'],
        [
          'worker/handoff-writer.test.ts',
          'is written at 85 %, once, and then the footer and other programs name it',
        ],
        ['core/live-handoff.test.ts', 'is ready until %s, with any preset'],
        ['cli/library.test.ts', 'has a type for every event that a session writes'],
      ],
    },
    {
      id: 'C.12',
      asks: 'Offer 85 % as the end of a large window: as a limit, not as the default.',
      verdict: 'works',
      shownBy: [
        ['core/limit.test.ts', 'has the boundaries of a window of %i'],
        ['core/limit-offer.test.ts', 'at 200k, when the agent rests, and once in a session'],
      ],
    },
  ],
};
