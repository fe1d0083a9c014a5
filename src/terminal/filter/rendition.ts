import { parameterText, valueAt, type Sequence } from './bytes.js';

/**
 * A graphic rendition (SGR) as the parameters that made it, newest first: replaying `CSI 0 m` and then these from the oldest on gives the
 * same colours and attributes in any terminal, without this program having to understand them all.
 */
export interface Chain {
  readonly before: Chain | undefined;
  /** as the child wrote them; several in one only if `code` is MIXED */
  readonly text: string;
  /** what the parameter sets: its first number */
  readonly code: number;
  /** links up to the plain rendition */
  readonly length: number;
}

const emptyChain: Chain = { before: undefined, text: '', code: 0, length: 0 };

const FOLD_AT = 256; // a child that never sends `CSI 0 m` must not grow the chain for ever
const MIXED = -1;
const NORMAL_WEIGHT = 22;
const MAX_CODE = 107;

/** What a parameter overwrites, by its code; '' for one we do not know, which only overwrites its like. */
const slotOf = (code: number): string => {
  if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) return 'foreground';
  if ((code >= 40 && code <= 49) || (code >= 100 && code <= 107)) return 'background';
  if (code === 58 || code === 59) return 'underline colour';
  if (code === 1 || code === 2) return `weight ${code}`;
  if (code === 4 || code === 21 || code === 24) return 'underline';
  if (code >= 3 && code <= 9) return `attribute ${code}`;
  if (code >= 23 && code <= 29) return `attribute ${code - 20}`;
  if (code >= 10 && code <= 20) return 'font';
  return code === 53 || code === 55 ? 'overline' : '';
};

const codes = Array.from({ length: MAX_CODE + 1 }, (_, code) => code);
const slots = codes.map(slotOf);
const texts = codes.map(String);

const link = (before: Chain, text: string, code: number): Chain =>
  code === 0 ? emptyChain : { before, text, code, length: before.length + 1 };

/** Parameters that the colours 38, 48 and 58 take, themselves included (ISO 8613-6). */
const colourLength = (kind: number): number => (kind === 5 ? 3 : kind === 2 ? 5 : 1);

const isColour = (code: number): boolean => code === 38 || code === 48 || code === 58;

/** Splits `38;5;1;4` into `38;5;1` and `4`. */
const splitParameters = (text: string): string[] => {
  const raw = text.split(';');
  const parameters: string[] = [];
  for (let index = 0; index < raw.length;) {
    const length = isColour(Number(raw[index])) ? colourLength(Number(raw[index + 1])) : 1;
    parameters.push(raw.slice(index, index + length).join(';'));
    index += length;
  }
  return parameters;
};

/** The same with every parameter in a link of its own. */
const unmix = (chain: Chain): Chain => {
  const links: Chain[] = [];
  for (let at: Chain | undefined = chain; at?.before; at = at.before) links.push(at);
  let result = emptyChain;
  for (const { text, code } of links.reverse()) {
    if (code !== MIXED) result = link(result, text, code);
    else
      for (const each of splitParameters(text)) result = link(result, each, Number.parseInt(each, 10) || 0);
  }
  return result;
};

/** Without the parameters that later ones have overwritten. */
const fold = (chain: Chain): Chain => {
  const seen = new Set<string>();
  const kept: Chain[] = [];
  for (let at: Chain | undefined = unmix(chain); at?.before; at = at.before) {
    const slot = slots[at.code] || at.text;
    if (seen.has(slot)) continue;
    seen.add(slot);
    if (at.code === NORMAL_WEIGHT) seen.add('weight 1').add('weight 2');
    else kept.push(at);
  }
  return kept.reduceRight((before, { text, code }) => link(before, text, code), emptyChain);
};

/** The code of the one parameter that a sequence has, or MIXED. */
const codeOf = (sequence: Sequence): number => {
  const code = valueAt(sequence, 0);
  const length = isColour(code) && sequence.count > 1 ? colourLength(valueAt(sequence, 1)) : 1;
  return sequence.count === length ? code : MIXED;
};

/** The chain after one more `CSI … m`. */
const addToChain = (before: Chain, sequence: Sequence): Chain => {
  const code = codeOf(sequence);
  const known = texts[code];
  const isPlainNumber = sequence.count === 1 && known?.length === sequence.end - sequence.start;
  const after = link(before, isPlainNumber ? known : parameterText(sequence), code);
  return after.length > FOLD_AT ? fold(after) : after;
};

/** The bytes that bring a terminal to this rendition from any other. */
const chainSequence = (chain: Chain): string => {
  let text = '';
  for (let at: Chain | undefined = chain; at?.before; at = at.before) text = `\x1b[${at.text}m${text}`;
  return `\x1b[0m${text}`;
};

