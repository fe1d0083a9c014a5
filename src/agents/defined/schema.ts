import * as v from 'valibot';
import { MIN_TOKENS, MAX_TOKENS, parseTokens } from '../../core/format.js';
import { errorText } from '../../core/errors.js';
import { isRecord, type JsonRecord } from '../../core/json.js';
import type { PercentBasis } from '../../core/reading.js';
import { globForms, parseGlob } from './files.js';
import { parseFieldPath } from './log.js';
import { MAX_PATTERN_LENGTH, parsePattern } from './pattern.js';
import { parseRegion, regionForms } from './screen.js';

// The definition of an agent by a user, as valibot schemas; each message says what is allowed. The limits ensure that a definition cannot
// slow down a session.

/** A text that the function converts; for an invalid text it returns undefined or throws what is wrong. */
const text = <T>(allowed: string, read: (given: string) => T | undefined) =>
  v.pipe(
    v.string(allowed),
    v.rawTransform(({ dataset, addIssue, NEVER }): T => {
      const refuse = (message: string): T => {
        addIssue({ message });
        return NEVER;
      };
      try {
        return read(dataset.value) ?? refuse(allowed);
      } catch (error) {
        return refuse(`${allowed} (${errorText(error)})`);
      }
    }),
  );

const nothing = (allowed: string) => v.custom<never>(() => false, allowed);

/** A list; one value alone is a list of one. */
const list = <T>(item: v.GenericSchema<unknown, T>, most: number): v.GenericSchema<unknown, readonly T[]> =>
  v.lazy((given) => {
    if (given === undefined) return nothing('a list');
    if (!Array.isArray(given))
      return v.pipe(
        item,
        v.transform((one) => [one]),
      );
    return given.length === 0 || given.length > most ? nothing(`1 to ${most} values`) : v.array(item);
  });

const optional = v.exactOptional;

/** A rule about the object as given, once all its names are known to be valid. */
interface Rule {
  readonly allowed: string;
  readonly holds: (given: JsonRecord) => boolean;
}

/** An object with these fields and no others. */
const fields = <E extends v.ObjectEntries>(entries: E, rule?: Rule) => {
  const known = Object.keys(entries);
  const unknownIn = (given: JsonRecord) => Object.keys(given).filter((key) => !known.includes(key));
  const required = known.filter((key) => entries[key]?.type !== 'exact_optional');
  const missing = Object.fromEntries(required.map((key) => [key, undefined])); // its own schema then refuses it
  const schema = v.pipe(
    v.custom<JsonRecord>(isRecord, `an object with ${known.join(', ')}`),
    v.check((given) => unknownIn(given).length > 0 || (rule?.holds(given) ?? true), rule?.allowed ?? ''),
    v.transform((given): JsonRecord => ({ ...missing, ...given })),
    v.looseObject(entries),
    v.rawCheck(({ dataset: { value }, addIssue }) => {
      const input = isRecord(value) ? value : {};
      for (const key of unknownIn(input))
        addIssue({
          message: known.join(', '),
          path: [{ type: 'object', origin: 'key', input, key, value: input[key] }],
        });
    }),
  );
  return schema as v.GenericSchema<unknown, v.InferOutput<v.ObjectSchema<E, undefined>>>;
};

const numberFrom = (least: number, most: number, what = 'a number') => {
  const allowed = `${what} from ${least} to ${most}`;
  return v.pipe(v.number(allowed), v.minValue(least, allowed), v.maxValue(most, allowed));
};

const oneOf = <const T extends string>(...choices: readonly T[]) =>
  v.picklist(choices, `one of ${choices.join(', ')}`);

const flag = v.boolean('true or false');
const simple = v.union(
  [v.null(), v.string(), v.number(), v.boolean()],
  'a text, a number, true, false or null',
);

const LONGEST_LIST = 20;

