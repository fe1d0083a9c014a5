import { eastAsianWidth } from 'get-east-asian-width';

// Reads the parts of terminal output from bytes: control sequences, strings, UTF-8 characters and their width.

/** A complete CSI sequence. The object is reused for every sequence: do not keep it. */
export interface ControlSequence {
  /** parameters; an absent one is 0, as in DEC's terminals; sub-parameters (after `:`) are left out */
  readonly values: Int32Array;
  count: number;
  /** 0 or one of `< = > ?` */
  prefix: number;
  /** 0, the byte 0x20–0x2f before the final one, or another value if there are several */
  intermediate: number;
  final: number;
  bytes: Uint8Array;
  /** offsets of the parameters in `bytes`, for `parameterText` */
  start: number;
  end: number;
}

const MAX_PARAMETERS = 32;
const MAX_VALUE = 1_000_000;
const SEVERAL_INTERMEDIATES = 0x7f;

export const makeControlSequence = (): ControlSequence => ({
  values: new Int32Array(MAX_PARAMETERS),
  count: 0,
  prefix: 0,
  intermediate: 0,
  final: 0,
  bytes: new Uint8Array(),
  start: 0,
  end: 0,
});

/** Reads the bytes between `CSI` and the final byte into `target`; `final` is the offset of the final byte. */
export const parseControlSequence = (
  target: ControlSequence,
  bytes: Uint8Array,
  start: number,
  final: number,
): void => {
  let at = start;
  const first = bytes[at] ?? 0;
  target.prefix = first >= 0x3c && first <= 0x3f ? first : 0;
  if (target.prefix !== 0) at += 1;
  target.bytes = bytes;
  target.start = at;
  target.intermediate = 0;
  let value = 0;
  let count = 0;
  let inSub = false;
  for (; at < final; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x30 && byte <= 0x39) {
      if (!inSub) value = Math.min(MAX_VALUE, value * 10 + byte - 0x30);
    } else if (byte === 0x3b) {
      if (count < MAX_PARAMETERS) target.values[count++] = value;
      value = 0;
      inSub = false;
    } else if (byte === 0x3a) {
      inSub = true;
    } else {
      target.intermediate = byte;
      break;
    }
  }
  if (count < MAX_PARAMETERS) target.values[count++] = value;
  target.end = at;
  target.count = count;
  if (at < final - 1) target.intermediate = SEVERAL_INTERMEDIATES; // no known sequence has two
  target.final = bytes[final] ?? 0;
};

/** The parameter at this index, or 1 if it is absent or 0, as for counts and addresses. */
export const parameterOrOne = (sequence: ControlSequence, index: number): number =>
  (index < sequence.count ? sequence.values[index] : 0) || 1;

/** The parameter at this index, 0 if it is absent. */
export const parameterOrZero = (sequence: ControlSequence, index: number): number =>
  index < sequence.count ? (sequence.values[index] ?? 0) : 0;

/** A character for each byte from `start` to `end`. */
export const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');

/** The parameters as written, without the prefix. */
export const parameterText = ({ bytes, start, end }: ControlSequence): string => latin1(bytes, start, end);

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
export const stringKindOf = (byte: number, escapeKTitle: boolean): StringKind | undefined => {
  if (byte === 0x5d) return 'command';
  if (byte === 0x50) return 'header';
  if (byte === 0x58 || byte === 0x5e || byte === 0x5f) return 'other';
  return byte === 0x6b && escapeKTitle ? 'other' : undefined;
};

/** Offset of the byte that ends the string: ESC, CAN, SUB, BEL for a command, or the C1 form of ST in UTF-8; -1 if there is none. */
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

/** Offset after the final byte of a device control string's header; -1 if it is not before `to`. */
export const endOfHeader = (bytes: Uint8Array, from: number, to: number): number => {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x40 && byte < 0x7f) return at + 1;
  }
  return -1;
};

/**
 * Offset of the first character in a part of a string on which terminals disagree, -1 if there is none: xterm.js ends any string at a C1
 * control, and strings that may only hold ASCII at every other character.
 */
export const findAmbiguous = (bytes: Uint8Array, from: number, to: number, kind: StringKind): number => {
  if (kind === 'command' || kind === 'device') {
    for (let at = from; at < to; at += 1) if (bytes[at] === C1_LEAD && isC1(bytes, at)) return at;
    return -1;
  }
  for (let at = from; at < to; at += 1) if ((bytes[at] ?? 0) >= 0x80) return at;
  return -1;
};

/** The result of `decodeAt` for a byte that is not UTF-8. */
export const INVALID = -1;
/** The result of `decodeAt` for a character whose last bytes have not arrived. */
export const INCOMPLETE = -2;

const lengthOf = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);

const smallest = [0, 0, 0x80, 0x800, 0x10000]; // a longer form than needed is invalid (RFC 3629)

/** Code point of the character at `at`, whose first byte is >= 0x80; INVALID or INCOMPLETE. */
export const decodeAt = (bytes: Uint8Array, at: number): number => {
  const lead = bytes[at] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return INVALID;
  const length = lengthOf(lead);
  let codePoint = lead & (0x7f >> length);
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return INCOMPLETE;
    if ((byte & 0xc0) !== 0x80) return INVALID;
    codePoint = (codePoint << 6) | (byte & 0x3f);
  }
  const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  return codePoint < (smallest[length] ?? 0) || codePoint > 0x10ffff || isSurrogate ? INVALID : codePoint;
};

/** Bytes that this code point, which is not ASCII, takes in UTF-8. */
export const encodedLength = (codePoint: number): number =>
  codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;

const UNKNOWN = 255;
// Two planes cover what programs print; for private-use and tag planes the library is called each time.
const cache = new Uint8Array(0x20000).fill(UNKNOWN);

const SOFT_HYPHEN = 0xad; // a format character, but terminals print it in a cell

// string-width has the same rule for a single character, but its regexes for emoji take 20 ms to compile at the first of them
const invisible =
  /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]/u;

const measure = (codePoint: number): number => {
  if (codePoint === SOFT_HYPHEN) return 1;
  if (codePoint >= 0x1160 && codePoint <= 0x11ff) return 0; // Hangul vowels and finals join the syllable before them
  return invisible.test(String.fromCodePoint(codePoint)) ? 0 : eastAsianWidth(codePoint);
};

/** Cells that a code point takes in a terminal: 0 (combining), 1 or 2 (East Asian wide, emoji). */
export const widthOf = (codePoint: number): number => {
  if (codePoint >= cache.length) return measure(codePoint);
  const known = cache[codePoint];
  if (known !== undefined && known !== UNKNOWN) return known;
  const width = measure(codePoint);
  cache[codePoint] = width;
  return width;
};
