import type { NativeTrigger } from '../../core/build-ladder.js';
import { LEAST_TOKENS, MOST_TOKENS, tokensIn } from '../../core/format.js';
import { isRecord } from '../../core/json.js';
import type { Basis } from '../../core/reading.js';
import { globForms, readGlob, type Glob } from './files.js';
import { readFieldPath, type FieldPath } from './log.js';
import { LONGEST_PATTERN, readPattern, type Pattern } from './pattern.js';
import { readRegion, regionForms, type Region } from './screen.js';

// Checks of a value that a user wrote: each gives the value as its type, or says where it is wrong, what was given and what is allowed.

export interface Problem {
  /** the field: `log.used.0`; empty for the whole value */
  readonly path: string;
  /** what stands there, as JSON and cut short; undefined when it is missing */
  readonly given?: string;
  readonly allowed: string;
  /** the names that could have been meant, for a name nobody knows */
  readonly known?: readonly string[];
}

export type Checked<T> = { readonly value: T } | { readonly problems: readonly Problem[] };

export type Check<T> = (value: unknown, path: string) => Checked<T>;

type Checks = Readonly<Record<string, Check<unknown>>>;
type Values<C extends Checks> = { readonly [K in keyof C]: C[K] extends Check<infer T> ? T : never };

const GIVEN_LENGTH = 60; // characters of what was given

const problem = (path: string, given: unknown, allowed: string): { readonly problems: Problem[] } => {
  if (given === undefined) return { problems: [{ path, allowed }] };
  const text = written(given);
  const short = text.length > GIVEN_LENGTH ? `${text.slice(0, GIVEN_LENGTH)}…` : text;
  return { problems: [{ path, given: short, allowed }] };
};

const written = (given: unknown): string => {
  if (typeof given === 'number') return String(given); // one that is no JSON can be read, as 1e400
  try {
    return JSON.stringify(given) ?? String(given);
  } catch {
    return 'something that is nested too deep'; // to be written down again, though it could be read
  }
};

const below = (path: string, key: string | number): string => (path === '' ? `${key}` : `${path}.${key}`);

export const isProblem = <T>(checked: Checked<T>): checked is { readonly problems: readonly Problem[] } =>
  'problems' in checked;

/** A text that the function turns into its type; undefined is not allowed. */
const text =
  <T = string>(allowed: string, read: (given: string) => T | undefined): Check<T> =>
  (value, path) => {
    const found = typeof value === 'string' ? read(value) : undefined;
    return found === undefined ? problem(path, value, allowed) : { value: found };
  };

const oneOf = <T extends string>(...choices: readonly T[]): Check<T> =>
  text(`one of ${choices.join(', ')}`, (given) => choices.find((each) => each === given));

const number =
  (least: number, most: number, what = 'a number'): Check<number> =>
  (value, path) =>
    typeof value === 'number' && value >= least && value <= most
      ? { value }
      : problem(path, value, `${what} from ${least} to ${most}`);

const flag: Check<boolean> = (value, path) =>
  typeof value === 'boolean' ? { value } : problem(path, value, 'true or false');

const simple: Check<string | number | boolean | null> = (value, path) =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? { value }
    : problem(path, value, 'a text, a number, true, false or null');

/** A list; one value alone is a list of one. */
const list =
  <T>(item: Check<T>, most: number): Check<readonly T[]> =>
  (value, path) => {
    if (value === undefined) return problem(path, value, 'a list');
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (given.length === 0 || given.length > most) return problem(path, value, `1 to ${most} values`);
    const checked = given.map((each, index) => item(each, Array.isArray(value) ? below(path, index) : path));
    const problems = checked.flatMap((each) => (isProblem(each) ? each.problems : []));
    return problems.length > 0
      ? { problems }
      : { value: checked.flatMap((each) => (isProblem(each) ? [] : [each.value])) };
  };

/** An object with these fields and no others; `optional` ones may be missing. */
const fields =
  <R extends Checks, O extends Checks>(required: R, optional: O): Check<Values<R> & Partial<Values<O>>> =>
  (value, path) => {
    const known = [...Object.keys(required), ...Object.keys(optional)];
    if (!isRecord(value)) return problem(path, value, `an object with ${known.join(', ')}`);
    const found: Record<string, unknown> = {};
    const problems: Problem[] = Object.keys(value)
      .filter((key) => !known.includes(key))
      .map((key) => ({ path: below(path, key), allowed: known.join(', '), known }));
    for (const [key, check] of Object.entries({ ...optional, ...required })) {
      if (!Object.hasOwn(value, key) && !Object.hasOwn(required, key)) continue;
      const checked = check(Object.hasOwn(value, key) ? value[key] : undefined, below(path, key));
      if (isProblem(checked)) problems.push(...checked.problems);
      else found[key] = checked.value;
    }
    return problems.length > 0 ? { problems } : { value: found as Values<R> & Partial<Values<O>> };
  };

