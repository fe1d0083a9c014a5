import type { Agent, SavedSession } from '../agents/agent.js';
import { idInPath } from '../agents/home.js';
import { parseOwnAttempt, writtenAs, type OwnAttempt } from '../core/compaction/own-compactions.js';
import type { Conversation } from '../core/conversation/conversation.js';
import { LimitError, UserError } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import { withoutKind } from '../core/shown-conversation.js';
import { systemReason } from '../storage/errors.js';
import { readAudit } from '../storage/log-file.js';
import { MOST_BYTES, readWholeConversation } from './read-conversation.js';
import { readCompactions, type SessionSource } from './read-history.js';
import type { RecordSource } from './session-records.js';
import { copiesOf } from './session-sources.js';

// The session that ctxwrap has shortened into another one: it keeps what the shorter one has lost.

/** Where the whole conversation is. */
export interface SessionBefore {
  readonly source: RecordSource;
  /** what the black box has of this file, for one that is gone */
  readonly copies: () => Promise<readonly SessionSource[]>;
  /** the agent's id of the session, where that is known without its file */
  readonly id?: string;
}

export interface LongerSession extends SessionBefore {
  /** when it was shortened */
  readonly at: Millis;
}

/** What tells which sessions ctxwrap has written, and where its copies are. */
export interface WrittenSessions {
  readonly attempts: readonly OwnAttempt[];
  readonly stateFolder: string;
}

type SessionFile = Pick<RecordSource, 'agent' | 'path'>;

/** undefined for a session that ctxwrap has not written, as far as these attempts tell */
export const longerSession = (
  { agent, path }: SessionFile,
  { attempts, stateFolder }: WrittenSessions,
): LongerSession | undefined => {
  const written = writtenAs(attempts, { runtime: agent.name, path });
  return written && { ...sessionBefore({ agent, path: written.from }, stateFolder), at: written.at };
};

export const sessionBefore = (source: SessionFile, stateFolder: string, id?: string): SessionBefore => ({
  source,
  copies: () => copiesOf(stateFolder, source),
  ...(id === undefined ? {} : { id }),
});

const readWritten = async (stateFolder: string): Promise<WrittenSessions> => ({
  attempts: (await readAudit(stateFolder)).flatMap((line) => parseOwnAttempt(line) ?? []),
  stateFolder,
});

/** As the audit log in this folder tells. */
export const findLongerSession = async (
  source: SessionFile,
  stateFolder: string,
): Promise<LongerSession | undefined> => longerSession(source, await readWritten(stateFolder));

/**
 * The session that brings back what this compaction has removed: the one with this number, or else the last one of the file. undefined where
 * that is not ctxwrap's shortening.
 */
export const longerSessionFor = async (
  source: RecordSource,
  number: number | undefined,
  written: WrittenSessions | string,
): Promise<LongerSession | undefined> => {
  const longer = longerSession(source, typeof written === 'string' ? await readWritten(written) : written);
  if (!longer) return undefined;
  const compactions = await readCompactions(source, longer.at);
  const recorded = compactions.find(({ at }) => at === longer.at);
  const own = recorded?.number ?? 0; // the agent's file may have no record of it
  return (number ?? compactions.at(-1)?.number ?? 0) === own ? longer : undefined;
};

/** The numbers of the compactions of a session, as `ctxwrap history` has them: 0 for a shortening that the agent's file has no record of. */
export const compactionNumbers = async (
  source: RecordSource,
  written: WrittenSessions,
): Promise<readonly number[]> => {
  const longer = longerSession(source, written);
  const compactions = await readCompactions(source, longer?.at ?? 0);
  const isRecorded = !longer || compactions.some(({ at }) => at === longer.at);
  return [...(isRecorded ? [] : [0]), ...compactions.map(({ number }) => number)];
};

/** The conversation before a shortening, and what it was read from. */
export interface LongerConversation {
  readonly whole: Conversation;
  readonly source: RecordSource;
  /** when the black box copied it; absent where the session file itself has it */
  readonly copiedAt?: Millis;
  /** the session that is resumed for it, which is gone where this is a copy */
  readonly session: SavedSession;
}

/**
 * Reads it, from the newest copy in the black box where the file is gone or holds nothing. Rejects with a UserError that names the file where
 * there is no such conversation, or more than this.
 */
export const readLonger = async (
  before: SessionBefore,
  mostBytes = MOST_BYTES,
): Promise<LongerConversation> => {
  const { source, copies } = before;
  const { agent, path } = source;
  const found = (whole: Conversation) => ({
    whole,
    session: { id: before.id ?? idOf(agent, path, whole), path },
  });
  let reason = 'nothing was said in it';
  try {
    const whole = await readSaid(source, mostBytes);
    if (whole) return { ...found(whole), source };
  } catch (error) {
    reason = systemReason(error);
    if (error instanceof LimitError) throw unreadLonger(path, reason);
  }
  const newestFirst = [...(await copies())].toSorted((a, b) => b.modifiedAt - a.modifiedAt);
  for (const copy of newestFirst) {
    const whole = await readSaid(copy, mostBytes).catch(() => undefined); // a damaged copy
    if (whole) return { ...found(whole), source: copy, copiedAt: copy.modifiedAt };
  }
  throw unreadLonger(path, reason);
};

const idOf = ({ home }: Agent, path: string, { head }: Conversation): string =>
  withoutKind(head.id ?? idInPath(home, path));

/** undefined where nothing was said */
const readSaid = async (source: RecordSource, mostBytes: number): Promise<Conversation | undefined> => {
  const whole = await readWholeConversation(source, mostBytes);
  return whole?.entries.some(({ kind }) => kind !== 'context' && kind !== 'notice') ? whole : undefined;
};

const unreadLonger = (path: string, reason: string): UserError =>
  new UserError(`cannot read the longer session that ctxwrap has shortened, "${path}": ${reason}`, {
    exitCode: 1,
    hint: 'put this file back; ctxwrap checkpoint list shows the copies of other sessions',
  });
