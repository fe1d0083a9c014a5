import { addToChain, chainSequence, link, emptyChain, type Chain } from './rendition-chain.js';
import type { Sequence } from './sequence.js';

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
