import {
  type ControlKey,
  formatBytes,
  parseBound,
  parseBytes,
  formatBound,
  formatControlKey,
  formatEscapeOrControlKey,
  MIN_TOKENS,
  MAX_TOKENS,
  parseControlKey,
  parseEscapeOrControlKey,
  parseTokens,
} from '../format.js';
import { isRecord, parseRecord, type JsonRecord } from '../json.js';
import { FROM_CONVERSATION } from '../compaction/focus.js';
import { cleanFocus, MAX_FOCUS_LENGTH } from '../text.js';
import type { Bound } from '../ladder.js';

// The types of configuration values: how a value is read, written, and described to users and editors.

export interface ValueType<T = unknown> {
  readonly kind:
    | 'choice'
    | 'flag'
    | 'tokens'
    | 'bytes'
    | 'count'
    | 'bound'
    | 'bounds'
    | 'text'
    | 'focus'
    | 'path'
    | 'endpoint'
    | 'hotkey'
    | 'list'
    | 'theme'
    | 'definitions'
    | 'modules';
  /** the rule for a valid value, as the end of a sentence; specific to the given value if that helps */
  readonly rule: (written?: unknown) => string;
  /** converts a value of a file; undefined if it is invalid */
  readonly read: (written: unknown) => T | undefined;
  /** the inverse of `read`, if the file's form differs from the value */
  write?(value: T): unknown;
  /** what is right of an invalid value, which is used then */
  readonly part?: (written: unknown) => T | undefined;
  /** converts text of the environment to the file's form, if they differ */
  readonly fromText?: (text: string) => unknown;
  readonly choices?: readonly string[];
  /** a valid text that the user may have meant */
  readonly nearest?: (text: string) => string | undefined;
  /** JSON Schema of the value */
  readonly schema: JsonRecord;
  /** a wrong value may be a secret, and is not repeated in messages */
  readonly isPrivate?: true;
}

/** The type of the value in the program. */
export type ValueOf<T> = T extends ValueType<infer V> ? V : never;

const find = <C extends string>(choices: readonly C[], written: unknown): C | undefined =>
  choices.find((each) => each === written);

export const choice = <const C extends string>(...choices: readonly C[]): ValueType<C> => ({
  kind: 'choice',
  rule: () => `one of ${choices.join(', ')}`,
  read: (written) => find(choices, written),
  fromText: (text) => choices.find((each) => each.toLowerCase() === text.toLowerCase()) ?? text,
  choices,
  schema: { enum: choices },
});

/** A list of choices without repetition. */
export const list = <const C extends string>(choices: readonly C[]): ValueType<readonly C[]> => ({
  kind: 'list',
  rule: () => `a list of ${choices.join(', ')}`,
  read: (written) => {
    if (!Array.isArray(written)) return undefined;
    const items = written.flatMap((each) => find(choices, each) ?? []);
    return items.length === written.length ? [...new Set(items)] : undefined;
  },
  fromText: (text) => (text === '' ? [] : text.split(',').map((each) => each.trim())),
  choices,
  schema: { type: 'array', items: { enum: choices }, uniqueItems: true },
});

const flagTexts: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  false: false,
  '0': false,
  no: false,
};

/** A boolean that stands for these two values. */
export const flagFor = <const T>(yes: T, no: T): ValueType<T> => ({
  kind: 'flag',
  rule: () => 'true or false',
  read: (written) => (written === true ? yes : written === false ? no : undefined),
  fromText: (text) => flagTexts[text.toLowerCase()] ?? text,
  schema: { type: 'boolean' },
});

export const flag: ValueType<boolean> = flagFor<boolean>(true, false);

/** A boolean, or a word for a special form of `true`. */
export const flagOr = <const W extends string>(word: W): ValueType<boolean | W> => ({
  kind: 'flag',
  rule: () => `true, false or ${word}`,
  read: (written) => (written === word ? word : flag.read(written)),
  fromText: (text) => (text.toLowerCase() === word ? word : (flagTexts[text.toLowerCase()] ?? text)),
  choices: ['true', 'false', word],
  schema: { enum: [true, false, word] },
});

