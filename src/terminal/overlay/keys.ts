import type { OverlayKey } from '../../core/overlay-keys.js';
import { stringStart } from '../filter/bytes.js';

/*
 * Keys for a screen of ours, in all the forms in which terminals write them: plain bytes, the sequences of xterm, CSI u (kitty keyboard
 * protocol) and modifyOtherKeys. What the terminal says by itself is told apart: answers are the child's.
 */

const plainKeys = ['c', 'a', 'p', 'n', 'd', '?', 'q'] as const satisfies readonly OverlayKey[];

export interface OverlayKeyState {
  /** the beginning of a key or of an answer */
  readonly held: Uint8Array;
  readonly isInPaste: boolean;
}

export const noOverlayKeys: OverlayKeyState = { held: new Uint8Array(), isInPaste: false };

/** What the bytes begin with: at most one key, or something for the child. Nothing at all is swallowed. */
export interface OverlayInput {
  readonly key?: OverlayKey;
  readonly forChild?: Uint8Array;
  /** what comes after it, to be read next */
  readonly rest: Uint8Array;
  readonly state: OverlayKeyState;
}

const ESC = 0x1b;
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
const LOCKS = 64 | 128; // caps lock and num lock count as modifiers in the kitty protocol
const SHIFT = 1;
const OLD_MOUSE_BYTES = 6; // `CSI M` and three bytes, which look like keys
const MAX_HELD = 65_536; // bytes; longer strings are no answers that anybody waits for

const byLetter: Readonly<Record<string, OverlayKey>> = { A: 'up', B: 'down', H: 'home', F: 'end' };
const byNumber: Readonly<Record<string, OverlayKey>> = {
  1: 'home',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
};
const byCode: Readonly<Record<string, OverlayKey>> = {
  27: 'esc',
  57419: 'up',
  57420: 'down',
  57421: 'pageup',
  57422: 'pagedown',
  57423: 'home',
  57424: 'end',
};

