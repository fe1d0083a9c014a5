import type { ModeTracker } from '../mode-tracker.js';
import {
  type ControlSequence,
  type StringKind,
  parseControlSequence,
  stringKindOf,
  decodeAt,
  encodedLength,
  INCOMPLETE,
  INVALID,
  latin1,
  findAmbiguous,
  endOfHeader,
  endOfString,
  widthOf,
} from './bytes.js';
import { escape } from './cursor-rules.js';
import { dispatchControlSequence } from './dispatch.js';
import type { ReusedBytes } from '../reused-bytes.js';
import type { Grid } from './grid.js';
import { vt52Escape, vt52Length } from './grid-modes.js';
import { type Insert, printCells, printWide, cursorPositionSequence } from './motion.js';
import type { NotedRenditions } from './rendition.js';

// Reads escape sequences, control sequences, strings and characters from the child's output.

/** Where the current string and its header end in `bytes`; −1 if not in these bytes. */
export interface StringEnds {
  readonly bytes: Uint8Array;
  readonly kind: StringKind;
  readonly end: number;
  readonly header: number;
}

/** State of the filter: the current chunk and what is kept between chunks. Changed in place. */
export interface FilterState {
  readonly grid: Grid;
  readonly modeTracker: ModeTracker;
  readonly sequence: ControlSequence;
  /** of the present chunk; none between two elements that the fast path does not read */
  readonly noted: NotedRenditions;
  /** the chunk, preceded by the bytes held before it */
  bytes: Uint8Array;
  /** bytes before this offset are already in `output`, or were replaced */
  sentUpTo: number;
  /** what is sent of the chunk, if that is not the chunk itself */
  readonly output: ReusedBytes;
  /** bytes of an incomplete character or string; not sent to the terminal yet */
  held: Uint8Array;
  readonly holder: {
    /** a copy that is valid until the next but one call */
    readonly hold: (rest: Uint8Array) => Uint8Array;
    /** what was held last, and the chunk behind it */
    readonly join: (held: Uint8Array, chunk: Uint8Array) => Uint8Array;
  };
  /** the first `partialLength` bytes are an incomplete sequence; not sent to the terminal yet */
  partial: Uint8Array;
  partialLength: number;
  /** the kind of string that the output is inside of */
  string: StringKind | undefined;
  /** cached ends of the string, so that they are searched for only once per chunk */
  stringEnds: StringEnds | undefined;
  /** first bytes of an operating system command, as Latin-1, for the mode tracker */
  command: string;
  /** a string ended with an ESC that has not been sent yet: for the terminal it is still open */
  isStringOpen: boolean;
  readonly insert: Insert;
}

/** A reader returns this instead of the next offset if its element is incomplete. */
export const HOLD = -1;

