// A regular expression as a tree, so that its cost can be judged before it ever runs. Only what is a valid expression comes in here.

/** Characters as bits: one for each of ASCII, and one for all others together. */
export type CharacterSet = bigint;

export type PatternNode =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  /** takes no characters: `^ $ \b` */
  | { readonly kind: 'mark'; readonly isStart: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly branches: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly item: PatternNode; readonly least: number; readonly most: number }
  /** what makes the time unpredictable, or is not understood */
  | { readonly kind: 'refused'; readonly reason: string };

const OTHERS = 1n << 128n;
const ALL = (1n << 129n) - 1n;

const bit = (character: string): CharacterSet => {
  const code = character.codePointAt(0) ?? 0;
  return code < 128 ? 1n << BigInt(code) : OTHERS;
};
const bits = (characters: string): CharacterSet => [...characters].reduce((set, each) => set | bit(each), 0n);

const range = (from: number, to: number): CharacterSet => {
  let set = to >= 128 ? OTHERS : 0n;
  for (let code = from; code <= Math.min(to, 127); code += 1) set |= 1n << BigInt(code);
  return set;
};

const DIGITS = bits('0123456789');
const WORDS = DIGITS | range(65, 90) | range(97, 122) | bits('_');
const BLANKS = bits('\t\n\v\f\r ') | OTHERS;
const classes: Readonly<Record<string, CharacterSet>> = {
  d: DIGITS,
  D: ALL & ~DIGITS,
  w: WORDS,
  W: (ALL & ~WORDS) | OTHERS,
  s: BLANKS,
  S: (ALL & ~BLANKS) | OTHERS,
  p: ALL, // the letters and digits of some script: taken for everything
  P: ALL,
};
const controls: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  b: '\b',
  0: '\0',
};

const LOOK_AROUND = 'looks ahead or behind: (?= (?! (?<';
const BACK_REFERENCE = 'refers back to a group';

/** The tree of a valid expression, and what is left of the text when a `)` ends it. */
interface Parsed {
  readonly node: PatternNode;
  readonly rest: string;
}

export const parsePattern = (source: string): PatternNode => parseChoice(source).node;

const parseChoice = (text: string): Parsed => {
  const branches: PatternNode[] = [];
  let { node, rest } = parseSequence(text);
  branches.push(node);
  while (rest.startsWith('|')) {
    ({ node, rest } = parseSequence(rest.slice(1)));
    branches.push(node);
  }
  return { node: branches.length === 1 ? node : { kind: 'choice', branches }, rest };
};

const parseSequence = (text: string): Parsed => {
  const items: PatternNode[] = [];
  let rest = text;
  while (rest !== '' && !rest.startsWith('|') && !rest.startsWith(')')) {
    const atom = parseAtom(rest);
    const repeated = parseRepeat(atom.node, atom.rest);
    items.push(repeated.node);
    rest = repeated.rest;
  }
  return { node: { kind: 'sequence', items }, rest };
};

const parseRepeat = (item: PatternNode, text: string): Parsed => {
  const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(text);
  if (!found) return { node: item, rest: text };
  const [all, sign, from = '', comma, to] = found;
  const least = sign === undefined ? Number(from) : sign === '+' ? 1 : 0;
  const upTo = comma === '' ? least : to ? Number(to) : Infinity;
  const most = sign === undefined ? upTo : sign === '?' ? 1 : Infinity;
  return { node: { kind: 'repeat', item, least, most }, rest: text.slice(all.length) };
};

const parseAtom = (text: string): Parsed => {
  const [first = ''] = text;
  switch (first) {
    case '(':
      return parseGroup(text);
    case '[':
      return parseClass(text);
    case '\\':
      return parseEscape(text);
    case '^':
    case '$':
      return { node: { kind: 'mark', isStart: first === '^' }, rest: text.slice(1) };
    default: {
      const [character = ''] = text[Symbol.iterator]();
      const set = character === '.' ? ALL : bit(character);
      return { node: { kind: 'character', set }, rest: text.slice(character.length) };
    }
  }
};

const parseGroup = (text: string): Parsed => {
  const isPlain = text.startsWith('(?:') || !text.startsWith('(?');
  const { node, rest } = parseChoice(text.slice(text.startsWith('(?') ? 3 : 1));
  const inner: PatternNode = isPlain ? node : { kind: 'refused', reason: LOOK_AROUND };
  return { node: inner, rest: rest.slice(1) };
};

/** One escape, inside or outside of a class. */
const escaped = (text: string): { readonly set: CharacterSet; readonly length: number } => {
  const found = /^\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|c[a-z]|[pP]\{[^}]*\})/i.exec(text);
  const letter = text[1] ?? '';
  const known = classes[letter];
  if (known !== undefined) return { set: known, length: found?.[0].length ?? 2 };
  const hex = found?.[1] ?? found?.[2] ?? found?.[3];
  if (found && hex) return { set: bit(String.fromCodePoint(parseInt(hex, 16))), length: found[0].length };
  if (found) return { set: range(0, 31), length: found[0].length };
  return { set: bit(controls[letter] ?? letter), length: 2 };
};

const parseEscape = (text: string): Parsed => {
  if (/^\\[1-9k]/.test(text)) return { node: { kind: 'refused', reason: BACK_REFERENCE }, rest: '' };
  if (/^\\b/i.test(text)) return { node: { kind: 'mark', isStart: false }, rest: text.slice(2) };
  const { set, length } = escaped(text);
  return { node: { kind: 'character', set }, rest: text.slice(length) };
};

const parseClass = (text: string): Parsed => {
  const isNegated = text.startsWith('[^');
  let rest = text.slice(isNegated ? 2 : 1);
  let set = 0n;
  while (!rest.startsWith(']')) {
    const span = /^([^\\\]])-([^\\\]])/u.exec(rest);
    const one = rest.startsWith('\\') ? escaped(rest) : undefined;
    const [character = ''] = rest[Symbol.iterator]();
    if (span) set |= range(span[1]?.codePointAt(0) ?? 0, span[2]?.codePointAt(0) ?? 0);
    else set |= one?.set ?? bit(character);
    rest = rest.slice(span?.[0].length ?? one?.length ?? character.length);
    if (!span && /^-[^\]]/.test(rest)) set = ALL; // a range with an escape at one of its ends
  }
  // a class that leaves out one letter of another script still takes the rest of it
  return { node: { kind: 'character', set: isNegated ? (ALL & ~set) | OTHERS : set }, rest: rest.slice(1) };
};
