import { makeLedger, type Ledger } from '../ledger.js';
import { control } from './escape.js';
import type { Grid } from './grid.js';
import { HOLD, insertBefore, join, replace, type Pass } from './pass.js';
import { printCells, printWide } from './print.js';
import { readC1, readEscape, readOpen } from './read-escape.js';
import { makeSequence } from './sequence.js';
import { endOfString } from './strings.js';
import { decodeAt, encodedLength, INCOMPLETE, INVALID } from './utf8.js';
import { widthOf } from './width.js';

/**
 * Rewrites the child's output so that a terminal with a footer row shows what one without it would: the table of DESIGN §4.
 * Every byte that needs no change goes out as it came in; a sequence that is split between two chunks waits for its end.
 */
export interface StreamFilter {
  readonly grid: Grid;
  readonly ledger: Ledger;
  /** child's bytes in, terminal's bytes out */
  push: (chunk: Uint8Array) => readonly Uint8Array[];
  /** what is still held of an unfinished sequence, for the end of the output */
  flush: () => Uint8Array;
  /** false inside an OSC, DCS, APC, PM or SOS string, where nothing of ours may be written */
  isGround: () => boolean;
  /** nothing is held: the last element that came is complete */
  isWhole: () => boolean;
}

const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const DEL = 0x7f;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const COMMAND_HEAD = 4096; // bytes of an OSC that the ledger gets to see; hyperlinks are the longest that matter, VTE takes 2083

const nothing = new Uint8Array();

const readText = (pass: Pass, start: number): number => {
  const { bytes, grid } = pass;
  let end = start + 1;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte < 0x20 || byte >= DEL) break;
  }
  printCells(grid, end - start, start, pass.insert);
  grid.lastCodePoint = bytes[end - 1] ?? 0;
  grid.lastWidth = 1;
  grid.repeatLost = false;
  return end;
};

const readCharacter = (pass: Pass, start: number): number => {
  const { grid } = pass;
  const codePoint = decodeAt(pass.bytes, start);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) {
    printCells(grid, grid.quirks.invalidByteWidth, start, pass.insert);
    return start + 1;
  }
  const end = start + encodedLength(codePoint);
  if (codePoint < 0xa0) return readC1(pass, start, end, codePoint);
  const width = widthOf(codePoint);
  if (width === 0) return end;
  if (width === 1) printCells(grid, 1, start, pass.insert);
  else printWide(grid, start, pass.insert);
  grid.lastCodePoint = codePoint;
  grid.lastWidth = width;
  grid.repeatLost = false;
  return end;
};

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

const readString = (pass: Pass, start: number): number => {
  const { bytes, string } = pass;
  const end = string ? endOfString(bytes, start, string) : start;
  if (end < 0) {
    const isHalf = bytes[bytes.length - 1] === C1_LEAD; // perhaps of ST
    return keepCommand(pass, start, isHalf ? bytes.length - 1 : bytes.length);
  }
  if (bytes[end] === ESC && end + 1 === bytes.length) return keepCommand(pass, start, end);
  keepCommand(pass, start, end);
  if (string === 'command') endCommand(pass, bytes[end] ?? 0);
  pass.string = undefined;
  pass.unterminated = bytes[end] === ESC;
  return pass.unterminated ? end : end + (bytes[end] === C1_LEAD ? 2 : 1);
};

const readControl = (pass: Pass, start: number): number => {
  const byte = pass.bytes[start] ?? 0;
  if (byte === DEL) return start + 1;
  pass.grid.lastWidth = 0;
  return replace(pass, start, start + 1, control(pass.grid, byte));
};

/** Reads one element at `start`; returns the offset behind it, or HOLD. */
const readElement = (pass: Pass, start: number): number => {
  if (pass.string) return readString(pass, start);
  if (pass.openLength > 0) return readOpen(pass, start, readControl);
  const byte = pass.bytes[start] ?? 0;
  if (byte >= 0x20 && byte < DEL) return readText(pass, start);
  if (byte >= 0x80) return readCharacter(pass, start);
  if (byte !== ESC) return readControl(pass, start);
  const end = readEscape(pass, start);
  if (end > start) pass.unterminated = false;
  return end;
};

const readChunk = (pass: Pass): void => {
  let at = 0;
  while (at < pass.bytes.length) {
    const next = readElement(pass, at);
    if (next === HOLD) break;
    at = next;
  }
  if (at > pass.from) pass.parts.push(pass.bytes.subarray(pass.from, at));
  pass.held = at < pass.bytes.length ? pass.bytes.slice(at) : nothing;
};

const pushChunk = (pass: Pass, chunk: Uint8Array): readonly Uint8Array[] => {
  const { open, openLength } = pass;
  pass.bytes = pass.held.length > 0 ? join(pass.held, chunk) : chunk;
  pass.from = 0;
  pass.parts = [];
  try {
    readChunk(pass);
  } catch (error) {
    Object.assign(pass, { held: join(open.subarray(0, openLength), pass.bytes), openLength: 0 }); // nothing of it has been sent
    throw error;
  }
  return pass.parts;
};

export const makeStreamFilter = (grid: Grid): StreamFilter => {
  const pass: Pass = {
    grid,
    ledger: makeLedger(),
    sequence: makeSequence(),
    bytes: nothing,
    from: 0,
    parts: [],
    held: nothing,
    string: undefined,
    command: [],
    open: nothing,
    openLength: 0,
    unterminated: false,
    insert: (at, text) => insertBefore(pass, at, text),
  };
  return {
    grid,
    ledger: pass.ledger,
    push: (chunk) => pushChunk(pass, chunk),
    flush: () => {
      const rest = join(pass.open.subarray(0, pass.openLength), pass.held);
      Object.assign(pass, { held: nothing, openLength: 0 });
      return rest;
    },
    isWhole: () => pass.held.length === 0 && pass.openLength === 0,
    isGround: () => pass.string === undefined && !pass.unterminated,
  };
};
