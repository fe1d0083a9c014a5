/** Strings that end with ST. An operating system command may also end with BEL (xterm ctlseqs). */
export type StringKind = 'command' | 'other';

const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;

/** The kind of string that `ESC` + this byte starts: OSC, DCS, SOS, PM, APC (ECMA-48 8.3), or GNU screen's title. */
export const stringStart = (byte: number, escapeKTitle: boolean): StringKind | undefined => {
  if (byte === 0x5d) return 'command';
  if (byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) return 'other';
  return byte === 0x6b && escapeKTitle ? 'other' : undefined;
};

/** Offset of the byte that ends the string: ESC, CAN, SUB, BEL for a command, or the C1 form of ST in UTF-8; -1 if none is here. */
export const endOfString = (bytes: Uint8Array, from: number, kind: StringKind): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === ESC || byte === CAN || byte === SUB) return at;
    if (byte === BEL && kind === 'command') return at;
    if (byte === 0xc2 && bytes[at + 1] === 0x9c) return at;
  }
  return -1;
};