/**
 * The graphic rendition (SGR; ECMA-48 8.3.117, xterm ctlseqs). What every terminal knows is kept as numbers, for agents send half a million
 * of these in a session; as soon as something else comes, everything is kept as it was written, until the next reset.
 */
export interface Rendition {
  /** 0 for the default, a parameter such as 31 or 97, or a colour: INDEXED or DIRECT with its number */
  readonly foreground: number;
  readonly background: number;
  /** bit n: parameter n is on, of 1…9 */
  readonly attributes: number;
  readonly chain: Chain | undefined;
}

export const plainRendition: Rendition = { foreground: 0, background: 0, attributes: 0, chain: undefined };

const INDEXED = 0x100_0000; // | 0…255
const DIRECT = 0x200_0000; // | 0xRRGGBB
const UNKNOWN = -1;
const COLON = 0x3a;

/** The colour whose parameters begin at `index` with 38 or 48; UNKNOWN where it is none of the common forms. */
const colourAt = (values: Int32Array, index: number, count: number): number => {
  const kind = values[index + 1] ?? 0;
  const first = values[index + 2] ?? 0;
  if (kind === 5 && index + 2 < count) return first > 255 ? UNKNOWN : INDEXED | first;
  if (kind !== 2 || index + 4 >= count) return UNKNOWN;
  const [green, blue] = [values[index + 3] ?? 0, values[index + 4] ?? 0];
  return (first | green | blue) > 255 ? UNKNOWN : DIRECT | (first << 16) | (green << 8) | blue;
};

/** The bits that one of 22…25 and 27…29 switches off. */
const offBits = (code: number): number => {
  if (code === 22) return 0b110;
  return code === 25 ? 0b110_0000 : 1 << (code - 20);
};

const isForeground = (code: number): boolean => (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
const isBackground = (code: number): boolean => (code >= 40 && code <= 47) || (code >= 100 && code <= 107);

/** After the first `count` values; undefined where one of them is not kept as a number. */
const inNumbers = (before: Rendition, { values, count }: Sequence): Rendition | undefined => {
  let { foreground, background, attributes } = before;
  for (let index = 0; index < count; index += 1) {
    const code = values[index] ?? 0;
    if (code === 38 || code === 48) {
      const colour = colourAt(values, index, count);
      if (colour === UNKNOWN) return undefined;
      if (code === 38) foreground = colour;
      else background = colour;
      index += colour < DIRECT ? 2 : 4;
    } else if (code === 0) [foreground, background, attributes] = [0, 0, 0];
    else if (code < 10) attributes |= 1 << code;
    else if (code === 39) foreground = 0;
    else if (code === 49) background = 0;
    else if (isForeground(code)) foreground = code;
    else if (isBackground(code)) background = code;
    else if (code >= 22 && code <= 29 && code !== 26) attributes &= ~offBits(code);
    else return undefined;
  }
  return { foreground, background, attributes, chain: undefined };
};

const colourText = (colour: number, direct: 38 | 48): string => {
  if (colour >= DIRECT) return `${direct};2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`;
  return colour >= INDEXED ? `${direct};5;${colour & 255}` : `${colour}`;
};

const parametersOf = ({ foreground, background, attributes }: Rendition): readonly string[] => [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].filter((code) => attributes & (1 << code)).map(String),
  ...(foreground === 0 ? [] : [colourText(foreground, 38)]),
  ...(background === 0 ? [] : [colourText(background, 48)]),
];

const chainOf = (rendition: Rendition): Chain =>
  parametersOf(rendition).reduce((chain, text) => link(chain, text, Number.parseInt(text, 10)), emptyChain);

/** Sub-parameters (after `:`), or more parameters than are kept. */
const isUnusual = ({ bytes, start, end, values, count }: Sequence): boolean => {
  for (let at = start; at < end; at += 1) if (bytes[at] === COLON) return true;
  return count === values.length;
};

/** The rendition after one more `CSI … m`. */
export const addRendition = (before: Rendition, sequence: Sequence): Rendition => {
  const from = sequence.values[0] === 0 ? plainRendition : before;
  const isText = from.chain !== undefined || isUnusual(sequence);
  const after = isText ? undefined : inNumbers(from, sequence);
  if (after) return after;
  const chain = addToChain(from.chain ?? chainOf(from), sequence);
  return chain === emptyChain ? plainRendition : { ...plainRendition, chain };
};

/** The bytes that bring a terminal to this rendition from any other. */
export const renditionSequence = (rendition: Rendition): string =>
  chainSequence(rendition.chain ?? chainOf(rendition));
