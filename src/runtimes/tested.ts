// Which versions of an agent were tried, and which version runs: its own records say so, and it is not started a second time for it.
import { parseRecord, recordAt, textAt } from '../core/json.js';
import type { Runtime } from './runtime.js';

/** Whether this version is known to be read right; who has more to go by (a certificate of the user's own) says so here. */
export const isTested = ({ home }: Pick<Runtime, 'home'>, version: string): boolean =>
  home?.played.includes(version) ?? false;

/** The newest version that was tried, where this one is newer; an older one, or one that cannot be compared, is nothing to speak of. */
export const newerThanTested = (runtime: Pick<Runtime, 'home'>, version: string): string | undefined => {
  const tested = runtime.home?.played.toSorted((a, b) => compared(b, a))[0];
  if (tested === undefined || isTested(runtime, version)) return undefined;
  return compared(version, tested) > 0 ? tested : undefined;
};

const numbersOf = (version: string): readonly number[] =>
  (version.match(/\d+/g) ?? []).slice(0, 3).map(Number);

const compared = (a: string, b: string): number => {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0));
  return at === undefined ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
};

/** Whether a version came before another; by its three numbers, so that a preview counts as what it is a preview of. */
export const isBefore = (version: string, other: string): boolean => compared(version, other) < 0;

const MENTION = /"(?:cli_)?version":"(\d[\w.+-]{0,39})"/;

/**
 * The version that wrote this line of a session file: `version` of Claude's and Qwen's records (facts/claude.md §7), `cli_version` of
 * Codex's `session_meta`. What a conversation holds is deeper inside, or escaped.
 */
export const versionIn = (line: string): string | undefined => {
  if (!MENTION.test(line)) return undefined;
  const record = parseRecord(line);
  const meta = record?.['type'] === 'session_meta' ? recordAt(record, 'payload') : undefined;
  const said = meta ? textAt(meta, 'cli_version') : textAt(record, 'version');
  return said !== undefined && MENTION.test(`"version":"${said}"`) ? said : undefined;
};
