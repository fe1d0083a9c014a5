import { errorText } from '../../core/json.js';
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

const parsePattern = (source: string): PatternNode => parseChoice(source).node;

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

// Patterns a user wrote. They run on every screen, beside a session that must not wait, and a running expression can't be stopped: so
// an expression that could take long is refused when it is read, and it only ever sees one row of bounded length.

/** An expression that is known to be quick on a row. */
export interface Pattern {
  readonly expression: RegExp;
  /** capturing groups */
  readonly groups: number;
}

export const LONGEST_PATTERN = 200; // characters
const LONGEST_ROW = 512; // cells that are looked at; agents write their numbers into the first hundred

/** What the pattern finds in a row; `^` and `$` are the ends of the row. */
export const matchRow = ({ expression }: Pattern, row: string): RegExpExecArray | null =>
  expression.exec(row.slice(0, LONGEST_ROW));

/** The pattern, or why it is none. */
export const readPattern = (source: string): Pattern | { readonly reason: string } => {
  if (source === '') return { reason: 'empty' };
  if (source.length > LONGEST_PATTERN) return { reason: `longer than ${LONGEST_PATTERN} characters` };
  try {
    const expression = new RegExp(source, 'u');
    const reason = whySlow(parsePattern(source));
    const groups = (new RegExp(`${source}|`, 'u').exec('')?.length ?? 1) - 1;
    return reason === undefined ? { expression, groups } : { reason };
  } catch (error) {
    return { reason: errorText(error) };
  }
};

/**
 * How the time grows with the length n of a row: n to the power of (1 if it may begin anywhere) + (repeats that have several ways to
 * end) + (1 if any repeat is long), times `ways`. n² on 512 cells is below a millisecond, if little is compared at each of its steps.
 */
interface Cost {
  /** long repeats that could end at more than one place */
  readonly loose: number;
  readonly isLong: boolean;
  /** in how many ways short repeats and choices can be taken */
  readonly ways: number;
  /** characters that are compared one after another in one of these ways, at most */
  readonly length: number;
  readonly refusal?: string;
}

const MOST_POWER = 2;
const MOST_WAYS = 16;
const MOST_STEPS = 32 * LONGEST_ROW ** 2; // a hundredth of a second, on a row that is made for it
const SHORT = 16; // repeats of a range up to here multiply the ways, longer ones count as endless
const FREE: Cost = { loose: 0, isLong: false, ways: 1, length: 0 };

const whySlow = (node: PatternNode): string | undefined => {
  const { loose, isLong, ways, length, refusal } = costOf(node, 0n);
  if (refusal !== undefined) return refusal;
  const places = (beginsAtStart(node) ? 0 : 1) + loose;
  const isSlow = LONGEST_ROW ** places * ways * length > MOST_STEPS;
  if (places + (isLong ? 1 : 0) > MOST_POWER || (isSlow && ways <= MOST_WAYS))
    return String.raw`it can match in too many ways: begin it with ^, or limit its repeats, as in \d{1,3}`;
  return ways > MOST_WAYS ? 'it has too many optional parts that can take the same text' : undefined;
};

const beginsAtStart = (node: PatternNode): boolean => {
  if (node.kind === 'sequence') return node.items[0] !== undefined && beginsAtStart(node.items[0]);
  return node.kind === 'mark' && node.isStart;
};

/** `follow` is what can come after the node. */
const costOf = (node: PatternNode, follow: CharacterSet): Cost => {
  switch (node.kind) {
    case 'character':
      return { ...FREE, length: 1 };
    case 'mark':
      return FREE;
    case 'refused':
      return { ...FREE, refusal: node.reason };
    case 'sequence':
      return node.items.reduceRight<{ readonly cost: Cost; readonly follow: CharacterSet }>(
        (after, item) => ({
          cost: both(costOf(item, after.follow), after.cost),
          follow: firstOf(item) | (isOptional(item) ? after.follow : 0n),
        }),
        { cost: FREE, follow },
      ).cost;
    case 'choice': {
      const cost = node.branches.map((branch) => costOf(branch, follow)).reduce(both, FREE);
      return { ...cost, ways: cost.ways * (isClear(node.branches) ? 1 : node.branches.length) };
    }
    case 'repeat':
      return costOfRepeat(node, follow);
  }
};

const costOfRepeat = (
  { item, least, most }: Extract<PatternNode, { kind: 'repeat' }>,
  follow: CharacterSet,
): Cost => {
  const inner = costOf(item, follow);
  if (inner.refusal !== undefined) return inner;
  if (most > 1 && varies(item))
    return { ...FREE, refusal: 'it repeats a group that holds a repeat or a choice' };
  const length = inner.length * Math.min(most, LONGEST_ROW);
  if (least === most) return { ...inner, length };
  const isLong = most - least > SHORT;
  const isLoose = (firstOf(item) & follow) !== 0n;
  if (!isLoose) return { ...inner, length, isLong: inner.isLong || isLong };
  return isLong ? { ...inner, loose: inner.loose + 1 } : { ...inner, ways: inner.ways * (most - least + 1) };
};

const both = (a: Cost, b: Cost): Cost => {
  const refusal = a.refusal ?? b.refusal;
  return {
    loose: a.loose + b.loose,
    isLong: a.isLong || b.isLong,
    ways: a.ways * b.ways,
    length: a.length + b.length,
    ...(refusal === undefined ? {} : { refusal }),
  };
};

/** The next character says which branch it is. */
const isClear = (branches: readonly PatternNode[]): boolean => {
  let seen = 0n;
  for (const branch of branches) {
    const first = firstOf(branch);
    if ((first & seen) !== 0n || isOptional(branch)) return false;
    seen |= first;
  }
  return true;
};

const varies = (node: PatternNode): boolean => {
  switch (node.kind) {
    case 'repeat':
      return node.least !== node.most || varies(node.item);
    case 'sequence':
      return node.items.some(varies);
    default:
      return node.kind === 'choice';
  }
};

const firstOf = (node: PatternNode): CharacterSet => {
  switch (node.kind) {
    case 'character':
      return node.set;
    case 'repeat':
      return firstOf(node.item);
    case 'choice':
      return node.branches.reduce((set, branch) => set | firstOf(branch), 0n);
    case 'sequence': {
      const end = node.items.findIndex((item) => !isOptional(item));
      const begin = end < 0 ? node.items : node.items.slice(0, end + 1);
      return begin.reduce((set, item) => set | firstOf(item), 0n);
    }
    default:
      return 0n;
  }
};

const isOptional = (node: PatternNode): boolean => {
  switch (node.kind) {
    case 'character':
      return false;
    case 'repeat':
      return node.least === 0 || isOptional(node.item);
    case 'choice':
      return node.branches.some(isOptional);
    case 'sequence':
      return node.items.every(isOptional);
    default:
      return true;
  }
};
