import { basename, relative } from 'node:path';
import { lstat, realpath, stat } from 'node:fs/promises';
import type { Agent } from '../agents/agent.js';
import { type AgentFolders, idInPath, SESSION_ENDING } from '../agents/home.js';
import type { RowQuery, SessionDatabase, WantedSessions } from '../agents/database.js';
import { listKept, newestCopy, readCopy } from '../storage/blackbox/blackbox.js';
import { makeTimer, rowBatches, readRows, type ReadTimer } from '../storage/database.js';
import {
  canUnpack,
  listStore,
  PACKED,
  problemAt,
  storedFile,
  type StoreProblem,
  type StoredFile,
  withinLimits,
} from '../storage/session-store.js';
import type { SessionSource } from './read-history.js';
import { agentOfFile } from './read-session-file.js';

// Finds session files: all that the agents keep, or those in a folder or at a path that the user has named.

export interface SourceSearch {
  /** those whose sessions are wanted */
  readonly agents: readonly Agent[];
  readonly where: AgentFolders;
  /** copies of session files, which count where the agent's own file is gone; none when absent */
  readonly kept?: readonly SessionSource[] | undefined;
  /** files of sessions that run, which may be outside the agents' folders, as that of the demo is; none when absent */
  readonly running?: readonly SessionSource[] | undefined;
  /** of a database, only the sessions whose ids begin so; those in files are all found */
  readonly start?: string | undefined;
}

export interface FoundSources {
  /** the last written first */
  readonly sources: readonly SessionSource[];
  /** files that are sessions and cannot be read, and folders that cannot be listed */
  readonly skipped: readonly StoreProblem[];
}

/** All sessions of these agents. */
export const findSources = async ({
  agents,
  where,
  kept = [],
  running = [],
  start,
}: SourceSearch): Promise<FoundSources> => {
  const stores = agents.flatMap((agent) => storesOf(agent, where));
  const found = await Promise.all([
    ...stores.map(sourcesIn),
    ...agents.map((agent) => sourcesInDatabase(agent, agent.log?.database?.path(where), start)),
  ]);
  const own = found.flatMap(({ sources }) => sources);
  const areGone = await Promise.all(kept.map((each) => isGone(each, own)));
  const wanted = kept.filter(({ agent }, index) => agents.includes(agent) && areGone[index]);
  const outside = running.filter((each) => !isAmong(own, each));
  return newestFirst({
    sources: [...own, ...outside, ...wanted],
    skipped: found.flatMap(({ skipped }) => skipped),
  });
};

/** The agent has the file neither where it was nor elsewhere. */
const isGone = async (source: SessionSource, own: readonly SessionSource[]): Promise<boolean> =>
  !isAmong(own, source) && !(await lstat(source.path).catch(() => undefined));

/** Archives keep the name of a file, and a link above it changes only its path. */
const isAmong = (own: readonly SessionSource[], { agent, path }: SessionSource): boolean => {
  const nameOf = (file: string): string => `${idInPath(agent.home, file)}/${basename(file)}`; // some agents name all files the same
  return own.some((each) => each.agent === agent && nameOf(each.path) === nameOf(path));
};

/** A copy in the black box, to be read like the agent's own file. */
export interface KeptSource {
  /** of the copy */
  readonly id: string;
  /** of all copies of its session, the one with the most of its newest contents */
  readonly isNewest: boolean;
  readonly source: SessionSource;
}

/** The copies that ctxwrap kept of sessions of these agents. Rejects with a UserError for a folder that cannot be read. */
export const keptSources = async (
  stateFolder: string,
  agents: readonly Agent[],
): Promise<readonly KeptSource[]> =>
  (await listKept(stateFolder)).flatMap((session) => {
    const agent = agents.find(({ name }) => name === session.runtime);
    const newest = newestCopy(session);
    return session.copies.flatMap((copy): readonly KeptSource[] => {
      const { id, path, bytes: size, at: modifiedAt } = copy;
      const open = () => readCopy(stateFolder, session, copy);
      return agent
        ? [{ id, isNewest: copy === newest, source: { agent, path, size, modifiedAt, open } }]
        : [];
    });
  });

/** The copies of one session file; none where the black box cannot be read. */
export const copiesOf = async (
  stateFolder: string,
  { agent, path }: Pick<SessionSource, 'agent' | 'path'>,
): Promise<readonly SessionSource[]> =>
  (await keptSources(stateFolder, [agent]).catch(() => []))
    .map(({ source }) => source)
    .filter((source) => source.path === path);

interface Store {
  readonly agent: Agent;
  readonly folder: string;
}

const storesOf = (agent: Agent, where: AgentFolders): readonly Store[] => {
  const { home } = agent;
  if (!home?.sessionFile) return [];
  return [home.sessions(where), ...(home.archives?.(where) ?? [])].map((folder) => ({ agent, folder }));
};

const sourcesIn = async ({ agent, folder }: Store): Promise<FoundSources> => {
  const isSession = (path: string): boolean => agent.home?.sessionFile?.(path) !== undefined;
  const { files, problems } = await listStore(folder, isSession);
  return sorted(
    files.map((file) => ({ ...file, agent })),
    problems,
  );
};

const MOST_SESSIONS = 10_000; // of one database: each is a statement of its own

