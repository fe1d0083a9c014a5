import { replace, type Pass } from './pass.js';

/*
 * A sequence whose bytes do not lie together: controls stand between them, or a chunk has ended. It is taken out of the output and
 * collected, each byte once, and goes out when its last byte has come; controls go out before it.
 */

const MAX_SEQUENCE = 4096; // bytes; longer than any real sequence

/** A sequence of so many bytes is left out: it would be read in part only, and could do anything. */
export const isTooLong = (length: number): boolean => length > MAX_SEQUENCE;

/** Begins to collect the sequence whose first bytes lie from `start` to `end`; returns `end`. */
export const openSequence = (pass: Pass, start: number, end: number): number => {
  const length = Math.min(end - start, MAX_SEQUENCE + 1);
  pass.open = pass.bytes.slice(start, start + length); // never written over: see `pushChunk`
  pass.openLength = length;
  return replace(pass, start, end, '');
};

/** Begins to collect a control sequence in seven bits, for the introducer from `start` to `end`; returns `end`. */
export const openInstead = (pass: Pass, start: number, end: number): number => {
  pass.open = Buffer.from('\x1b[');
  pass.openLength = pass.open.length;
  return replace(pass, start, end, '');
};

/** Collects the bytes of the chunk from `start` to `end`. */
export const append = (pass: Pass, start: number, end: number): void => {
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
export const closeOpen = (pass: Pass): string => {
  const { open, openLength } = pass;
  pass.openLength = 0;
  return Buffer.from(open.buffer, open.byteOffset, openLength).toString(); // ASCII, or C1 in UTF-8
};
