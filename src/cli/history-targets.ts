import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { type AgentFolders, idInPath, SESSION_ENDING } from '../agents/home.js';
import type { SessionDetail } from '../agents/session-format.js';
import { hasIdStart } from '../core/shown-conversation.js';
import { errorCode, UserError } from '../core/errors.js';
import { present } from '../core/present.js';
import type { StoreProblem } from '../storage/session-store.js';
import { systemReason } from '../storage/errors.js';
import { blackBoxFolder } from '../storage/blackbox/blackbox.js';
import { listSessions, type ListedSession } from '../storage/sessions.js';
import {
  findSources,
  keptSources,
  runningSource,
  sourcesAt,
  type KeptSource,
} from '../session-files/session-sources.js';
import type { SessionSource } from '../session-files/read-history.js';
import * as messages from './messages.js';
import { findSession, isThere, shortIdOf } from './session-argument.js';

// Resolves the arguments of `ctxwrap history`: paths of files and folders, ids of conversations or their beginnings, sessions as
// `ctxwrap ps` lists them, and copies as `ctxwrap checkpoint list` does; each may name one compaction with `#N`.

export interface HistoryTarget {
  readonly source: SessionSource;
  /** the only compaction that is wanted */
  readonly number?: number;
  /** whether the session in the file is the one that is meant */
  readonly isWanted: (session: SessionDetail) => boolean;
}

export interface FoundTargets {
  readonly targets: readonly HistoryTarget[];
  readonly skipped: readonly StoreProblem[];
}

interface TargetSearch {
  readonly agents: readonly Agent[];
  readonly where: AgentFolders;
  readonly stateFolder: string;
  readonly asked?: Agent | undefined;
}

/** All sessions when nothing is given. Throws for an argument that names none. */
export const findTargets = async (given: readonly string[], search: TargetSearch): Promise<FoundTargets> => {
  if (given.length === 0) {
    const { sources, skipped } = await findAll(search);
    return { targets: sources.map((source) => ({ source, isWanted: () => true })), skipped };
  }
  const found = await Promise.all(given.map((each) => targetsOf(each, search)));
  return {
    targets: found.flatMap(({ targets }) => targets),
    skipped: found.flatMap(({ skipped }) => skipped),
  };
};

interface AllSources {
  readonly sources: readonly SessionSource[];
  readonly skipped: readonly StoreProblem[];
  /** all copies in the black box, also of sessions whose own file is there */
  readonly copies: readonly KeptSource[];
}

/**
 * The agents' own files, those that running sessions write elsewhere, and copies of those that are gone; of a database only what has an id
 * that begins so, where that is given.
 */
const findAll = async (search: TargetSearch, start?: string): Promise<AllSources> => {
  const problems: StoreProblem[] = [];
  const copies = await keptSources(search.stateFolder, search.agents).catch(() => {
    problems.push({ path: blackBoxFolder(search.stateFolder), reason: 'the black box cannot be read' });
    return [];
  });
  const kept = copies.filter(({ isNewest }) => isNewest).map(({ source }) => source);
  const running = await runningSources(search);
  const { sources, skipped } = await findSources({ ...search, kept, running, start });
  return { sources, skipped: [...skipped, ...problems], copies };
};

const runningSources = async ({
  agents,
  where,
  stateFolder,
}: TargetSearch): Promise<readonly SessionSource[]> => {
  const wrapped = await listSessions(stateFolder, Date.now()).catch(() => []);
  const found = await Promise.all(
    wrapped.filter(isThere).map(async ({ record: { runtime, logPath: path } }) => {
      const agent = agents.find(({ name }) => name === runtime);
      return agent && runningSource(agent, where, { path }).catch(() => undefined);
    }),
  );
  return found.filter((source) => source !== undefined);
};

/** A session with the number of a compaction in it. */
export const NUMBERED = /^(.+)#(\d{1,6})$/s;

