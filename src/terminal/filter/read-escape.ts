import { dispatchControlSequence } from './dispatch.js';
import { escape } from './escape.js';
import { HOLD, join, replace, type Pass } from './pass.js';
import { readSequence } from './sequence.js';
import { stringStart } from './strings.js';
import { decodeAt, encodedLength, INCOMPLETE, INVALID } from './utf8.js';
import { vt52Escape, vt52Length } from './vt52.js';

/*
 * Escape and control sequences, read as the state diagram of DEC's VT500 parsers has it: controls inside a sequence are executed at
 * once, CAN and SUB abort it, ESC begins a new one. Every reader takes the offset of the first byte and returns the next offset.
 */

const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const MAX_SEQUENCE = 4096; // bytes; longer than any real sequence

/** `ESC …` at `start`. */
export const readEscape = (pass: Pass, start: number): number => {
  if (pass.grid.vt52) return readVt52(pass, start);
  const { bytes } = pass;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 && byte <= 0x2f) continue;
    if (byte === ESC) return at;
    if (byte >= 0x80) return foreignByte(pass, start, at);
    if (byte === CAN || byte === SUB) return at + 1;
    if (byte < 0x20 || byte === 0x7f) return moveBefore(pass, start, at);
    if (at === start + 1) return afterEscape(pass, start, at + 1, byte);
    pass.grid.lastWidth = 0;
    return replace(pass, start, at + 1, escape(pass.grid, latin1(bytes.subarray(start + 1, at + 1))));
  }
  return unfinished(pass, start);
};

/** A C1 control that came as UTF-8 means the same as `ESC` and its code less 0x40 (ECMA-48 5.3). */
export const readC1 = (pass: Pass, start: number, end: number, codePoint: number): number =>
  afterEscape(pass, start, end, codePoint - 0x40);

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Controls inside a sequence take effect before it: they are put before it, and both are read again. */
const moveBefore = (pass: Pass, start: number, at: number): number => {
  const { bytes } = pass;
  let end = at + 1;
  while (bytes[end] === 0) end += 1; // a long run of NULs is moved at once
  pass.bytes = join(
    bytes.subarray(0, start),
    bytes.subarray(at, end),
    bytes.subarray(start, at),
    bytes.subarray(end),
  );
  return start;
};

const unfinished = (pass: Pass, start: number): number => {
  if (pass.bytes.length - start <= MAX_SEQUENCE) return HOLD;
  pass.skipping = true;
  return pass.bytes.length;
};

/** `ESC byte`, or its C1 form, ends before `end`. */
const afterEscape = (pass: Pass, start: number, end: number, byte: number): number => {
  const { grid, ledger } = pass;
  if (byte === 0x5b) return readControlSequence(pass, start, end);
  grid.lastWidth = 0;
  pass.string = stringStart(byte, grid.quirks.escapeKTitle);
  if (pass.string) {
    pass.command = [];
    return end;
  }
  if (byte === 0x3d || byte === 0x3e) ledger.keypad(byte === 0x3d);
  if (byte === 0x63) ledger.reset(false);
  return replace(pass, start, end, escape(grid, String.fromCharCode(byte)));
};

/** `CSI …`, whose parameters begin at `first`. */
const readControlSequence = (pass: Pass, start: number, first: number): number => {
  const { bytes } = pass;
  for (let at = first; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 && byte <= 0x3f) continue;
    if (byte === ESC) return at;
    if (byte === CAN || byte === SUB) return at + 1;
    if (byte >= 0x80) return foreignByte(pass, start, at);
    if (byte < 0x20 || byte === 0x7f) return moveBefore(pass, start, at);
    readSequence(pass.sequence, bytes, first, at);
    return replace(pass, start, at + 1, dispatchControlSequence(pass.grid, pass.ledger, pass.sequence));
  }
  return unfinished(pass, start);
};

/**
 * A byte that no sequence can hold. Terminals differ: some end the sequence, some go on with it. So that ours stays in step they do
 * not get to see it: a byte that is no UTF-8 is left out, a character ends the sequence and is left out with it.
 */
const foreignByte = (pass: Pass, start: number, at: number): number => {
  const { bytes } = pass;
  const codePoint = decodeAt(bytes, at);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) {
    pass.bytes = join(bytes.subarray(0, at), bytes.subarray(at + 1));
    return start;
  }
  const isC1 = codePoint < 0xa0; // begins a sequence of its own
  return replace(pass, start, isC1 ? at : at + encodedLength(codePoint), '');
};

const readVt52 = (pass: Pass, start: number): number => {
  const first = pass.bytes[start + 1];
  const end = start + 1 + vt52Length(first ?? 0);
  if (first === undefined || end > pass.bytes.length) return HOLD;
  return replace(pass, start, end, vt52Escape(pass.grid, pass.bytes.subarray(start + 1, end)));
};
