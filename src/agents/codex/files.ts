import { posix } from 'node:path';
import { parseRecord, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import type { FileEntry, FilePort, Located, ChildPlace, AgentStatus } from '../agent.js';
import { chooseAskedFile, sentBetween } from '../files.js';
import type { SessionFileKind } from '../home.js';
import { shownThread } from './shown-thread.js';
import {
  foldersAround,
  idOfLock,
  LOCK,
  locksIn,
  newestFirst,
  ROLLOUT,
  rolloutsOf,
  threadOf,
  userThread,
} from './threads.js';
import { codexFolder } from './launch.js';

// Where Codex keeps its rollouts (docs/facts/codex.md#rollouts, docs/facts/sessions.md#codex):
// sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl, and rollout-<time>-<thread>_<segment>.jsonl after a rewind.

const PACKED = /^rollout-.*\.jsonl\.(?:zst|gz)$/;
// A lock without a rollout for longer than this is a conversation before its first turn; a subagent writes its rollout at once.
const LOCK_ALONE_MS = 1_000;
// With more files than this that grew since the start, no guess is made.
const MOST_CANDIDATES = 20;

/** The thread that the child has open; where that cannot be seen, the one on the screen, or in which a turn began at Enter here. */
export const locateCodex = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const held = await heldByChild(port, place);
  const own = await ownThread(port, held, place);
  if (own) return { ...own, certain: true };
  // An embedded Codex keeps its rollout open, so none open means none exists. Only the background server writes for other processes.
  if (held.isComplete && !(await serverMayWrite(port, place))) return undefined;
  const shown = await shownThread(port, place);
  if (shown) return shown;
  const { enteredAt = -Infinity, viewSince = -Infinity } = place;
  if (enteredAt < viewSince) return undefined; // what was sent, was sent in another view
  return askedOf(port, place, await grownRollouts(port, place));
};

/** Old rollouts may be packed with zstd. */
export const sessionFile = (relativePath: string): SessionFileKind | undefined => {
  const name = posix.basename(relativePath);
  if (ROLLOUT.test(name)) return 'session';
  return PACKED.test(name) ? 'packed' : undefined;
};

/** `rollout-<time>-<thread>.jsonl`, after a rewind `rollout-<time>-<thread>_<segment>.jsonl` */
export const idInPath = (path: string): string => IN_NAME.exec(posix.basename(path))?.[1] ?? '';

const IN_NAME = /^rollout-[\d-]+T[\d-]{8}-([^.]+)\./;

const serverMayWrite = (port: FilePort, place: ChildPlace): Promise<boolean> =>
  port.exists(posix.join(codexFolder(place), 'app-server-control', 'app-server-control.sock'));

/** What the child and its descendants have open. `isComplete` is false if the system reports only part of it. */
interface Held {
  readonly rollouts: readonly FileEntry[];
  readonly locks: readonly FileEntry[];
  readonly isComplete: boolean;
}

const heldByChild = async (port: FilePort, place: ChildPlace): Promise<Held> => {
  const opened = await Promise.all((await port.family(place.childPid)).map((pid) => port.openFiles(pid)));
  const paths = [...new Set(opened.flatMap((list) => list ?? []))];
  const entriesOf = async (name: RegExp): Promise<readonly FileEntry[]> => {
    const entries = paths.filter((path) => name.test(posix.basename(path))).map((path) => port.entry(path));
    return (await Promise.all(entries)).filter((entry) => entry !== undefined).toSorted(newestFirst);
  };
  const isComplete = opened.length > 0 && opened.every((list) => list !== undefined);
  return { rollouts: await entriesOf(ROLLOUT), locks: await entriesOf(LOCK), isComplete };
};

interface HeldThread {
  readonly sessionId: string;
  readonly path?: string;
  /** when it was last locked or written */
  readonly at: Millis;
}

/**
 * Of several threads that the child has open the one in view, where that is known, and the newest one before anything else was in view.
 * The others may be at work in the background.
 */