const plainText = text('a text', (given) => (given !== '' && given.length <= 200 ? given : undefined));
const words = list(plainText, 100);
const fieldPath = text('a field path such as usage.input or parts.*.tokens', parseFieldPath);
const region = text(regionForms, parseRegion);
/** The same as for `--window`. */
const tokens = v.pipe(
  v.unknown(),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }): number => {
    const count =
      typeof value === 'string' || typeof value === 'number' ? parseTokens(`${value}`) : Number.NaN;
    if (count >= MIN_TOKENS && count <= MAX_TOKENS) return count;
    addIssue({ message: `a number of tokens from ${MIN_TOKENS} to ${MAX_TOKENS}` });
    return NEVER;
  }),
);

const pattern = text(
  `a regular expression of at most ${MAX_PATTERN_LENGTH} characters for one row`,
  (given) => parsePattern(given).pattern,
);
const patternWithOne = (what: string) =>
  text(`a regular expression with one group (…), which holds ${what}; write other groups (?:…)`, (given) => {
    const read = parsePattern(given);
    return read.groups === 1 ? read.pattern : undefined;
  });

/** In tokens; the first entry whose pattern matches the model's name wins. */
const modelWindows = list(fields({ pattern, tokens }), 100);
const window = v.lazy((given) => (Array.isArray(given) ? modelWindows : tokens));

const fieldEquals = fields({ path: fieldPath, equals: simple });

const log = fields({
  globs: list(text(globForms, parseGlob), LONGEST_LIST),
  /** token counts that are in the window together; their sum is used */
  used: list(fieldPath, LONGEST_LIST),
  /** in tokens */
  window: optional(fieldPath),
  model: optional(fieldPath),
  /** ISO text, seconds or milliseconds */
  timestamp: optional(fieldPath),
  boundary: optional(
    fields({ where: fieldEquals, preTokens: optional(fieldPath), postTokens: optional(fieldPath) }),
  ),
  /** records that do not belong to this conversation, such as those of subagents */
  ignore: optional(list(fieldEquals, LONGEST_LIST)),
});

const polarity = oneOf('used', 'left');
const basis = optional(oneOf<PercentBasis>('window', 'effective', 'auto-compact', 'baseline'));
const patternNumber = fields({
  region,
  pattern: patternWithOne('the number'),
  polarity,
  unit: oneOf('percent', 'tokens'),
  basis,
});
/** In common words, such as `42% context left`, which name the unit; `polarity` is for words that do not say used or left. */
const wordedNumber = fields({ region, polarity: optional(polarity), basis });
const screenNumber = v.lazy((given): v.GenericSchema<unknown, ScreenNumber> =>
  isRecord(given) && (given['pattern'] !== undefined || given['unit'] !== undefined)
    ? patternNumber
    : wordedNumber,
);

/** Text in the terminal's title, or in a row of a part of the screen; if both are given, both must match. */
const signs = list(
  fields(
    { title: optional(pattern), region: optional(region), pattern: optional(pattern) },
    {
      allowed: 'a title, or a region and a pattern together, or all three',
      holds: (given) => 'region' in given === 'pattern' in given && ('title' in given || 'pattern' in given),
    },
  ),
  LONGEST_LIST,
);

/** All of it must hold, and no sign of another activity may be present; `absent` must be in no row of the screen. */
const ready = fields(
  { title: optional(pattern), cursorRow: optional(pattern), absent: optional(list(pattern, LONGEST_LIST)) },
  {
    allowed: 'a title or a cursorRow: what is absent proves nothing alone',
    holds: (given) => 'title' in given || 'cursorRow' in given,
  },
);

const LONGEST_COMMAND = 100; // characters

// It is typed into a prompt: a newline or any other control character in it would be a key of its own.
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

/** In milliseconds. */
const waits = {
  pauseMs: optional(numberFrom(20, 1_000, 'milliseconds')),
  startMs: optional(numberFrom(500, 60_000, 'milliseconds')),
  finishMs: optional(numberFrom(1_000, 3_600_000, 'milliseconds')),
};

const command = text('the name of a program, without a path', (given) =>
  /^[^\s/]{1,100}$/.test(given) ? given : undefined,
);
const nativeTrigger = optional(
  fields({ share: numberFrom(0.01, 1), reserveTokens: numberFrom(0, MAX_TOKENS) }),
);

