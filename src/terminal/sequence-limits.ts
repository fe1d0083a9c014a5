import { decodeAt } from './filter/bytes.js';

// Limits what the emulator must parse: a few bytes of output can cause any amount of work. `CSI 2147483647 L` has 14 bytes and takes hours.
// Before xterm.js parses anything, each number is reduced to what a screen can use (ECMA-48 §5.4), and long strings are cut.
// Forms of sequences: ECMA-48 §5.4 and §8.3, DEC STD 070; where they end: xterm.js 6, EscapeSequenceParser.

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** Offsets of the bytes between the introducer of a control sequence and its final byte. */
export interface SequenceBody {
  readonly first: number;
  /** offset of the final byte */
  readonly end: number;
}

const MAX_PARAMETER = 9_999; // no mode, colour or position that xterm.js knows is larger

const [IL, DL, SU, SD, CHT, CBT, REP] = [0x4c, 0x4d, 0x53, 0x54, 0x49, 0x5a, 0x62]; // L M S T I Z b

/** The largest parameter that makes a difference for the sequence with this final byte. */
const maxParameter = (final: number, { columns, rows }: ScreenSize): number => {
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
      return Math.min(rows * columns, MAX_PARAMETER); // each repeated cell may hold many combining characters
    default:
      return MAX_PARAMETER;
  }
};

/** A C0 control: takes effect at once, also inside a sequence. */
const isControl = (byte: number): boolean => byte < 0x20;
/** A parameter byte, a separator or an intermediate byte. */
const isParameter = (byte: number): boolean => byte >= 0x20 && byte < 0x40;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte < 0x3a;

const exceeds = (bytes: Uint8Array, { first, end }: SequenceBody, largest: number): boolean => {
  let value = 0;
  for (let at = first; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isDigit(byte)) value = value * 10 + byte - 0x30;
    else if (isParameter(byte)) value = 0;
    if (value > largest) return true;
  }
  return false;
};

/** The sequence with limited numbers; controls inside it go first, since they take effect before it anyway. */
const rewritten = (body: Uint8Array, final: number, largest: number): Uint8Array => {
  const parameters = Buffer.from(body.filter(isParameter)).toString('latin1');
  const limited = parameters.replace(/\d+/g, (digits) => String(Math.min(Number(digits), largest)));
  return Buffer.concat([
    body.filter(isControl),
    Buffer.from(`\x1b[${limited}${String.fromCharCode(final)}`, 'latin1'),
  ]);
};

/** The sequence with limited numbers; undefined if no number is too large. */
const limitedSequence = (bytes: Uint8Array, body: SequenceBody, size: ScreenSize): Uint8Array | undefined => {
  const final = bytes[body.end] ?? 0;
  const largest = maxParameter(final, size);
  if (!exceeds(bytes, body, largest)) return undefined;
  return rewritten(bytes.subarray(body.first, body.end), final, largest);
};

const MAX_SEQUENCE_BYTES = 1_024; // bytes of a control sequence; xterm.js keeps 32 parameters with 32 more below them
const MAX_STRING_BYTES = 4_096; // bytes of an OSC, DCS, SOS, PM or APC; links end at 2083, notifications at 2048 (kitty)

/** Start of an agent state (OSC 7501). Its first fields are the important ones, so a long one is cut instead of cancelled. */
const STATE = '7501;state=';

const BEL = 0x07;
const CAN = 0x18; // cancels the sequence or string
const SUB = 0x1a;
const ESC = 0x1b;
const DEL = 0x7f;
const C1_LEAD = 0xc2; // of U+0080…U+00BF in UTF-8
const [DCS, SOS, CSI, OSC, PM, APC] = [0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f];
const introducers: ReadonlyMap<number, number> = new Map(
  [DCS, SOS, CSI, OSC, PM, APC].map((control) => [control - 0x40, control]), // `ESC [` is CSI, and so on
);

const isC1 = (bytes: Uint8Array, at: number): boolean => {
  const readNext = bytes[at + 1] ?? 0;
  return bytes[at] === C1_LEAD && readNext >= 0x80 && readNext < 0xa0;
};

/** A byte inside a sequence that neither ends it nor belongs to it: a control that takes effect at once, or an ignored byte. */
const isIgnored = (bytes: Uint8Array, at: number): boolean => {
  const byte = bytes[at] ?? 0;
  if (byte >= 0x80) return decodeAt(bytes, at) < 0; // INCOMPLETE too: chunks end with complete characters, so no rest follows
  return byte === DEL || (byte < 0x20 && byte !== ESC && byte !== CAN && byte !== SUB);
};

/** Copies bytes, with parts removed or replaced. */
const makeCopy = (bytes: Uint8Array) => {
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

/** What the parser is inside of at the end of the chunk. */
type ParserState =
  | { readonly kind: 'text' }
  /** a sequence that is too long: its rest is dropped */
  | { readonly kind: 'overlong sequence' }
  | { readonly kind: 'string'; readonly isCommand: boolean; readonly prefix: string; readonly bytes: number };

const TEXT_STATE: ParserState = { kind: 'text' };

/** The chunk at hand, and the state for the next one. */
interface Chunk {
  readonly bytes: Uint8Array;
  readonly copy: ReturnType<typeof makeCopy>;
  readonly size: ScreenSize;
  parserState: ParserState;
  /** the start of a sequence whose end is not in the chunk */
  partial: Uint8Array;
}

const controlsIn = (bytes: Uint8Array, from: number, to: number): Uint8Array =>
  bytes.subarray(from, to).filter(isControl);

const holdBack = (current: Chunk, from: number): number => {
  const { bytes, copy } = current;
  current.partial = bytes.slice(from);
  copy.replace(from, bytes.length);
  return bytes.length;
};

// Each reader takes the offset of its first byte and returns the offset after the last byte it has read.

const readText = (current: Chunk, from: number): number => {
  const { bytes } = current;
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === ESC || (byte === C1_LEAD && isC1(bytes, at))) break;
  }
  if (at === bytes.length) return at;
  if (bytes[at] === ESC) return readEscape(current, at);
  const control = bytes[at + 1] ?? 0;
  if (control === CSI) return sequence(current, at, at + 2);
  return introducers.has(control - 0x40) ? string(current, control, at + 2) : at + 2;
};

