import type { BoundaryInitiator } from '../conversation/boundary-record.js';
import type { Millis } from '../reading.js';
import { outcomes } from './outcome.js';
import { parseAuditLine } from './protocol.js';
import { getCount, getText, parseRecord } from '../json.js';
import { present } from '../present.js';
import { REQUEST_MS } from './machine.js';
import { parseShortened, type ShortenedSession } from './shortened-session.js';

// Which compactions of a session file ctxwrap started: the agent's record says only that the user requested one, the audit log says who
// did.

/** An attempt in which ctxwrap sent keys, as read from the audit log. */
export interface OwnAttempt {
  readonly runtime: string;
  /** the agent's own id; absent if unknown */
  readonly conversation?: string | undefined;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
  /** ctxwrap has written the session itself */
  readonly shortened?: ShortenedSession;
}

/** undefined for a line that describes no such attempt */
export const parseOwnAttempt = (line: string): OwnAttempt | undefined => {
  const shortened = parseShortened(line);
  if (shortened) return ofShortened(shortened);
  const switched = parseSwitch(line);
  if (switched) return switched;
  const { attempt, runtime: agent, conversation } = parseAuditLine(line) ?? {};
  if (!attempt || agent === undefined || attempt.initiator !== 'ctxwrap') return undefined;
  if (!outcomes[attempt.outcome].isSent) return undefined;
  const { startedAt, endedAt } = attempt;
  return { runtime: agent, conversation, startedAt, endedAt };
};

const ofShortened = (shortened: ShortenedSession): OwnAttempt => {
  const { runtime, id: conversation, at } = shortened;
  return { runtime, conversation, startedAt: at, endedAt: at, shortened };
};

/** ctxwrap has written the session that the agent took: a compaction recorded in it shortly before is ctxwrap's. */
const parseSwitch = (line: string): OwnAttempt | undefined => {
  const found = parseRecord(line);
  if (found?.['schema'] !== 'ctxwrap.switched/1' || found['outcome'] !== 'switched') return undefined;
  const [runtime, conversation, at] = [
    getText(found, 'runtime'),
    getText(found, 'name'),
    getCount(found, 'at'),
  ];
  if (runtime === undefined || conversation === undefined || at === undefined) return undefined;
  return { runtime, conversation, startedAt: at - REQUEST_MS, endedAt: at };
};

/** A session, by its agent and its file, or its id where that is known. */
export interface SessionFileId {
  readonly runtime: string;
  readonly path: string;
  readonly sessionId?: string | undefined;
}

interface Compaction {
  readonly at: Millis;
  readonly initiator?: BoundaryInitiator;
  readonly preTokens?: number;
  readonly isEstimated?: true;
  readonly postTokens?: number;
  readonly isPostEstimated?: true;
  readonly nextTokens?: number;
}

const CLOCK_MS = 2_000; // the agent's clock reading may be slightly before or after ours

/**
 * The compactions, with those that ctxwrap started marked, and its own numbers in those that it wrote. A compaction that the agent recorded as
 * its own stays the agent's. First the one by which ctxwrap has written the session, where the agent's file has no record of it.
 */
export const markOwnCompactions = <T extends Compaction>(
  compactions: readonly T[],
  attempts: readonly OwnAttempt[],
  file: SessionFileId,
  ofUnrecorded: (written: ShortenedSession) => T,
): readonly T[] => {
  const own = attempts.filter((each) => isIn(each, file));
  const written = writtenAs(attempts, file);
  const isOwn = ({ at, initiator }: T): boolean =>
    (initiator === undefined || initiator === 'user') && own.some((each) => isDuring(each, at));
  const marked = compactions.map((each) => {
    if (written && isWritten(written, each)) return withOwnSizes(each, written);
    return isOwn(each) ? { ...each, initiator: 'ctxwrap' } : each;
  });
  const isRecorded = !written || compactions.some((each) => isWritten(written, each));
  return isRecorded ? marked : [ofUnrecorded(written), ...marked];
};

/** What this session was shortened from; undefined for one that ctxwrap has not written. */
export const writtenAs = (
  attempts: readonly OwnAttempt[],
  file: SessionFileId,
): ShortenedSession | undefined => attempts.findLast((each) => each.shortened && isIn(each, file))?.shortened;

/** The record is ctxwrap's own: all that the agent has written came later. */
const isWritten = ({ at }: ShortenedSession, compaction: Pick<Compaction, 'at'>): boolean =>
  compaction.at === at;

/** The agent's next answer says more than the estimate. */
const withOwnSizes = <T extends Compaction>(compaction: T, written: ShortenedSession): T => {
  const { postTokens: _, isEstimated: __, ...rest } = compaction;
  const { preTokens, isEstimated, postTokens } = written;
  const after = compaction.nextTokens === undefined ? { postTokens, isPostEstimated: true } : {};
  return { ...rest, initiator: 'ctxwrap', preTokens, ...present({ isEstimated }), ...after } as T;
};

/** It was seen in the session of this file. */
export const isIn = (attempt: OwnAttempt, file: SessionFileId): boolean =>
  attempt.runtime === file.runtime && isNamed(attempt, file);

/** What the agent recorded then was part of it. */
export const isDuring = ({ startedAt, endedAt }: OwnAttempt, at: Millis): boolean =>
  at >= startedAt - CLOCK_MS && at <= endedAt + CLOCK_MS;

// Agents name a session file, or a folder above it, after the session's id, Gemini CLI after the beginning of the id
// (docs/facts/gemini.md#session-files).
const isNamed = ({ conversation }: OwnAttempt, { path, sessionId }: SessionFileId): boolean => {
  if (conversation === undefined) return false;
  const names = path.split('/');
  const name = names.at(-1) ?? '';
  return (
    sessionId === conversation ||
    names.some((each) => each.includes(conversation)) ||
    name.endsWith(`-${conversation.slice(0, ID_START)}.jsonl`)
  );
};

const ID_START = 8; // characters