/** A further rule for a value that is right by itself. */
const such =
  <T>(check: Check<T>, allowed: string, holds: (value: T) => boolean): Check<T> =>
  (value, path) => {
    const checked = check(value, path);
    return isProblem(checked) || holds(checked.value) ? checked : problem(path, value, allowed);
  };

// What a definition may hold. Every limit is there so that a definition can't make a session slow.

const LONGEST_LIST = 20;

const plainText = text('a text', (given) => (given !== '' && given.length <= 200 ? given : undefined));
const name = text('letters a-z, digits and -, at most 32, a letter first', (given) =>
  /^[a-z][a-z0-9-]{0,31}$/.test(given) ? given : undefined,
);
const command = text('the name of a program, without a path', (given) =>
  /^[^\s/]{1,100}$/.test(given) ? given : undefined,
);
const words = list(plainText, 100);
const fieldPath = text('a field path such as usage.input or parts.*.tokens', readFieldPath);
const glob = text(globForms, readGlob);
const region = text(regionForms, readRegion);
/** As for `--window`. */
const tokens: Check<number> = (value, path) => {
  const count = typeof value === 'string' || typeof value === 'number' ? tokensIn(`${value}`) : Number.NaN;
  return count >= LEAST_TOKENS && count <= MOST_TOKENS
    ? { value: count }
    : problem(path, value, `a number of tokens from ${LEAST_TOKENS} to ${MOST_TOKENS}`);
};

const pattern: Check<Pattern> = (value, path) => {
  const allowed = `a regular expression of at most ${LONGEST_PATTERN} characters for one row`;
  if (typeof value !== 'string') return problem(path, value, allowed);
  const read = readPattern(value);
  return 'reason' in read ? problem(path, value, `${allowed} (${read.reason})`) : { value: read };
};
const numberPattern = such(
  pattern,
  'a regular expression with one group (…), which holds the number; write other groups (?:…)',
  ({ groups }) => groups === 1,
);
const fieldEquals: Check<FieldEquals> = fields({ path: fieldPath, equals: simple }, {});

const modelWindow: Check<ModelWindow> = fields({ pattern, tokens }, {});
const modelWindows = list(modelWindow, 100);
const window: Check<number | readonly ModelWindow[]> = (value, path) =>
  Array.isArray(value) ? modelWindows(value, path) : tokens(value, path);

const log = fields(
  { globs: list(glob, LONGEST_LIST), used: list(fieldPath, LONGEST_LIST) },
  {
    window: fieldPath,
    model: fieldPath,
    timestamp: fieldPath,
    boundary: fields({ where: fieldEquals }, { preTokens: fieldPath, postTokens: fieldPath }),
    ignore: list(fieldEquals, LONGEST_LIST),
  },
);

const polarity = oneOf('used', 'left');
const unit = oneOf('percent', 'tokens');
const basis = oneOf('window', 'effective', 'auto-compact', 'baseline');
const patternNumber = fields({ region, pattern: numberPattern, polarity, unit }, { basis });
const wordedNumber = fields({ region }, { polarity, basis });
const screenNumber: Check<ScreenNumber> = (value, path) =>
  isRecord(value) && (value['pattern'] !== undefined || value['unit'] !== undefined)
    ? patternNumber(value, path)
    : wordedNumber(value, path);

const signFields = fields({}, { title: pattern, region, pattern });
const sign: Check<Sign> = (value, path) => {
  const checked = signFields(value, path);
  if (isProblem(checked)) return checked;
  const { title, region: where, pattern: row } = checked.value;
  const isWhole = (where === undefined) === (row === undefined) && (title !== undefined || row !== undefined);
  if (!isWhole) return problem(path, value, 'a title, or a region and a pattern together, or all three');
  return {
    value: { ...(title ? { title } : {}), ...(where && row ? { row: { region: where, pattern: row } } : {}) },
  };
};

const ready = such(
  fields({}, { title: pattern, cursorRow: pattern, absent: list(pattern, LONGEST_LIST) }),
  'a title or a cursorRow: what is absent proves nothing alone',
  ({ title, cursorRow }) => title !== undefined || cursorRow !== undefined,
);
const signs = list(sign, LONGEST_LIST);

const LONGEST_COMMAND = 100; // characters
const LONGEST_FINISH_MS = 3_600_000;

// It is typed into a prompt: a line break or any other control character in it would be a key of its own.
const typedLine = text(
  `one line of at most ${LONGEST_COMMAND} printable characters, no blank at its ends`,
  (given) =>
    given !== '' &&
    given.length <= LONGEST_COMMAND &&
    given === given.trim() &&
    /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(given)
      ? given
      : undefined,
);

const waits = {
  pauseMs: number(20, 1_000, 'milliseconds'),
  startMs: number(500, 60_000, 'milliseconds'),
  finishMs: number(1_000, LONGEST_FINISH_MS, 'milliseconds'),
};

