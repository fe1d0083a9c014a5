import { lstat, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findOldest, sessionLimit, type Removable } from '../core/checkpoint.js';
import type { Millis } from '../core/reading.js';
import {
  blackBoxFolder,
  CHUNKS_FOLDER,
  chunksOf,
  FILE_ENDING,
  keptKey,
  listKept,
  namesIn,
  readRecords,
  recordPath,
  usedBytes,
  type KeptCopy,
  type KeptSession,
} from './blackbox.js';
import { sweepChunks } from './blackbox-chunks.js';
import { inSessionFolder } from './blackbox-keep.js';
import { listSessions } from './sessions.js';

// Keeps the black box within its limits, and removes what the user no longer wants.

/** What may stay. */
export interface PruneRequest {
  readonly stateFolder: string;
  readonly now: Millis;
  /** of all sessions together, on the disk; no limit when absent */
  readonly limitBytes?: number | undefined;
  /** copies made before this are removed; none when absent */
  readonly before?: Millis | undefined;
  /** a session that is running although no record of it says so */
  readonly liveKey?: string | undefined;
  /** only this session */
  readonly only?: string | undefined;
}

export interface Pruned {
  readonly removed: readonly { readonly session: KeptSession; readonly copy: KeptCopy }[];
  /** before and after */
  readonly bytes: readonly [number, number];
}

/** Removes what is too old or too much, the oldest first; never the last copy of a session that still runs. */
export const pruneBlackBox = async (request: PruneRequest): Promise<Pruned> => {
  const { stateFolder, limitBytes = Infinity, only } = request;
  const live = await liveKeys(request);
  const sessions = await listKept(stateFolder, only);
  const used = new Map(sessions.map(({ key, usedBytes: bytes }) => [key, bytes]));
  const total = (): number => [...used.values()].reduce((sum, each) => sum + each, 0);
  const first = total();
  const removed: Pruned['removed'][number][] = [];
  const left = new Map(sessions.map((session) => [session.key, session.copies]));

  const removableIn = (
    keys: readonly string[],
    isWanted: (copy: KeptCopy) => boolean,
  ): readonly Removable[] =>
    keys.flatMap((key) => {
      const copies = (left.get(key) ?? []).filter(isWanted);
      return copies.map(({ id, at }) => ({ session: key, id, at, isLive: live.has(key) }));
    });
  const remove = async ({ session: key, id }: Removable): Promise<void> => {
    const session = sessions.find((each) => each.key === key);
    const copy = session?.copies.find((each) => each.id === id);
    left.set(
      key,
      (left.get(key) ?? []).filter((each) => each.id !== id),
    );
    if (!session || !copy) return;
    used.set(key, await removeCopy(stateFolder, session, copy));
    removed.push({ session, copy });
  };
  const removeWhile = async (
    keys: readonly string[],
    isDue: (oldest: Removable) => boolean,
    isWanted = costsSpace,
  ): Promise<void> => {
    for (let next = findOldest(removableIn(keys, isWanted)); next && isDue(next);) {
      await remove(next);
      next = findOldest(removableIn(keys, isWanted));
    }
  };

  const all = sessions.map(({ key }) => key);
  const { before = -Infinity } = request;
  await removeWhile(
    all,
    ({ at }) => at < before,
    () => true,
  );
  for (const { key, damaged } of sessions)
    if (before === Infinity && damaged > 0 && !live.has(key))
      used.set(key, await removeAll(stateFolder, key));
  for (const key of all) await removeWhile([key], () => (used.get(key) ?? 0) > sessionLimit(limitBytes));
  await removeWhile(all, () => total() > limitBytes);
  return { removed, bytes: [first, total()] };
};

/** A link to a file that the agent still has takes no room. */
const costsSpace = (copy: KeptCopy): boolean => copy.kind === 'checkpoint' || copy.isAlone;

const liveKeys = async ({ stateFolder, now, liveKey }: PruneRequest): Promise<ReadonlySet<string>> => {
  const listed = await listSessions(stateFolder, now);
  const keys = listed.flatMap(({ record: { runtime, agentSessionId: session }, liveness }) =>
    session !== undefined && (liveness === 'live' || liveness === 'stale')
      ? [keptKey({ runtime, session })]
      : [],
  );
  return new Set([...keys, ...(liveKey === undefined ? [] : [liveKey])]);
};

/** Removes a copy, and the whole session when it was the last one. Returns what the session takes on the disk then. */
const removeCopy = async (stateFolder: string, { key }: KeptSession, copy: KeptCopy): Promise<number> => {
  const used = await inSessionFolder(stateFolder, key, async (folder) => {
    const path = copy.kind === 'file' ? join(folder, copy.id + FILE_ENDING) : recordPath(folder, copy.id);
    await unlink(path).catch(() => undefined);
    const { index, checkpoints, damaged } = await readRecords(folder, key);
    if (damaged === 0) await sweepChunks(join(folder, CHUNKS_FOLDER), chunksOf(checkpoints));
    const links = await Promise.all(
      (index?.files ?? []).map(({ id }) => lstat(join(folder, id + FILE_ENDING)).catch(() => undefined)),
    );
    const isEmpty = checkpoints.length === 0 && damaged === 0 && !links.some(Boolean);
    return isEmpty ? undefined : usedBytes(folder);
  });
  return used ?? removeAll(stateFolder, key);
};

const OURS = /^(?:[0-9a-f]{12}\.(?:json|file)|index\.json(?:\.bak)?)$/;

/** Removes what ctxwrap has written in a session's folder, and the folder where nothing else is in it. */
const removeAll = async (stateFolder: string, key: string): Promise<number> => {
  await inSessionFolder(stateFolder, key, async (folder) => {
    for (const name of await namesIn(folder))
      if (OURS.test(name)) await unlink(join(folder, name)).catch(() => undefined);
    await rm(join(folder, CHUNKS_FOLDER), { recursive: true, force: true });
  });
  await rmdir(join(blackBoxFolder(stateFolder), key)).catch(() => undefined); // another process may have begun to write there
  return 0;
};
