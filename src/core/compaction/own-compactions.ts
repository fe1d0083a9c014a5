// Which compactions of a session file were ours: the agent's record knows only that somebody asked for it, the audit log knows who.
import { parseRecord, textAt } from '../json.js';
import type { Millis } from '../reading.js';
import { parseAttempt } from './attempt-record.js';
import type { Initiator, OutcomeKind } from './outcome.js';

/** An attempt of ours in which keys were sent, as the audit log holds it. */
export interface OwnAttempt {
  readonly runtime: string;
  /** the agent's own id; absent where it was not known */
  readonly conversation?: string;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
}

/** Undefined for a line that tells of no such attempt. */
export const ownAttempt = (line: string): OwnAttempt | undefined => {
  const found = parseRecord(line);
  const attempt = found?.['schema'] === 'ctxwrap.attempt/1' ? parseAttempt(found) : undefined;
  const runtime = textAt(found, 'runtime');
  const conversation = textAt(found, 'conversation');
  if (!attempt || runtime === undefined || attempt.initiator !== 'ctxwrap') return undefined;
  if (unsent.includes(attempt.outcome)) return undefined;
  const { startedAt, endedAt } = attempt;
  return { runtime, ...(conversation === undefined ? {} : { conversation }), startedAt, endedAt };
};

const unsent: readonly OutcomeKind[] = ['skipped-busy', 'not-delivered', 'not-started'];

/** What is asked about: the session file, by its agent and its name. */
export interface AskedFile {
  readonly runtime: string;
  readonly path: string;
}

interface Compaction {
  readonly at: Millis;
  readonly initiator?: Initiator;
}

const CLOCK_MS = 2_000; // an agent may note the time a moment before or after we do

/** The compactions with ours as ours. What the agent's record calls its own never is. */
export const withOwn = <T extends Compaction>(
  compactions: readonly T[],
  attempts: readonly OwnAttempt[],
  { runtime, path }: AskedFile,
): readonly T[] => {
  const own = attempts.filter((each) => each.runtime === runtime && isOf(each, path));
  const isOwn = ({ at, initiator }: T): boolean =>
    initiator !== 'agent' &&
    own.some(({ startedAt, endedAt }) => at >= startedAt - CLOCK_MS && at <= endedAt + CLOCK_MS);
  return compactions.map((each) => (isOwn(each) ? { ...each, initiator: 'ctxwrap' } : each));
};

// All agents name a session's file after its id, one of them after the id's beginning (facts/gemini.md §7).
const isOf = ({ conversation }: OwnAttempt, path: string): boolean => {
  const name = path.split('/').at(-1) ?? '';
  if (conversation === undefined) return false;
  return name.includes(conversation) || name.endsWith(`-${conversation.slice(0, ID_START)}.jsonl`);
};

const ID_START = 8; // characters