const targetsOf = async (given: string, search: TargetSearch): Promise<FoundTargets> => {
  const numbered = (await exists(given)) ? undefined : NUMBERED.exec(given);
  const [, name = given, digits] = numbered ?? [];
  const number = digits === undefined ? {} : { number: Number(digits) };
  const { sources, skipped, isWanted } = (await exists(name))
    ? { ...(await atPath(name, search)), isWanted: () => true }
    : await byId(name, search);
  return { targets: sources.map((source) => ({ source, isWanted, ...number })), skipped };
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR',
  );

const atPath = async (
  path: string,
  search: TargetSearch,
): Promise<{ readonly sources: readonly SessionSource[]; readonly skipped: readonly StoreProblem[] }> => {
  try {
    const found = await sourcesAt({ ...search, path: resolve(search.where.cwd, path) });
    if (found.sources.length === 0 && found.skipped.length === 0) throw messages.unknownFile(path);
    return found;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw messages.unreadableFile(path, systemReason(error));
  }
};

const LEAST_ID = 4; // characters of an id; fewer mean nothing
const ID_IN_NAME = 8; // characters of the beginning of an id

interface NamedSources extends Pick<HistoryTarget, 'isWanted'> {
  readonly sources: readonly SessionSource[];
  readonly skipped: readonly StoreProblem[];
}

const byId = async (id: string, search: TargetSearch): Promise<NamedSources> => {
  const wrapped = await listSessions(search.stateFolder, Date.now()).catch(() => []);
  const session = findSession(wrapped, id);
  if (session) return ofWrapped(session, wrapped, search);
  return byStart(id.toLowerCase(), search, (unread) => messages.unknownHistory(id, search.agents, unread));
};

/** A session that ctxwrap wraps, or has wrapped: by its file, or by the agent's id of it. */
const ofWrapped = async (
  session: ListedSession,
  wrapped: readonly ListedSession[],
  search: TargetSearch,
): Promise<NamedSources> => {
  const { runtime, logPath, agentSessionId } = session.record;
  const named = { name: shortIdOf(wrapped, session), agent: runtime, isRunning: isThere(session) };
  const agent = search.agents.find(({ name }) => name === runtime);
  if (!agent && !search.asked) throw messages.unfollowedSession(named);
  if (logPath !== undefined && (await exists(logPath)))
    return { ...(await atPath(logPath, present({ ...search, asked: agent }))), isWanted: () => true };
  const none = (): UserError =>
    logPath === undefined || named.isRunning
      ? messages.noConversation(named)
      : messages.goneFile(named, logPath);
  if (agentSessionId === undefined) throw none();
  return byStart(agentSessionId.toLowerCase(), search, (unread) =>
    unread.length === 0 ? none() : messages.unknownHistory(named.name, search.agents, unread),
  );
};

/** By the beginning of the agent's id, in small letters. `none`: the error where no session has it, with what could not be read. */
const byStart = async (
  start: string,
  search: TargetSearch,
  none: (unread: readonly StoreProblem[]) => UserError,
): Promise<NamedSources> => {
  const { sources, skipped, copies } = await findAll(search, start);
  const named = sources.filter(({ agent, path: file, idInDatabase }) =>
    isNamedAfter(idInDatabase?.toLowerCase() ?? idInPath(agent.home, file), start),
  );
  const unread = skipped.filter(({ path: file }) => basename(file).includes(start));
  if (start.length < LEAST_ID) throw none([]);
  if (named.length + unread.length === 0) {
    // it may be in a folder or a database that cannot be read
    const closed = skipped.filter(({ path: file }) => !SESSION_ENDING.test(file));
    const kept = copies.filter((copy) => copy.id.startsWith(start)); // of files that the agents have changed since
    if (kept.length === 0) throw none(closed);
    return { sources: kept.map(({ source }) => source), skipped: [], isWanted: () => true };
  }
  return {
    sources: named,
    skipped: unread,
    isWanted: (session: SessionDetail) =>
      session.id === undefined || hasIdStart(session.id.toLowerCase(), start),
  };
};

/** Where an agent names a file after the beginning of the id, more than that may be given. */
const isNamedAfter = (name: string, id: string): boolean =>
  hasIdStart(name, id) || (name.length === ID_IN_NAME && id.startsWith(name));
