import { describe, expect, it } from 'vitest';
import { lookOf, type Env } from '../../src/ui/look.js';

describe('the colour level', () => {
  const table: readonly { env: Env; level: number; tty?: boolean }[] = [
    { env: { TERM: 'xterm-256color' }, level: 2 },
    { env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' }, level: 3 },
    { env: { TERM: 'xterm', COLORTERM: '24bit' }, level: 3 },
    { env: { TERM: 'xterm-kitty' }, level: 3 },
    { env: { TERM: 'xterm' }, level: 1 },
    { env: { TERM: 'vt100' }, level: 1 },
    { env: { TERM: 'screen-256color', COLORTERM: 'truecolor' }, level: 2 },
    { env: { TERM: 'dumb', COLORTERM: 'truecolor' }, level: 0 },
    { env: { TERM: 'xterm-mono' }, level: 0 },
    { env: {}, level: 0 },
    { env: { TERM: 'xterm-256color' }, tty: false, level: 0 },
    { env: { TERM: 'xterm-256color', NO_COLOR: '1' }, level: 0 },
    { env: { TERM: 'xterm-256color', NO_COLOR: '' }, level: 2 },
    { env: { TERM: 'xterm-256color', NO_COLOR: '1', FORCE_COLOR: '3' }, level: 0 },
    { env: { FORCE_COLOR: '3' }, tty: false, level: 3 },
    { env: { FORCE_COLOR: '2' }, tty: false, level: 2 },
    { env: { FORCE_COLOR: 'true' }, tty: false, level: 1 },
    { env: { TERM: 'xterm-256color', FORCE_COLOR: '0' }, level: 0 },
    { env: { TERM: 'xterm-256color', CI: 'true' }, level: 2 },
  ];

  it.each(table)('of $env is $level', ({ env, level, tty }) => {
    expect(lookOf(env, tty ?? true, 80).colorLevel).toBe(level);
  });
});

describe('the glyphs', () => {
  it.each([
    { env: { LANG: 'en_US.UTF-8' }, ascii: false },
    { env: { LANG: 'de_DE.utf8' }, ascii: false },
    { env: { LANG: 'en_US.ISO-8859-1' }, ascii: true },
    { env: { LANG: 'C' }, ascii: true },
    { env: { LANG: 'en_US.UTF-8', LC_ALL: 'C' }, ascii: true }, // LC_ALL outranks LC_CTYPE outranks LANG
    { env: { LANG: 'C', LC_CTYPE: 'C.UTF-8' }, ascii: false },
    { env: { LANG: 'C.UTF-8', LC_ALL: '' }, ascii: false },
    { env: {}, ascii: false },
    { env: { TERM: 'linux', LANG: 'en_US.UTF-8' }, ascii: true },
  ] satisfies { env: Env; ascii: boolean }[])('of $env are ASCII: $ascii', ({ env, ascii }) => {
    expect(lookOf(env, true, 80).ascii).toBe(ascii);
  });
});