/** A number, or a text that stands for one, as text; empty for anything else. */
const amount = (written: unknown): string =>
  typeof written === 'string' || Number.isFinite(written) ? String(written) : '';

const TOKENS = String.raw`^\d+(_\d+)*(\.\d+)?[kKmM]?$`;
const BOUND = String.raw`^\d+(_\d+)*(\.\d+)?[kKmM%]?$`;

const boundSchema = {
  anyOf: [
    { type: 'integer', minimum: MIN_TOKENS },
    { type: 'string', pattern: BOUND },
  ],
};

/** A number of tokens, also written as `200k` or `1M`. */
export const tokens = (least = MIN_TOKENS, most = MAX_TOKENS): ValueType<number> => {
  const [leastText, mostText] = [`${least / 1_000}k`, `${most / 1_000_000}M`];
  return {
    kind: 'tokens',
    rule: () => `a number of tokens from ${leastText} to ${mostText}`,
    nearest: (text) => {
      const count = parseTokens(text);
      return count > most ? mostText : count < least ? leastText : undefined;
    },
    read: (written) => {
      const count = parseTokens(amount(written));
      return Number.isInteger(count) && count >= least && count <= most ? count : undefined;
    },
    schema: {
      anyOf: [
        { type: 'integer', minimum: least, maximum: most },
        { type: 'string', pattern: TOKENS },
      ],
    },
  };
};

/** A size on a disk, in bytes, also written as `500MB` or `2GB`. */
export const bytes = (least: number, most: number): ValueType<number> => {
  const [leastText, mostText] = [formatBytes(least), formatBytes(most)];
  return {
    kind: 'bytes',
    rule: () => `a size from ${leastText} to ${mostText}`,
    nearest: (text) => {
      const size = parseBytes(text);
      const near = size > most ? mostText : size < least ? leastText : undefined;
      return near?.replace(' ', ''); // to be typed without quotes
    },
    read: (written) => {
      const size = parseBytes(amount(written));
      return size >= least && size <= most ? size : undefined;
    },
    schema: {
      anyOf: [
        { type: 'integer', minimum: least, maximum: most },
        { type: 'string', pattern: String.raw`^\d+(\.\d+)? ?([kKmMgGtT]?[bB])?$` },
      ],
    },
  };
};

export const count = (least: number, most: number): ValueType<number> => ({
  kind: 'count',
  rule: () => `a whole number from ${least} to ${most}`,
  read: (written) => {
    const text = amount(written);
    const found = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return found >= least && found <= most ? found : undefined;
  },
  schema: { type: 'integer', minimum: least, maximum: most },
});

/** A boundary of a tier: `80%` of the window, or tokens. */
export const bound: ValueType<Bound> = {
  kind: 'bound',
  rule: () => 'a percentage from 1% to 100% or a number of tokens from 1k to 10M',
  read: (written) => parseBound(amount(written)),
  write: (value) => (value.unit === 'percent' ? formatBound(value) : value.value),
  nearest: (text) => {
    const bare = parseTokens(text); // 80 for 80%
    return bare >= 1 && bare <= 100 ? `${bare}%` : '80%';
  },
  schema: boundSchema,
};

const PATTERN = String.raw`^[^\u0000-\u0020\u007f-\u009f=,][^\u0000-\u001f\u007f-\u009f=,]{0,99}$`;
const modelPattern = new RegExp(PATTERN);
const MOST_PATTERNS = 100;

