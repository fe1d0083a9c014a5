// Text from outside, as an attacker would write it: planted into the texts of records, and looked for in what is printed.

/** The clipboard, the title, an erased screen, a colour in 7 and 8 bits, text in reverse, a NUL and a line separator. */
export const PLANT = '\u001b]52;c;QUJD\u0007\u001b]0;t\u001b\\\u001b[2J\u001b[31m\u009b31m\u202e\u0000\u2028';

/** For a file's name. */
export const PLANT_IN_NAME = PLANT.replaceAll('\u0000', '');

/** The control and format characters in a text, by name; newlines and tabs are the printer's own. */
export const controlsIn = (text: string): readonly string[] =>
  [...new Set(text.match(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu) ?? [])]
    .filter((each) => each !== '\n' && each !== '\t')
    .map((each) => `U+${each.codePointAt(0)?.toString(16)}`);

const parsed = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The paths of all texts in a value, as in `.message.content[].name`; of JSON in a text those within it. */
export const textPaths = (value: unknown, path = ''): readonly string[] => {
  if (typeof value === 'string') {
    const inner = parsed(value);
    return inner ? textPaths(inner, `${path}{}`) : [path];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value)
    ? value.flatMap((each) => textPaths(each, `${path}[]`))
    : Object.entries(value).flatMap(([key, each]) => textPaths(each, `${path}.${key}`));
};

/** The value with the plant at the end of each text whose path is wanted. */
export const planted = <Value>(value: Value, isWanted: (path: string) => boolean): Value => {
  const plant = (each: unknown, path: string): unknown => {
    if (typeof each === 'string') {
      const inner = parsed(each);
      if (inner) return JSON.stringify(plant(inner, `${path}{}`));
      return isWanted(path) ? `${each}${PLANT}` : each;
    }
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map((one) => plant(one, `${path}[]`));
    return Object.fromEntries(Object.entries(each).map(([key, one]) => [key, plant(one, `${path}.${key}`)]));
  };
  return plant(value, '') as Value;
};
