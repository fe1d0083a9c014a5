import { existsSync } from 'node:fs';
import { isRunningAs, type SessionRecord } from '../core/report/records.js';
import type { ListedSession } from '../storage/sessions.js';
import { toPlainText } from '../ui/text.js';
import { noSession } from './messages.js';
import { shortId } from '../core/shown-conversation.js';
import { listed, usageError } from './usage-error.js';

// Resolves a `[session]` argument: the agent's id of the conversation, which every command shows, or its beginning; the id of the wrapped
// session, a pid, or an agent's name. Without one, the session this process runs in, or the only one.

/** The wrapper runs, even if it is stopped or hanging, or has failed. */
export const isThere = ({ liveness }: ListedSession): boolean => isRunningAs(liveness);

/** The session that matches; undefined when none does. Throws when several do. */
export const findSession = (
  sessions: readonly ListedSession[],
  argument: string,
): ListedSession | undefined => {
  const found = matching(sessions, argument);
  if (found.length > 1)
    throw usageError(
      `"${argument}" matches ${found.length} sessions`,
      `${NAME_ONE}${listed(namesOf(sessions, found))}`,
    );
  return found[0];
};

const matching = (sessions: readonly ListedSession[], argument: string): readonly ListedSession[] => {
  const exact = sessions.find(({ record }) => record.id === argument);
  if (exact) return [exact];
  const there = sessions.filter(isThere);
  const byPid = there.filter(({ record }) => [record.pid, record.childPid].map(String).includes(argument));
  const byName = there.filter(({ record }) => record.runtime === argument);
  const byConversation = sessions.filter(({ record }) => hasConversation(record, argument.toLowerCase()));
  const byPrefix = sessions.filter(({ record }) => argument !== '' && record.id.startsWith(argument));
  const named = [byConversation, byPrefix].flatMap((each) => [each.filter(isThere), each]);
  return lastRuns([byPid, byName, ...named].find((each) => each.length > 0) ?? []);
};

/** Without the earlier of several runs that have ended with the same conversation in the same file. */
const lastRuns = (sessions: readonly ListedSession[]): readonly ListedSession[] =>
  sessions.filter(
    (session) =>
      isThere(session) ||
      !sessions.some((other) => !isThere(other) && isLaterRun(other.record, session.record)),
  );

const isLaterRun = (
  later: SessionRecord,
  { id, runtime, agentSessionId, ...earlier }: SessionRecord,
): boolean =>
  agentSessionId !== undefined &&
  later.agentSessionId === agentSessionId &&
  later.runtime === runtime &&
  later.logPath === earlier.logPath &&
  (later.heartbeatAt > earlier.heartbeatAt || (later.heartbeatAt === earlier.heartbeatAt && later.id > id));

const LEAST_LENGTH = 4; // of the beginning of a conversation's id

const hasConversation = ({ agentSessionId }: SessionRecord, start: string): boolean =>
  start.length >= LEAST_LENGTH && agentSessionId?.toLowerCase().startsWith(start) === true;

/**
 * The live session this process runs in, or else the only one; throws `none` when there is none. A process left over from a session that
 * has ended, such as a hook, never means another session.
 */
export const onlySession = (
  sessions: readonly ListedSession[],
  none: () => Error = noSession,
): ListedSession => {
  const there = sessions.filter(isThere);
  const own = process.env['CTXWRAP_SESSION'] ?? '';
  const around = there.find(({ record }) => record.id === own);
  if (around) return around;
  const [first, ...others] = there;
  if (!first) throw none();
  if (others.length > 0)
    throw usageError(
      `${there.length} sessions are running`,
      `${NAME_ONE}${listed(namesOf(sessions, there))}`,
    );
  if (own !== '')
    throw usageError(
      `this runs in session ${toPlainText(own)}, which has ended`,
      `another one is running:${listed(namesOf(sessions, [first]))}`,
    );
  return first;
};

/**
 * As `onlySession`; where none runs, the one with a conversation that ended last, and whose file is still there: that of the demo is not. For
 * commands that overwrite nothing.
 */
export const lastSession = (sessions: readonly ListedSession[], none?: () => Error): ListedSession => {
  if (isOneMeant(sessions)) return onlySession(sessions, none);
  const begun = begunSessions(sessions);
  return begun.find(hasFile) ?? begun[0] ?? onlySession(sessions, none);
};

/** Neither a session that runs is meant nor one that ctxwrap has wrapped: only the agents' files can tell which one was the last. */
export const isLastUnwrapped = (sessions: readonly ListedSession[]): boolean =>
  !isOneMeant(sessions) && !begunSessions(sessions).some(hasFile);

const isOneMeant = (sessions: readonly ListedSession[]): boolean =>
  (process.env['CTXWRAP_SESSION'] ?? '') !== '' || sessions.some(isThere);

const begunSessions = (sessions: readonly ListedSession[]): readonly ListedSession[] =>
  sessions.filter(hasBegun).toSorted((a, b) => b.record.heartbeatAt - a.record.heartbeatAt);

/** It has, or had, a conversation. */
export const hasBegun = ({ record }: ListedSession): boolean =>
  record.agentSessionId !== undefined || record.logPath !== undefined;

const hasFile = ({ record: { logPath } }: ListedSession): boolean =>
  logPath === undefined || existsSync(logPath);

const NAME_ONE = 'name one by its id or pid:';

const namesOf = (all: readonly ListedSession[], named: readonly ListedSession[]): readonly string[] =>
  named.map((session) => {
    const { runtime, pid, cwd } = session.record;
    return `${shortIdOf(all, session)} (${toPlainText(runtime)}, pid ${pid}, ${toPlainText(cwd)})`;
  });

export const sessionNames = (sessions: readonly ListedSession[]): readonly string[] =>
  namesOf(sessions, sessions.filter(isThere));

/**
 * The shortest name that means this session and no other of the list as an argument: the beginning of its conversation's id, as `history`
 * shows it, or of its own id, from the pid on, while it has no conversation or shares that with another one.
 */
export const shortIdOf = (sessions: readonly ListedSession[], { record }: ListedSession): string => {
  const { id, agentSessionId = '' } = record;
  const isOwn = (name: string): boolean => isMeant(sessions, name, id);
  const dash = id.indexOf('-');
  return (
    beginningOf(agentSessionId, Math.max(LEAST_LENGTH, shortId(agentSessionId).length), isOwn) ??
    beginningOf(id, dash > 0 ? dash : LEAST_LENGTH, isOwn) ??
    id
  );
};

/** The shortest beginning of at least `least` characters for which `isWanted` holds; undefined if there is none. */
const beginningOf = (id: string, least: number, isWanted: (start: string) => boolean): string | undefined => {
  for (let length = least; length <= id.length; length += 1)
    if (isWanted(id.slice(0, length))) return id.slice(0, length);
  return undefined;
};

const isMeant = (sessions: readonly ListedSession[], argument: string, id: string): boolean => {
  const [only, ...others] = matching(sessions, argument);
  return others.length === 0 && only?.record.id === id;
};
