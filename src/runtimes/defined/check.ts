// Checks of a value that a user wrote: each gives the value as its type, or says where it is wrong, what was given and what is allowed.
import { isRecord } from '../../core/json.js';

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

export const problem = (path: string, given: unknown, allowed: string): { readonly problems: Problem[] } => {
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
export const text =
  <T = string>(allowed: string, read: (given: string) => T | undefined): Check<T> =>
  (value, path) => {
    const found = typeof value === 'string' ? read(value) : undefined;
    return found === undefined ? problem(path, value, allowed) : { value: found };
  };

export const oneOf = <T extends string>(...choices: readonly T[]): Check<T> =>
  text(`one of ${choices.join(', ')}`, (given) => choices.find((each) => each === given));

export const number =
  (least: number, most: number, what = 'a number'): Check<number> =>
  (value, path) =>
    typeof value === 'number' && value >= least && value <= most
      ? { value }
      : problem(path, value, `${what} from ${least} to ${most}`);

export const flag: Check<boolean> = (value, path) =>
  typeof value === 'boolean' ? { value } : problem(path, value, 'true or false');

export const simple: Check<string | number | boolean | null> = (value, path) =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? { value }
    : problem(path, value, 'a text, a number, true, false or null');

/** A list; one value alone is a list of one. */
export const list =
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
export const fields =
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
export const such =
  <T>(check: Check<T>, allowed: string, holds: (value: T) => boolean): Check<T> =>
  (value, path) => {
    const checked = check(value, path);
    return isProblem(checked) || holds(checked.value) ? checked : problem(path, value, allowed);
  };
