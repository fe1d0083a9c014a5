import { expect, it } from 'vitest';
import { parseScript } from '../../src/demo/script.js';
import { parseOptions } from '../../src/demo/main.js';

it.each([
  ['{', 'must be a JSON list'],
  ['{"step":"say"}', 'must be a JSON list'],
  ['[{"step":"wait","ms":1},{"step":"dance"}]', 'step 2 of the script is not understood: {"step":"dance"}'],
  ['[{"step":"say"}]', 'step 1'],
  ['[{"step":"key","key":"f13"}]', 'step 1'],
  ['[7]', 'step 1'],
  ['[{"step":"on-compact","how":"dance"}]', 'step 1'],
  ['[{"step":"auto-compact"}]', 'step 1'],
])('a script %s is refused: %s', (text, message) => {
  expect(() => parseScript(text)).toThrow(message);
});

it('a script may leave out what has a usual value', () => {
  expect(parseScript('[{"step":"type","text":"a"},{"step":"crash"},{"step":"exit"}]')).toEqual([
    { step: 'type', text: 'a', everyMs: 45 },
    { step: 'crash', end: { code: 1 }, half: false },
    { step: 'exit', code: 0 },
  ]);
});

it.each([
  [[], { auto: true, pace: 1 }],
  [['--interactive', '--pace', '20'], { auto: false, pace: 20 }],
  [['--script', 'x.json'], { auto: true, pace: 1, script: 'x.json' }],
])('options %j are %j', (args, options) => {
  expect(parseOptions(args)).toEqual(options);
});

it.each([
  [['--pace', '0'], '--pace must be a number above 0, got "0"'],
  [['--pace'], '--pace must be a number above 0, got ""'],
  [['--script'], '--script needs a file'],
  [['--fast'], 'unknown option --fast'],
])('options %j are refused: %s', (args, message) => {
  expect(() => parseOptions(args)).toThrow(message);
});
