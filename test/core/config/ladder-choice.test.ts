// Which boundaries hold where nobody sets them.
import { expect, it } from 'vitest';
import { buildLadder } from '../../../src/core/build-ladder.js';
import { defaultValues, ladderChoice, type Values } from '../../../src/core/config/keys.js';

const autoOf = (values: Partial<Values>, windowTokens: number): number | undefined =>
  buildLadder({ agent: '', windowTokens, choice: ladderChoice({ ...defaultValues, ...values }) }).auto?.value;

it.each<[string, Partial<Values>, number, number | undefined]>([
  ['85 % with a backend, as its documentation says', { backend: 'ollama' }, 8_192, 6_963],
  ['85 % with the backend openai', { backend: 'openai' }, 128_000, 108_800],
  ['the ladder without a backend', {}, 200_000, 167_000],
  ['the ladder with custom, which may be another program’s BACKEND', { backend: 'custom' }, 200_000, 167_000],
  [
    'a ladder of the user’s own before the backend’s',
    { backend: 'openai', ladder: 'ladder' },
    200_000,
    167_000,
  ],
  [
    'an auto of the user’s own before both',
    { backend: 'openai', auto: { unit: 'tokens', value: 90_000 } },
    128_000,
    90_000,
  ],
])('%s', (_, values, windowTokens, expected) => {
  expect(autoOf(values, windowTokens)).toBe(expected);
});
