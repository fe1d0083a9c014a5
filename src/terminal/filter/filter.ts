import { makeLedger, type Ledger } from '../modes.js';
import { makeSequence } from './bytes.js';
import { control } from './cursor-rules.js';
import type { Grid } from './grid.js';
import { printCells } from './motion.js';
import {
  notePrinted,
  readCharacter,
  HOLD,
  insertBefore,
  join,
  replace,
  type Pass,
  readEscape,
  readOpen,
  readString,
} from './parser.js';
import { readUsual } from './read-usual.js';

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
const DEL = 0x7f;

const nothing = new Uint8Array();

const readText = (pass: Pass, start: number): number => {
  const { bytes, grid } = pass;
  let end = start + 1;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte < 0x20 || byte >= DEL) break;
  }
  printCells(grid, end - start, start, pass.insert);
  notePrinted(grid, bytes[end - 1] ?? 0, 1);
  return end;
};

const readControl = (pass: Pass, start: number): number => {
  const byte = pass.bytes[start] ?? 0;
  if (byte === DEL) return start + 1;
  pass.grid.lastWidth = 0;
  return replace(pass, start, start + 1, control(pass.grid, byte));
};

/** Reads one element at `start`; returns the offset behind it, or HOLD. */
const readElement = (pass: Pass, start: number): number => {
  if (pass.string) return readString(pass, pass.string, start);
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
    at = readUsual(pass, at);
    if (at === pass.bytes.length) break;
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
    stringEnds: undefined,
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
