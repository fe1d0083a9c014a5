import {
  type ControlKey,
  parseBound,
  formatBound,
  formatControlKey,
  MIN_TOKENS,
  MAX_TOKENS,
  parseControlKey,
  parseTokens,
} from '../format.js';
import { isRecord, type JsonRecord } from '../json.js';
import { cleanFocus, MAX_FOCUS_LENGTH } from '../text.js';
import type { Bound } from '../ladder.js';

// What may stand at a key: how it is read and written, and what is said of it to people and to editors.

export interface ValueType<T = unknown> {
  readonly kind:
    | 'choice'
    | 'flag'
    | 'tokens'
    | 'bound'
    | 'text'
    | 'focus'
    | 'path'
    | 'hotkey'
    | 'list'
    | 'definitions';
  /** what must stand there, for a sentence that ends with it; about this value, where that makes a difference */
  readonly rule: (written?: unknown) => string;
  /** a value of a file as it is used; undefined where it may not stand there */
  readonly read: (written: unknown) => T | undefined;
  /** the reverse of `read`, where a file holds something else than what is used */
  write?(value: T): unknown;
  /** a text of the environment as a file would hold it, where that is not the text itself */
  readonly fromText?: (text: string) => unknown;
  readonly choices?: readonly string[];
  /** what may have been meant by a text that may not stand there */
  readonly nearest?: (text: string) => string | undefined;
  /** JSON Schema */
  readonly schema: JsonRecord;
}

/** A value as it is used. */
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

/** Several of these, each once. */
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

/** True or false, where they mean these two. */
export const flagFor = <const T>(yes: T, no: T): ValueType<T> => ({
  kind: 'flag',
  rule: () => 'true or false',
  read: (written) => (written === true ? yes : written === false ? no : undefined),
  fromText: (text) => flagTexts[text.toLowerCase()] ?? text,
  schema: { type: 'boolean' },
});

export const flag: ValueType<boolean> = flagFor<boolean>(true, false);

/** A number, or a text that stands for one, as a text; empty for anything else. */
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

/** A number of tokens, also as `200k` or `1M`. */
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

/** A boundary as a bare percentage, which gives way where the agent compacts before it by itself. */
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

/** What a prompt may be given. */
export const focus: ValueType<string> = {
  ...text(MAX_FOCUS_LENGTH),
  kind: 'focus',
  read: (written) =>
    typeof written === 'string' && [...written.trim()].length <= MAX_FOCUS_LENGTH
      ? cleanFocus(written)
      : undefined,
};

const LONGEST_PATH = 4_096; // bytes that systems take

/** The absolute path of a file, or one below `~/`. */
export const path: ValueType<string> = {
  kind: 'path',
  rule: () => 'the absolute path of a file, or one that begins with ~/',
  read: (written) =>
    typeof written === 'string' && written.length <= LONGEST_PATH && /^(?:~\/|\/)[^\0]+$/.test(written)
      ? written
      : undefined,
  schema: { type: 'string', pattern: '^(~/|/)' },
};

export const hotkey: ValueType<ControlKey> = {
  kind: 'hotkey',
  rule: (written) => {
    const key = parseControlKey(typeof written === 'string' ? written : '');
    return typeof key === 'object' ? key.rule : 'a key';
  },
  read: (written) => {
    const key = typeof written === 'string' ? parseControlKey(written) : undefined;
    return typeof key === 'object' ? undefined : key;
  },
  write: formatControlKey,
  schema: { type: 'string', examples: ['Ctrl-]', '^G', 'none'] },
};

/** Agents by name; what they may hold is checked where agents are defined. */
export const definitions: ValueType<Readonly<Record<string, JsonRecord>>> = {
  kind: 'definitions',
  rule: () => 'an object that holds one object for each agent',
  read: (written) =>
    isRecord(written) && Object.values(written).every(isRecord)
      ? (written as Readonly<Record<string, JsonRecord>>)
      : undefined,
  schema: { type: 'object', additionalProperties: { type: 'object' } },
};