/** The newest sessions in an agent's database; none where the agent has none, or it is not there. */
const sourcesInDatabase = async (
  agent: Agent,
  path: string | undefined,
  start?: string,
): Promise<FoundSources> => {
  const database = agent.log?.database;
  const file = path === undefined ? undefined : await lstat(path).catch(() => undefined);
  if (!database || path === undefined || !file?.isFile()) return { sources: [], skipped: [] };
  try {
    const found = await readSessions(agent, database, path, { most: MOST_SESSIONS + 1, start });
    const reason = `all but the ${MOST_SESSIONS} newest sessions in it`;
    const skipped: readonly StoreProblem[] =
      found.length > MOST_SESSIONS ? [{ path, reason, isLimit: true }] : [];
    return { sources: found.slice(0, MOST_SESSIONS), skipped };
  } catch (error) {
    return { sources: [], skipped: [problemAt(path, error)] };
  }
};

/** All that are wanted, which share the time for reading them. Rejects with the database's error. */
const readSessions = async (
  agent: Agent,
  database: SessionDatabase,
  path: string,
  wanted: WantedSessions,
): Promise<readonly SessionSource[]> => {
  const timer = makeTimer(path);
  const [rows = []] = await readRows(path, [database.sessions(wanted)], timer);
  return rows.flatMap(({ id, at, bytes }): readonly SessionSource[] => {
    if (typeof id !== 'string' || typeof at !== 'number') return [];
    const open: SessionSource['open'] = (want) =>
      withinLimits(
        linesOf(path, want === 'everything' ? database.whole(id) : database.changed(id, 0), timer),
        Number(bytes),
      );
    return [{ agent, path, size: Number(bytes), modifiedAt: at, open, idInDatabase: id }];
  });
};

/** In pieces, so that everything else goes on. */
async function* linesOf(path: string, query: RowQuery, timer: ReadTimer): AsyncGenerator<Buffer> {
  for await (const rows of rowBatches(path, query, timer))
    yield Buffer.from(rows.map(({ line }) => (typeof line === 'string' ? `${line}\n` : '')).join(''));
}

/** What is known of a session that runs. */
export interface KnownSession {
  /** of its file; absent for one in a database with others */
  readonly path?: string | undefined;
  /** the agent's id of it */
  readonly sessionId?: string | undefined;
}

/** A session that runs; undefined while too little is known of it. Rejects with the error of the system or the database. */
export const runningSource = async (
  agent: Agent,
  where: AgentFolders,
  { path, sessionId }: KnownSession,
): Promise<SessionSource | undefined> => {
  const database = agent.log?.database;
  if (database)
    return sessionId === undefined
      ? undefined
      : (await readSessions(agent, database, database.path(where), { id: sessionId, most: 1 }))[0];
  if (path === undefined) return undefined;
  const { size, mtimeMs } = await stat(path);
  return { agent, path, size, modifiedAt: mtimeMs };
};

const sorted = (sources: readonly SessionSource[], problems: readonly StoreProblem[]): FoundSources => ({
  sources: sources.filter(({ path }) => canUnpack(path)),
  skipped: [
    ...problems,
    ...sources.filter(({ path }) => !canUnpack(path)).map(({ path }) => ({ path, reason: PACKED })),
  ],
});

export interface PathSearch extends SourceSearch {
  readonly path: string;
  /** whose the files are, where the user says so */
  readonly asked?: Agent | undefined;
}

/** The sessions at a path: a file, or all in a folder. Rejects with the system's error; a file that is no session gives none. */
export const sourcesAt = async (search: PathSearch): Promise<FoundSources> => {
  const { isFolder, ...file } = await storedFile(search.path);
  const writer = isFolder ? undefined : await databaseOwner(file.path, search);
  if (writer) return newestFirst(await sourcesInDatabase(writer, file.path));
  const listed: { readonly files: readonly StoredFile[]; readonly problems: readonly StoreProblem[] } =
    isFolder
      ? await listStore(file.path, (name) => SESSION_ENDING.test(name))
      : { files: [file], problems: [] };
  const roots = await Promise.all(
    search.agents.flatMap((agent) => storesOf(agent, search.where)).map(resolved),
  );
  const problems: StoreProblem[] = [...listed.problems];
  const own = await Promise.all(
    listed.files.map(async (each): Promise<readonly SessionSource[]> => {
      try {
        const agent = search.asked ?? (await ownerOf(each.path, roots, search.agents));
        return agent ? [{ ...each, agent }] : [];
      } catch (error) {
        if (!isFolder) throw error;
        problems.push(problemAt(each.path, error));
        return [];
      }
    }),
  );
  const found = sorted(own.flat(), problems);
  return newestFirst(found);
};

const newestFirst = (found: FoundSources): FoundSources => ({
  ...found,
  sources: found.sources.toSorted((a, b) => b.modifiedAt - a.modifiedAt),
});

/** The agent with a database at this path, which has no links in it; undefined for a file of another kind. */
const databaseOwner = async (
  path: string,
  { agents, asked, where }: PathSearch,
): Promise<Agent | undefined> => {
  if (asked) return asked.log?.database && asked;
  for (const agent of agents) {
    const own = agent.log?.database?.path(where);
    if (own !== undefined && path === (await realpath(own).catch(() => own))) return agent;
  }
  return undefined;
};

const resolved = async ({ agent, folder }: Store): Promise<Store> => ({
  agent,
  folder: await realpath(folder).catch(() => folder),
});

/** By the store that the file is in, else by its records. */
const ownerOf = async (
  path: string,
  stores: readonly Store[],
  agents: readonly Agent[],
): Promise<Agent | undefined> => {
  for (const { agent, folder } of stores) {
    const inner = relative(folder, path);
    if (inner !== '' && !inner.startsWith('..'))
      return agent.home?.sessionFile?.(inner) === undefined ? undefined : agent;
  }
  return canUnpack(path) ? agentOfFile(path, agents) : undefined;
};
