import type { Ledger } from '../modes.js';
import {
  type Sequence,
  type StringKind,
  readSequence,
  stringStart,
  decodeAt,
  encodedLength,
  INCOMPLETE,
  INVALID,
  disputedInString,
  endOfHeader,
  endOfString,
  widthOf,
} from './bytes.js';
import { escape } from './cursor-rules.js';
import { dispatchControlSequence } from './dispatch.js';
import type { Grid } from './grid.js';
import { vt52Escape, vt52Length } from './mode-rules.js';
import { type Insert, printCells, printWide, placeSequence } from './motion.js';

/** Offsets in `bytes`, for the kind of string that was looked for; −1 where there is none. */
export interface StringEnds {
  readonly bytes: Uint8Array;
  readonly kind: StringKind;
  readonly end: number;
  readonly header: number;
}

/** One pass over the child's output: the chunk at hand and what lives from chunk to chunk. Changed in place. */
export interface Pass {
  readonly grid: Grid;
  readonly ledger: Ledger;
  readonly sequence: Sequence;
  /** the chunk, with what was held before it */
  bytes: Uint8Array;
  /** everything before this offset of `bytes` has gone into `parts` */
  from: number;
  parts: Uint8Array[];
  /** bytes of a character or string whose end has not come yet; the terminal has not got them */
  held: Uint8Array;
  /** the first `openLength` bytes are a sequence whose end has not come yet; the terminal has not got them either */
  open: Uint8Array;
  openLength: number;
  /** inside a string, up to its terminator */
  string: StringKind | undefined;
  /** where the string ends in these bytes, and its header; looked for once, however many characters in it are dealt with one by one */
  stringEnds: StringEnds | undefined;
  /** first bytes of an operating system command, for the ledger */
  command: number[];
  /** a string ended with an ESC that has not been sent yet: the terminal is still inside it */
  unterminated: boolean;
  readonly insert: Insert;
}

/** Returned instead of the next offset by a reader whose element is not complete yet. */
export const HOLD = -1;

export const join = (...pieces: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};

/** Puts bytes of ours into the output before offset `at`. */
export const insertBefore = (pass: Pass, at: number, text: string): void => {
  if (at > pass.from) pass.parts.push(pass.bytes.subarray(pass.from, at));
  if (text !== '') pass.parts.push(Buffer.from(text));
  pass.from = at;
};

const STRING_END = '\x1b\\';

/**
 * Sends `instead` for the bytes from `start` to `end`; undefined leaves them as they are. Returns `end`. An ESC that has ended a string
 * may be among what is left out: then the string gets another end.
 */
export const replace = (pass: Pass, start: number, end: number, instead: string | undefined): number => {
  if (instead === undefined) return end;
  insertBefore(
    pass,
    start,
    pass.unterminated && !instead.startsWith('\x1b') ? STRING_END + instead : instead,
  );
  pass.unterminated = false;
  pass.from = end;
  return end;
};

/*
 * A sequence whose bytes do not lie together: controls stand between them, or a chunk has ended. It is taken out of the output and
 * collected, each byte once, and goes out when its last byte has come; controls go out before it.
 */

const MAX_SEQUENCE = 4096; // bytes; longer than any real sequence

/** A sequence of so many bytes is left out: it would be read in part only, and could do anything. */
const isTooLong = (length: number): boolean => length > MAX_SEQUENCE;

/** Begins to collect the sequence whose first bytes lie from `start` to `end`; returns `end`. */
const openSequence = (pass: Pass, start: number, end: number): number => {
  const length = Math.min(end - start, MAX_SEQUENCE + 1);
  pass.open = pass.bytes.slice(start, start + length); // never written over: see `pushChunk`
  pass.openLength = length;
  return replace(pass, start, end, '');
};

/** Begins to collect a control sequence in seven bits, for the introducer from `start` to `end`; returns `end`. */
const openInstead = (pass: Pass, start: number, end: number): number => {
  pass.open = Buffer.from('\x1b[');
  pass.openLength = pass.open.length;
  return replace(pass, start, end, '');
};

/** Collects the bytes of the chunk from `start` to `end`. */
const append = (pass: Pass, start: number, end: number): void => {
  const length = Math.min(pass.openLength + end - start, MAX_SEQUENCE + 1);
  if (length > pass.open.length) {
    const grown = new Uint8Array(Math.max(length, 2 * pass.open.length));
    grown.set(pass.open.subarray(0, pass.openLength));
    pass.open = grown;
  }
  pass.open.set(pass.bytes.subarray(start, start + length - pass.openLength), pass.openLength);
  pass.openLength = length;
};

