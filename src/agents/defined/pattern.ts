import { UserError } from '../../core/errors.js';

// Patterns from the user: regular expressions for one row. They run on every screen of a live session, and some expressions practically
// never finish on a row that they do not match, so they run under a time limit.

export const MAX_PATTERN_LENGTH = 200; // characters
const LONGEST_ROW = 512; // cells searched; agents write their numbers into the first hundred

/** The match of the pattern in a row; `^` and `$` are the ends of the row. */
export const matchRow = (pattern: RegExp, row: string): RegExpExecArray | null =>
  pattern.exec(row.slice(0, LONGEST_ROW));

/** The pattern and the number of its capturing groups. Throws what is wrong with it. */
export const parsePattern = (source: string): { readonly pattern: RegExp; readonly groups: number } => {
  if (source === '') throw new Error('empty');
  if (source.length > MAX_PATTERN_LENGTH) throw new Error(`longer than ${MAX_PATTERN_LENGTH} characters`);
  const pattern = new RegExp(source, 'u');
  return { pattern, groups: (new RegExp(`${source}|`, 'u').exec('')?.length ?? 1) - 1 };
};

/** All patterns in a part of a definition. */
export const findPatterns = (part: unknown): readonly RegExp[] => {
  if (part instanceof RegExp) return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(findPatterns) : [];
};

/** Runs the work with a time limit. Returns undefined when it takes too long; throws what the work throws. */
export type TimeLimit = <T>(work: () => T) => { readonly value: T } | undefined;

/**
 * The result of the work with these patterns on these texts. Throws with the name of a pattern that takes too long; where none does by
 * itself, the machine was slow or asleep, and the work is repeated.
 */
export const matchInTime = <T>(
  limit: TimeLimit,
  { patterns, texts }: { readonly patterns: readonly RegExp[]; readonly texts: () => readonly string[] },
  work: () => T,
): T => {
  const done = limit(work);
  if (done) return done.value;
  const slow = patterns.find((pattern) => !limit(() => texts().map((text) => matchRow(pattern, text))));
  const again = slow ? undefined : limit(work);
  if (again) return again.value;
  const what = slow ? `the pattern ${String(slow)} takes` : 'its patterns take';
  const hint = String.raw`begin it with ^, and limit its repeats, as in \d{1,3}`;
  throw new UserError(`${what} too long`, { exitCode: 2, hint });
};