export const concatBytes = (...pieces: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

/** Inserts bytes into the output before offset `at`. */
export const insertBefore = (state: FilterState, at: number, text: string): void => {
  if (at > state.sentUpTo) state.output.add(state.bytes.subarray(state.sentUpTo, at));
  state.output.addText(text);
  state.sentUpTo = at;
};

const STRING_END = '\x1b\\';

/**
 * Sends `instead` for the bytes from `start` to `end`; undefined keeps them. Returns `end`. If the removed bytes include the ESC that ended
 * a string, the string gets another terminator.
 */
export const replace = (
  state: FilterState,
  start: number,
  end: number,
  instead: string | undefined,
): number => {
  if (instead === undefined) return end;
  insertBefore(
    state,
    start,
    state.isStringOpen && !instead.startsWith('\x1b') ? STRING_END + instead : instead,
  );
  state.isStringOpen = false;
  state.sentUpTo = end;
  return end;
};

/*
 * Partial sequences: sequences with controls inside, or split between chunks. Their bytes are removed from the output, collected, and
 * sent when the last byte has arrived; the controls are sent before them.
 */

const MAX_SEQUENCE = 4096; // bytes; longer than any real sequence

/** A sequence longer than the limit is dropped, since only a part of it would be read. */
const isTooLong = (length: number): boolean => length > MAX_SEQUENCE;

/** Starts to collect the sequence whose first bytes are from `start` to `end`; returns `end`. */
const startPartial = (state: FilterState, start: number, end: number): number => {
  const length = Math.min(end - start, MAX_SEQUENCE + 1);
  state.partial = state.bytes.slice(start, start + length); // never overwritten: see `pushChunk`
  state.partialLength = length;
  return replace(state, start, end, '');
};

/** Starts to collect a control sequence, with the introducer from `start` to `end` replaced by its 7-bit form; returns `end`. */
const startSevenBitPartial = (state: FilterState, start: number, end: number): number => {
  state.partial = Buffer.from('\x1b[');
  state.partialLength = state.partial.length;
  return replace(state, start, end, '');
};

/** Collects the bytes of the chunk from `start` to `end`. */
const appendPartial = (state: FilterState, start: number, end: number): void => {
  const length = Math.min(state.partialLength + end - start, MAX_SEQUENCE + 1);
  if (length > state.partial.length) {
    const grown = new Uint8Array(Math.max(length, 2 * state.partial.length));
    grown.set(state.partial.subarray(0, state.partialLength));
    state.partial = grown;
  }
  state.partial.set(state.bytes.subarray(start, start + length - state.partialLength), state.partialLength);
  state.partialLength = length;
};

/** Returns the collected bytes and stops collecting. */
const takePartial = (state: FilterState): string => {
  const { partial, partialLength } = state;
  state.partialLength = 0;
  return Buffer.from(partial.buffer, partial.byteOffset, partialLength).toString(); // ASCII, or C1 in UTF-8
};

/*
 * Escape and control sequences, read like DEC's VT500 parser: controls inside a sequence are executed at once, CAN and SUB abort it, ESC
 * starts a new one. Every reader takes the offset of the first byte and returns the next offset.
 * A sequence that is complete in the chunk stays in place; others are collected as partial sequences.
 */

const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const DEL = 0x7f;
const CSI = 0x5b; // after ESC
const SS2 = 0x4e;
const SS3 = 0x4f;
const INTRODUCER = 2; // bytes: `ESC [`, or the C1 form of it in UTF-8

/** True for a byte that ends a sequence. */
const isFinal = (byte: number, isControl: boolean): boolean =>
  byte >= (isControl ? 0x40 : 0x30) && byte < DEL;
const isInner = (byte: number, isControl: boolean): boolean =>
  byte >= 0x20 && byte < (isControl ? 0x40 : 0x30);

/** `ESC …` at `start`. */
export const readEscape = (state: FilterState, start: number): number => {
  if (state.grid.vt52) return readVt52(state, start);
  const { bytes } = state;
  const second = bytes[start + 1];
  if (second === CSI) return readControlSequence(state, start);
  let at = start + 1;
  while (isInner(bytes[at] ?? 0, false)) at += 1;
  if (!isFinal(bytes[at] ?? 0, false)) return interruptSequence(state, start, at);
  // a single shift waits for its character, or it would affect a character of the wrapper
  if (at + 1 === bytes.length && (second === SS2 || second === SS3)) return HOLD;
  const end = at + 1;
  return replace(state, start, end, isTooLong(end - start) ? '' : endOfEscape(state, bytes, start, end));
};

/** A C1 control in UTF-8 means the same as `ESC` and its code minus 0x40 (ECMA-48 5.3). */
const readC1 = (state: FilterState, start: number, end: number, codePoint: number): number => {
  const { grid } = state;
  const byte = codePoint - 0x40;
  const isPassed = grid.quirks.c1 !== 'unknown';
  if (byte === CSI)
    return isPassed ? readControlSequence(state, start) : startSevenBitPartial(state, start, end);
  if (grid.quirks.isXtermJs && !xtermJsC1.has(byte)) {
    grid.lastWidth = 0;
    return end;
  }
  const instead = afterEscape(state, byte);
  return replace(state, start, end, instead ?? (isPassed ? undefined : `\x1b${String.fromCharCode(byte)}`));
};

// as bytes after ESC: IND NEL HTS, DCS SOS CSI ST OSC PM APC
const xtermJsC1 = new Set(Buffer.from('DEHPX[\\]^_'));

/** `CSI …` at `start`, the most frequent kind of sequence, so it is read in one loop. */
const readControlSequence = (state: FilterState, start: number): number => {
  const { bytes } = state;
  for (let at = start + INTRODUCER; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 && byte < 0x40) continue;
    if (byte < 0x20 || byte >= DEL) return interruptSequence(state, start, at);
    const end = at + 1;
    const instead = isTooLong(end - start) ? '' : endOfControlSequence(state, bytes, start, end);
    return instead === undefined ? end : replace(state, start, end, instead);
  }
  return interruptSequence(state, start, bytes.length);
};