/** What has been collected; from here on nothing is. */
const closeOpen = (pass: Pass): string => {
  const { open, openLength } = pass;
  pass.openLength = 0;
  return Buffer.from(open.buffer, open.byteOffset, openLength).toString(); // ASCII, or C1 in UTF-8
};

/*
 * Escape and control sequences, read as the state diagram of DEC's VT500 parsers has it: controls inside a sequence are executed at
 * once, CAN and SUB abort it, ESC begins a new one. Every reader takes the offset of the first byte and returns the next offset.
 * A sequence that lies whole in the chunk stays where it is; the others are collected, see `OpenSequence`.
 */

const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const DEL = 0x7f;
const CSI = 0x5b; // behind ESC
const SS2 = 0x4e;
const SS3 = 0x4f;
const INTRODUCER = 2; // bytes: `ESC [`, or the C1 form of it in UTF-8

/** The byte ends the sequence that it stands in. */
const isFinal = (byte: number, isControl: boolean): boolean =>
  byte >= (isControl ? 0x40 : 0x30) && byte < DEL;
const isInner = (byte: number, isControl: boolean): boolean =>
  byte >= 0x20 && byte < (isControl ? 0x40 : 0x30);

/** `ESC …` at `start`. */
export const readEscape = (pass: Pass, start: number): number => {
  if (pass.grid.vt52) return readVt52(pass, start);
  const { bytes } = pass;
  const second = bytes[start + 1];
  if (second === CSI) return readControlSequence(pass, start);
  let at = start + 1;
  while (isInner(bytes[at] ?? 0, false)) at += 1;
  if (!isFinal(bytes[at] ?? 0, false)) return interrupted(pass, start, at);
  // a single shift waits for its character, or it would be one of ours that is shifted
  if (at + 1 === bytes.length && (second === SS2 || second === SS3)) return HOLD;
  const end = at + 1;
  return replace(pass, start, end, isTooLong(end - start) ? '' : endOfEscape(pass, bytes, start, end));
};

/** A C1 control that came as UTF-8 means the same as `ESC` and its code less 0x40 (ECMA-48 5.3). */
const readC1 = (pass: Pass, start: number, end: number, codePoint: number): number => {
  const { grid } = pass;
  const byte = codePoint - 0x40;
  const isPassed = grid.quirks.c1 !== 'unknown';
  if (byte === CSI) return isPassed ? readControlSequence(pass, start) : openInstead(pass, start, end);
  if (grid.quirks.isXtermJs && !xtermJsC1.has(byte)) {
    grid.lastWidth = 0;
    return end;
  }
  const instead = afterEscape(pass, byte);
  return replace(pass, start, end, instead ?? (isPassed ? undefined : `\x1b${String.fromCharCode(byte)}`));
};

// as bytes behind ESC: IND NEL HTS, DCS SOS CSI ST OSC PM APC
const xtermJsC1 = new Set(Buffer.from('DEHPX[\\]^_'));

/** `CSI …` at `start`. Most of what agents send is such a sequence, so that it is read in one loop. */
const readControlSequence = (pass: Pass, start: number): number => {
  const { bytes } = pass;
  for (let at = start + INTRODUCER; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 && byte < 0x40) continue;
    if (byte < 0x20 || byte >= DEL) return interrupted(pass, start, at);
    const end = at + 1;
    const instead = isTooLong(end - start) ? '' : endOfControlSequence(pass, bytes, start, end);
    return instead === undefined ? end : replace(pass, start, end, instead);
  }
  return interrupted(pass, start, bytes.length);
};

/** What ESC interrupts is left out, for what comes next may be bytes of ours. */
const interrupted = (pass: Pass, start: number, at: number): number =>
  pass.bytes[at] === ESC ? replace(pass, start, at, '') : openSequence(pass, start, at);

type End = (pass: Pass, bytes: Uint8Array, start: number, end: number) => string | undefined;

const endOfEscape: End = (pass, bytes, start, end) => {
  if (end - start === 2) return afterEscape(pass, bytes[start + 1] ?? 0);
  pass.grid.lastWidth = 0;
  return escape(pass.grid, String.fromCharCode(...bytes.subarray(start + 1, end)));
};

const endOfControlSequence: End = (pass, bytes, start, end) => {
  readSequence(pass.sequence, bytes, start + INTRODUCER, end - 1);
  return dispatchControlSequence(pass.grid, pass.ledger, pass.sequence);
};

/** What `ESC byte`, or its C1 form, does. */
const afterEscape = (pass: Pass, byte: number): string | undefined => {
  const { grid, ledger } = pass;
  pass.string = stringStart(byte, grid.quirks.escapeKTitle);
  if (pass.string !== 'other' || !grid.quirks.isXtermJs) grid.lastWidth = 0;
  if (pass.string) {
    pass.command = [];
    return undefined;
  }
  if (byte === 0x3d || byte === 0x3e) ledger.keypad(byte === 0x3d);
  if (byte === 0x63) ledger.reset(false);
  return escape(grid, String.fromCharCode(byte));
};

