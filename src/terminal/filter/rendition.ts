/**
 * The graphic rendition (SGR) as the list of parameters that made it: replaying `CSI 0 m` and then these gives the same colours
 * and attributes in any terminal, without this program having to understand them all.
 */
export type Rendition = readonly string[];

export const plainRendition: Rendition = [];

const FOLD_AT = 48; // a child that never sends `CSI 0 m` must not grow the list for ever

/** The slot that a parameter overwrites; undefined for one we do not know, which is then kept in order. */
const slotOf = (parameter: string): string | undefined => {
  const code = Number.parseInt(parameter, 10);
  if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) return 'foreground';
  if ((code >= 40 && code <= 49) || (code >= 100 && code <= 107)) return 'background';
  if (code === 58 || code === 59) return 'underline colour';
  if (code === 1 || code === 2) return `weight ${code}`;
  if (code === 4 || code === 21 || code === 24) return 'underline';
  if (code >= 3 && code <= 9) return `attribute ${code}`;
  if (code >= 23 && code <= 29) return `attribute ${code - 20}`;
  if (code >= 10 && code <= 20) return 'font';
  if (code === 53 || code === 55) return 'overline';
  return undefined;
};

/** Splits `38;5;1;4` into `38;5;1` and `4`: the colours 38, 48 and 58 take the parameters after them (ISO 8613-6). */
const splitParameters = (text: string): string[] => {
  const raw = text.split(';');
  const parameters: string[] = [];
  for (let index = 0; index < raw.length; index += 1) {
    const code = raw[index] ?? '';
    const isColour = code === '38' || code === '48' || code === '58';
    const length = !isColour ? 1 : raw[index + 1] === '5' ? 3 : raw[index + 1] === '2' ? 5 : 1;
    parameters.push(raw.slice(index, index + length).join(';'));
    index += length - 1;
  }
  return parameters;
};

const fold = (list: Rendition): Rendition => {
  const slots = new Map<string, string>();
  for (const parameter of list.flatMap(splitParameters)) {
    const code = parameter === '' ? 0 : Number.parseInt(parameter, 10);
    if (code === 0) slots.clear();
    const slot = slotOf(parameter) ?? parameter;
    slots.delete(slot);
    if (code === 22) for (const weight of ['weight 1', 'weight 2']) slots.delete(weight);
    if (code !== 0 && code !== 22) slots.set(slot, parameter);
  }
  return [...slots.values()];
};

/** The rendition after one more `CSI parameters m`. */
export const addRendition = (before: Rendition, parameters: string): Rendition => {
  if (parameters === '' || parameters === '0') return plainRendition;
  const after = [...before, parameters];
  return after.length > FOLD_AT ? fold(after) : after;
};

/** The bytes that bring a terminal to this rendition from any other. */
export const renditionSequence = (rendition: Rendition): string =>
  `\x1b[0m${rendition.map((parameters) => `\x1b[${parameters}m`).join('')}`;
