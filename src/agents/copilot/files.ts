import { posix } from 'node:path';
import { getText, type JsonRecord, parseRecord } from '../../core/json.js';
import { isSessionId } from '../../core/report/session-id.js';
import { parseIsoTime } from '../../core/time.js';
import type { AgentStatus, ChildPlace, FileEntry, FilePort, Located } from '../agent.js';
import type { AgentFolders, SessionFileKind } from '../home.js';
import { chooseAskedFile, CLOCK_SLACK_MS } from '../files.js';

// Where GitHub Copilot CLI keeps its sessions (docs/facts/copilot.md): <home>/session-state/<session>/events.jsonl. A process marks each
// session that it has opened with `inuse.<pid>.lock` beside that file. After `/new` and `/resume` it keeps the earlier ones open, and only
// its own log, logs/process-<time>-<pid>.log, names the one on the screen.

const EVENTS = 'events.jsonl';
const MOST_OPEN = 50;
const SHOWN = /^\S+ \[INFO\] Registering foreground session: (\S+)$/;

const copilotFolder = ({ env, home, cwd }: AgentFolders): string =>
  env['COPILOT_HOME'] ? posix.resolve(cwd, env['COPILOT_HOME']) : posix.join(home, '.copilot');

export const copilotSessions = (where: AgentFolders): string =>
  posix.join(copilotFolder(where), 'session-state');

/** `<session>/events.jsonl` */
export const sessionFile = (relativePath: string): SessionFileKind | undefined => {
  const [id = '', name, ...deeper] = relativePath.split('/');
  return isSessionId(id) && name === EVENTS && deeper.length === 0 ? 'session' : undefined;
};

/** `<session>/events.jsonl` */
export const idInPath = (path: string): string => posix.basename(posix.dirname(path));

/** The session that the child shows, else the only one that it has open, else the one with the user's message. */
export const locateCopilot = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const pids = await port.family(place.childPid);
  const shown = await shownSession(port, place, pids);
  if (shown !== undefined) return openedIn(port, place, shown);
  const listed = await openSessions(port, place);
  const some = await lockedSessions(port, place, { ids: listed, pids });
  const locked =
    some.length > 0
      ? some
      : await lockedSessions(port, place, { ids: await port.folders(copilotSessions(place)), pids });
  const [newest, ...others] = locked;
  if (newest !== undefined && others.length === 0) return openedIn(port, place, newest);
  const asked = await withMessage(port, place, newest === undefined ? listed : locked);
  if (asked || newest === undefined) return asked;
  return { ...(await openedIn(port, place, newest)), certain: false };
};

const openedIn = async (port: FilePort, place: ChildPlace, sessionId: string): Promise<Located> => {
  const path = eventsOf(place, sessionId);
  const isThere = (await port.entry(path)) !== undefined; // it appears with the first message
  return { sessionId, certain: true, ...(isThere ? { path } : {}) };
};

const eventsOf = (place: ChildPlace, id: string): string => posix.join(copilotSessions(place), id, EVENTS);

const isOfChild = ({ modifiedAt }: FileEntry, { startedAt }: ChildPlace): boolean =>
  modifiedAt >= startedAt - CLOCK_SLACK_MS;

/** The session that the child's log names last; undefined where it has none, or has written too much since. */
const shownSession = async (
  port: FilePort,
  place: ChildPlace,
  pids: readonly number[],
): Promise<string | undefined> => {
  const ends = pids.map((pid) => `-${pid}.log`);
  const logs = await port.list(
    posix.join(copilotFolder(place), 'logs'),
    (name) => name.startsWith('process-') && ends.some((end) => name.endsWith(end)),
  );
  const own = logs
    .filter((each) => isOfChild(each, place))
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt)[0];
  const lines = ((own && (await port.lastPart(own.path))) ?? '').split('\n');
  const ids = lines.flatMap((line) => SHOWN.exec(line)?.[1] ?? []);
  return ids.findLast((id) => isSessionId(id));
};

