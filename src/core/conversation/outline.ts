// Looks at a line of JSON without parsing it: which values a few of its fields have, where its bulky values are, and whether it is whole.
// Most lines of a session file are tool results of which nothing is needed; walking their bytes costs a third of parsing them.

/** Which fields are wanted; a path names a field of the object, or of an object in it: `type`, `payload.type`. */
export interface OutlineWish {
  readonly fields: readonly string[];
  /** fields whose values may be large, and are left out of `reduced` */
  readonly bulky?: readonly string[];
}

/** One line; valid until the next one is read. */
export interface Outline {
  /** a wanted field: the string in it, or the text of a number, a boolean or null; undefined for anything else */
  readonly get: (path: string) => string | undefined;
  /** whether it has this wanted field, whatever is in it */
  readonly has: (path: string) => boolean;
  /** the line as JSON with null in place of its bulky values */
  readonly reduced: () => string;
  readonly whole: () => string;
}

/** Text of the bytes of a line from `start` to `end`. */
export type Decode = (bytes: Uint8Array, start: number, end: number) => string;

/** Finds the outline of one line of JSON; undefined for a line that is not one complete object, such as half a line. */
export type OutlineReader = (bytes: Uint8Array) => Outline | undefined;

/** Nothing is allocated for a line until something of it is asked for. */
export const makeOutlineReader = ({ fields, bulky = [] }: OutlineWish, decode: Decode): OutlineReader => {
  const spans: Spans = {
    starts: new Int32Array(fields.length),
    ends: new Int32Array(fields.length),
    cuts: [],
  };
  const top = levelOf('', fields, bulky);
  const places = new Map(fields.map((path, index) => [path, index]));
  const values = fields.map(() => makeValueCache());
  let line = new Uint8Array();

  const outline: Outline = {
    get: (path) => {
      const index = places.get(path) ?? -1;
      const start = spans.starts[index] ?? -1;
      if (start < 0) return undefined;
      return values[index]?.(line, [start, spans.ends[index] ?? start], decode);
    },
    has: (path) => (spans.starts[places.get(path) ?? -1] ?? -1) >= 0,
    reduced: () => reducedText(line, spans.cuts, decode),
    whole: () => decode(line, 0, line.length),
  };
  return (bytes) => {
    line = bytes as Uint8Array<ArrayBuffer>;
    spans.starts.fill(-1);
    spans.cuts.length = 0;
    const end = scanObject(bytes, skipBlanks(bytes, 0), top, spans);
    return end >= 0 && skipBlanks(bytes, end) === bytes.length ? outline : undefined;
  };
};

/** The place behind the object that begins here; -1 where there is none, or only the beginning of one. */
export const objectEnd = (bytes: Uint8Array, start: number): number => scanObject(bytes, start, [], NO_SPANS);

interface Name {
  readonly bytes: Uint8Array;
  /** of the wanted field; -1 for others */
  readonly field: number;
  readonly isBulky: boolean;
  readonly inner: readonly Name[];
}

const levelOf = (prefix: string, fields: readonly string[], bulky: readonly string[]): readonly Name[] => {
  const paths = [...fields, ...bulky].filter((path) => path.startsWith(prefix));
  const names = new Set(paths.map((path) => path.slice(prefix.length).split('.', 1)[0] ?? ''));
  return [...names].map((name) => {
    const path = prefix + name;
    const hasInner = paths.some((each) => each.startsWith(`${path}.`));
    return {
      bytes: new TextEncoder().encode(name),
      field: fields.indexOf(path),
      isBulky: bulky.includes(path),
      inner: hasInner ? levelOf(`${path}.`, fields, bulky) : [],
    };
  });
};

const reducedText = (line: Uint8Array, cuts: readonly number[], decode: Decode): string => {
  let text = '';
  let from = 0;
  for (let index = 0; index < cuts.length; index += 2) {
    text += `${decode(line, from, cuts[index] ?? 0)}null`;
    from = cuts[index + 1] ?? 0;
  }
  return text + decode(line, from, line.length);
};

/** Where the wanted values of a line are. */
interface Spans {
  /** by field; -1 where the line has none */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** begin and end of each bulky value */
  readonly cuts: number[];
}

const NO_SPANS: Spans = { starts: new Int32Array(), ends: new Int32Array(), cuts: [] };

type ValueCache = (line: Uint8Array, span: readonly [number, number], decode: Decode) => string | undefined;