/** Goes on with the open sequence at `at`. `readControl` reads a control as between two sequences. */
export const readOpen = (pass: Pass, at: number, readControl: (pass: Pass, at: number) => number): number => {
  const byte = pass.bytes[at] ?? 0;
  if (byte === ESC) {
    closeOpen(pass);
    return at;
  }
  if (byte === CAN || byte === SUB)
    return replace(pass, at, at + 1, closeOpen(pass) + String.fromCharCode(byte));
  if (byte >= 0x80) return readForeign(pass, at);
  return byte < 0x20 || byte === DEL ? readControl(pass, at) : readInner(pass, at);
};

/** A run of bytes that belong to the open sequence, the final one if it is there. */
const readInner = (pass: Pass, start: number): number => {
  const { bytes } = pass;
  let at = start;
  if (pass.openLength === 1 && bytes[at] === CSI) at += 1;
  const isControl =
    at > start || (pass.openLength >= INTRODUCER && (pass.open[1] === CSI || pass.open[0] !== ESC));
  while (isInner(bytes[at] ?? 0, isControl)) at += 1;
  const isEnd = isFinal(bytes[at] ?? 0, isControl);
  const end = isEnd ? at + 1 : at;
  append(pass, start, end);
  if (!isEnd) return replace(pass, start, end, '');
  const { open, openLength } = pass;
  const whole = closeOpen(pass);
  if (isTooLong(openLength)) return replace(pass, start, end, '');
  const act = isControl ? endOfControlSequence : endOfEscape;
  return replace(pass, start, end, act(pass, open, 0, openLength) ?? whole);
};

/**
 * A byte that no sequence can hold. Terminals differ: some end the sequence, some go on with it. So that ours stays in step they do
 * not get to see it: a byte that is no UTF-8 is left out, a character ends the sequence and is left out with it.
 */
const readForeign = (pass: Pass, at: number): number => {
  const codePoint = decodeAt(pass.bytes, at);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) return replace(pass, at, at + 1, '');
  closeOpen(pass);
  const isC1 = codePoint < 0xa0; // begins a sequence of its own
  return isC1 ? at : replace(pass, at, at + encodedLength(codePoint), '');
};

const readVt52 = (pass: Pass, start: number): number => {
  const first = pass.bytes[start + 1];
  const end = start + 1 + vt52Length(first ?? 0);
  if (first === undefined || end > pass.bytes.length) return HOLD;
  return replace(pass, start, end, vt52Escape(pass.grid, pass.bytes.subarray(start + 1, end)));
};

/* OSC, DCS, SOS, PM and APC strings: they pass as they are, and what an operating system command leaves behind goes into the ledger. */

const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const COMMAND_HEAD = 4096; // bytes of an OSC that the ledger gets to see; hyperlinks are the longest that matter, VTE takes 2083

/** Keeps what the ledger wants to see of a command; one byte more says that it is not all. */
const keepCommand = (pass: Pass, start: number, end: number): number => {
  for (let at = start; at < end && pass.command.length <= COMMAND_HEAD; at += 1)
    pass.command.push(pass.bytes[at] ?? 0);
  return end > start ? end : HOLD;
};

/** BEL and ST end a command; ESC does too, whatever comes after it; CAN and SUB make it void. */
const endCommand = ({ ledger, command }: Pass, byte: number): void => {
  if (byte === CAN || byte === SUB) return;
  const text = String.fromCharCode(...command.slice(0, COMMAND_HEAD));
  ledger.command({ text, isWhole: command.length <= COMMAND_HEAD });
};

/** Looks for the ends of the string that goes on at `start`, unless that is known of these bytes. */
const endsFrom = (pass: Pass, kind: StringKind, start: number): StringEnds => {
  const { bytes, stringEnds: known } = pass;
  const isValid = known?.bytes === bytes && known.kind === kind && (known.end < 0 || known.end >= start);
  if (known && isValid && (known.header < 0 || known.header > start)) return known;
  const end = endOfString(bytes, start, kind);
  const header = kind === 'header' ? endOfHeader(bytes, start, end < 0 ? bytes.length : end) : -1;
  pass.stringEnds = { bytes, kind, end, header };
  return pass.stringEnds;
};