/** A sequence interrupted by ESC is dropped, since the next bytes sent may be the wrapper's. */
const interruptSequence = (state: FilterState, start: number, at: number): number =>
  state.bytes[at] === ESC ? replace(state, start, at, '') : startPartial(state, start, at);

type End = (state: FilterState, bytes: Uint8Array, start: number, end: number) => string | undefined;

const endOfEscape: End = (state, bytes, start, end) => {
  if (end - start === 2) return afterEscape(state, bytes[start + 1] ?? 0);
  state.grid.lastWidth = 0;
  return escape(state.grid, String.fromCharCode(...bytes.subarray(start + 1, end)));
};

const endOfControlSequence: End = (state, bytes, start, end) => {
  parseControlSequence(state.sequence, bytes, start + INTRODUCER, end - 1);
  return dispatchControlSequence(state.grid, state.modeTracker, state.sequence);
};

/** Applies `ESC byte` or its C1 form. */
const afterEscape = (state: FilterState, byte: number): string | undefined => {
  const { grid, modeTracker } = state;
  state.string = stringKindOf(byte, grid.quirks.escapeKTitle);
  if (state.string !== 'other' || !grid.quirks.isXtermJs) grid.lastWidth = 0;
  if (state.string) {
    state.command = '';
    return undefined;
  }
  if (byte === 0x3d || byte === 0x3e) modeTracker.keypad(byte === 0x3d);
  if (byte === 0x63) modeTracker.reset(false);
  return escape(grid, String.fromCharCode(byte));
};

/** Continues the partial sequence at `at`. `readControl` reads a control as between two sequences. */
export const readPartial = (
  state: FilterState,
  at: number,
  readControl: (state: FilterState, at: number) => number,
): number => {
  const byte = state.bytes[at] ?? 0;
  if (byte === ESC) {
    takePartial(state);
    return at;
  }
  if (byte === CAN || byte === SUB)
    return replace(state, at, at + 1, takePartial(state) + String.fromCharCode(byte));
  if (byte >= 0x80) return readUnexpected(state, at);
  return byte < 0x20 || byte === DEL ? readControl(state, at) : readInner(state, at);
};

/** Bytes that belong to the partial sequence, with the final one if present. */
const readInner = (state: FilterState, start: number): number => {
  const { bytes } = state;
  let at = start;
  if (state.partialLength === 1 && bytes[at] === CSI) at += 1;
  const isControl =
    at > start ||
    (state.partialLength >= INTRODUCER && (state.partial[1] === CSI || state.partial[0] !== ESC));
  while (isInner(bytes[at] ?? 0, isControl)) at += 1;
  const isEnd = isFinal(bytes[at] ?? 0, isControl);
  const end = isEnd ? at + 1 : at;
  appendPartial(state, start, end);
  if (!isEnd) return replace(state, start, end, '');
  const { partial, partialLength } = state;
  const whole = takePartial(state);
  if (isTooLong(partialLength)) return replace(state, start, end, '');
  const act = isControl ? endOfControlSequence : endOfEscape;
  return replace(state, start, end, act(state, partial, 0, partialLength) ?? whole);
};

