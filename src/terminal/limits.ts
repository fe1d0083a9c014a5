import { decodeAt } from './filter/bytes.js';

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
const isControl = (byte: number): boolean => byte < 0x20;
/** A parameter, what parts parameters, or an intermediate byte. */
const isParameter = (byte: number): boolean => byte >= 0x20 && byte < 0x40;
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
const limitedSequence = (bytes: Uint8Array, body: Body, size: ScreenSize): Uint8Array | undefined => {
  const final = bytes[body.end] ?? 0;
  const largest = largestFor(final, size);
  if (!exceeds(bytes, body, largest)) return undefined;
  return rewritten(bytes.subarray(body.first, body.end), final, largest);
};

// What a program may write stands in no proportion to what it makes an emulator do: `CSI 2147483647 L` are 14 bytes and hours of work.
// Before xterm.js parses anything, each number is made no larger than a screen can use, and a string no longer than anybody reads.
// Forms of sequences: ECMA-48 §5.4 and §8.3, DEC STD 070; where they end: xterm.js 6, EscapeSequenceParser.

const LONGEST_SEQUENCE = 1_024; // bytes of a control sequence; xterm.js keeps 32 parameters with 32 more below them
const LONGEST_STRING = 4_096; // bytes of an OSC, DCS, SOS, PM or APC; links end at 2083, notifications at 2048 (kitty)

/** An agent's state (OSC 7501): its first fields tell it, so that a long one is cut instead of ended without an effect. */
const STATE = '7501;state=';

const BEL = 0x07;
const CAN = 0x18; // ends what has begun, without an effect
const SUB = 0x1a;
const ESC = 0x1b;
const DEL = 0x7f;
const C1_LEAD = 0xc2; // of U+0080…U+00BF in UTF-8
const [DCS, SOS, CSI, OSC, PM, APC] = [0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f];
const introducers: ReadonlyMap<number, number> = new Map(
  [DCS, SOS, CSI, OSC, PM, APC].map((control) => [control - 0x40, control]), // `ESC [` is CSI, and so on
);

const isC1 = (bytes: Uint8Array, at: number): boolean => {
  const next = bytes[at + 1] ?? 0;
  return bytes[at] === C1_LEAD && next >= 0x80 && next < 0xa0;
};

/** A byte that neither ends a sequence nor belongs to it: a control that takes effect at once, or nothing. */
const isBetween = (bytes: Uint8Array, at: number): boolean => {
  const byte = bytes[at] ?? 0;
  if (byte >= 0x80) return decodeAt(bytes, at) < 0; // INCOMPLETE too: the chunk ends with whole characters, so no rest comes
  return byte === DEL || (byte < 0x20 && byte !== ESC && byte !== CAN && byte !== SUB);
};

/** Copies bytes but for those that are left out or replaced. */
const copying = (bytes: Uint8Array) => {
  const pieces: Uint8Array[] = [];
  let copied = 0;
  return {
    replace: (from: number, to: number, by?: Uint8Array): void => {
      pieces.push(bytes.subarray(copied, from));
      if (by) pieces.push(by);
      copied = to;
    },
    all: (): Uint8Array => (pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(copied)])),
  };
};

/** What the last bytes were in the middle of. */
type Inside =
  | { readonly what: 'text' }
  /** a sequence that is too long: the rest of it is left out */
  | { readonly what: 'overlong sequence' }
  | { readonly what: 'string'; readonly isCommand: boolean; readonly begin: string; readonly bytes: number };

const TEXT: Inside = { what: 'text' };

/** A chunk on its way through, and what is to be known for the next one. */
interface Passage {
  readonly bytes: Uint8Array;
  readonly copy: ReturnType<typeof copying>;
  readonly size: ScreenSize;
  inside: Inside;
  /** a sequence whose end has not come */
  begun: Uint8Array;
}

const controlsIn = (bytes: Uint8Array, from: number, to: number): Uint8Array =>
  bytes.subarray(from, to).filter(isControl);

const keepBack = (passage: Passage, from: number): number => {
  const { bytes, copy } = passage;
  passage.begun = bytes.slice(from);
  copy.replace(from, bytes.length);
  return bytes.length;
};

// Each of these takes the place where it begins and gives the place where it has come to.

const text = (passage: Passage, from: number): number => {
  const { bytes } = passage;
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === ESC || (byte === C1_LEAD && isC1(bytes, at))) break;
  }
  if (at === bytes.length) return at;
  if (bytes[at] === ESC) return escape(passage, at);
  const control = bytes[at + 1] ?? 0;
  if (control === CSI) return sequence(passage, at, at + 2);
  return introducers.has(control - 0x40) ? string(passage, control, at + 2) : at + 2;
};

