import { posix } from 'node:path';
import { getCount, getRecord, getText, isRecord, parseRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { dateFolder } from '../../core/time.js';
import type { ChildPlace, FileEntry, FilePort } from '../agent.js';
import type { AgentFolders } from '../home.js';
import { codexFolder } from './launch.js';

// What Codex keeps of its threads (docs/facts/codex.md#rollouts, docs/facts/codex-background-server.md): rollouts, locks, marks, names, and
// what was sent in them.

export const ROLLOUT = /^rollout-.*\.jsonl$/;
export const LOCK = /^[0-9a-f-]{36}\.lock$/;
const MARK = /^[0-9a-f-]{36}$/;
// Folders are named by local date; one day on either side covers every time zone.
const DAYS_AROUND = [-1, 0, 1];

const SECOND_MS = 1_000;

/** A conversation of the user's, or one that is shown beside it. */
export type ThreadKind = 'user' | 'side chat';

const kinds: Readonly<Record<string, ThreadKind>> = { user: 'user', tui_side_chat: 'side chat' };

interface Thread {
  readonly id: string;
  readonly kind: ThreadKind;
}

/** The thread of a rollout, if a person has it in a terminal; subagents and `codex exec` write files of their own. */
export const threadOf = async (port: FilePort, file: FileEntry): Promise<Thread | undefined> => {
  const line = await port.firstLine(file.path);
  const meta = getRecord(line === undefined ? undefined : parseRecord(line), 'payload');
  const id = getText(meta, 'id');
  if (!meta || id === undefined || meta['source'] === 'exec' || isRecord(meta['source'])) return undefined;
  const kind = kinds[getText(meta, 'thread_source') ?? 'user'];
  return kind && (getText(meta, 'session_id') ?? id) === id ? { id, kind } : undefined;
};

/** The id of a rollout's thread if it is a user's conversation. */
export const userThread = async (port: FilePort, file: FileEntry): Promise<string | undefined> => {
  const thread = await threadOf(port, file);
  return thread?.kind === 'user' ? thread.id : undefined;
};

/** The rollouts of a thread, the newest first; it begins another one after a rewind. Undefined if it is another kind of thread. */
export const rolloutsOfKind = async (
  port: FilePort,
  place: ChildPlace,
  id: string,
  kind: ThreadKind,
): Promise<readonly FileEntry[] | undefined> => {
  const files = (await rolloutsOf(port, place, id)).toSorted(newestFirst);
  const threads = await Promise.all(files.map((file) => threadOf(port, file)));
  return threads.every((thread) => thread?.kind === kind) ? files : undefined;
};

export const newestFirst = (a: FileEntry, b: FileEntry): number => b.modifiedAt - a.modifiedAt;

/** A resumed thread keeps its old date folder, and its id contains its creation time. */
export const rolloutsOf = async (
  port: FilePort,
  place: AgentFolders,
  id: string,
): Promise<readonly FileEntry[]> => {
  const folders = foldersAround(place, madeAt(id));
  const lists = folders.map((folder) => port.list(folder, (name) => ROLLOUT.test(name) && name.includes(id)));
  return (await Promise.all(lists)).flat();
};

/** The first 48 bits of a version 7 uuid are milliseconds. */
const madeAt = (id: string): Millis => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** The folders in which a thread of this time has its rollouts. */
export const foldersAround = (place: AgentFolders, at: Millis): readonly string[] =>
  DAYS_AROUND.map((days) => posix.join(codexFolder(place), 'sessions', dateFolder(at, days)));

/** Codex creates one again when it opens a thread that no process has. */
export const locksIn = (port: FilePort, place: AgentFolders): Promise<readonly FileEntry[]> =>
  port.list(posix.join(codexFolder(place), 'thread-writer-locks'), (name) => LOCK.test(name));

export const idOfLock = (lockName: string): string => lockName.slice(0, -'.lock'.length);

/**
 * When each thread was last opened in any terminal, if that left a trace: its lock, or the mark of a terminal that opened it for the first
 * time.
 */
export const openedAt = async (port: FilePort, place: AgentFolders): Promise<ReadonlyMap<string, Millis>> => {
  const marks = posix.join(codexFolder(place), 'tui-thread-reference-capabilities');
  const opened = [
    ...(await locksIn(port, place)).map(({ name, modifiedAt }) => [idOfLock(name), modifiedAt] as const),
    ...(await port.list(marks, (name) => MARK.test(name))).map(
      ({ name, modifiedAt }) => [name, modifiedAt] as const,
    ),
  ];
  return new Map(opened.toSorted(([, a], [, b]) => a - b));
};

/** What a user sent in a thread. */
export interface SentMessage {
  readonly id: string;
  readonly text: string;
  /** in whole seconds */
  readonly at: Millis;
}

/** The last messages that were sent in any terminal, the newest last; none where the user has switched that off. */
export const sentMessages = async (port: FilePort, place: AgentFolders): Promise<readonly SentMessage[]> => {
  const lines = (await port.lastPart(posix.join(codexFolder(place), 'history.jsonl')))?.split('\n') ?? [];
  return lines.flatMap((line) => {
    const record = parseRecord(line);
    const [id, text, seconds] = [
      getText(record, 'session_id'),
      getText(record, 'text'),
      getCount(record, 'ts'),
    ];
    return id === undefined || text === undefined || seconds === undefined
      ? []
      : [{ id, text, at: seconds * SECOND_MS }];
  });
};

/** The names of threads, by their ids. */
export const threadNames = async (
  port: FilePort,
  place: AgentFolders,
): Promise<ReadonlyMap<string, string>> => {
  const text = (await port.smallText(posix.join(codexFolder(place), 'session_index.jsonl'))) ?? '';
  const pairs = text.split('\n').flatMap((line) => {
    const record = parseRecord(line);
    const [id, name] = [getText(record, 'id'), getText(record, 'thread_name')];
    return id === undefined || name === undefined ? [] : [[id, name] as const];
  });
  return new Map(pairs);
};