/** Reads on in the string at `start`; returns the next offset. */
export const readString = (pass: Pass, kind: StringKind, start: number): number => {
  const { bytes } = pass;
  const { end: found, header } = endsFrom(pass, kind, start);
  const end = found < 0 ? bytes.length : found;
  const disputed = disputedInString(bytes, start, header < 0 ? end : header, kind);
  if (disputed >= 0) return readDisputed(pass, start, disputed);
  if (header >= 0) {
    pass.string = 'device';
    return header;
  }
  if (found < 0) {
    const isHalf = bytes[end - 1] === C1_LEAD; // perhaps of ST
    return keepCommand(pass, start, isHalf ? end - 1 : end);
  }
  if (bytes[end] === ESC && end + 1 === bytes.length) return keepCommand(pass, start, end);
  keepCommand(pass, start, end);
  if (kind === 'command') endCommand(pass, bytes[end] ?? 0);
  pass.string = pass.stringEnds = undefined;
  pass.unterminated = bytes[end] === ESC;
  return pass.unterminated ? end : end + (bytes[end] === C1_LEAD ? 2 : 1);
};

/** The character at `at`: left out, since terminals disagree about it, except in xterm.js, which leaves the string there. */
const readDisputed = (pass: Pass, start: number, at: number): number => {
  if (at > start) return keepCommand(pass, start, at);
  const codePoint = decodeAt(pass.bytes, at);
  if (codePoint === INCOMPLETE) return HOLD;
  const end = codePoint === INVALID ? at + 1 : at + encodedLength(codePoint);
  if (!pass.grid.quirks.isXtermJs) return replace(pass, at, end, '');
  if (codePoint === INVALID) return end;
  pass.string = pass.stringEnds = undefined;
  return codePoint < 0xa0 ? at : end;
};

/* Characters beyond ASCII, as UTF-8. */

const REPLACEMENT = '\ufffd';
const MOST_MARKS = 32; // in UTF-16 units; no text has as many on one character

/** Remembers what was printed last, for REP and for combining characters. */
export const notePrinted = (grid: Grid, codePoint: number, width: number): void => {
  grid.lastCodePoint = codePoint;
  grid.lastWidth = width;
  if (grid.lastMarks !== '') grid.lastMarks = '';
  if (grid.repeated) grid.repeated = false;
  if (grid.repeatLost) grid.repeatLost = false;
};

/** Reads the character at `start`; returns the next offset. */
export const readCharacter = (pass: Pass, start: number): number => {
  const { grid } = pass;
  const codePoint = decodeAt(pass.bytes, start);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) return readInvalid(pass, start);
  const end = start + encodedLength(codePoint);
  if (codePoint < 0xa0) return readC1(pass, start, end, codePoint);
  const width = widthOf(codePoint);
  if (width === 0) return readMark(pass, start, end, codePoint);
  if (width === 1) printCells(grid, 1, start, pass.insert);
  else printWide(grid, start, pass.insert);
  notePrinted(grid, codePoint, width);
  return end;
};

/** Terminals differ in how many cells they give to bytes that are no UTF-8: one for each, except in xterm.js, which prints nothing. */
const readInvalid = (pass: Pass, start: number): number => {
  const { grid } = pass;
  if (grid.quirks.isXtermJs) return start + 1;
  printCells(grid, 1, start, pass.insert);
  notePrinted(grid, REPLACEMENT.charCodeAt(0), 1);
  return replace(pass, start, start + 1, REPLACEMENT);
};

/** A combining character joins the one before it, and has none before it right after a control. */
const readMark = (pass: Pass, start: number, end: number, codePoint: number): number => {
  const { grid } = pass;
  const mark = String.fromCodePoint(codePoint);
  if (grid.lastWidth === 0) return readLoneMark(pass, start, end, mark);
  const before = String.fromCodePoint(grid.lastCodePoint) + grid.lastMarks;
  if (grid.lastMarks.length < MOST_MARKS) grid.lastMarks += mark;
  const first = grid.column - grid.lastWidth + (grid.pendingWrap ? 1 : 0);
  const isLost = grid.repeatLost && first >= 0;
  if (!isLost) return end;
  // a paint came between: the terminal would put it on the footer, or on nothing
  grid.repeatLost = grid.insertMode; // the switch back comes between the next mark and its letter, too
  grid.wrapLost = false;
  const [overwrite, insert] = grid.insertMode ? ['\x1b[4l', '\x1b[4h'] : ['', ''];
  return replace(pass, start, end, placeSequence(grid, first) + overwrite + before + mark + insert);
};

/** xterm.js gives it a place of its own, others put it on whatever stands before the cursor. */
const readLoneMark = (pass: Pass, start: number, end: number, mark: string): number => {
  const { grid } = pass;
  if (grid.pendingWrap) return end;
  if (grid.quirks.isXtermJs) {
    printCells(grid, 1, start, pass.insert);
    return end;
  }
  return replace(pass, start, end, mark + placeSequence(grid));
};