/** Ids in Copilot's list of open sessions, of all its processes, the last opened first; that of the followed file is added. */
const openSessions = async (port: FilePort, place: ChildPlace): Promise<readonly string[]> => {
  const list = parseRecord(
    (await port.smallText(posix.join(copilotFolder(place), 'open-sessions-state.json'))) ?? '',
  );
  const opened = Object.entries(list ?? {}).map(([id, entry]) => ({ id, at: openedAt(entry) }));
  const ids = opened.toSorted((a, b) => b.at - a.at).map(({ id }) => id);
  const current = place.currentPath === undefined ? [] : [idOf(place.currentPath)];
  return [...new Set([...current, ...ids.slice(0, MOST_OPEN)])].filter((id) => isSessionId(id));
};

const openedAt = (entry: unknown): number => parseIsoTime(getText(entry, 'openedAt') ?? '') ?? 0;

const idOf = (path: string): string => posix.basename(posix.dirname(path));

/** Those that the child has open, the last opened first. */
const lockedSessions = async (
  port: FilePort,
  place: ChildPlace,
  { ids, pids }: { readonly ids: readonly string[]; readonly pids: readonly number[] },
): Promise<readonly string[]> => {
  const named = ids.filter((id) => isSessionId(id));
  const found = await Promise.all(named.flatMap((id) => pids.map((pid) => lockOf(port, place, { id, pid }))));
  return found
    .flat()
    .toSorted((a, b) => b.at - a.at)
    .map(({ id }) => id);
};

const lockOf = async (
  port: FilePort,
  place: ChildPlace,
  { id, pid }: { readonly id: string; readonly pid: number },
): Promise<readonly { readonly id: string; readonly at: number }[]> => {
  const lock = await port.entry(posix.join(copilotSessions(place), id, `inuse.${pid}.lock`));
  return lock && isOfChild(lock, place) ? [{ id, at: lock.modifiedAt }] : [];
};

/** Also for a system that does not tell the processes that a launcher has started. */
const withMessage = async (
  port: FilePort,
  place: ChildPlace,
  ids: readonly string[],
): Promise<Located | undefined> => {
  const files = await Promise.all(ids.map((id) => port.entry(eventsOf(place, id))));
  const written = files.flatMap((file) => (file && file.modifiedAt >= place.startedAt ? [file] : []));
  return chooseAskedFile(port, place, written, { isPrompt, idOf: ({ path }) => idOf(path) });
};

const isPrompt = (record: JsonRecord): boolean =>
  record['type'] === 'user.message' && record['agentId'] === undefined;

// What the session file says about a compaction. One that Copilot begins by itself runs beside the turn and after it, and the screen looks
// at rest meanwhile.

const TELLING = /^\{"type":"session\.(?:compaction_start|compaction_complete|start|resume|shutdown)"/;
const COMPACTING: AgentStatus = { state: 'compacting', isSilent: true };
const IDLE: AgentStatus = { state: 'idle' };
const UNCLEAR: AgentStatus = { state: 'unclear' };

/** `compacting` from the beginning of a compaction, `idle` from its end, or from a new start of the session. */
export const parseStatus = (line: string): AgentStatus | undefined => {
  if (!TELLING.test(line)) return undefined;
  return line.startsWith('{"type":"session.compaction_start"') ? COMPACTING : IDLE;
};

/**
 * `unclear` if the end of the file shows no state, because more was written since. The record of a beginning is only believed where this
 * process wrote it: a session whose process was killed, and a copy, can end with one that has no end.
 */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus> => {
  const found = await locateCopilot(port, place);
  if (!found?.certain || found.path === undefined) return UNCLEAR;
  const lines = ((await port.lastPart(found.path)) ?? '').split('\n');
  const last = lines.findLast((line) => parseStatus(line) !== undefined);
  const status = last === undefined ? UNCLEAR : (parseStatus(last) ?? UNCLEAR);
  if (last === undefined || status !== COMPACTING) return status;
  const begunAt = parseIsoTime(getText(parseRecord(last), 'timestamp') ?? '') ?? 0;
  return (await openedBy(port, place, { id: found.sessionId, at: begunAt })) ? status : IDLE;
};

/** The child had the session open at this time. Its lock is made with the first message that it gets there. */
const openedBy = async (
  port: FilePort,
  place: ChildPlace,
  { id, at }: { readonly id: string; readonly at: number },
): Promise<boolean> => {
  const pids = await port.family(place.childPid);
  const locks = await Promise.all(pids.map((pid) => lockOf(port, place, { id, pid })));
  return locks.flat().some((lock) => lock.at <= at);
};
