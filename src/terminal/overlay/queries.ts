import { endOfString, stringStart } from '../filter/bytes.js';
import type { Grid } from '../filter/grid.js';
import { isPrivateModeOn } from '../filter/mode-rules.js';
import { regionSequence } from '../filter/motion.js';
import { renditionSequence } from '../filter/rendition.js';
import type { Ledger } from '../modes.js';
import { modeSequence, type Cover } from './cover.js';

/** What a program can ask of its terminal, as far as the answer does not hang on what is on the screen. */
export interface TerminalQuestion {
  readonly kind: 'cursor' | 'mode' | 'status' | 'keyboard' | 'other';
  /** as it was asked */
  readonly text: string;
}

export interface QuestionState {
  /** the beginning of an element whose end has not come */
  readonly held: Uint8Array;
  /** inside a string that is too long for a question */
  readonly isInString: boolean;
}

export const noQuestions: QuestionState = { held: new Uint8Array(), isInString: false };

export interface TakenQuestions {
  readonly kept: readonly Uint8Array[];
  readonly questions: readonly TerminalQuestion[];
  readonly state: QuestionState;
}

const ENQ = 0x05;
const ESC = 0x1b;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const MAX_QUESTION = 4096; // bytes; XTGETTCAP and palettes are the long ones

interface Element {
  readonly end: number;
  readonly question?: TerminalQuestion['kind'];
}

// Parameters, then intermediates and final: xterm ctlseqs, kitty's keyboard protocol. Reports of the screen's contents are not among them.
const controlQuestions: readonly (readonly [RegExp, TerminalQuestion['kind']])[] = [
  [/^\??6n$/, 'cursor'],
  [/^\??\d+\$p$/, 'mode'],
  [/^\?u$/, 'keyboard'],
  [
    /^[>=]?0*c$|^5n$|^\?\d+(?:;\d+)*n$|^>0*q$|^[01]?x$|^\?\d+m$|^\?\d+;[14](?:;\d*)*S$|^&u$|^"v$|^#R$/,
    'other',
  ],
  [/^(?:1[1345689]|2[01])(?:;\d*)*t$/, 'other'],
];

const stringKind = (introducer: number, text: string): TerminalQuestion['kind'] | undefined => {
  if (introducer === 0x50)
    return text.startsWith('$q') ? 'status' : text.startsWith('+q') ? 'other' : undefined;
  if (introducer === 0x5f) return /^G(?:[^;]*,)?a=q/.test(text) ? 'other' : undefined;
  if (introducer !== 0x5d) return undefined;
  return /^(?:4|5|1\d|21|52|7501);(?:.*[;=])?\?(?:$|;)/.test(text) ? 'other' : undefined;
};

const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');

const controlAt = (bytes: Uint8Array, first: number): Element | undefined => {
  for (let at = first; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return { end: at };
    if (byte < 0x40) continue;
    const text = textOf(bytes, first, at + 1);
    const question = controlQuestions.find(([pattern]) => pattern.test(text))?.[1];
    return question ? { end: at + 1, question } : { end: at + 1 };
  }
  return undefined;
};

/** Offset behind the string's terminator. */
const behindString = (bytes: Uint8Array, end: number): number | undefined => {
  if (bytes[end] === C1_LEAD) return end + 2;
  if (bytes[end] !== ESC) return end + 1;
  if (end + 1 >= bytes.length) return undefined;
  return bytes[end + 1] === 0x5c ? end + 2 : end;
};

const stringAt = (bytes: Uint8Array, first: number, introducer: number): Element | undefined => {
  const end = endOfString(bytes, first, introducer === 0x5d ? 'command' : 'other');
  const behind = end < 0 ? undefined : behindString(bytes, end);
  if (behind === undefined) return undefined;
  const isWhole = behind > end && bytes[end] !== 0x18 && bytes[end] !== 0x1a;
  const question = isWhole ? stringKind(introducer, textOf(bytes, first, end)) : undefined;
  return question ? { end: behind, question } : { end: behind };
};

