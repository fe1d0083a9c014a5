import { oneLine } from '../core/json.js';

/*
 * How a terminal is asked for a desktop notification. A terminal that does not know a sequence says nothing, so it is sent only to those
 * that are known to have it; all others get the bell.
 *
 * OSC 9:   iTerm2 (https://iterm2.com/documentation-escape-codes.html), Warp
 * OSC 99:  kitty (https://sw.kovidgoyal.net/kitty/desktop-notifications/)
 * OSC 777: foot (foot-ctlseqs(7)), WezTerm (https://wezterm.org/escape-sequences.html), Ghostty (facts/claude.md §4 saw it in use there);
 *          VTE and rxvt-unicode only with a patch or an extension, and nobody can tell from outside
 * tmux passes them on in its own sequence, where `allow-passthrough` is on: https://github.com/tmux/tmux/wiki/FAQ
 */

type Env = Readonly<Record<string, string | undefined>>;

/** A short fact for somebody who looks elsewhere. */
export interface Call {
  readonly title: string;
  readonly text: string;
}

interface Way {
  readonly osc?: 9 | 99 | 777;
  /** rung, too: the sequence may be ignored, or there is none */
  readonly bell: boolean;
}

const BELL = '\x07';
const LONGEST = 200; // characters

const byProgram: Readonly<Record<string, 9 | 777>> = {
  'iTerm.app': 9,
  WarpTerminal: 9,
  WezTerm: 777,
  ghostty: 777,
};

const byTerm: readonly (readonly [RegExp, Way])[] = [
  [/^xterm-kitty/, { osc: 99, bell: false }],
  [/^foot/, { osc: 777, bell: false }],
  [/^xterm-ghostty/, { osc: 777, bell: false }],
  [/^wezterm/, { osc: 777, bell: false }],
  [/^rxvt-unicode/, { osc: 777, bell: true }],
];

/** What the terminals leave in the environment. In tmux it is the only trace of them, and tells of the one it was started in. */
const byTrace: readonly (readonly [string, 9 | 99 | 777])[] = [
  ['KITTY_WINDOW_ID', 99],
  ['WEZTERM_PANE', 777],
  ['GHOSTTY_RESOURCES_DIR', 777],
  ['ITERM_SESSION_ID', 9],
  ['VTE_VERSION', 777],
];

const wayOf = (env: Env): Way => {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL, TMUX, STY, VTE_VERSION } = env;
  if (STY) return { bell: true };
  if (TMUX) {
    const osc = LC_TERMINAL === 'iTerm2' ? 9 : byTrace.find(([name]) => env[name])?.[1];
    return { ...(osc === undefined ? {} : { osc }), bell: true };
  }
  const named = byTerm.find(([pattern]) => pattern.test(TERM))?.[1];
  if (named) return named;
  const osc = byProgram[TERM_PROGRAM] ?? (LC_TERMINAL === 'iTerm2' ? 9 : undefined);
  if (osc !== undefined) return { osc, bell: false };
  return VTE_VERSION ? { osc: 777, bell: true } : { bell: true };
};

/** The bytes for this terminal, to be sent between two elements of the child's output. `isPlain`: it reads no OSC now (VT52). */
export const notificationSequence = (env: Env, call: Call, isPlain = false): string => {
  const { osc, bell } = wayOf(env);
  if (osc === undefined || isPlain) return BELL;
  const sequence = oscSequence(osc, { title: field(call.title), text: field(call.text) });
  return (env['TMUX'] ? throughTmux(sequence) : sequence) + (bell ? BELL : '');
};

// A `;` would end a field of OSC 777.
const field = (text: string): string => oneLine(text, LONGEST).replaceAll(';', ',');

const oscSequence = (osc: 9 | 99 | 777, { title, text }: Call): string => {
  switch (osc) {
    case 9:
      return `\x1b]9;${title}: ${text}\x1b\\`;
    case 99:
      return `\x1b]99;i=ctxwrap:d=0;${title}\x1b\\\x1b]99;i=ctxwrap:p=body;${text}\x1b\\`;
    case 777:
      return `\x1b]777;notify;${title};${text}\x1b\\`;
  }
};

const throughTmux = (sequence: string): string =>
  `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\`;
