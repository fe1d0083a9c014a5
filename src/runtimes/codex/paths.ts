// Where Codex keeps its rollouts (facts/codex.md §7, facts/sessions.md §A.2): sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl,
// and rollout-<time>-<thread>_<segment>.jsonl after a rewind.
import { posix } from 'node:path';
import { isRecord, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { dateFolder, isoMillis } from '../../core/time.js';
import type { FileEntry, FilePort, Located, Place } from '../runtime.js';

const ROLLOUT = /^rollout-.*\.jsonl$/;
const LOCK = /^([0-9a-f-]{36})\.lock$/;
// More than this many files that grew since the start are not ours to sort out.
const MOST_CANDIDATES = 20;
// Folders are named by the local date; with a day on each side every time zone is covered.
const DAYS_AROUND = [-1, 0, 1];

interface Thread {
  readonly id: string;
  readonly cwd: string | undefined;
  readonly startedAt: Millis;
}

/** The rollout the child itself holds open; where that cannot be seen, the one of this folder that grew since the start. */
export const locateCodex = async (port: FilePort, place: Place): Promise<Located | undefined> => {
  const open = await openRollouts(port, place);
  for (const file of open.files) {
    const thread = await userThread(port, file);
    if (thread) return { sessionId: thread.id, path: file.path, certain: true };
  }
  // An embedded Codex holds its rollout open, so there is none yet. Only the background server writes for others.
  if (open.told && !(await serverMayWrite(port, place))) return undefined;
  return bestOf(port, place, await grownRollouts(port, place));
};

const codexFolder = ({ env, home }: Place): string => env['CODEX_HOME'] || posix.join(home, '.codex');

const serverMayWrite = (port: FilePort, place: Place): Promise<boolean> =>
  port.exists(posix.join(codexFolder(place), 'app-server-control', 'app-server-control.sock'));

const openRollouts = async (
  port: FilePort,
  place: Place,
): Promise<{ readonly files: readonly FileEntry[]; readonly told: boolean }> => {
  const opened = await Promise.all((await port.family(place.childPid)).map((pid) => port.openFiles(pid)));
  const paths = new Set(
    opened.flatMap((list) => list ?? []).filter((path) => ROLLOUT.test(posix.basename(path))),
  );
  const entries = await Promise.all([...paths].map((path) => port.entry(path)));
  const files = entries.filter((entry) => entry !== undefined).toSorted(newestFirst);
  return { files, told: opened.length > 0 && opened.every((list) => list !== undefined) };
};

const grownRollouts = async (port: FilePort, place: Place): Promise<readonly FileEntry[]> => {
  const recent = new Set([place.startedAt, place.now].flatMap(foldersAround));
  const lists = [...recent].map((folder) =>
    port.list(inSessions(place, folder), (name) => ROLLOUT.test(name)),
  );
  const files = [...(await Promise.all(lists)).flat(), ...(await lockedRollouts(port, place))];
  const unique = new Map(
    files.filter((file) => file.modifiedAt >= place.startedAt).map((file) => [file.path, file]),
  );
  return [...unique.values()].toSorted(newestFirst).slice(0, MOST_CANDIDATES);
};

// A resumed thread keeps its old date folder. Its lock names the thread, and the thread's id holds the time it was made at.
const lockedRollouts = async (port: FilePort, place: Place): Promise<readonly FileEntry[]> => {
  const locks = await port.list(posix.join(codexFolder(place), 'thread-writer-locks'), (name) =>
    LOCK.test(name),
  );
  const ids = locks.slice(0, MOST_CANDIDATES).map((lock) => lock.name.slice(0, -'.lock'.length));
  const lists = ids.flatMap((id) =>
    foldersAround(madeAt(id)).map((folder) =>
      port.list(inSessions(place, folder), (name) => ROLLOUT.test(name) && name.includes(id)),
    ),
  );
  return (await Promise.all(lists)).flat();
};

/** The first 48 bits of a version 7 uuid are milliseconds. */
const madeAt = (id: string): Millis => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

const foldersAround = (at: Millis): readonly string[] => DAYS_AROUND.map((days) => dateFolder(at, days));

const inSessions = (place: Place, folder: string): string =>
  posix.join(codexFolder(place), 'sessions', folder);

// Threads begun after our start come first: an older one that grows may belong to a Codex in another terminal.
const bestOf = async (
  port: FilePort,
  place: Place,
  files: readonly FileEntry[],
): Promise<Located | undefined> => {
  const threads = await Promise.all(
    files.map(async (file) => ({ file, thread: await userThread(port, file) })),
  );
  const own = threads.filter(({ thread }) => thread?.cwd === place.cwd);
  const best = own.find(({ thread }) => thread && thread.startedAt >= place.startedAt) ?? own[0];
  return best?.thread && { sessionId: best.thread.id, path: best.file.path, certain: false };
};

/** The thread of a rollout if a user talks in it: subagents and `codex exec` write files of their own. */
const userThread = async (port: FilePort, file: FileEntry): Promise<Thread | undefined> => {
  const line = await port.firstLine(file.path);
  const meta = recordAt(line === undefined ? undefined : parseRecord(line), 'payload');
  const id = textAt(meta, 'id');
  if (!meta || id === undefined || meta['source'] === 'exec' || isRecord(meta['source'])) return undefined;
  const byUser =
    (textAt(meta, 'thread_source') ?? 'user') === 'user' && (textAt(meta, 'session_id') ?? id) === id;
  if (!byUser) return undefined;
  return { id, cwd: textAt(meta, 'cwd'), startedAt: isoMillis(textAt(meta, 'timestamp') ?? '') ?? 0 };
};

const newestFirst = (a: FileEntry, b: FileEntry): number => b.modifiedAt - a.modifiedAt;
