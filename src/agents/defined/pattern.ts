import { UserError } from '../../core/errors.js';

// Patterns that a user wrote: regular expressions for one row. They run on every screen, beside a session that must not wait, and some
// expressions take longer than a life on a row that they do not fit. So whatever uses them runs under a time limit.

export const MAX_PATTERN_LENGTH = 200; // characters
const LONGEST_ROW = 512; // cells that are looked at; agents write their numbers into the first hundred

/** What the pattern finds in a row; `^` and `$` are the ends of the row. */
export const matchRow = (pattern: RegExp, row: string): RegExpExecArray | null =>
  pattern.exec(row.slice(0, LONGEST_ROW));

/** The pattern and how many capturing groups it has. Throws what is wrong with it. */
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

/** Runs the work, and ends it when it takes too long: undefined then. What the work itself throws is thrown. */
export type TimeLimit = <T>(work: () => T) => { readonly value: T } | undefined;

/**
 * What the work with these patterns on these texts gives. Throws where a pattern takes too long, and names it; where none does by itself,
 * the machine was slow or asleep, and the work is done again.
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
