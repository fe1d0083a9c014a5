import { posix } from 'node:path';
import { isRecord, parseRecord } from '../../core/json.js';
import { parseIsoTime } from '../../core/time.js';
import type { AgentFolders, ChildPlace, FilePort, Located, SessionFileKind } from '../agent.js';

// Where GitHub Copilot CLI keeps its sessions (facts/copilot.md): <home>/session-state/<session>/events.jsonl. A process marks each session
// that it has open with `inuse.<pid>.lock` beside that file; `/clear` opens another one, and the first lock stays for some seconds.

const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;
const EVENTS = 'events.jsonl';
const MOST_OPEN = 50;

export const copilotFolder = ({ env, home, cwd }: AgentFolders): string =>
  env['COPILOT_HOME'] ? posix.resolve(cwd, env['COPILOT_HOME']) : posix.join(home, '.copilot');

export const copilotSessions = (where: AgentFolders): string =>
  posix.join(copilotFolder(where), 'session-state');

/** `<session>/events.jsonl` */
export const sessionFile = (relativePath: string): SessionFileKind | undefined => {
  const [id = '', name, ...deeper] = relativePath.split('/');
  return SAFE_ID.test(id) && name === EVENTS && deeper.length === 0 ? 'session' : undefined;
};

/** The session that the child has locked last. */
export const locateCopilot = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const folder = copilotSessions(place);
  const pids = await port.family(place.childPid);
  const listed = await lockedLast(port, folder, await openSessions(port, place), pids);
  const sessionId = listed ?? (await lockedLast(port, folder, await port.folders(folder), pids));
  if (sessionId === undefined) return undefined;
  const path = posix.join(folder, sessionId, EVENTS);
  const isThere = (await port.entry(path)) !== undefined; // it appears with the first message
  return { sessionId, certain: true, ...(isThere ? { path } : {}) };
};

/** Ids in Copilot's list of open sessions, of all its processes, the last opened first; that of the followed file is added. */
const openSessions = async (port: FilePort, place: ChildPlace): Promise<readonly string[]> => {
  const list = parseRecord(
    (await port.smallText(posix.join(copilotFolder(place), 'open-sessions-state.json'))) ?? '',
  );
  const opened = Object.entries(list ?? {}).map(([id, entry]) => ({ id, at: openedAt(entry) }));
  const ids = opened.toSorted((a, b) => b.at - a.at).map(({ id }) => id);
  const current =
    place.currentPath === undefined ? [] : [posix.basename(posix.dirname(place.currentPath))];
  return [...new Set([...current, ...ids.slice(0, MOST_OPEN)])];
};

const openedAt = (entry: unknown): number => {
  const text = isRecord(entry) ? entry['openedAt'] : undefined;
  return typeof text === 'string' ? (parseIsoTime(text) ?? 0) : 0;
};

const lockedLast = async (
  port: FilePort,
  folder: string,
  ids: readonly string[],
  pids: readonly number[],
): Promise<string | undefined> => {
  const named = ids.filter((id) => SAFE_ID.test(id));
  const locks = await Promise.all(
    named.flatMap((id) =>
      pids.map(async (pid) => {
        const lock = await port.entry(posix.join(folder, id, `inuse.${pid}.lock`));
        return lock ? [{ id, at: lock.modifiedAt }] : [];
      }),
    ),
  );
  return locks.flat().toSorted((a, b) => b.at - a.at)[0]?.id;
};
