import { typePrompt, type PlannedTurn, type Step, type ToolCall } from './script.js';

// The half-minute show of `ctxwrap demo`: two turns that fill the window, and time for ctxwrap to compact it and to show what was forgotten.

const read = (path: string, lines: string, tokens: number): ToolCall => ({
  text: `Read ${path}`,
  result: `${lines} lines`,
  tokens,
  use: { name: 'read', input: { path } },
});
const search = (pattern: string, matches: number, tokens: number): ToolCall => ({
  text: `Search for "${pattern}"`,
  result: `${matches} matches`,
  tokens,
  use: { name: 'grep', input: { pattern } },
});
const edit = (path: string, tokens: number): ToolCall => ({
  text: `Edit ${path}`,
  result: '1 line changed',
  tokens,
  use: { name: 'edit', input: { path } },
});
const runTests = (result: string, tokens: number): ToolCall => ({
  text: 'Run npm test',
  result,
  tokens,
  use: { name: 'run', input: { command: 'npm test' } },
});

/** What to look at when the window is almost full: what ctxwrap does then follows from its mode. */
const whatFollows: Readonly<Record<string, string>> = {
  ask: 'Watch the last row: ctxwrap suggests compacting, and waits for you.',
  warn: 'Watch the last row: ctxwrap only shows it, and types nothing.',
  off: 'ctxwrap is off, so nothing happens.',
};
const COUNTDOWN = 'Watch the last row: ctxwrap counts down, and then it types /compact for you.';

/** 151k after the first turn is past warn, 169k after the second past auto, 179k after the third past hard. */
export const tourTurns = (mode: string): readonly PlannedTurn[] => [
  {
    calls: [
      read('src/login.ts', '1,940', 24_300),
      read('src/session.ts', '2,210', 26_100),
      search('token', 318, 23_400),
      read('test/login.test.ts', '1,780', 22_500),
      runTests('1 of 42 failed, 3,900 lines of output', 41_000),
    ],
    answer:
      'The token expires a second too early. (I am a simulator: nothing was read or run, and nothing leaves your machine.)',
    tokens: 1_900,
  },
  {
    calls: [edit('src/session.ts', 4_300), runTests('42 of 42 passed', 13_340)],
    answer: `Done. My window is almost full now. ${whatFollows[mode] ?? COUNTDOWN}`,
    tokens: 280,
  },
  {
    calls: [read('CHANGELOG.md', '760', 9_300)],
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
