import { endOfString, stringKindOf } from '../filter/bytes.js';
import type { Grid } from '../filter/grid.js';
import { isPrivateModeOn } from '../filter/grid-modes.js';
import { regionSequence } from '../filter/motion.js';
import { renditionSequence } from '../filter/rendition.js';
import type { ModeTracker } from '../mode-tracker.js';
import { modeSequence, type OverviewSequences } from './sequences.js';

// The child's queries to the terminal while the overview is open.

/** A query to the terminal whose answer does not depend on the screen's contents. */
export interface TerminalQuery {
  readonly kind: 'cursor' | 'mode' | 'status' | 'keyboard' | 'other';
  /** its bytes as Latin-1 */
  readonly text: string;
}

export interface QueryState {
  /** the start of an element whose end has not arrived */
  readonly held: Uint8Array;
  /** inside a string that is too long for a query */
  readonly isInString: boolean;
}

export const startQueryState: QueryState = { held: new Uint8Array(), isInString: false };

export interface ExtractedQueries {
  readonly kept: readonly Uint8Array[];
  readonly queries: readonly TerminalQuery[];
  readonly state: QueryState;
}

const ENQ = 0x05;
const ESC = 0x1b;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const MAX_QUERY = 4096; // bytes; XTGETTCAP and palettes are the long ones

interface Element {
  readonly end: number;
  readonly query?: TerminalQuery['kind'];
}

// Parameters, then intermediates and final: xterm ctlseqs, kitty's keyboard protocol. Without queries for the screen's contents.
const controlQueries: readonly (readonly [RegExp, TerminalQuery['kind']])[] = [
  [/^\??6n$/, 'cursor'],
  [/^\??\d+\$p$/, 'mode'],
  [/^\?u$/, 'keyboard'],
  [
    /^[>=]?0*c$|^5n$|^\?\d+(?:;\d+)*n$|^>0*q$|^[01]?x$|^\?\d+m$|^\?\d+;[14](?:;\d*)*S$|^&u$|^"v$|^#R$/,
    'other',
  ],
  [/^(?:1[1345689]|2[01])(?:;\d*)*t$/, 'other'],
];

const stringKind = (introducer: number, text: string): TerminalQuery['kind'] | undefined => {
  if (introducer === 0x50)
    return text.startsWith('$q') ? 'status' : text.startsWith('+q') ? 'other' : undefined;
  if (introducer === 0x5f) return /^G(?:[^;]*,)?a=q/.test(text) ? 'other' : undefined;
  if (introducer !== 0x5d) return undefined;
  return /^(?:4|5|1\d|21|52|7501);(?:.*[;=])?\?(?:$|;)/.test(text) ? 'other' : undefined;
};

const latin1Text = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');

const controlAt = (bytes: Uint8Array, first: number): Element | undefined => {
  for (let at = first; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return { end: at };
    if (byte < 0x40) continue;
    const text = latin1Text(bytes, first, at + 1);
    const query = controlQueries.find(([pattern]) => pattern.test(text))?.[1];
    return query ? { end: at + 1, query } : { end: at + 1 };
  }
  return undefined;
};

/** Offset after the string's terminator. */
const offsetAfterString = (bytes: Uint8Array, end: number): number | undefined => {
  if (bytes[end] === C1_LEAD) return end + 2;
  if (bytes[end] !== ESC) return end + 1;
  if (end + 1 >= bytes.length) return undefined;
  return bytes[end + 1] === 0x5c ? end + 2 : end;
};

const stringAt = (bytes: Uint8Array, first: number, introducer: number): Element | undefined => {
  const end = endOfString(bytes, first, introducer === 0x5d ? 'command' : 'other');
  const after = end < 0 ? undefined : offsetAfterString(bytes, end);
  if (after === undefined) return undefined;
  const isWhole = after > end && bytes[end] !== 0x18 && bytes[end] !== 0x1a;
  const query = isWhole ? stringKind(introducer, latin1Text(bytes, first, end)) : undefined;
  return query ? { end: after, query } : { end: after };
};

/** The element that starts with ESC, a C1 control or ENQ; undefined while its end has not arrived. */
const elementAt = (bytes: Uint8Array, start: number): Element | undefined => {
  if (bytes[start] === ENQ) return { end: start + 1, query: 'other' };
  const second = bytes[start + 1];
  if (second === undefined) return undefined;
  const isC1 = bytes[start] === C1_LEAD;
  if (isC1 && second >= 0xa0) return { end: start + 2 };
  const introducer = isC1 ? second - 0x40 : second;
  if (introducer === 0x5b) return controlAt(bytes, start + 2);
  if (introducer === 0x5a) return { end: start + 2, query: 'other' };
  return stringKindOf(introducer, false)
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
  return end < 0 ? bytes.length : (offsetAfterString(bytes, end) ?? end);
};

/** Separates queries from the rest of the child's output; the first chunk must start between two elements. */
export const extractQueries = (state: QueryState, chunk: Uint8Array): ExtractedQueries => {
  const bytes = state.held.length > 0 ? Buffer.concat([state.held, chunk]) : chunk;
  const kept: Uint8Array[] = [];
  const queries: TerminalQuery[] = [];
  const inside = state.isInString ? endOfLong(bytes) : 0;
  if (state.isInString && inside === bytes.length)
    return { kept: [bytes], queries, state: { held: startQueryState.held, isInString: true } };
  let from = 0;
  let at = nextStart(bytes, inside);
  while (at < bytes.length) {
    const element = elementAt(bytes, at);
    if (!element) break;
    if (element.query) {
      if (at > from) kept.push(bytes.subarray(from, at));
      queries.push({ kind: element.query, text: latin1Text(bytes, at, element.end) });
      from = element.end;
    }
    at = nextStart(bytes, Math.max(element.end, at + 1));
  }
  const isLong = bytes.length - at > MAX_QUERY;
  const stop = isLong ? bytes.length : at;
  if (stop > from) kept.push(bytes.subarray(from, stop));
  return { kept, queries, state: { held: bytes.slice(stop), isInString: isLong } };
};