const ownThread = async (
  port: FilePort,
  held: Held,
  place: ChildPlace,
): Promise<Omit<HeldThread, 'at'> | undefined> => {
  const newest = await newestThread(port, held, place.now);
  if (place.viewSince === undefined) return newest && withoutTime(newest);
  const isHeld = (id: string): boolean => [...held.rollouts, ...held.locks].some(isOf(id));
  const shown = await shownThread(port, place);
  if (shown && isHeld(shown.sessionId)) return shown;
  const current = held.rollouts.find(({ path }) => path === place.currentPath);
  const id = current && (await threadOf(port, current))?.id;
  if (id !== undefined) return { sessionId: id, ...present({ path: held.rollouts.find(isOf(id))?.path }) };
  return newest && withoutTime(newest);
};

const withoutTime = ({ sessionId, path }: HeldThread): Omit<HeldThread, 'at'> => ({
  sessionId,
  ...present({ path }),
});

// `/new` and `/resume` lock the other thread at once; its rollout is written only at the next turn, and the previous one stays open for a
// while. A lock is recreated each time.
const newestThread = async (
  port: FilePort,
  { rollouts, locks }: Held,
  now: Millis,
): Promise<HeldThread | undefined> => {
  const written = rollouts.map(async (file): Promise<HeldThread | undefined> => {
    const thread = await userThread(port, file);
    const lock = locks.find(({ name }) => idOfLock(name) === thread);
    const at = Math.max(file.modifiedAt, lock?.modifiedAt ?? 0);
    return thread === undefined ? undefined : { sessionId: thread, path: file.path, at };
  });
  const unwritten = locks
    .filter(
      ({ name, modifiedAt }) => now - modifiedAt >= LOCK_ALONE_MS && !rollouts.some(isOf(idOfLock(name))),
    )
    .map(({ name, modifiedAt }) => ({ sessionId: idOfLock(name), at: modifiedAt }));
  const threads = [...(await Promise.all(written)), ...unwritten].filter((thread) => thread !== undefined);
  return threads.toSorted((a, b) => b.at - a.at)[0];
};

const isOf =
  (id: string) =>
  ({ name }: FileEntry): boolean =>
    name.includes(id);

const grownRollouts = async (port: FilePort, place: ChildPlace): Promise<readonly FileEntry[]> => {
  const recent = new Set([place.startedAt, place.now].flatMap((at) => foldersAround(place, at)));
  const lists = [...recent].map((folder) => port.list(folder, (name) => ROLLOUT.test(name)));
  const files = [...(await Promise.all(lists)).flat(), ...(await lockedRollouts(port, place))];
  const unique = new Map(
    files.filter((file) => file.modifiedAt >= place.startedAt).map((file) => [file.path, file]),
  );
  return [...unique.values()].toSorted(newestFirst).slice(0, MOST_CANDIDATES);
};

// A resumed thread keeps its old date folder; its lock names it.
const lockedRollouts = async (port: FilePort, place: ChildPlace): Promise<readonly FileEntry[]> => {
  const locks = await locksIn(port, place);
  const ids = locks.slice(0, MOST_CANDIDATES).map((lock) => idOfLock(lock.name));
  return (await Promise.all(ids.map((id) => rolloutsOf(port, place, id)))).flat();
};

// The background server writes for all terminals, so only the messages sent here show which thread is this terminal's.
const askedOf = async (
  port: FilePort,
  place: ChildPlace,
  files: readonly FileEntry[],
): Promise<Located | undefined> => {
  const ids = new Map<string, string>();
  for (const file of files) {
    const thread = await userThread(port, file);
    if (thread !== undefined) ids.set(file.path, thread);
  }
  const own = files.filter(({ path }) => ids.has(path));
  const chosen = await lockedHere(port, place, files, ids);
  if (chosen) return chosen;
  const threadOf = ({ path }: FileEntry): string => ids.get(path) ?? '';
  const found = await chooseAskedFile(port, place, own, { isPrompt: isTurnBegun, idOf: threadOf });
  const isOther = place.currentPath !== undefined && found?.path !== place.currentPath;
  if (isOther && !hasBegunToWork(place)) return undefined;
  const newest = own.find((file) => threadOf(file) === found?.sessionId); // a rewind begins another segment
  return found && newest && { ...found, path: newest.path };
};

