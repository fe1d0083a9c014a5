import { parameterText, valueAt, type Sequence } from './sequence.js';

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

export const emptyChain: Chain = { before: undefined, text: '', code: 0, length: 0 };

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

export const link = (before: Chain, text: string, code: number): Chain =>
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
export const addToChain = (before: Chain, sequence: Sequence): Chain => {
  const code = codeOf(sequence);
  const known = texts[code];
  const isPlainNumber = sequence.count === 1 && known?.length === sequence.end - sequence.start;
  const after = link(before, isPlainNumber ? known : parameterText(sequence), code);
  return after.length > FOLD_AT ? fold(after) : after;
};

/** The bytes that bring a terminal to this rendition from any other. */
export const chainSequence = (chain: Chain): string => {
  let text = '';
  for (let at: Chain | undefined = chain; at?.before; at = at.before) text = `\x1b[${at.text}m${text}`;
  return `\x1b[0m${text}`;
};