const escape = (passage: Passage, start: number): number => {
  const { bytes, copy } = passage;
  let at = start + 1;
  while (at < bytes.length && isBetween(bytes, at)) at += 1;
  if (at - start > LONGEST_SEQUENCE) {
    copy.replace(start, at, controlsIn(bytes, start + 1, at));
    return at;
  }
  if (at === bytes.length) return keepBack(passage, start);
  const control = introducers.get(bytes[at] ?? 0);
  if (control === undefined) return at;
  return control === CSI ? sequence(passage, start, at + 1) : string(passage, control, at + 1);
};

const string = (passage: Passage, control: number, first: number): number => {
  passage.inside = { what: 'string', isCommand: control === OSC, begin: '', bytes: 0 };
  return first;
};

const endOfBody = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && (isParameter(bytes[at] ?? 0) || isBetween(bytes, at))) at += 1;
  return at;
};

const isFinal = (byte: number): boolean => byte >= 0x40 && byte < 0x7f;

const sequence = (passage: Passage, start: number, first: number): number => {
  const { bytes, copy, size } = passage;
  const end = endOfBody(bytes, first);
  if (end - first > LONGEST_SEQUENCE) {
    passage.inside = { what: 'overlong sequence' };
    copy.replace(start, end, controlsIn(bytes, start + 1, end));
    return end;
  }
  const final = bytes[end];
  if (final === undefined) return keepBack(passage, start);
  if (!isFinal(final)) return end; // broken off, without an effect
  const limited = limitedSequence(bytes, { first, end }, size);
  if (limited) copy.replace(start, end + 1, Buffer.concat([controlsIn(bytes, start + 1, first), limited]));
  return end + 1;
};

const overlong = (passage: Passage, from: number): number => {
  const { bytes, copy } = passage;
  const end = endOfBody(bytes, from);
  const final = bytes[end];
  if (final !== undefined) passage.inside = TEXT;
  const next = final !== undefined && isFinal(final) ? end + 1 : end;
  copy.replace(from, next, controlsIn(bytes, from, end));
  return next;
};

/** What a string begins with, as far as it is compared. */
const beginning = (begin: string, bytes: Uint8Array): string =>
  begin + Buffer.from(bytes.subarray(0, STATE.length - begin.length)).toString('latin1');

/** A string that gets too long ends there without an effect, and the rest of it is left out; a state ends where it ends. */
const restOfString = (passage: Passage, from: number, string: Inside & { what: 'string' }): number => {
  const { bytes, copy } = passage;
  const { isCommand, bytes: before } = string;
  const isEnd = (byte: number): boolean =>
    byte === ESC || byte === CAN || byte === SUB || (isCommand && byte === BEL);
  let at = from;
  while (at < bytes.length && !isEnd(bytes[at] ?? 0) && !isC1(bytes, at)) at += 1;
  const total = before + at - from;
  const begin = beginning(string.begin, bytes.subarray(from, at));
  passage.inside = at < bytes.length ? TEXT : { ...string, begin, bytes: total };
  if (total > LONGEST_STRING) {
    const cut = from + Math.max(0, LONGEST_STRING - before);
    const isEnded = before > LONGEST_STRING || (isCommand && begin === STATE);
    copy.replace(cut, at, isEnded ? undefined : Uint8Array.of(CAN));
  }
  return at; // what ends it is text to us
};

const next = (passage: Passage, at: number): number => {
  const { inside } = passage;
  switch (inside.what) {
    case 'text':
      return text(passage, at);
    case 'overlong sequence':
      return overlong(passage, at);
    case 'string':
      return restOfString(passage, at, inside);
  }
};

const NOTHING = new Uint8Array();

/** Takes chunks that end with whole characters, and gives what xterm.js is to parse; a sequence whose end has not come is kept back. */
export const makeSequenceLimits = (size: () => ScreenSize): ((chunk: Uint8Array) => Uint8Array) => {
  let inside: Inside = TEXT;
  let begun: Uint8Array = NOTHING;
  return (chunk) => {
    const isPlain: boolean = inside.what === 'text' && begun.length === 0;
    if (isPlain && !chunk.includes(ESC) && !chunk.includes(C1_LEAD)) return chunk;
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    const passage: Passage = { bytes, copy: copying(bytes), size: size(), inside, begun: NOTHING };
    for (let at = 0; at < bytes.length;) at = next(passage, at);
    ({ inside, begun } = passage);
    return passage.copy.all();
  };
};