/**
 * The only thread that was locked when Enter was pressed here: by `/new`, which has no rollout before its first turn, or by `/resume`.
 * `ids`: the users' threads among the rollouts, by path.
 */
const lockedHere = async (
  port: FilePort,
  place: ChildPlace,
  files: readonly FileEntry[],
  ids: ReadonlyMap<string, string>,
): Promise<Located | undefined> => {
  const between = sentBetween(place);
  if (!between) return undefined;
  const locks = await locksIn(port, place);
  const isNow = ({ modifiedAt }: FileEntry): boolean => modifiedAt >= between[0] && modifiedAt <= between[1];
  const [lock, ...others] = locks.filter(isNow).filter(({ name }) => {
    const written = files.filter(isOf(idOfLock(name)));
    return written.length === 0 || written.some(({ path }) => ids.has(path));
  });
  if (!lock || others.length > 0) return undefined;
  const rollout = files.find(({ path }) => ids.get(path) === idOfLock(lock.name));
  const path = rollout ? { path: rollout.path } : {};
  return { sessionId: idOfLock(lock.name), ...path, certain: false, writtenAt: lock.modifiedAt };
};

/** After Enter here the agent has begun to work: a turn that began elsewhere at that moment is another terminal's, as behind `/status`. */
const hasBegunToWork = ({ workedAt, enteredAt, enteredSince = enteredAt }: ChildPlace): boolean =>
  workedAt !== undefined && enteredSince !== undefined && workedAt >= enteredSince;

/** A turn begins with what the user has sent; versions before 0.137 record only the message. */
const isTurnBegun = (record: JsonRecord): boolean => {
  const type = getText(getRecord(record, 'payload'), 'type');
  return record['type'] === 'event_msg' && (type === 'task_started' || type === 'user_message');
};

// What a rollout says about Codex's activity (docs/facts/codex.md#state-reports, #rollouts). Each turn, including a compaction, begins with
// `task_started` and ends with `task_complete` or `turn_aborted`; records after that belong to no turn. For versions before 0.163 this is
// the only source.

const UNCLEAR: AgentStatus = { state: 'unclear' };
const TELLING = /"(?:task_started|task_complete|turn_aborted)"/;
const states: Readonly<Record<string, AgentStatus>> = {
  task_started: { state: 'busy' },
  task_complete: { state: 'idle' },
  turn_aborted: { state: 'idle' },
};

/** `busy` from the beginning of a turn, `idle` from its end. */
export const parseStatus = (line: string): AgentStatus | undefined => {
  if (!TELLING.test(line)) return undefined;
  const record = parseRecord(line);
  if (record?.['type'] !== 'event_msg') return undefined;
  return states[getText(getRecord(record, 'payload'), 'type') ?? ''];
};

/**
 * The last turn of the rollout that the child has open; any other file may belong to another terminal. `new` before the first turn;
 * `unclear` when no rollout is open, a record is half written, or the end of the file shows no turn.
 */
export const readStatus = async (port: FilePort, place: ChildPlace): Promise<AgentStatus> => {
  const found = await locateCodex(port, place);
  if (!found?.certain) return UNCLEAR;
  if (found.path === undefined) return { state: 'new' };
  const lines = (await port.lastPart(found.path))?.split('\n') ?? [];
  const isWhole = lines.at(-1) === '';
  const status = isWhole ? lines.toReversed().map(parseStatus).find(Boolean) : undefined;
  return status ?? UNCLEAR;
};
