import { lstat, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  nextRemoval,
  tooOld,
  type PrunableCopy,
  type PrunableSession,
  type Removal,
} from '../../core/conversation/checkpoint.js';
import type { Millis } from '../../core/reading.js';
import { isRunningAs } from '../../core/report/records.js';
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
import { sweepChunks } from './chunks.js';
import { inSessionFolder } from './keep.js';
import { listSessions } from '../sessions.js';

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
  const { stateFolder, limitBytes = Infinity, before = -Infinity, only } = request;
  const live = await liveKeys(request);
  const sessions = await listKept(stateFolder, only);
  const left = new Map(sessions.map((session) => [session.key, prunable(session, live)]));
  const total = (): number => [...left.values()].reduce((sum, { usedBytes: bytes }) => sum + bytes, 0);
  const first = total();
  const removed: Pruned['removed'][number][] = [];

  const remove = async ({ key, ids }: Removal): Promise<void> => {
    const [session, known] = [sessions.find((each) => each.key === key), left.get(key)];
    if (!session || !known) return;
    const copies = session.copies.filter(({ id }) => ids.includes(id));
    const bytes = await removeCopies(stateFolder, key, copies);
    left.set(key, { ...known, usedBytes: bytes, copies: known.copies.filter(({ id }) => !ids.includes(id)) });
    removed.push(...copies.map((copy) => ({ session, copy })));
  };

  for (const session of sessions) {
    const ids = tooOld({ ...prunable(session, live), copies: session.copies.map(toPrunable) }, before);
    if (ids.length > 0) await remove({ key: session.key, ids });
    const isUnreadable = before === Infinity && session.damaged > 0 && !live.has(session.key);
    const known = left.get(session.key);
    if (isUnreadable && known)
      left.set(session.key, { ...known, usedBytes: await removeAll(stateFolder, session.key) });
  }
  for (let next = nextRemoval([...left.values()], limitBytes); next;) {
    await remove(next);
    next = nextRemoval([...left.values()], limitBytes);
  }
  return { removed, bytes: [first, total()] };
};

const prunable = (session: KeptSession, live: ReadonlySet<string>): PrunableSession => ({
  key: session.key,
  isLive: live.has(session.key),
  usedBytes: session.usedBytes,
  // a link to a file that the agent still has takes no room
  copies: session.copies.filter((copy) => copy.kind === 'checkpoint' || copy.isAlone).map(toPrunable),
});

const toPrunable = (copy: KeptCopy): PrunableCopy => ({
  id: copy.id,
  at: copy.at,
  pieces: copy.kind === 'file' ? [copy.id] : copy.chunks.map(({ sha256 }) => sha256),
});

const liveKeys = async ({ stateFolder, now, liveKey }: PruneRequest): Promise<ReadonlySet<string>> => {
  const listed = await listSessions(stateFolder, now);
  const keys = listed.flatMap(({ record: { runtime, agentSessionId: session }, liveness }) =>
    session !== undefined && isRunningAs(liveness) ? [keptKey({ runtime, session })] : [],
  );
  return new Set([...keys, ...(liveKey === undefined ? [] : [liveKey])]);
};

/** Removes copies, and the whole session with the last of them. Returns what the session takes on the disk then. */
const removeCopies = async (
  stateFolder: string,
  key: string,
  copies: readonly KeptCopy[],
): Promise<number> => {
  const remove = async (folder: string): Promise<number | undefined> => {
    for (const { kind, id } of copies)
      await unlink(kind === 'file' ? join(folder, id + FILE_ENDING) : recordPath(folder, id)).catch(
        () => undefined,
      );
    const { index, checkpoints, damaged } = await readRecords(folder, key);
    if (damaged === 0) await sweepChunks(join(folder, CHUNKS_FOLDER), chunksOf(checkpoints));
    const links = await Promise.all(
      (index?.files ?? []).map(({ id }) => lstat(join(folder, id + FILE_ENDING)).catch(() => undefined)),
    );
    const isEmpty = checkpoints.length === 0 && damaged === 0 && !links.some(Boolean);
    return isEmpty ? undefined : usedBytes(folder);
  };
  return (await inSessionFolder(stateFolder, key, remove, true)) ?? removeAll(stateFolder, key);
};

const OURS = /^(?:[0-9a-f]{12}\.(?:json|file)|index\.json(?:\.bak)?)$/;

/** Removes what ctxwrap has written in a session's folder, and the folder where nothing else is in it. */
const removeAll = async (stateFolder: string, key: string): Promise<number> => {
  const remove = async (folder: string): Promise<void> => {
    for (const name of await namesIn(folder))
      if (OURS.test(name)) await unlink(join(folder, name)).catch(() => undefined);
    await rm(join(folder, CHUNKS_FOLDER), { recursive: true, force: true });
  };
  await inSessionFolder(stateFolder, key, remove, true);
  await rmdir(join(blackBoxFolder(stateFolder), key)).catch(() => undefined); // another process may have begun to write there
  return 0;
};