/** The element that begins with ESC, a C1 control or ENQ; undefined while its end has not come. */
const elementAt = (bytes: Uint8Array, start: number): Element | undefined => {
  if (bytes[start] === ENQ) return { end: start + 1, question: 'other' };
  const second = bytes[start + 1];
  if (second === undefined) return undefined;
  const isC1 = bytes[start] === C1_LEAD;
  if (isC1 && second >= 0xa0) return { end: start + 2 };
  const introducer = isC1 ? second - 0x40 : second;
  if (introducer === 0x5b) return controlAt(bytes, start + 2);
  if (introducer === 0x5a) return { end: start + 2, question: 'other' };
  return stringStart(introducer, false)
    ? stringAt(bytes, start + 2, introducer)
    : { end: start + (isC1 ? 2 : 1) };
};

const nextStart = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === ESC || byte === C1_LEAD || byte === ENQ) return at;
  }
  return bytes.length;
};

const endOfLong = (bytes: Uint8Array): number => {
  const end = endOfString(bytes, 0, 'command');
  return end < 0 ? bytes.length : (behindString(bytes, end) ?? end);
};

/** Takes the questions out of the child's output; it must begin between two elements. */
export const takeQuestions = (state: QuestionState, chunk: Uint8Array): TakenQuestions => {
  const bytes = state.held.length > 0 ? Buffer.concat([state.held, chunk]) : chunk;
  const kept: Uint8Array[] = [];
  const questions: TerminalQuestion[] = [];
  const inside = state.isInString ? endOfLong(bytes) : 0;
  if (state.isInString && inside === bytes.length)
    return { kept: [bytes], questions, state: { held: noQuestions.held, isInString: true } };
  let from = 0;
  let at = nextStart(bytes, inside);
  while (at < bytes.length) {
    const element = elementAt(bytes, at);
    if (!element) break;
    if (element.question) {
      if (at > from) kept.push(bytes.subarray(from, at));
      questions.push({ kind: element.question, text: textOf(bytes, at, element.end) });
      from = element.end;
    }
    at = nextStart(bytes, Math.max(element.end, at + 1));
  }
  const isLong = bytes.length - at > MAX_QUESTION;
  const stop = isLong ? bytes.length : at;
  if (stop > from) kept.push(bytes.subarray(from, stop));
  return { kept, questions, state: { held: bytes.slice(stop), isInString: isLong } };
};

/*
 * The child's questions while our screen covers its own. The terminal answers them all, in its own words and in their order: what the
 * answer hangs on is for a moment put as the child has it, in one write with the question.
 */

/** What to send for a question. */
export type Probe =
  | { readonly type: 'ask'; readonly bytes: string; readonly spoiledRow?: number }
  /** the terminal would say something else whatever we do: this is the answer */
  | { readonly type: 'answer'; readonly bytes: string };

export interface Covered {
  readonly grid: Grid;
  readonly ledger: Ledger;
  readonly cover: Cover;
  /** private modes as they were when the cover was opened */
  readonly wasSet: (mode: number) => boolean;
}

const ORIGIN = 6;
const switchesBuffer = new Set([47, 1047, 1049]);
const hasEffects = new Set([2, 3, 40, 1048]); // switching these does more than to set them
const mouse = new Set([9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]);

const plain = (text: string): Probe => ({ type: 'ask', bytes: text });

/** The last-column flag is put by printing: some terminals count the column differently with it. */
const cursorProbe = (text: string, { grid }: Covered): Probe => {
  const row = grid.origin ? grid.row - grid.top : grid.row;
  const column = grid.origin && grid.sideMargins ? grid.column - grid.left : grid.column;
  const origin = grid.origin ? `${regionSequence(grid)}${modeSequence(ORIGIN, true)}` : '';
  const place = `${origin}\x1b[${row + 1};${column + 1}H`;
  const back = grid.origin ? modeSequence(ORIGIN, false) : '';
  if (!grid.pendingWrap) return plain(place + text + back);
  const wrap = `${modeSequence(7, true)} ${text}\r${modeSequence(7, false)}`;
  return { type: 'ask', bytes: place + wrap + back, spoiledRow: grid.row };
};

