import { parameterText, parameterOrZero, parseControlSequence, type ControlSequence } from './bytes.js';

// Tracks the graphic rendition (SGR: colours and attributes), so that it can be set again.

/**
 * A graphic rendition as a linked list of the parameters that produced it, newest first. Sending `CSI 0 m` and then these, oldest first,
 * gives the same colours and attributes in any terminal, even for parameters that the wrapper does not know.
 */
export interface RenditionChain {
  readonly before: RenditionChain | undefined;
  /** parameters as the child wrote them; several only if `code` is MIXED */
  readonly text: string;
  /** first number of the parameter, which says what it sets */
  readonly code: number;
  /** number of links down to the default rendition */
  readonly length: number;
}

const emptyChain: RenditionChain = { before: undefined, text: '', code: 0, length: 0 };

const FOLD_AT = 256; // limits the chain of a child that never sends `CSI 0 m`
const MIXED = -1;
const NORMAL_WEIGHT = 22;
const MAX_CODE = 107;

/** What a parameter overwrites, by its code; '' for an unknown one, which only overwrites the same text. */
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

const appendLink = (before: RenditionChain, text: string, code: number): RenditionChain =>
  code === 0 ? emptyChain : { before, text, code, length: before.length + 1 };

/** Number of parameters of the colours 38, 48 and 58, including themselves (ISO 8613-6). */
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

/** The same chain with one parameter per link. */
const splitMixed = (chain: RenditionChain): RenditionChain => {
  const links: RenditionChain[] = [];
  for (let at: RenditionChain | undefined = chain; at?.before; at = at.before) links.push(at);
  let result = emptyChain;
  for (const { text, code } of links.reverse()) {
    if (code !== MIXED) result = appendLink(result, text, code);
    else
      for (const each of splitParameters(text))
        result = appendLink(result, each, Number.parseInt(each, 10) || 0);
  }
  return result;
};

/** The chain without parameters that later ones overwrite. */
const fold = (chain: RenditionChain): RenditionChain => {
  const seen = new Set<string>();
  const kept: RenditionChain[] = [];
  for (let at: RenditionChain | undefined = splitMixed(chain); at?.before; at = at.before) {
    const slot = slots[at.code] || at.text;
    if (seen.has(slot)) continue;
    seen.add(slot);
    if (at.code === NORMAL_WEIGHT) seen.add('weight 1').add('weight 2');
    else kept.push(at);
  }
  return kept.reduceRight((before, { text, code }) => appendLink(before, text, code), emptyChain);
};

/** The code of the only parameter of a sequence, or MIXED. */
const codeOf = (sequence: ControlSequence): number => {
  const code = parameterOrZero(sequence, 0);
  const length = isColour(code) && sequence.count > 1 ? colourLength(parameterOrZero(sequence, 1)) : 1;
  return sequence.count === length ? code : MIXED;
};

/** The chain after one more `CSI … m`. */
const addToChain = (before: RenditionChain, sequence: ControlSequence): RenditionChain => {
  const code = codeOf(sequence);
  const known = texts[code];
  const isPlainNumber = sequence.count === 1 && known?.length === sequence.end - sequence.start;
  const after = appendLink(before, isPlainNumber ? known : parameterText(sequence), code);
  return after.length > FOLD_AT ? fold(after) : after;
};

/** The bytes that bring a terminal to this rendition from any other. */
const chainSequence = (chain: RenditionChain): string => {
  let text = '';
  for (let at: RenditionChain | undefined = chain; at?.before; at = at.before)
    text = `\x1b[${at.text}m${text}`;
  return `\x1b[0m${text}`;
};

/**
 * The graphic rendition (SGR; ECMA-48 8.3.117, xterm ctlseqs). Common parameters are kept as numbers, since agents send half a million
 * of these sequences in a session; after any other parameter a chain is kept until the next reset.
 */
export interface Rendition {
  /** 0 for the default, a parameter such as 31 or 97, or a colour: INDEXED or DIRECT with its number */
  readonly foreground: number;
  readonly background: number;
  /** bit n: parameter n is on, of 1…9 */
  readonly attributes: number;
  readonly chain: RenditionChain | undefined;
}

export const defaultRendition: Rendition = { foreground: 0, background: 0, attributes: 0, chain: undefined };

const INDEXED = 0x100_0000; // | 0…255
const DIRECT = 0x200_0000; // | 0xRRGGBB
const UNKNOWN = -1;
const COLON = 0x3a;

/** The colour whose parameters start at `index` with 38 or 48; UNKNOWN if it has none of the common forms. */
const colourAt = (values: Int32Array, index: number, count: number): number => {
  const kind = values[index + 1] ?? 0;
  const first = values[index + 2] ?? 0;
  if (kind === 5 && index + 2 < count) return first > 255 ? UNKNOWN : INDEXED | first;
  if (kind !== 2 || index + 4 >= count) return UNKNOWN;
  const [green, blue] = [values[index + 3] ?? 0, values[index + 4] ?? 0];
  return (first | green | blue) > 255 ? UNKNOWN : DIRECT | (first << 16) | (green << 8) | blue;
};

