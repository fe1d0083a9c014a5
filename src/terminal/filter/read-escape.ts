import { dispatchControlSequence } from './dispatch.js';
import { escape } from './escape.js';
import { append, closeOpen, isTooLong, openInstead, openSequence } from './open-sequence.js';
import { HOLD, replace, type Pass } from './pass.js';
import { readSequence } from './sequence.js';
import { stringStart } from './strings.js';
import { decodeAt, encodedLength, INCOMPLETE, INVALID } from './utf8.js';
import { vt52Escape, vt52Length } from './vt52.js';

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
export const readC1 = (pass: Pass, start: number, end: number, codePoint: number): number => {
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
