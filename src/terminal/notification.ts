import { present } from '../core/present.js';
import { type Printable } from '../core/printable.js';
import { toOneLine } from '../core/text.js';

/*
 * Desktop notifications through the terminal. A terminal gives no error for an unknown sequence, so a sequence is sent only to terminals
 * known to support it; all others get the bell.
 *
 * OSC 9:   iTerm2 (https://iterm2.com/documentation-escape-codes.html), Warp
 * OSC 99:  kitty (https://sw.kovidgoyal.net/kitty/desktop-notifications/)
 * OSC 777: foot (foot-ctlseqs(7)), WezTerm (https://wezterm.org/escape-sequences.html), Ghostty (docs/facts/claude.md#terminal);
 *          VTE and rxvt-unicode only with a patch or an extension, which cannot be detected
 * tmux forwards them inside its own sequence if `allow-passthrough` is on: https://github.com/tmux/tmux/wiki/FAQ
 */

type Env = Readonly<Record<string, string | undefined>>;

/** Text of a notification. */
export interface NotificationText {
  readonly title: Printable;
  readonly text: Printable;
}

interface NotificationMethod {
  readonly osc?: 9 | 99 | 777;
  /** ring the bell too: the sequence may be ignored, or there is none */
  readonly bell: boolean;
}

const BELL = '\x07';
const MAX_LENGTH = 200; // characters

const byProgram: Readonly<Record<string, 9 | 777>> = {
  'iTerm.app': 9,
  WarpTerminal: 9,
  WezTerm: 777,
  ghostty: 777,
};

const byTerm: readonly (readonly [RegExp, NotificationMethod])[] = [
  [/^xterm-kitty/, { osc: 99, bell: false }],
  [/^foot/, { osc: 777, bell: false }],
  [/^xterm-ghostty/, { osc: 777, bell: false }],
  [/^wezterm/, { osc: 777, bell: false }],
  [/^rxvt-unicode/, { osc: 777, bell: true }],
];

/** Variables that terminals set. In tmux they are the only sign of the terminal, and name the one in which tmux was started. */
const byVariable: readonly (readonly [string, 9 | 99 | 777])[] = [
  ['KITTY_WINDOW_ID', 99],
  ['WEZTERM_PANE', 777],
  ['GHOSTTY_RESOURCES_DIR', 777],
  ['ITERM_SESSION_ID', 9],
  ['VTE_VERSION', 777],
];

const methodFor = (env: Env): NotificationMethod => {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL, TMUX, STY, VTE_VERSION } = env;
  if (STY) return { bell: true };
  if (TMUX) {
    const osc = LC_TERMINAL === 'iTerm2' ? 9 : byVariable.find(([name]) => env[name])?.[1];
    return { ...present({ osc }), bell: true };
  }
  const named = byTerm.find(([pattern]) => pattern.test(TERM))?.[1];
  if (named) return named;
  const osc = byProgram[TERM_PROGRAM] ?? (LC_TERMINAL === 'iTerm2' ? 9 : undefined);
  if (osc !== undefined) return { osc, bell: false };
  return VTE_VERSION ? { osc: 777, bell: true } : { bell: true };
};

/** The bytes for this terminal, to send between two elements of the child's output. `isVt52`: the terminal reads no OSC now. */
export const notificationSequence = (env: Env, notification: NotificationText, isVt52 = false): string => {
  const { osc, bell } = methodFor(env);
  if (osc === undefined || isVt52) return BELL;
  const sequence = oscSequence(osc, {
    title: sanitizeField(notification.title),
    text: sanitizeField(notification.text),
  });
  return (env['TMUX'] ? wrapForTmux(sequence) : sequence) + (bell ? BELL : '');
};

// A `;` would end a field of OSC 777.
const sanitizeField = (text: string): string => toOneLine(text, MAX_LENGTH).replaceAll(';', ',');

const oscSequence = (osc: 9 | 99 | 777, { title, text }: Record<'title' | 'text', string>): string => {
  switch (osc) {
    case 9:
      return `\x1b]9;${title}: ${text}\x1b\\`;
    case 99:
      return `\x1b]99;i=ctxwrap:d=0;${title}\x1b\\\x1b]99;i=ctxwrap:p=body;${text}\x1b\\`;
    case 777:
      return `\x1b]777;notify;${title};${text}\x1b\\`;
  }
};

const wrapForTmux = (sequence: string): string =>
  `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\`;
