// What a definition may hold. Every limit is there so that a definition can't make a session slow.
import { LEAST_TOKENS, MOST_TOKENS, tokensIn } from '../../core/amount.js';
import { isRecord } from '../../core/json.js';
import { fields, flag, isProblem, list, number, oneOf, problem, simple, such, text } from './check.js';
import type { Check } from './check.js';
import type {
  Change,
  Definition,
  FieldEquals,
  ModelWindow,
  RecipeDefinition,
  ScreenNumber,
  Sign,
} from './definition.js';
import { readFieldPath } from './field-path.js';
import { globForms, readGlob } from './glob.js';
import { LONGEST_PATTERN, readPattern, type Pattern } from './pattern.js';
import { readRegion, regionForms } from './region.js';

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
