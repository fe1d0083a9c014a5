// Reads JSON written by other programs: a value of an unexpected shape is undefined, never an exception.

/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object in a text; undefined for half-written lines and for anything that is not an object. */
export const parseRecord = (text: string): JsonRecord | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
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
