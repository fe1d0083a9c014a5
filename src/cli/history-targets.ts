import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { type AgentFolders, idInPath, SESSION_ENDING } from '../agents/home.js';
import type { SessionDetail } from '../agents/session-format.js';
import { errorCode, UserError } from '../core/errors.js';
import type { StoreProblem } from '../storage/session-store.js';
import { systemReason } from '../storage/errors.js';
import { blackBoxFolder } from '../storage/blackbox/blackbox.js';
import { listSessions } from '../storage/sessions.js';
import { findSources, keptSources, sourcesAt, type KeptSource } from '../session-files/session-sources.js';
import type { SessionSource } from '../session-files/read-history.js';
import * as messages from './messages.js';
import { findSession } from './session-argument.js';

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

/** The agents' own files, and copies of those that are gone; of a database only what has an id that begins so, where that is given. */
const findAll = async (search: TargetSearch, start?: string): Promise<AllSources> => {
  const problems: StoreProblem[] = [];
  const copies = await keptSources(search.stateFolder, search.agents).catch(() => {
    problems.push({ path: blackBoxFolder(search.stateFolder), reason: 'the black box cannot be read' });
    return [];
  });
  const kept = copies.filter(({ isNewest }) => isNewest).map(({ source }) => source);
  const { sources, skipped } = await findSources({ ...search, kept, start });
  return { sources, skipped: [...skipped, ...problems], copies };
};

const NUMBERED = /^(.+)#(\d{1,6})$/s;

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

const byId = async (id: string, search: TargetSearch) => {
  const wrapped = await listSessions(search.stateFolder, Date.now()).catch(() => []);
  const live = findSession(wrapped, id)?.record;
  const path = live?.logPath;
  if (path !== undefined && (await exists(path)))
    return { ...(await atPath(path, search)), isWanted: () => true };
  const start = (live?.agentSessionId ?? id).toLowerCase();
  const { sources, skipped, copies } = await findAll(search, start);
  const named = sources.filter(({ agent, path: file, idInDatabase }) =>
    isNamedAfter(idInDatabase?.toLowerCase() ?? idInPath(agent.home, file), start),
  );
  const unread = skipped.filter(({ path: file }) => basename(file).includes(start));
  if (start.length < LEAST_ID) throw messages.unknownHistory(id, search.agents);
  if (named.length + unread.length === 0) {
    // it may be in a folder or a database that cannot be read
    const closed = skipped.filter(({ path: file }) => !SESSION_ENDING.test(file));
    return { ...ofCopies(copies, id, search, closed), isWanted: () => true };
  }
  return {
    sources: named,
    skipped: unread,
    isWanted: (session: SessionDetail) =>
      session.id === undefined || session.id.toLowerCase().startsWith(start),
  };
};

/** The copy with this id, or its beginning: one of a session file that the agent has changed since. */
const ofCopies = (
  copies: readonly KeptSource[],
  id: string,
  { agents }: TargetSearch,
  unread: readonly StoreProblem[],
) => {
  const found = copies.filter((copy) => copy.id.startsWith(id.toLowerCase()));
  if (found.length === 0) throw messages.unknownHistory(id, agents, unread);
  return { sources: found.map(({ source }) => source), skipped: [] };
};

/** Where an agent names a file after the beginning of the id, more than that may be given. */
const isNamedAfter = (name: string, id: string): boolean =>
  name.startsWith(id) || (name.length === ID_IN_NAME && id.startsWith(name));
