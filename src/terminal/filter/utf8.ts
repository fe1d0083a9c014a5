/** The result of `decodeAt` for bytes that are no UTF-8: one byte of them. */
export const INVALID = -1;
/** The result of `decodeAt` for a character whose end has not come yet. */
export const INCOMPLETE = -2;

const lengthOf = (lead: number): number => (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);

const smallest = [0, 0, 0x80, 0x800, 0x10000]; // a longer form than needed is invalid (RFC 3629)

/** Code point of the character at `at`, which begins with a byte >= 0x80; INVALID or INCOMPLETE. */
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

/** Bytes that this code point takes in UTF-8; it is not ASCII. */
export const encodedLength = (codePoint: number): number =>
  codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
