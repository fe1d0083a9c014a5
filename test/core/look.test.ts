import { describe, expect, it } from 'vitest';
import { readLook, type Env } from '../../src/core/look.js';

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
    expect(readLook({ env, isTTY: tty ?? true, columns: 80 }).colorLevel).toBe(level);
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
    expect(readLook({ env, isTTY: true, columns: 80 }).ascii).toBe(ascii);
  });
});

const at = { isTTY: true, columns: 80 } as const;

describe('the background', () => {
  it.each([
    { env: {}, background: undefined },
    { env: { COLORFGBG: '15;0' }, background: 'dark' },
    { env: { COLORFGBG: '0;15' }, background: 'light' },
    { env: { COLORFGBG: '0;default;15' }, background: 'light' },
    { env: { COLORFGBG: '12;8' }, background: 'dark' },
    { env: { COLORFGBG: '0;7' }, background: 'light' },
    { env: { COLORFGBG: '15;default' }, background: undefined },
    { env: { COLORFGBG: '0;99' }, background: undefined },
    { env: { COLORFGBG: '0;15', TMUX: '/tmp/tmux-0/default,1,0' }, background: undefined },
  ] satisfies { env: Env; background: string | undefined }[])(
    'of $env is $background',
    ({ env, background }) => {
      expect(readLook({ env, ...at }).background).toBe(background);
      expect(readLook({ env, ...at, theme: { preset: 'light' } }).background).toBe('light');
      expect(readLook({ env, ...at, theme: { preset: 'dark' } }).background).toBe('dark');
    },
  );

  it('is of no matter in a theme without colours', () => {
    expect(readLook({ env: { TERM: 'xterm-kitty' }, ...at, theme: { preset: 'mono' } }).colorLevel).toBe(0);
  });
});