/**
 * A byte that cannot be part of a sequence. Some terminals end the sequence, some continue it, so it is not sent: a byte that is not UTF-8
 * is dropped, a character ends the sequence and is dropped with it.
 */
const readUnexpected = (state: FilterState, at: number): number => {
  const codePoint = decodeAt(state.bytes, at);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) return replace(state, at, at + 1, '');
  takePartial(state);
  const isC1 = codePoint < 0xa0; // starts another sequence
  return isC1 ? at : replace(state, at, at + encodedLength(codePoint), '');
};

const readVt52 = (state: FilterState, start: number): number => {
  const first = state.bytes[start + 1];
  const end = start + 1 + vt52Length(first ?? 0);
  if (first === undefined || end > state.bytes.length) return HOLD;
  return replace(state, start, end, vt52Escape(state.grid, state.bytes.subarray(start + 1, end)));
};

/* OSC, DCS, SOS, PM and APC strings pass unchanged; the mode tracker gets the operating system commands. */

const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const COMMAND_HEAD = 4096; // bytes of an OSC that the mode tracker gets; hyperlinks are the longest relevant ones, VTE takes 2083

/** Collects the start of a command for the mode tracker; one byte more than COMMAND_HEAD marks it as incomplete. */
const collectCommand = (state: FilterState, start: number, end: number): number => {
  const room = COMMAND_HEAD + 1 - state.command.length;
  if (room > 0 && end > start) state.command += latin1(state.bytes, start, Math.min(end, start + room));
  return end > start ? end : HOLD;
};

/** BEL, ST and ESC (whatever follows) end a command; CAN and SUB cancel it. */
const endCommand = ({ modeTracker, command }: FilterState, byte: number): void => {
  if (byte === CAN || byte === SUB) return;
  modeTracker.trackCommand({
    text: command.slice(0, COMMAND_HEAD),
    isComplete: command.length <= COMMAND_HEAD,
  });
};

/** Finds the ends of the string that continues at `start`; cached for the same bytes. */
const findStringEnds = (state: FilterState, kind: StringKind, start: number): StringEnds => {
  const { bytes, stringEnds: known } = state;
  const isValid = known?.bytes === bytes && known.kind === kind && (known.end < 0 || known.end >= start);
  if (known && isValid && (known.header < 0 || known.header > start)) return known;
  const end = endOfString(bytes, start, kind);
  const header = kind === 'header' ? endOfHeader(bytes, start, end < 0 ? bytes.length : end) : -1;
  state.stringEnds = { bytes, kind, end, header };
  return state.stringEnds;
};

/** Continues the string at `start`; returns the next offset. */
export const readString = (state: FilterState, kind: StringKind, start: number): number => {
  const { bytes } = state;
  const { end: found, header } = findStringEnds(state, kind, start);
  const end = found < 0 ? bytes.length : found;
  const ambiguous = findAmbiguous(bytes, start, header < 0 ? end : header, kind);
  if (ambiguous >= 0) return readAmbiguous(state, start, ambiguous);
  if (header >= 0) {
    state.string = 'device';
    return header;
  }
  if (found < 0) {
    const isHalf = bytes[end - 1] === C1_LEAD; // may be the first byte of ST
    return collectCommand(state, start, isHalf ? end - 1 : end);
  }
  if (bytes[end] === ESC && end + 1 === bytes.length) return collectCommand(state, start, end);
  collectCommand(state, start, end);
  if (kind === 'command') endCommand(state, bytes[end] ?? 0);
  if (bytes[end] === CAN || bytes[end] === SUB) state.grid.lastWidth = 0; // as after any control, in xterm.js too
  state.string = state.stringEnds = undefined;
  state.isStringOpen = bytes[end] === ESC;
  return state.isStringOpen ? end : end + (bytes[end] === C1_LEAD ? 2 : 1);
};