const readEscape = (current: Chunk, start: number): number => {
  const { bytes, copy } = current;
  let at = start + 1;
  while (at < bytes.length && isIgnored(bytes, at)) at += 1;
  if (at - start > MAX_SEQUENCE_BYTES) {
    copy.replace(start, at, controlsIn(bytes, start + 1, at));
    return at;
  }
  if (at === bytes.length) return holdBack(current, start);
  const control = introducers.get(bytes[at] ?? 0);
  if (control === undefined) return at;
  return control === CSI ? sequence(current, start, at + 1) : string(current, control, at + 1);
};

const string = (current: Chunk, control: number, first: number): number => {
  current.parserState = { kind: 'string', isCommand: control === OSC, prefix: '', bytes: 0 };
  return first;
};

const endOfBody = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && (isParameter(bytes[at] ?? 0) || isIgnored(bytes, at))) at += 1;
  return at;
};

const isFinal = (byte: number): boolean => byte >= 0x40 && byte < 0x7f;

const sequence = (current: Chunk, start: number, first: number): number => {
  const { bytes, copy, size } = current;
  const end = endOfBody(bytes, first);
  if (end - first > MAX_SEQUENCE_BYTES) {
    current.parserState = { kind: 'overlong sequence' };
    copy.replace(start, end, controlsIn(bytes, start + 1, end));
    return end;
  }
  const final = bytes[end];
  if (final === undefined) return holdBack(current, start);
  if (!isFinal(final)) return end; // cancelled, without effect
  const limited = limitedSequence(bytes, { first, end }, size);
  if (limited) copy.replace(start, end + 1, Buffer.concat([controlsIn(bytes, start + 1, first), limited]));
  return end + 1;
};

const skipOverlong = (current: Chunk, from: number): number => {
  const { bytes, copy } = current;
  const end = endOfBody(bytes, from);
  const final = bytes[end];
  if (final !== undefined) current.parserState = TEXT_STATE;
  const readNext = final !== undefined && isFinal(final) ? end + 1 : end;
  copy.replace(from, readNext, controlsIn(bytes, from, end));
  return readNext;
};

/** The first bytes of a string, as many as are compared with STATE. */
const stringPrefix = (prefix: string, bytes: Uint8Array): string =>
  prefix + Buffer.from(bytes.subarray(0, STATE.length - prefix.length)).toString('latin1');

/** Cancels a string that gets too long and drops its rest; a state is cut but keeps its terminator. */
const restOfString = (current: Chunk, from: number, string: ParserState & { kind: 'string' }): number => {
  const { bytes, copy } = current;
  const { isCommand, bytes: before } = string;
  const isEnd = (byte: number): boolean =>
    byte === ESC || byte === CAN || byte === SUB || (isCommand && byte === BEL);
  let at = from;
  while (at < bytes.length && !isEnd(bytes[at] ?? 0) && !isC1(bytes, at)) at += 1;
  const total = before + at - from;
  const prefix = stringPrefix(string.prefix, bytes.subarray(from, at));
  current.parserState = at < bytes.length ? TEXT_STATE : { ...string, prefix, bytes: total };
  if (total > MAX_STRING_BYTES) {
    const cut = from + Math.max(0, MAX_STRING_BYTES - before);
    const isEnded = before > MAX_STRING_BYTES || (isCommand && prefix === STATE);
    copy.replace(cut, at, isEnded ? undefined : Uint8Array.of(CAN));
  }
  return at; // the terminator is read as text
};

const readNext = (current: Chunk, at: number): number => {
  const { parserState } = current;
  switch (parserState.kind) {
    case 'text':
      return readText(current, at);
    case 'overlong sequence':
      return skipOverlong(current, at);
    case 'string':
      return restOfString(current, at, parserState);
  }
};

const NOTHING = new Uint8Array();

/** Takes chunks that end with complete characters and returns what xterm.js may parse; an incomplete sequence is held back. */
export const makeSequenceLimits = (size: () => ScreenSize): ((chunk: Uint8Array) => Uint8Array) => {
  let parserState: ParserState = TEXT_STATE;
  let partial: Uint8Array = NOTHING;
  return (chunk) => {
    const isPlain: boolean = parserState.kind === 'text' && partial.length === 0;
    if (isPlain && !chunk.includes(ESC) && !chunk.includes(C1_LEAD)) return chunk;
    const bytes = partial.length > 0 ? Buffer.concat([partial, chunk]) : chunk;
    const current: Chunk = { bytes, copy: makeCopy(bytes), size: size(), parserState, partial: NOTHING };
    for (let at = 0; at < bytes.length;) at = readNext(current, at);
    ({ parserState, partial } = current);
    return current.copy.all();
  };
};