const forcedSequence = ({ forced }: Cover, modes: ReadonlySet<number>): string =>
  [...forced]
    .filter(([mode]) => modes.has(mode))
    .map(([mode, on]) => modeSequence(mode, on))
    .join('');

const modeProbe = (text: string, covered: Covered): Probe => {
  const { grid, ledger, cover, wasSet } = covered;
  const [, isPrivate, digits] = /^\x1b\[(\?)?(\d+)/.exec(text) ?? [];
  const mode = Number(digits);
  if (!isPrivate || hasEffects.has(mode)) return plain(text);
  const isOn = isPrivateModeOn(grid, ledger, mode);
  if (switchesBuffer.has(mode)) return isOn ? plain(text) : { type: 'answer', bytes: `\x1b[?${mode};2$y` };
  const now = cover.forced.get(mode) ?? (mode === ORIGIN || mode === 69 ? false : wasSet(mode));
  const again = mouse.has(mode) ? forcedSequence(cover, mouse) : '';
  const isReplaced = isOn && again !== ''; // one of ours may have ended it
  if (now === isOn && !isReplaced) return plain(text);
  return plain(modeSequence(mode, isOn) + text + modeSequence(mode, now) + again);
};

/** DECRQSS. */
const statusProbe = (text: string, { grid, ledger }: Covered): Probe => {
  const what = /^\x1bP\$q([^\x1b]*)/.exec(text)?.[1] ?? '';
  if (what === 'm') return plain(`${renditionSequence(grid.rendition)}${text}\x1b[0m`);
  if (what === 'r') return plain(regionSequence(grid) + text);
  if (what === '"q' && grid.isProtected) return plain(`\x1b[1"q${text}\x1b[0"q`);
  if (what === ' q' && ledger.cursorStyleNow() !== 0)
    return plain(`\x1b[${ledger.cursorStyleNow()} q${text}`);
  if (what === 's' && grid.sideMargins)
    return plain(`\x1b[?69h\x1b[${grid.left + 1};${grid.right + 1}s${text}\x1b[?69l`);
  return plain(text);
};

/** Each screen has its own stack of flags: what the child has is pushed, and popped before any key can come. */
const keyboardProbe = (text: string, { grid, ledger }: Covered): Probe =>
  plain(`\x1b[>${ledger.keyboardNow(grid.alternate)}u${text}\x1b[<u`);

export const probeFor = ({ kind, text }: TerminalQuestion, covered: Covered): Probe => {
  switch (kind) {
    case 'cursor':
      return cursorProbe(text, covered);
    case 'mode':
      return modeProbe(text, covered);
    case 'status':
      return statusProbe(text, covered);
    case 'keyboard':
      return keyboardProbe(text, covered);
    case 'other':
      return plain(text);
  }
};

const finals = new Set(Buffer.from('npu\\')); // of questions about the moment, and of ST

/**
 * Cuts output behind everything that may be the end of a question about the moment, so that whoever reads it piece by piece meets the
 * question as things stand then. Pieces may end in other places, too.
 */
export const makeCutter = (): ((bytes: Uint8Array) => readonly Uint8Array[]) => {
  let isInside = true; // an escape sequence has begun, perhaps before the first piece
  return (bytes) => {
    if (!isInside && !bytes.includes(ESC) && !bytes.includes(C1_LEAD)) return [bytes];
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      const isEnd = isInside && finals.has(byte);
      if (byte === ESC || byte === C1_LEAD) isInside = true;
      else if (byte >= 0x40 && byte < 0x80 && byte !== 0x5b) isInside = false;
      if (!isEnd) continue;
      pieces.push(bytes.subarray(from, at + 1));
      from = at + 1;
    }
    if (from < bytes.length) pieces.push(bytes.subarray(from));
    return pieces;
  };
};