/** The character at `at`, on which terminals disagree: dropped, except for xterm.js, which ends the string there. */
const readAmbiguous = (state: FilterState, start: number, at: number): number => {
  if (at > start) return collectCommand(state, start, at);
  const codePoint = decodeAt(state.bytes, at);
  if (codePoint === INCOMPLETE) return HOLD;
  const end = codePoint === INVALID ? at + 1 : at + encodedLength(codePoint);
  if (!state.grid.quirks.isXtermJs) return replace(state, at, end, '');
  if (codePoint === INVALID) return end;
  state.string = state.stringEnds = undefined;
  return codePoint < 0xa0 ? at : end;
};

/* Characters beyond ASCII, as UTF-8. */

const REPLACEMENT = '\ufffd';
const MAX_COMBINING = 32; // UTF-16 units; no real text has as many on one character

/** Records the printed character, for REP and for combining characters. */
export const notePrinted = (grid: Grid, codePoint: number, width: number): void => {
  grid.lastCodePoint = codePoint;
  grid.lastWidth = width;
  if (grid.lastCombining !== '') grid.lastCombining = '';
  if (grid.repeated) grid.repeated = false;
  if (grid.repeatLost) grid.repeatLost = false;
};

/** Reads the character at `start`; returns the next offset. */
export const readCharacter = (state: FilterState, start: number): number => {
  const { grid } = state;
  const codePoint = decodeAt(state.bytes, start);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) return readInvalid(state, start);
  const end = start + encodedLength(codePoint);
  if (codePoint < 0xa0) return readC1(state, start, end, codePoint);
  const width = widthOf(codePoint);
  if (width === 0) return readCombining(state, start, end, codePoint);
  if (width === 1) printCells(grid, 1, start, state.insert);
  else printWide(grid, start, state.insert);
  notePrinted(grid, codePoint, width);
  return end;
};

/** Terminals differ in how many cells invalid UTF-8 takes, so each byte becomes U+FFFD; except for xterm.js, which prints nothing. */
const readInvalid = (state: FilterState, start: number): number => {
  const { grid } = state;
  if (grid.quirks.isXtermJs) return start + 1;
  printCells(grid, 1, start, state.insert);
  notePrinted(grid, REPLACEMENT.charCodeAt(0), 1);
  return replace(state, start, start + 1, REPLACEMENT);
};

/** A combining character joins the character before it; after a control there is none. */
const readCombining = (state: FilterState, start: number, end: number, codePoint: number): number => {
  const { grid } = state;
  const mark = String.fromCodePoint(codePoint);
  if (grid.lastWidth === 0) return readLoneCombining(state, start, end, mark);
  const before = String.fromCodePoint(grid.lastCodePoint) + grid.lastCombining;
  if (grid.lastCombining.length < MAX_COMBINING) grid.lastCombining += mark;
  const first = grid.column - grid.lastWidth + (grid.pendingWrap ? 1 : 0);
  const isLost = grid.repeatLost && first >= 0;
  if (!isLost) return end;
  // a paint came between: the terminal would add it to a character of the footer, or to none
  grid.repeatLost = grid.insertMode; // `CSI 4 h` now comes between the letter and the next combining character
  grid.wrapLost = false;
  const [overwrite, insert] = grid.insertMode ? ['\x1b[4l', '\x1b[4h'] : ['', ''];
  return replace(state, start, end, cursorPositionSequence(grid, first) + overwrite + before + mark + insert);
};

/** xterm.js gives it a cell of its own, others add it to the character before the cursor. */
const readLoneCombining = (state: FilterState, start: number, end: number, mark: string): number => {
  const { grid } = state;
  if (grid.pendingWrap) return end;
  if (grid.quirks.isXtermJs) {
    printCells(grid, 1, start, state.insert);
    return end;
  }
  return replace(state, start, end, mark + cursorPositionSequence(grid));
};
