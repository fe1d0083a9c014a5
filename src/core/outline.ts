// Looks at a line of JSON without parsing it: which values a few of its fields have, where its bulky values are, and whether it is whole.
// Most lines of a session file are tool results of which nothing is needed; walking their bytes costs a third of parsing them.

/** Which fields are wanted; a path names a field of the object, or of an object in it: `type`, `payload.type`. */
export interface OutlineWish {
  readonly fields: readonly string[];
  /** fields whose values may be large, and are left out of `reduced` */
  readonly bulky?: readonly string[];
}

/** One line. */
export interface Outline {
  /** the wanted fields that it has and that are strings of at most 4096 bytes, numbers, booleans or null; those as their text */
  readonly fields: Readonly<Record<string, string>>;
  /** the line as JSON with null in place of its bulky values */
  readonly reduced: () => string;
  readonly whole: () => string;
}

/** Text of the bytes from `start` to `end`. */
type Decode = (start: number, end: number) => string;

interface Name {
  readonly bytes: Uint8Array;
  readonly path: string;
  readonly isField: boolean;
  readonly isBulky: boolean;
  readonly inner: Level;
}

type Level = readonly Name[];

const LONGEST_FIELD = 4096; // bytes; a path of a folder can have as many

/** Finds the outline of one line of JSON; undefined for a line that is not one complete object, such as half a line. */
export type OutlineReader = (bytes: Uint8Array, decode: Decode) => Outline | undefined;

export const makeOutlineReader = (wish: OutlineWish): OutlineReader => {
  const top = levelOf('', wish);
  return (bytes, decode) => {
    const found: Found = { fields: {}, cuts: [], decode };
    const start = skipBlanks(bytes, 0);
    const end = scanObject(bytes, start, top, found);
    if (end < 0 || skipBlanks(bytes, end) !== bytes.length) return undefined;
    return {
      fields: found.fields,
      reduced: () => reducedText(found.cuts, bytes.length, decode),
      whole: () => decode(0, bytes.length),
    };
  };
};

const levelOf = (prefix: string, { fields, bulky = [] }: OutlineWish): Level => {
  const paths = [...fields, ...bulky].filter((path) => path.startsWith(prefix));
  const names = new Set(paths.map((path) => path.slice(prefix.length).split('.', 1)[0] ?? ''));
  return [...names].map((name) => {
    const path = prefix + name;
    const hasInner = paths.some((each) => each.startsWith(`${path}.`));
    return {
      bytes: new TextEncoder().encode(name),
      path,
      isField: fields.includes(path),
      isBulky: bulky.includes(path),
      inner: hasInner ? levelOf(`${path}.`, { fields, bulky }) : [],
    };
  });
};

const reducedText = (cuts: readonly number[], length: number, decode: Decode): string => {
  let text = '';
  let from = 0;
  for (let index = 0; index < cuts.length; index += 2) {
    text += `${decode(from, cuts[index] ?? length)}null`;
    from = cuts[index + 1] ?? length;
  }
  return text + decode(from, length);
};

interface Found {
  readonly fields: Record<string, string>;
  /** begin and end of each bulky value */
  readonly cuts: number[];
  readonly decode: Decode;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

/** Each of these returns the place behind what it has read, -1 where something else is there. */
const scanObject = (bytes: Uint8Array, start: number, level: Level, found: Found): number => {
  if (bytes[start] !== OPEN) return -1;
  let at = skipBlanks(bytes, start + 1);
  if (bytes[at] === CLOSE) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return -1;
    const keyEnd = skipString(bytes, at + 1);
    if (keyEnd < 0) return -1;
    const name = nameAt(bytes, at + 1, keyEnd - 1, level);
    at = skipBlanks(bytes, keyEnd);
    if (bytes[at] !== COLON) return -1;
    at = skipBlanks(bytes, at + 1);
    const end =
      name !== undefined && name.inner.length > 0 && bytes[at] === OPEN
        ? scanObject(bytes, at, name.inner, found)
        : skipValue(bytes, at);
    if (end < 0) return -1;
    if (name !== undefined) note(bytes, name, [at, end], found);
    at = skipBlanks(bytes, end);
    if (bytes[at] === CLOSE) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipBlanks(bytes, at + 1);
  }
};

const nameAt = (bytes: Uint8Array, start: number, end: number, level: Level): Name | undefined => {
  for (const name of level) {
    if (name.bytes.length !== end - start) continue;
    let same = 0;
    while (same < name.bytes.length && bytes[start + same] === name.bytes[same]) same += 1;
    if (same === name.bytes.length) return name;
  }
  return undefined;
};

const note = (
  bytes: Uint8Array,
  { path, isField, isBulky }: Name,
  [start, end]: readonly [number, number],
  { fields, cuts, decode }: Found,
): void => {
  if (isBulky) cuts.push(start, end);
  const first = bytes[start];
  if (!isField || first === OPEN || first === OPEN_LIST || end - start > LONGEST_FIELD) return;
  const text = first === QUOTE ? stringText(decode(start, end)) : decode(start, end);
  if (text !== undefined) fields[path] = text;
};

const stringText = (quoted: string): string | undefined => {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
};

const skipValue = (bytes: Uint8Array, start: number): number => {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start + 1);
  if (first === OPEN || first === OPEN_LIST) return skipNested(bytes, start + 1);
  let at = start;
  while (at < bytes.length && !isEnd(bytes[at])) at += 1;
  return at === start ? -1 : at;
};

const isEnd = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE || byte === CLOSE_LIST || isBlank(byte);

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

const skipString = (bytes: Uint8Array, start: number): number => {
  for (let at = start; at < bytes.length;) {
    const byte = bytes[at++];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
};

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;

const skipBlanks = (bytes: Uint8Array, start: number): number => {
  let at = start;
  while (isBlank(bytes[at])) at += 1;
  return at;
};