const LONGEST_VALUE = 4096; // bytes; the path of a folder can have as many
const LONGEST_CACHED = 32; // bytes
const MOST_CACHED = 16;

/** Decoding costs more than comparing: types and states repeat in every line. */
const makeValueCache = (): ValueCache => {
  const known: { readonly bytes: Uint8Array; readonly text: string | undefined }[] = [];
  return (line, [start, end], decode) => {
    const length = end - start;
    if (length > LONGEST_VALUE) return undefined;
    if (length > LONGEST_CACHED) return valueText(decode(line, start, end));
    for (const { bytes, text } of known) if (isAt(line, start, length, bytes)) return text;
    const text = valueText(decode(line, start, end));
    if (known.length < MOST_CACHED) known.push({ bytes: line.slice(start, end), text });
    return text;
  };
};

const valueText = (json: string): string | undefined => {
  if (json.startsWith('{') || json.startsWith('[')) return undefined;
  if (!json.startsWith('"')) return json;
  if (!json.includes('\\')) return json.slice(1, -1);
  try {
    return String(JSON.parse(json));
  } catch {
    return undefined;
  }
};

const isAt = (line: Uint8Array, start: number, length: number, bytes: Uint8Array): boolean => {
  if (bytes.length !== length) return false;
  for (let index = 0; index < length; index++) if (line[start + index] !== bytes[index]) return false;
  return true;
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

/** Each of these returns the place behind what it has read, -1 where something else is there. */
const scanObject = (bytes: Uint8Array, start: number, level: readonly Name[], spans: Spans): number => {
  if (bytes[start] !== OPEN) return -1;
  let at = skipBlanks(bytes, start + 1);
  if (bytes[at] === CLOSE) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return -1;
    const keyEnd = skipString(bytes, at + 1);
    if (keyEnd < 0) return -1;
    const name = nameAt(bytes, at + 1, keyEnd - at - 2, level);
    at = skipBlanks(bytes, keyEnd);
    if (bytes[at] !== COLON) return -1;
    at = skipBlanks(bytes, at + 1);
    const end =
      name !== undefined && name.inner.length > 0 && bytes[at] === OPEN
        ? scanObject(bytes, at, name.inner, spans)
        : skipValue(bytes, at);
    if (end < 0) return -1;
    if (name !== undefined) note(name, at, end, spans);
    at = skipBlanks(bytes, end);
    if (bytes[at] === CLOSE) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipBlanks(bytes, at + 1);
  }
};

const nameAt = (
  bytes: Uint8Array,
  start: number,
  length: number,
  level: readonly Name[],
): Name | undefined => {
  for (const name of level) if (isAt(bytes, start, length, name.bytes)) return name;
  return undefined;
};

const note = ({ field, isBulky }: Name, start: number, end: number, spans: Spans): void => {
  if (isBulky) spans.cuts.push(start, end);
  if (field < 0) return;
  spans.starts[field] = start;
  spans.ends[field] = end;
};

const skipValue = (bytes: Uint8Array, start: number): number => {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start + 1);
  if (first === OPEN || first === OPEN_LIST) return skipNested(bytes, start + 1);
  let at = start;
  while (isPlain(bytes[at])) at += 1;
  return at === start ? -1 : at;
};

/** In a number, a boolean or null: a small letter, a digit, or one of + - . E */
const isPlain = (byte = 0): boolean =>
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x2b && byte <= 0x39 && byte !== COMMA && byte !== 0x2f) ||
  byte === 0x45;

const skipNested = (bytes: Uint8Array, start: number): number => {
  let depth = 1;
  for (let at = start; at < bytes.length;) {
    const byte = bytes[at++];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      if (at < 0) return -1;
    } else if (byte === OPEN || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
};

/** The system's search is several times faster than a loop, also for short strings. */
const skipString = (bytes: Uint8Array, start: number): number => {
  let quote = bytes.indexOf(QUOTE, start);
  while (quote >= 0 && isEscaped(bytes, start, quote)) quote = bytes.indexOf(QUOTE, quote + 1);
  return quote < 0 ? -1 : quote + 1;
};

/** An odd number of backslashes stands before it, in a string that begins at `start`. */
const isEscaped = (bytes: Uint8Array, start: number, place: number): boolean => {
  let before = place - 1;
  while (before >= start && bytes[before] === BACKSLASH) before -= 1;
  return (place - before) % 2 === 0;
};

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;

const skipBlanks = (bytes: Uint8Array, start: number): number => {
  let at = start;
  while (isBlank(bytes[at])) at += 1;
  return at;
};
