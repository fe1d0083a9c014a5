// The footer's line without anything that draws.
import { expect, it } from 'vitest';
import { plainRow } from '../../src/main-thread/plain-row.js';

it('is cut to the width of the terminal by characters, not in the middle of one', () => {
  const row = plainRow({ text: ' a 𝛼𝛽𝛾' }, { columns: 5, colorLevel: 0 });
  expect(row).toBe(' a 𝛼𝛽');
});

it('has no colour but that of the tier, from the terminal’s own sixteen', () => {
  const at = (tier: 'safe' | 'warn' | 'auto' | 'hard'): string =>
    plainRow({ text: 'x', tier }, { columns: 5, colorLevel: 3 });
  expect((['safe', 'warn', 'auto', 'hard'] as const).map(at)).toEqual([
    '\x1b[32mx\x1b[39m',
    '\x1b[33mx\x1b[39m',
    '\x1b[33mx\x1b[39m',
    '\x1b[31mx\x1b[39m',
  ]);
  expect(plainRow({ text: 'x' }, { columns: 5, colorLevel: 3 })).toBe('x');
  expect(plainRow({ text: 'x', tier: 'hard' }, { columns: 5, colorLevel: 0 })).toBe('x');
});

it('lets no control character through', () => {
  expect(plainRow({ text: 'a\x1b[2J\nb' }, { columns: 40, colorLevel: 0 })).toBe('a\ufffd[2J\ufffdb');
});