/** A boundary for each of some models, by a pattern of the name. */
export const bounds: ValueType<Readonly<Record<string, Bound>>> = {
  kind: 'bounds',
  rule: (written) => {
    const [wrong] = splitBounds(written).wrong;
    const what = 'a limit for each model: an object in a file, elsewhere *opus*=300k,gpt-5*=200k';
    return wrong === undefined ? what : `${what}; the value for ${JSON.stringify(wrong)} is not a limit`;
  },
  read: (written) => {
    const { right, wrong } = splitBounds(written);
    return wrong.length === 0 ? right : undefined;
  },
  part: (written) => splitBounds(written).right,
  write: (value) =>
    Object.fromEntries(Object.entries(value).map(([pattern, each]) => [pattern, formatBound(each)])),
  fromText: (text) => {
    if (text.startsWith('{')) return parseRecord(text) ?? text;
    const pairs = text.split(',').map((each) => /^([^=]*)=(.*)$/.exec(each.trim()));
    if (pairs.some((pair) => !pair)) return text;
    return Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim(), pair?.[2]?.trim()]));
  },
  schema: {
    type: 'object',
    minProperties: 1,
    maxProperties: MOST_PATTERNS,
    propertyNames: { pattern: PATTERN },
    additionalProperties: boundSchema,
  },
};

/** The boundaries that can be read, and the patterns of those that cannot. */
const splitBounds = (written: unknown) => {
  const named = Object.entries(isRecord(written) ? written : {}).map(
    ([pattern, each]) => [pattern, modelPattern.test(pattern) ? bound.read(each) : undefined] as const,
  );
  const right = named.flatMap(([pattern, value]) => (value ? [[pattern, value] as const] : []));
  const wrong = named.flatMap(([pattern, value]) => (value ? [] : [pattern]));
  const isUsable = right.length > 0 && right.length <= MOST_PATTERNS;
  return { right: isUsable ? Object.fromEntries(right) : undefined, wrong };
};

/** A boundary as a plain percentage, which is lowered if the agent compacts earlier by itself. */
export const percent = (least: number, most: number): ValueType<Bound> => ({
  ...bound,
  rule: () => `a percentage from ${least} to ${most}`,
  read: (written) => {
    const found = parseBound(amount(written).replace(/%?$/, '%'));
    return found && found.value >= least && found.value <= most ? { ...found, yields: true } : undefined;
  },
});

export const text = (longest: number): ValueType<string> => ({
  kind: 'text',
  rule: () => `a text of at most ${longest} characters`,
  read: (written) =>
    typeof written === 'string' && written.trim() !== '' && written.length <= longest ? written : undefined,
  schema: { type: 'string', minLength: 1, maxLength: longest },
});

/** Focus text for the agent's compact command, or the word that has it taken from the conversation. */
export const focus: ValueType<string> = {
  ...text(MAX_FOCUS_LENGTH),
  kind: 'focus',
  rule: () => `a text of at most ${MAX_FOCUS_LENGTH} characters, or ${FROM_CONVERSATION}`,
  read: (written) =>
    typeof written === 'string' && [...written.trim()].length <= MAX_FOCUS_LENGTH
      ? cleanFocus(written)
      : undefined,
};

const LONGEST_PATH = 4_096; // bytes; the limit of most systems

/** An absolute path, or one below `~/`. */
export const path: ValueType<string> = {
  kind: 'path',
  rule: () => 'an absolute path, or one that begins with ~/',
  read: (written) =>
    typeof written === 'string' && written.length <= LONGEST_PATH && /^(?:~\/|\/)[^\0]+$/.test(written)
      ? written
      : undefined,
  schema: { type: 'string', pattern: '^(~/|/)' },
};

const LONGEST_ENDPOINT = 2_000; // characters
const ENDPOINT = String.raw`^https?://[A-Za-z0-9.\-\[\]:]+(/[A-Za-z0-9._~/\-]*)?$`;