/** What may be changed in a known agent: settings that depend on the machine or the plan, and nothing that is read or typed. */
export const change = fields({
  /** another program instead, as on PATH */
  command: optional(command),
  /** in tokens */
  window: optional(tokens),
  recipe: optional(fields(waits)),
  nativeTrigger,
});

/** An agent defined by a user: data only, from a JSON file that the user names. */
export const definition = fields({
  /** as in the footer */
  name: text('letters a-z, digits and -, at most 32, a letter first', (given) =>
    /^[a-z][a-z0-9-]{0,31}$/.test(given) ? given : undefined,
  ),
  /** the program, as on PATH */
  command,
  /** what to install when the command is not found */
  npmPackage: optional(plainText),
  /** for people who list definitions: what was tested, and with which version */
  note: optional(plainText),
  /** arguments with which the agent prints and exits; by default every start is a conversation */
  interactive: optional(
    fields({
      plainFlags: optional(words),
      plainCommands: optional(words),
      /** flags whose value is the next word */
      valueFlags: optional(words),
    }),
  ),
  window: optional(window),
  /** the agent's session file: one JSON object per line */
  log: optional(log),
  /** numbers on the screen; the first match of each unit counts */
  screen: optional(list(screenNumber, LONGEST_LIST)),
  activity: optional(
    fields({
      ready: optional(ready),
      /** any one of them is enough */
      busy: optional(signs),
      dialog: optional(signs),
      /** signs of its compaction; signs of work beside them belong to the same work */
      compacting: optional(signs),
    }),
  ),
  /** the row with the cursor, with the user's text as the pattern's only group. Without it nothing is ever typed */
  prompt: optional(patternWithOne("the user's text")),
  /** like `Recipe`, with the name of the key; missing fields have the usual values */
  recipe: optional(
    fields({
      command: typedLine,
      ...waits,
      submit: optional(oneOf('enter', 'tab')),
      paste: optional(flag),
      takesFocus: optional(flag),
    }),
  ),
  nativeTrigger,
});

export type Definition = v.InferOutput<typeof definition>;
export type Change = v.InferOutput<typeof change>;
export type LogDefinition = v.InferOutput<typeof log>;
export type FieldEquals = v.InferOutput<typeof fieldEquals>;
export type ActivityDefinition = NonNullable<Definition['activity']>;
export type ActivitySign = NonNullable<ActivityDefinition['busy']>[number];
export type ScreenNumber = v.InferOutput<typeof wordedNumber> & Partial<v.InferOutput<typeof patternNumber>>;

/** A problem in what a user wrote. */
export interface Problem {
  /** the field: `log.used.0`; empty for the whole value */
  readonly path: string;
  /** the value as JSON, cut short; undefined when missing */
  readonly given?: string;
  readonly allowed: string;
  /** valid names, for an unknown name */
  readonly known?: readonly string[];
}

/** The value as its type, or everything wrong with it. */
export const check = <T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
): { readonly value: T } | { readonly problems: readonly Problem[] } => {
  const { success, output, issues } = v.safeParse(schema, value);
  return success ? { value: output } : { problems: issues.map(problemOf) };
};

const problemOf = (issue: v.BaseIssue<unknown>): Problem => {
  const { message: allowed, input } = issue;
  const path = v.getDotPath(issue) ?? '';
  if (issue.type === 'raw_check') return { path, allowed, known: allowed.split(', ') };
  return { path, allowed, ...(input === undefined ? {} : { given: written(input) }) };
};

const GIVEN_LENGTH = 60; // characters of the value

const written = (given: unknown): string => {
  if (typeof given === 'number') return String(given); // a number that JSON cannot hold, such as 1e400
  try {
    const json = JSON.stringify(given) ?? String(given);
    return json.length > GIVEN_LENGTH ? `${json.slice(0, GIVEN_LENGTH)}…` : json;
  } catch {
    return 'something that is nested too deep'; // parsed, but too deep to be printed
  }
};
