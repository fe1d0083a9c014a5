import { decodeAt, INCOMPLETE } from './filter/utf8.js';

const LONGEST = 4; // bytes of a character in UTF-8 (RFC 3629)

/**
 * Keeps the beginning of a character back until its rest is there. xterm.js 6 loses some characters that come in two pieces (seen: `•`
 * before its third byte), though it is meant to join them.
 */
export const makeWholeCharacters = (): ((chunk: Uint8Array) => Uint8Array) => {
  let begun: Uint8Array = new Uint8Array();
  return (chunk) => {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    const end = endOfWhole(bytes);
    begun = bytes.slice(end);
    return bytes.subarray(0, end);
  };
};

/** Where a character begins that is not complete; the length where there is none. */
const endOfWhole = (bytes: Uint8Array): number => {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - LONGEST + 1); at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return decodeAt(bytes, at) === INCOMPLETE ? at : bytes.length;
  }
  return bytes.length;
};