const recipe: Check<RecipeDefinition> = fields(
  { command: typedLine },
  { ...waits, submit: oneOf('enter', 'tab'), paste: flag, takesFocus: flag },
);
const textPattern = such(
  pattern,
  "a regular expression with one group (…), which holds the user's text; write other groups (?:…)",
  ({ groups }) => groups === 1,
);

const nativeTrigger = fields({ share: number(0.01, 1), reserveTokens: number(0, MOST_TOKENS) }, {});

/** What may be changed in an agent that is known: what depends on the machine or the plan, and nothing that is read or typed. */
export const change: Check<Change> = fields(
  {},
  { command, window: tokens, recipe: fields({}, waits), nativeTrigger },
);

export const definition: Check<Definition> = fields(
  { name, command },
  {
    npmPackage: plainText,
    interactive: fields({}, { plainFlags: words, plainCommands: words, valueFlags: words }),
    window,
    log,
    screen: list(screenNumber, LONGEST_LIST),
    activity: fields({}, { ready, busy: signs, dialog: signs, compacting: signs }),
    prompt: textPattern,
    recipe,
    nativeTrigger,
  },
);

/** An agent as a user describes it: data only, from a JSON file that the user names. */
export interface Definition {
  /** as in the footer */
  readonly name: string;
  /** the program, as on PATH */
  readonly command: string;
  /** what to install when the command is not found */
  readonly npmPackage?: string;
  /** arguments with which the agent prints and exits; without them every start is a conversation */
  readonly interactive?: {
    readonly plainFlags?: readonly string[];
    readonly plainCommands?: readonly string[];
    /** flags whose value is the next word */
    readonly valueFlags?: readonly string[];
  };
  /** context window in tokens, or of the first model whose name the pattern is found in */
  readonly window?: number | readonly ModelWindow[];
  readonly log?: LogDefinition;
  /** numbers on the screen; the first that is found counts, one of each unit */
  readonly screen?: readonly ScreenNumber[];
  readonly activity?: ActivityDefinition;
  /** the row with the cursor, and the user's text in it: the pattern's only group. Without it nothing is ever typed */
  readonly prompt?: Pattern;
  /** how its own compaction is asked for */
  readonly recipe?: RecipeDefinition;
  readonly nativeTrigger?: NativeTrigger;
}

/** As `Recipe`, with the name of the key; what is missing is as it is for most agents. */
export interface RecipeDefinition {
  readonly command: string;
  readonly pauseMs?: number;
  readonly submit?: 'enter' | 'tab';
  readonly paste?: boolean;
  readonly takesFocus?: boolean;
  readonly startMs?: number;
  readonly finishMs?: number;
}

/** What a user changes in one of our agents. */
export interface Change {
  /** another program in its place, as on PATH */
  readonly command?: string;
  /** in tokens */
  readonly window?: number;
  readonly recipe?: Pick<RecipeDefinition, 'pauseMs' | 'startMs' | 'finishMs'>;
  readonly nativeTrigger?: NativeTrigger;
}

export interface ModelWindow {
  readonly pattern: Pattern;
  readonly tokens: number;
}

/** The agent's session file: one JSON object a line. */
export interface LogDefinition {
  readonly globs: readonly Glob[];
  /** token counts that are in the window together */
  readonly used: readonly FieldPath[];
  /** window in tokens */
  readonly window?: FieldPath;
  readonly model?: FieldPath;
  /** ISO text, seconds or milliseconds */
  readonly timestamp?: FieldPath;
  readonly boundary?: {
    readonly where: FieldEquals;
    readonly preTokens?: FieldPath;
    readonly postTokens?: FieldPath;
  };
  /** records that say nothing of this conversation, as those of subagents */
  readonly ignore?: readonly FieldEquals[];
}

export interface FieldEquals {
  readonly path: FieldPath;
  readonly equals: string | number | boolean | null;
}

/** A row of a part of the screen, and the number in it. */
export interface ScreenNumber {
  readonly region: Region;
  /** the number is its only group; without one the usual words are looked for, as `42% context left` */
  readonly pattern?: Pattern;
  /** of usual words that do not tell it; `used` when absent */
  readonly polarity?: 'used' | 'left';
  /** with a pattern; the usual words tell it themselves */
  readonly unit?: 'percent' | 'tokens';
  /** what a percentage counts against; the window when absent */
  readonly basis?: Basis;
}

export interface ActivityDefinition {
  /** all of it must hold, and nothing may speak for another activity */
  readonly ready?: {
    readonly title?: Pattern;
    readonly cursorRow?: Pattern;
    /** in no row of the screen */
    readonly absent?: readonly Pattern[];
  };
  /** one of them is enough */
  readonly busy?: readonly Sign[];
  readonly dialog?: readonly Sign[];
  /** its compaction; signs of work beside it are the same work */
  readonly compacting?: readonly Sign[];
}

/** What shows on the terminal's title, or in a row of a part of the screen; of both where both are given. */
export interface Sign {
  readonly title?: Pattern;
  readonly row?: { readonly region: Region; readonly pattern: Pattern };
}