/*
 * Forwards the child's queries while the overview is open. The terminal answers them itself and in order: the state that an answer depends
 * on is set as the child has it, in one write with the query, and reset after it.
 */

/** What to do for a query: send it with some state, or answer it. */
export type QueryAction =
  | { readonly type: 'ask'; readonly bytes: string; readonly dirtyRow?: number }
  /** the terminal cannot give the right answer: this is it */
  | { readonly type: 'answer'; readonly bytes: string };

export interface OverviewContext {
  readonly grid: Grid;
  readonly modeTracker: ModeTracker;
  readonly sequences: OverviewSequences;
  /** private modes as they were when the overview was opened */
  readonly wasModeSet: (mode: number) => boolean;
}

const ORIGIN = 6;
const switchesBuffer = new Set([47, 1047, 1049]);
const hasEffects = new Set([2, 3, 40, 1048]); // switching these has side effects
const mouse = new Set([9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]);

const askUnchanged = (text: string): QueryAction => ({ type: 'ask', bytes: text });

/** Printing sets the last-column flag, with which some terminals report another column. */
const cursorAction = (text: string, { grid }: OverviewContext): QueryAction => {
  const row = grid.origin ? grid.row - grid.top : grid.row;
  const column = grid.origin && grid.sideMargins ? grid.column - grid.left : grid.column;
  const origin = grid.origin ? `${regionSequence(grid)}${modeSequence(ORIGIN, true)}` : '';
  const place = `${origin}\x1b[${row + 1};${column + 1}H`;
  const back = grid.origin ? modeSequence(ORIGIN, false) : '';
  if (!grid.pendingWrap) return askUnchanged(place + text + back);
  const wrap = `${modeSequence(7, true)} ${text}\r${modeSequence(7, false)}`;
  return { type: 'ask', bytes: place + wrap + back, dirtyRow: grid.row };
};

const forcedSequence = ({ forcedModes }: OverviewSequences, modes: ReadonlySet<number>): string =>
  [...forcedModes]
    .filter(([mode]) => modes.has(mode))
    .map(([mode, on]) => modeSequence(mode, on))
    .join('');

const modeAction = (text: string, context: OverviewContext): QueryAction => {
  const { grid, modeTracker, sequences, wasModeSet } = context;
  const [, isPrivate, digits] = /^\x1b\[(\?)?(\d+)/.exec(text) ?? [];
  const mode = Number(digits);
  if (!isPrivate || hasEffects.has(mode)) return askUnchanged(text);
  const isOn = isPrivateModeOn(grid, modeTracker, mode);
  if (switchesBuffer.has(mode))
    return isOn ? askUnchanged(text) : { type: 'answer', bytes: `\x1b[?${mode};2$y` };
  const now = sequences.forcedModes.get(mode) ?? (mode === ORIGIN || mode === 69 ? false : wasModeSet(mode));
  const again = mouse.has(mode) ? forcedSequence(sequences, mouse) : '';
  const isReplaced = isOn && again !== ''; // a mode of the overview may have turned it off
  if (now === isOn && !isReplaced) return askUnchanged(text);
  return askUnchanged(modeSequence(mode, isOn) + text + modeSequence(mode, now) + again);
};

/** DECRQSS. */
const statusAction = (text: string, { grid, modeTracker }: OverviewContext): QueryAction => {
  const what = /^\x1bP\$q([^\x1b]*)/.exec(text)?.[1] ?? '';
  if (what === 'm') return askUnchanged(`${renditionSequence(grid.rendition)}${text}\x1b[0m`);
  if (what === 'r') return askUnchanged(regionSequence(grid) + text);
  if (what === '"q' && grid.isProtected) return askUnchanged(`\x1b[1"q${text}\x1b[0"q`);
  if (what === ' q' && modeTracker.currentCursorStyle() !== 0)
    return askUnchanged(`\x1b[${modeTracker.currentCursorStyle()} q${text}`);
  if (what === 's' && grid.sideMargins)
    return askUnchanged(`\x1b[?69h\x1b[${grid.left + 1};${grid.right + 1}s${text}\x1b[?69l`);
  return askUnchanged(text);
};

/** Each screen has its own stack of flags: pushes the child's flags and pops them before any key can arrive. */
const keyboardAction = (text: string, { grid, modeTracker }: OverviewContext): QueryAction =>
  askUnchanged(`\x1b[>${modeTracker.currentKeyboardFlags(grid.alternate)}u${text}\x1b[<u`);

export const actionFor = ({ kind, text }: TerminalQuery, context: OverviewContext): QueryAction => {
  switch (kind) {
    case 'cursor':
      return cursorAction(text, context);
    case 'mode':
      return modeAction(text, context);
    case 'status':
      return statusAction(text, context);
    case 'keyboard':
      return keyboardAction(text, context);
    case 'other':
      return askUnchanged(text);
  }
};

const finals = new Set(Buffer.from('npu\\')); // last bytes of queries about the present state, and of ST

/**
 * Splits output after every byte that may end a query about the present state. A caller that processes one piece at a time then handles
 * each query in the state in which the child sent it. Pieces may end in other places too.
 */
export const makeQuerySplitter = (): ((bytes: Uint8Array) => readonly Uint8Array[]) => {
  let isInside = true; // inside an escape sequence, perhaps from before the first piece
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
