/**
 * Strings that end with ST. An operating system command may also end with BEL (xterm ctlseqs); a device control string is a `header` up
 * to its final byte and `device` after it.
 */
export type StringKind = 'command' | 'header' | 'device' | 'other';

const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8

/** The kind of string that `ESC` + this byte starts: OSC, DCS, SOS, PM, APC (ECMA-48 8.3), or GNU screen's title. */
export const stringStart = (byte: number, escapeKTitle: boolean): StringKind | undefined => {
  if (byte === 0x5d) return 'command';
  if (byte === 0x50) return 'header';
  if (byte === 0x58 || byte === 0x5e || byte === 0x5f) return 'other';
  return byte === 0x6b && escapeKTitle ? 'other' : undefined;
};

/** Offset of the byte that ends the string: ESC, CAN, SUB, BEL for a command, or the C1 form of ST in UTF-8; -1 if none is here. */
export const endOfString = (bytes: Uint8Array, from: number, kind: StringKind): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === ESC || byte === CAN || byte === SUB) return at;
    if (byte === BEL && kind === 'command') return at;
    if (byte === C1_LEAD && bytes[at + 1] === 0x9c) return at;
  }
  return -1;
};

const isC1 = (bytes: Uint8Array, at: number): boolean => {
  const second = bytes[at + 1] ?? 0;
  return bytes[at] === C1_LEAD && second >= 0x80 && second < 0xa0;
};

/** Offset behind the final byte of a device control string's header; -1 where it does not come before `to`. */
export const endOfHeader = (bytes: Uint8Array, from: number, to: number): number => {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x40 && byte < 0x7f) return at + 1;
  }
  return -1;
};

/**
 * Offset of the first character in a part of a string that terminals disagree about, -1 where there is none: xterm.js leaves any string at
 * a C1 control, and at every character beyond ASCII where none can be meant.
 */
export const disputedInString = (bytes: Uint8Array, from: number, to: number, kind: StringKind): number => {
  if (kind === 'command' || kind === 'device') {
    for (let at = bytes.indexOf(C1_LEAD, from); at >= 0 && at < to; at = bytes.indexOf(C1_LEAD, at + 1))
      if (isC1(bytes, at)) return at;
    return -1;
  }
  for (let at = from; at < to; at += 1) if ((bytes[at] ?? 0) >= 0x80) return at;
  return -1;
};
