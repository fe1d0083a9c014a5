// The numbers of a control sequence (ECMA-48 §5.4), made no larger than a screen can use.

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** What stands between the introducer of a sequence and its last byte. */
export interface Body {
  readonly first: number;
  /** place of the last byte */
  readonly end: number;
}

const LARGEST = 9_999; // no mode, colour or place that xterm.js knows is larger

const [IL, DL, SU, SD, CHT, CBT, REP] = [0x4c, 0x4d, 0x53, 0x54, 0x49, 0x5a, 0x62]; // L M S T I Z b

/** The largest number that changes what the sequence with this last byte does. */
const largestFor = (final: number, { columns, rows }: ScreenSize): number => {
  switch (final) {
    case IL:
    case DL:
    case SU:
    case SD:
      return rows;
    case CHT:
    case CBT:
      return columns;
    case REP:
      return Math.min(rows * columns, LARGEST); // each may be a pile of combining characters
    default:
      return LARGEST;
  }
};

/** Takes effect at once, also inside a sequence. */
export const isControl = (byte: number): boolean => byte < 0x20;
/** A parameter, what parts parameters, or an intermediate byte. */
export const isParameter = (byte: number): boolean => byte >= 0x20 && byte < 0x40;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte < 0x3a;

const exceeds = (bytes: Uint8Array, { first, end }: Body, largest: number): boolean => {
  let value = 0;
  for (let at = first; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isDigit(byte)) value = value * 10 + byte - 0x30;
    else if (isParameter(byte)) value = 0;
    if (value > largest) return true;
  }
  return false;
};

/** The controls in the body take effect before the sequence does, as they do anyway. */
const rewritten = (body: Uint8Array, final: number, largest: number): Uint8Array => {
  const parameters = Buffer.from(body.filter(isParameter)).toString('latin1');
  const limited = parameters.replace(/\d+/g, (digits) => String(Math.min(Number(digits), largest)));
  return Buffer.concat([
    body.filter(isControl),
    Buffer.from(`\x1b[${limited}${String.fromCharCode(final)}`, 'latin1'),
  ]);
};

/** The sequence with this body in a harmless form; undefined for one that is harmless. */
export const limitedSequence = (bytes: Uint8Array, body: Body, size: ScreenSize): Uint8Array | undefined => {
  const final = bytes[body.end] ?? 0;
  const largest = largestFor(final, size);
  if (!exceeds(bytes, body, largest)) return undefined;
  return rewritten(bytes.subarray(body.first, body.end), final, largest);
};