/** The attribute bits that one of 22…25 and 27…29 turns off. */
const offBits = (code: number): number => {
  if (code === 22) return 0b110;
  return code === 25 ? 0b110_0000 : 1 << (code - 20);
};

const isForeground = (code: number): boolean => (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
const isBackground = (code: number): boolean => (code >= 40 && code <= 47) || (code >= 100 && code <= 107);

/** The rendition after the first `count` values; undefined if one of them cannot be kept as a number. */
const applyNumeric = (before: Rendition, { values, count }: ControlSequence): Rendition | undefined => {
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

const chainOf = (rendition: Rendition): RenditionChain =>
  parametersOf(rendition).reduce(
    (chain, text) => appendLink(chain, text, Number.parseInt(text, 10)),
    emptyChain,
  );

/** True for sub-parameters (after `:`) or more parameters than `values` holds. */
const needsChain = ({ bytes, start, end, values, count }: ControlSequence): boolean => {
  for (let at = start; at < end; at += 1) if (bytes[at] === COLON) return true;
  return count === values.length;
};

/** The rendition after one more `CSI … m`. */
export const addRendition = (before: Rendition, sequence: ControlSequence): Rendition => {
  const from = sequence.values[0] === 0 ? defaultRendition : before;
  const isText = from.chain !== undefined || needsChain(sequence);
  const after = isText ? undefined : applyNumeric(from, sequence);
  if (after) return after;
  const chain = addToChain(from.chain ?? chainOf(from), sequence);
  return chain === emptyChain ? defaultRendition : { ...defaultRendition, chain };
};

/*
 * Most renditions are overwritten by later ones before anybody asks for them. So they are noted first, and applied at the end of a chunk.
 */

const MAX_NOTED = 64;

/** Renditions of a chunk that are not applied yet. */
export interface NotedRenditions {
  /** each has two: of its first parameter, and after its last one */
  readonly offsets: Int32Array;
  /** of the offsets */
  count: number;
  /** the last one sets the foreground and nothing else */
  isForeground: boolean;
}

export const makeNotedRenditions = (): NotedRenditions => ({
  offsets: new Int32Array(2 * MAX_NOTED),
  count: 0,
  isForeground: false,
});

const SEMICOLON = 0x3b;
const [DIGIT_0, DIGIT_2, DIGIT_3, DIGIT_5, DIGIT_8] = [0x30, 0x32, 0x33, 0x35, 0x38];

const isReset = (bytes: Uint8Array, start: number, end: number): boolean =>
  start === end || (bytes[start] === DIGIT_0 && (end === start + 1 || bytes[start + 1] === SEMICOLON));

/** `30` to `39`, `38;5;n` and `38;2;r;g;b`, with numbers up to 255: the most frequent ones. */
const setsForeground = (bytes: Uint8Array, start: number, end: number): boolean => {
  if (end < start + 2 || bytes[start] !== DIGIT_3) return false;
  if (end === start + 2) return bytes[start + 1] !== DIGIT_8;
  if (end < start + 6 || bytes[start + 1] !== DIGIT_8 || bytes[start + 2] !== SEMICOLON) return false;
  const kind = bytes[start + 3];
  if ((kind !== DIGIT_2 && kind !== DIGIT_5) || bytes[start + 4] !== SEMICOLON) return false;
  let left = kind === DIGIT_2 ? 2 : 0; // numbers behind the next one
  let value = 0;
  for (let at = start + 5; at < end && value <= 255; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= DIGIT_0 && byte < 0x3a) value = value * 10 + byte - DIGIT_0;
    else if (byte === SEMICOLON) {
      left -= 1;
      value = 0;
    } else return false;
  }
  return left === 0 && value <= 255;
};

/** Notes the parameters of `CSI … m`; those that they overwrite are forgotten. False, with nothing noted, if there is no room. */
export const noteRendition = (
  noted: NotedRenditions,
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean => {
  const isForeground = setsForeground(bytes, start, end);
  if (isReset(bytes, start, end)) noted.count = 0;
  else if (isForeground && noted.isForeground && noted.count > 0) noted.count -= 2;
  if (noted.count === noted.offsets.length) return false;
  noted.offsets[noted.count] = start;
  noted.offsets[noted.count + 1] = end;
  noted.count += 2;
  noted.isForeground = isForeground;
  return true;
};

/** The rendition after all noted ones; none is noted then. */
export const applyNoted = (
  before: Rendition,
  noted: NotedRenditions,
  sequence: ControlSequence,
  bytes: Uint8Array,
): Rendition => {
  let rendition = before;
  for (let index = 0; index < noted.count; index += 2) {
    parseControlSequence(sequence, bytes, noted.offsets[index] ?? 0, noted.offsets[index + 1] ?? 0);
    rendition = addRendition(rendition, sequence);
  }
  noted.count = 0;
  return rendition;
};

/** The bytes that bring a terminal to this rendition from any other. */
export const renditionSequence = (rendition: Rendition): string =>
  chainSequence(rendition.chain ?? chainOf(rendition));