// Answers and reports that no key looks like: xterm ctlseqs, kitty's keyboard protocol. CPR looks like F3, see below.
const SPEECH = /^\x1b\[(?:[?>=][\d;:]*\$?[cnRuymS]|[\d;]+\$y|[\d;]*[cnt]|[\d;]*"w|\d+(?:;\d+)+x|[IO])$/;
const CURSOR_REPORT = /^\x1b\[\d+;\d+R$/;

const isPlain = (modifiers: string | undefined, allowed = 0): boolean =>
  ((Number.parseInt(modifiers ?? '1', 10) - 1) & ~LOCKS & ~allowed) === 0;

const plainKey = (text: string): OverlayKey | undefined => plainKeys.find((key) => key === text);

/** `CSI code : shifted ; modifiers : event ; text u`; a release is no key. */
const kittyKey = (sequence: string): OverlayKey | undefined => {
  const [, code = '', shifted, modifiers, event] =
    /^\x1b\[(\d+)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d+))?)?(?:;[\d:]*)?u$/.exec(sequence) ?? [];
  if (event === '3' || code === '') return undefined;
  const number =
    shifted === undefined || shifted === '' || isPlain(modifiers) ? Number(code) : Number(shifted);
  const isQuestionMark = number === 63 && isPlain(modifiers || undefined, SHIFT);
  if (isQuestionMark) return '?';
  if (!isPlain(modifiers || undefined)) return undefined;
  return byCode[code] ?? (number < 128 ? plainKey(String.fromCharCode(number)) : undefined);
};

const otherKey = (sequence: string): OverlayKey | undefined => {
  const [, modifiers, code = ''] = /^\x1b\[27;(\d+);(\d+)~$/.exec(sequence) ?? [];
  if (code === '63' && isPlain(modifiers, SHIFT)) return '?';
  if (code === '' || !isPlain(modifiers)) return undefined;
  return code === '27' ? 'esc' : plainKey(String.fromCharCode(Number(code)));
};

const wheelKey = (sequence: string): OverlayKey | undefined => {
  const [, button] = /^\x1b\[<(\d+);\d+;\d+M$/.exec(sequence) ?? [];
  return button === '64' ? 'wheel-up' : button === '65' ? 'wheel-down' : undefined;
};

const cursorKey = (sequence: string): OverlayKey | undefined => {
  const [, shifts, letter] = /^\x1b(?:O|\[(?:1;(\d+)(?::[12])?)?)([ABHF])$/.exec(sequence) ?? [];
  if (letter !== undefined) return isPlain(shifts) ? byLetter[letter] : undefined;
  const [, number, modifiers] = /^\x1b\[(\d)(?:;(\d+)(?::[12])?)?~$/.exec(sequence) ?? [];
  return number === undefined || !isPlain(modifiers) ? undefined : byNumber[number];
};

/** Offset behind the element at the beginning; undefined while its end has not come. */
const endOfElement = (bytes: Buffer): number | undefined => {
  if (bytes[0] !== ESC) return 1;
  const second = bytes[1];
  if (second === undefined) return undefined;
  if (second === 0x4f) return bytes.length > 2 ? 3 : undefined;
  if (bytes.length === 2 && stringStart(second, false)) return undefined;
  if (isStringStart(bytes)) {
    const match = /\x07|\x1b\\/.exec(bytes.toString('latin1').slice(2));
    return match ? 2 + match.index + match[0].length : undefined;
  }
  if (second !== 0x5b) return second === ESC ? 1 : 2; // ESC and a letter is that letter with Alt
  if (bytes[2] === 0x4d) return bytes.length >= OLD_MOUSE_BYTES ? OLD_MOUSE_BYTES : undefined;
  for (let at = 2; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return at;
    if (byte >= 0x40) return at + 1;
  }
  return undefined;
};

/** Strings from a terminal go on with a digit or a sign; a person who presses Alt and `]` does not type on so fast. */
const isStringStart = (bytes: Buffer): boolean =>
  /^\x1b(?:\][\dlL]|P[\d>!]|_G|\^)/.test(bytes.toString('latin1', 0, 3));

/** Whether what is held is the beginning of an answer, for which it is worth to wait longer than for a key. */
export const isAnswerHeld = ({ held }: OverlayKeyState): boolean =>
  isStringStart(Buffer.from(held)) && held.length < MAX_HELD;

const inPaste = (bytes: Buffer): OverlayInput => {
  const end = bytes.indexOf(PASTE_END, 0, 'latin1');
  const state = { held: noOverlayKeys.held, isInPaste: end < 0 };
  if (end >= 0) return { rest: bytes.subarray(end + PASTE_END.length), state };
  const escape = bytes.lastIndexOf(ESC); // perhaps the beginning of the end
  const isOpen = escape >= 0 && PASTE_END.startsWith(bytes.toString('latin1', escape));
  return {
    rest: noOverlayKeys.held,
    state: { ...state, held: isOpen ? bytes.subarray(escape) : state.held },
  };
};

/** Reads one element; `awaitsCursor`: the child has asked where its cursor is, so a report of it is no key. */
export const readOverlayKeys = (
  state: OverlayKeyState,
  chunk: Uint8Array,
  awaitsCursor: boolean,
): OverlayInput => {
  const bytes = state.held.length > 0 ? Buffer.concat([state.held, chunk]) : Buffer.from(chunk);
  if (state.isInPaste) return inPaste(bytes);
  const end = bytes.length > 0 ? endOfElement(bytes) : undefined;
  if (end === undefined) return { rest: noOverlayKeys.held, state: { held: bytes, isInPaste: false } };
  const rest = bytes.subarray(end);
  const element = bytes.toString('latin1', 0, end);
  if (element === PASTE_START) return { rest, state: { held: noOverlayKeys.held, isInPaste: true } };
  const isForChild =
    SPEECH.test(element) ||
    (awaitsCursor && CURSOR_REPORT.test(element)) ||
    (end > 3 && isStringStart(bytes));
  if (isForChild) return { forChild: bytes.subarray(0, end), rest, state: noOverlayKeys };
  const key = element.startsWith('\x1b')
    ? (kittyKey(element) ?? otherKey(element) ?? wheelKey(element) ?? cursorKey(element))
    : plainKey(element);
  return key === undefined ? { rest, state: noOverlayKeys } : { key, rest, state: noOverlayKeys };
};

/** What was held in the hope of more: Escape is a key by itself, the rest is nothing. */
export const flushOverlayKeys = (state: OverlayKeyState): OverlayInput => {
  const isEscape = !state.isInPaste && state.held.length === 1 && state.held[0] === ESC;
  const after = state.isInPaste ? state : noOverlayKeys;
  return { ...(isEscape ? { key: 'esc' as const } : {}), rest: noOverlayKeys.held, state: after };
};
