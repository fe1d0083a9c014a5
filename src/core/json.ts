// Reads JSON written by other programs: a value of an unexpected shape is undefined, never an exception.

/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deeper JSON is not read: what walks a value would run out of stack. Agents' records and settings have less than 20 levels. */
const MOST_DEPTH = 500;
/** Strings, lists and objects in one text: each takes 20 to 100 bytes of memory, far more than its 2 to 4 bytes of text. */
const MOST_VALUES = 1_000_000;
const MANY_CHARACTERS = 2 * MOST_VALUES; // fewer cannot hold too many values
const FLAT_CHARACTERS = 2 * MOST_DEPTH; // fewer cannot be too deep

/** Parses a text; undefined for one that is no JSON, is nested deeper than 500 levels, or holds more than a million values. */
export const parseJson = (text: string): unknown => {
  if (text.length >= MANY_CHARACTERS && isTooComplex(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return text.length < FLAT_CHARACTERS || isWithin(value, MOST_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The object in a text; undefined for half-written lines and for anything that is not an object, or too complex a one. */
export const parseRecord = (text: string): JsonRecord | undefined => {
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
};

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Whether a text would be too deep or hold too many values, without parsing it; its strings are jumped over. */
export const isTooComplex = (text: string): boolean => {
  let [depth, values] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      values += 1;
    } else if (code === OPEN || code === OPEN_LIST) {
      depth += 1;
      values += 1;
    } else if (code === CLOSE || code === CLOSE_LIST) depth -= 1;
    if (depth > MOST_DEPTH || values > MOST_VALUES) return true;
  }
  return false;
};

/** Where the quote is that ends the string; the end of the text where none does. */
const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at; // an even number of backslashes
  }
  return text.length;
};

const isWithin = (value: unknown, depth: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    for (const each of value) if (!isWithin(each, depth - 1)) return false;
    return true;
  }
  for (const key in value) if (!isWithin((value as JsonRecord)[key], depth - 1)) return false;
  return true;
};

export const getRecord = (from: unknown, key: string): JsonRecord | undefined => {
  const value = isRecord(from) ? from[key] : undefined;
  return isRecord(value) ? value : undefined;
};

export const getList = (from: unknown, key: string): readonly unknown[] => {
  const value = isRecord(from) ? from[key] : undefined;
  return Array.isArray(value) ? value : [];
};

export const getText = (from: unknown, key: string): string | undefined => {
  const value = isRecord(from) ? from[key] : undefined;
  return typeof value === 'string' ? value : undefined;
};

/** A finite number that is not negative. */
export const getCount = (from: unknown, key: string): number | undefined => {
  const value = isRecord(from) ? from[key] : undefined;
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
};
