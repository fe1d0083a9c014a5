import { expect, it } from 'vitest';
import { claim, sessionAfter, shows, tokens } from '../support/sessions.js';

const claude = { native: { share: 1, reserveTokens: 33_000 } }; // warn begins at 142 000 of 200 000

it.each([
  [shows(71), 'safe'], // 70.5 % to 71.5 %
  [shows(71.1), 'warn'],
  [shows(72), 'warn'],
  [tokens('screen', 142_000, { roundingTokens: 500 }), 'safe'], // `142k`
  [tokens('screen', 143_000, { roundingTokens: 500 }), 'warn'],
  [tokens('screen', 142_000), 'warn'],
])('a rounded number on the screen raises the tier only beyond its own rounding: %o', (shown, tier) => {
  const beside = sessionAfter(
    [
      [1, tokens('log', 141_400)],
      [2, shown],
    ],
    claude,
  );
  expect(beside.fused?.tier).toBe(tier);
  const alone = sessionAfter(
    [
      [1, claim(200_000, 'table')],
      [2, shown],
    ],
    claude,
  );
  expect(alone.fused?.tier).toBe('warn');
});