/** The address of a server. Without a user, a query or a fragment, which could hold a secret. */
export const endpoint: ValueType<string> = {
  kind: 'endpoint',
  rule: () => 'an address such as http://localhost:4318',
  read: (written) =>
    typeof written === 'string' &&
    written.length <= LONGEST_ENDPOINT &&
    new RegExp(ENDPOINT).test(written) &&
    URL.canParse(written)
      ? written
      : undefined,
  schema: { type: 'string', pattern: ENDPOINT },
};

/** The address of a server, or this word. */
export const endpointOr = <const W extends string>(word: W, example: string): ValueType<string> => ({
  ...endpoint,
  rule: () => `an address such as ${example}, or ${word}`,
  read: (written) => (written === word ? word : endpoint.read(written)),
  choices: [word],
  schema: { type: 'string', pattern: `^${word}$|${ENDPOINT}` },
});

const ENVIRONMENT_NAME = '^[A-Z_][A-Z0-9_]{0,99}$';

/** The name of an environment variable. In capital letters, so that a secret pasted here by mistake is refused. */
export const environmentName: ValueType<string> = {
  kind: 'text',
  rule: () => 'the name of an environment variable (A-Z, 0-9, _), not its value',
  read: (written) =>
    typeof written === 'string' && new RegExp(ENVIRONMENT_NAME).test(written) ? written : undefined,
  schema: { type: 'string', pattern: ENVIRONMENT_NAME },
  isPrivate: true,
};

interface KeyForms<K> {
  readonly parse: (text: string) => K | { readonly rule: string };
  readonly write: (key: K) => string;
  readonly examples: readonly string[];
}

const keyType = <K extends ControlKey>({ parse, write, examples }: KeyForms<K>): ValueType<K> => ({
  kind: 'hotkey',
  rule: (written) => {
    const key = parse(typeof written === 'string' ? written : '');
    return typeof key === 'object' ? key.rule : 'a key';
  },
  read: (written) => {
    const key = typeof written === 'string' ? parse(written) : undefined;
    return typeof key === 'object' ? undefined : key;
  },
  write,
  schema: { type: 'string', examples },
});

export const hotkey = keyType<ControlKey>({
  parse: parseControlKey,
  write: formatControlKey,
  examples: ['Ctrl-]', '^G', 'none'],
});

/** A key that may be Escape, and cannot be switched off. */
export const escapeOrControlKey = keyType<number>({
  parse: parseEscapeOrControlKey,
  write: formatEscapeOrControlKey,
  examples: ['Esc', 'Ctrl-G'],
});

const NAME = '^[a-z][a-z0-9-]{0,39}$';

/** The name of a way to shorten a conversation: a built-in one, or a key of `strategies`. */
export const strategyName = (...known: readonly string[]): ValueType<string> => ({
  kind: 'text',
  rule: () => `one of ${known.join(', ')}, or a name of one of your strategies`,
  read: (written) => (typeof written === 'string' && new RegExp(NAME).test(written) ? written : undefined),
  fromText: (given) => given.toLowerCase(),
  schema: { type: 'string', pattern: NAME, examples: known },
});

/** Files of JavaScript modules by name. */
export const modules: ValueType<Readonly<Record<string, string>>> = {
  kind: 'modules',
  rule: () => 'an object with the absolute path of a module for each name (a-z, 0-9, -)',
  read: (written) =>
    isRecord(written) &&
    Object.entries(written).every(
      ([name, file]) => new RegExp(NAME).test(name) && path.read(file) !== undefined,
    )
      ? (written as Readonly<Record<string, string>>)
      : undefined,
  schema: {
    type: 'object',
    propertyNames: { pattern: NAME },
    additionalProperties: { type: 'string', pattern: '^(~/|/)' },
  },
};

/** Agents by name; what they are is checked in agents/defined, one by one. */
export const definitions: ValueType<JsonRecord> = {
  kind: 'definitions',
  rule: () => 'an object with one object for each agent',
  read: (written) => (isRecord(written) ? written : undefined),
  schema: { type: 'object', additionalProperties: { type: 'object' } },
};
