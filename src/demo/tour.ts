import { typePrompt, type PlannedTurn, type Step } from './script.js';

// The half-minute show of `ctxwrap demo`: two turns that fill the window, and time for ctxwrap to compact it and to show what was forgotten.

/** 151k after the first turn is past warn, 169k after the second past auto, 179k after the third past hard. */
export const tourTurns: readonly PlannedTurn[] = [
  {
    calls: [
      {
        text: 'Read src/login.ts',
        result: '1,940 lines',
        tokens: 24_300,
        use: { name: 'read', input: { path: 'src/login.ts' } },
      },
      {
        text: 'Read src/session.ts',
        result: '2,210 lines',
        tokens: 26_100,
        use: { name: 'read', input: { path: 'src/session.ts' } },
      },
      {
        text: 'Search for "token"',
        result: '318 matches',
        tokens: 23_400,
        use: { name: 'grep', input: { pattern: 'token' } },
      },
      {
        text: 'Read test/login.test.ts',
        result: '1,780 lines',
        tokens: 22_500,
        use: { name: 'read', input: { path: 'test/login.test.ts' } },
      },
      {
        text: 'Run npm test',
        result: '1 of 42 failed, 3,900 lines of output',
        tokens: 41_000,
        use: { name: 'run', input: { command: 'npm test' } },
      },
    ],
    answer:
      'The token expires a second too early. (I am a simulator: nothing was read or run, and nothing leaves your machine.)',
    tokens: 1_900,
  },
  {
    calls: [
      {
        text: 'Edit src/session.ts',
        result: '1 line changed',
        tokens: 4_300,
        use: { name: 'edit', input: { path: 'src/session.ts' } },
      },
      {
        text: 'Run npm test',
        result: '42 of 42 passed',
        tokens: 13_340,
        use: { name: 'run', input: { command: 'npm test' } },
      },
    ],
    answer:
      'Done. My window is almost full now. Watch the last row: ctxwrap counts down, and then it types /compact for you.',
    tokens: 280,
  },
  {
    calls: [
      {
        text: 'Read CHANGELOG.md',
        result: '760 lines',
        tokens: 9_300,
        use: { name: 'read', input: { path: 'CHANGELOG.md' } },
      },
    ],
    answer: 'Still not compacted, so I went on. My window has reached hard now.',
    tokens: 400,
  },
];

const KEY_MS = 18;
const pause = (waitMs: number): readonly Step[] => [{ until: 'idle' }, { waitMs }];

/** Longer than a countdown and a compaction take. */
const COMPACTION_MS = 14_000;

/** The user reads the overview for as long as they like. */
const OVERVIEW_MS = 600_000;

/** Longer than what is given back takes to reach the prompt; where nothing was chosen, nothing comes. */
const DRAFT_MS = 6_000;

/** Two turns with a rule each; after "not now" a third turn; then the recap, what it gives back, and the end. */
export const tourScript: readonly Step[] = [
  { waitMs: 300 },
  ...typePrompt('Why does the login test fail? Never push to main.', KEY_MS),
  ...pause(700),
  ...typePrompt('Fix it. Always run npm test after an edit.', KEY_MS),
  ...pause(0),
  {
    until: 'compacted',
    withinMs: COMPACTION_MS,
    otherwise: [
      ...typePrompt('And the changelog?', KEY_MS),
      ...pause(0),
      { until: 'compacted', withinMs: COMPACTION_MS, otherwise: typePrompt('/quit', KEY_MS) },
    ],
  },
  { until: 'over', withinMs: OVERVIEW_MS, otherwise: [] },
  { until: 'drafted', withinMs: DRAFT_MS, otherwise: [] },
  { waitMs: 1_200 },
  { name: 'enter' },
  ...pause(900),
  ...typePrompt('/quit', KEY_MS),
];
