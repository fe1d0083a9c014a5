/** A CSI sequence that has been received whole. Reused for every sequence: read it, do not keep it. */
export interface Sequence {
  /** parameters; an absent one is 0, as in DEC's terminals; a sub-parameter (after `:`) is left out */
  readonly values: Int32Array;
  count: number;
  /** 0 or one of `< = > ?` */
  prefix: number;
  /** 0, the byte 0x20–0x2f before the final one, or something else where more stands there */
  intermediate: number;
  final: number;
  bytes: Uint8Array;
  /** offsets of the parameters in `bytes`, for `parameterText` */
  start: number;
  end: number;
}

const MAX_PARAMETERS = 32;
const MAX_VALUE = 1_000_000;
const MANY = 0x7f;

export const makeSequence = (): Sequence => ({
  values: new Int32Array(MAX_PARAMETERS),
  count: 0,
  prefix: 0,
  intermediate: 0,
  final: 0,
  bytes: new Uint8Array(),
  start: 0,
  end: 0,
});

/** Reads the bytes between `CSI` and the final byte, both ends known, into `into`. */
export const readSequence = (into: Sequence, bytes: Uint8Array, start: number, final: number): void => {
  let at = start;
  const first = bytes[at] ?? 0;
  into.prefix = first >= 0x3c && first <= 0x3f ? first : 0;
  if (into.prefix !== 0) at += 1;
  into.bytes = bytes;
  into.start = at;
  into.intermediate = 0;
  let value = 0;
  let count = 0;
  let inSub = false;
  for (; at < final; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x30 && byte <= 0x39) {
      if (!inSub) value = Math.min(MAX_VALUE, value * 10 + byte - 0x30);
    } else if (byte === 0x3b) {
      if (count < MAX_PARAMETERS) into.values[count++] = value;
      value = 0;
      inSub = false;
    } else if (byte === 0x3a) {
      inSub = true;
    } else {
      into.intermediate = byte;
      break;
    }
  }
  if (count < MAX_PARAMETERS) into.values[count++] = value;
  into.end = at;
  into.count = count;
  if (at < final - 1) into.intermediate = MANY; // no sequence that we know has two
  into.final = bytes[final] ?? 0;
};

/** The parameter at this place, or 1 where it is absent or 0: what counts and addresses mean by it. */
export const countAt = (sequence: Sequence, index: number): number =>
  (index < sequence.count ? sequence.values[index] : 0) || 1;

/** The parameter at this place, 0 where it is absent. */
export const valueAt = (sequence: Sequence, index: number): number =>
  index < sequence.count ? (sequence.values[index] ?? 0) : 0;

/** The parameters as they were written, without the prefix. */
export const parameterText = ({ bytes, start, end }: Sequence): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
