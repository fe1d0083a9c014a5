import type { Ledger } from '../ledger.js';
import type { Grid } from './grid.js';
import type { Insert } from './print.js';
import type { Sequence } from './sequence.js';
import type { StringKind } from './strings.js';

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
