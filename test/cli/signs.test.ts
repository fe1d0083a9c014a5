import { expect, it } from 'vitest';
import { toAsciiIfNeeded } from '../../src/cli/print.js';

it.each([
  { env: { LC_ALL: 'C' }, drawn: '> a > 5 - b*' },
  { env: { LANG: 'de_DE.ISO-8859-1' }, drawn: '> a > 5 - b*' },
  { env: { LANG: 'de_DE.UTF-8' }, drawn: '▶ a → 5 · b…' },
  { env: {}, drawn: '▶ a → 5 · b…' },
])('in the locale of $env our signs are $drawn', ({ env, drawn }) => {
  expect(toAsciiIfNeeded('▶ a → 5 · b…', env)).toBe(drawn);
});

it('what is the user’s own stays as it is', () => {
  expect(toAsciiIfNeeded('~/Grüße/日本', { LC_ALL: 'C' })).toBe('~/Grüße/日本');
});
