import { randomBytes } from 'node:crypto';
import { link, lstat, readdir, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { present } from '../../core/present.js';
import { jsonText } from '../../core/printable.js';
import {
  isPassing,
  isSameFile,
  type CheckpointBoundary,
  type CheckpointReason,
  type CheckpointRecord,
  type Chunk,
  type FileEvent,
  type FileIdentity,
  type FileMark,
  type GitState,
  type KeptFile,
  type KeptOf,
  type KeptRecord,
} from '../../core/conversation/checkpoint.js';
import { errorCode } from '../../core/errors.js';
import type { Millis } from '../../core/reading.js';
import type { ReadingRecord } from '../../core/report/report.js';
import {
  blackBoxFolder,
  chunksOf,
  CHUNKS_FOLDER,
  FILE_ENDING,
  identify,
  identityOf,
  INDEX_NAME,
  keptKey,
  readRecords,
  recordPath,
} from './blackbox.js';
import { copyPrefix, hasChunk, type CopiedPrefix, readFully, sha256Of, sweepChunks } from './chunks.js';
import { systemReason } from '../errors.js';
import { isOwn, openOwn } from '../files.js';
import { withLock } from '../lock.js';
import { ensureFolder, readOwnFile, writeAtomic } from '../state-folder.js';

// Writes into the black box: links the agent's file, copies its beginning, and notes what has happened to it. What was there
// before stays complete at every moment: pieces and records are first written under other names, a record after its pieces, and pieces are
// removed after the records that need them.

const HEAD_BYTES = 64 * 1024;
const MOST_FILES = 16; // links of a session
const MOST_EVENTS = 50;
const MOST_PASSING = 8; // copies of contents that were changed since
const OLD_MS = 60_000; // a temporary file that old was left by a process that was killed
const TEMPORARY = /\.[0-9a-f]{32}\.tmp$/;

/** Where something is kept. */
export interface KeepPlace extends KeptOf {
  readonly stateFolder: string;
}

const openSource = (path: string): Promise<FileHandle> => openOwn(path, 'the session file');

/**
 * Runs the work in a session's folder, which is made if missing, while no other process writes there. `makesRoom`: the work only removes,
 * and is also done on a full disk.
 */
export const inSessionFolder = async <T>(
  stateFolder: string,
  key: string,
  work: (folder: string) => Promise<T>,
  makesRoom = false,
): Promise<T> => {
  const ensure = async (): Promise<string> => ensureFolder(await ensureBlackBox(stateFolder), key);
  const folder = await ensure();
  return withLock(folder, { ensure, makesRoom }, async () => {
    await sweepTemporary(folder);
    return work(folder);
  });
};

const ensureBlackBox = async (stateFolder: string): Promise<string> => {
  await ensureFolder(stateFolder);
  return ensureFolder(blackBoxFolder(stateFolder));
};

const inPlace = <T>(place: KeepPlace, work: (folder: string, key: string) => Promise<T>): Promise<T> => {
  const key = keptKey(place);
  return inSessionFolder(place.stateFolder, key, (folder) => work(folder, key));
};

const sweepTemporary = async (folder: string): Promise<void> => {
  for (const place of [folder, join(folder, CHUNKS_FOLDER)])
    for (const name of (await readdir(place).catch(() => [])).filter((each) => TEMPORARY.test(each))) {
      const path = join(place, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats && Date.now() - stats.mtimeMs > OLD_MS) await unlink(path).catch(() => undefined);
    }
};

const idOf = ({ device, inode, bornAt }: FileIdentity): string =>
  sha256Of(Buffer.from(`${device}:${inode}:${bornAt}`)).slice(0, 12);

/** The state of a file, to notice later that it is another one. `headBytes`: as in the mark to compare it with. Undefined if there is none. */
export const markFile = async (path: string, headBytes = HEAD_BYTES): Promise<FileMark | undefined> => {
  try {
    const file = await openSource(path);
    try {
      const identity = await identify(file);
      const head = await readFully(file, 0, Math.min(headBytes, identity.bytes));
      const { mtimeMs } = await file.stat();
      return { ...identity, modifiedAt: mtimeMs, head: sha256Of(head), headBytes: head.length };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Why there is no link, for the log. */
export type LinkResult =
  | { readonly kind: 'linked'; readonly file: KeptFile; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly reason: string };

/** Gives the agent's file a second name in the black box, so that it outlives its own. */
export const linkFile = (place: KeepPlace, now: Millis): Promise<LinkResult> =>
  inPlace(place, async (folder, key) => {
    const { path } = place;
    const stats = await lstat(path, { bigint: true });
    if (!stats.isFile()) return { kind: 'refused', reason: 'it is not a regular file' };
    if (!isOwn(stats)) return { kind: 'refused', reason: 'it belongs to another user' };
    const identity = identityOf(stats);
    const { index } = await readRecords(folder, key);
    const known = index?.files.find((each) => isSameFile(each, identity));
    const id = known?.id ?? idOf(identity);
    const file: KeptFile = known ?? { id, ...identity, since: now, path };
    const before = indexOf(place, index, now);
    if (!known) await writeIndex(folder, withFile(before, file)); // first: a link that the index does not name would be lost
    const obstacle = await linkTo(path, join(folder, id + FILE_ENDING), identity);
    if (obstacle === undefined) return { kind: 'linked', file, isNew: !known };
    if (!known) await writeIndex(folder, before);
    return { kind: 'refused', reason: obstacle };
  });

/** Why the link cannot be made; undefined if it is there. */
const linkTo = async (path: string, name: string, identity: FileIdentity): Promise<string | undefined> => {
  const isRight = async (): Promise<boolean> => {
    const stats = await lstat(name, { bigint: true }).catch(() => undefined);
    return stats?.isFile() === true && isOwn(stats) && isSameFile(identityOf(stats), identity);
  };
  if (await isRight()) return undefined;
  try {
    await unlink(name).catch(() => undefined);
    await link(path, name);
  } catch (error) {
    return systemReason(error);
  }
  if (await isRight()) return undefined;
  await unlink(name).catch(() => undefined); // replaced between the two calls, perhaps by a link
  return 'it was replaced meanwhile';
};

const indexOf = (
  { runtime, session, cwd, path }: KeepPlace,
  index: KeptRecord | undefined,
  since: Millis,
): KeptRecord => ({
  schema: 'ctxwrap.kept/1',
  runtime,
  session,
  cwd,
  path,
  since: index?.since ?? since,
  files: index?.files ?? [],
  events: index?.events ?? [],
});

const withFile = (index: KeptRecord, file: KeptFile): KeptRecord => ({
  ...index,
  files: [...index.files.filter(({ id }) => id !== file.id), file],
});

/** Replaces the index; the one before stays beside it, for the case that this one is damaged. */
const writeIndex = async (folder: string, index: KeptRecord): Promise<void> => {
  const path = join(folder, INDEX_NAME);
  const before = await readOwnFile(path);
  const surplus = index.files.slice(0, -MOST_FILES);
  const kept = { ...index, files: index.files.slice(-MOST_FILES), events: index.events.slice(-MOST_EVENTS) };
  if (before !== undefined && before.trim() !== '') await writeAtomic(`${path}.bak`, before);
  await writeAtomic(path, jsonText(kept));
  for (const { id } of surplus) await unlink(join(folder, id + FILE_ENDING)).catch(() => undefined);
};

/** Removes a link whose file has become a part of another one. */
export const dropFile = (place: KeepPlace, id: string): Promise<void> =>
  inPlace(place, async (folder, key) => {
    const { index } = await readRecords(folder, key);
    if (index) await writeIndex(folder, { ...index, files: index.files.filter((each) => each.id !== id) });
    await unlink(join(folder, id + FILE_ENDING)).catch(() => undefined);
  });

/** Records what happened to the agent's file, and what the black box has of its previous contents. */
export const noteFate = (place: KeepPlace, event: Omit<FileEvent, 'path'>): Promise<void> =>
  inPlace(place, async (folder, key) => {
    const { index } = await readRecords(folder, key);
    const before = indexOf(place, index, event.at);
    await writeIndex(folder, { ...before, events: [...before.events, { ...event, path: place.path }] });
  });

export interface CopyRequest extends KeepPlace {
  readonly why: CheckpointReason;
  readonly now: Millis;
  /** what is read: the agent's own file, or the link to it where that is gone */
  readonly source: string;
  /** bytes from the beginning; all when absent */
  readonly end?: number | undefined;
  /** most bytes that one copy may add */
  readonly mostBytes: number;
  readonly boundary?: CheckpointBoundary | undefined;
  readonly reading?: ReadingRecord | undefined;
  readonly git?: GitState | undefined;
}

export interface MadeCopy {
  readonly checkpoint: CheckpointRecord;
  /** false if the same contents were kept already */
  readonly isNew: boolean;
  /** the copy before this one, if the file no longer begins with its contents: it was rewritten */
  readonly changed?: string | undefined;
}

/** Copies the beginning of the agent's file. Rejects if that fails; then everything is as it was before. */
export const keepCopy = (request: CopyRequest): Promise<MadeCopy> =>
  inPlace(request, async (folder, key) => {
    const chunksFolder = await ensureFolder(folder, CHUNKS_FOLDER);
    const { checkpoints, damaged } = await readRecords(folder, key);
    const last = checkpoints.at(-1);
    const sweep = async (kept: readonly CheckpointRecord[]): Promise<void> => {
      // an unreadable record may need any of the pieces
      if (damaged === 0) await sweepChunks(chunksFolder, chunksOf(kept));
    };
    try {
      const { file, bytes, ...copied } = await copySource(request, chunksFolder, checkpoints);
      const isChanged = (each: CheckpointRecord): boolean =>
        each.bytes <= bytes && copied.prefixes.get(each.bytes) !== each.sha256;
      if (last?.bytes === bytes && last.sha256 === copied.sha256 && !isWorthIt(request, last))
        return { checkpoint: last, isNew: false };
      const checkpoint = await writeRecord(folder, request, { ...copied, bytes, file });
      await checkPieces(chunksFolder, checkpoint.chunks).catch(async (error: unknown) => {
        await unlink(recordPath(folder, checkpoint.id));
        throw error;
      });
      const contained = checkpoints.filter((each) => each.bytes <= bytes && !isChanged(each));
      await sweep(await removePassing(folder, checkpoints, contained).then((kept) => [...kept, checkpoint]));
      return { checkpoint, isNew: true, changed: last && isChanged(last) ? last.id : undefined };
    } catch (error) {
      await sweep(checkpoints); // half a copy must not fill a full disk
      throw error;
    }
  });

const copySource = async (
  { source: path, end: wanted, mostBytes }: CopyRequest,
  folder: string,
  checkpoints: readonly CheckpointRecord[],
): Promise<CopiedPrefix & Pick<CheckpointRecord, 'bytes' | 'file'>> => {
  const source = await openSource(path);
  try {
    const { bytes: size, ...file } = await identify(source);
    const end = wanted ?? size;
    if (end > size) throw new Error('it is shorter than it was');
    const known = checkpoints.at(-1)?.chunks ?? [];
    const marks = checkpoints.map(({ bytes }) => bytes).filter((bytes) => bytes <= end);
    return { ...(await copyPrefix(source, folder, { end, known, marks, mostBytes })), bytes: end, file };
  } finally {
    await source.close();
  }
};

/** True if the same contents are worth another record, because it says more about them. */
const isWorthIt = ({ why }: CopyRequest, last: CheckpointRecord): boolean =>
  isPassing(last) ? !isPassing({ why }) || why === 'before' : why !== last.why && !isPassing({ why });

const writeRecord = async (
  folder: string,
  { runtime, session, cwd, path, why, now, boundary, reading, git }: CopyRequest,
  copied: Pick<CheckpointRecord, 'chunks' | 'sha256' | 'bytes' | 'file'>,
): Promise<CheckpointRecord> => {
  const { chunks, sha256, bytes, file } = copied;
  const record: CheckpointRecord = {
    schema: 'ctxwrap.checkpoint/1',
    id: randomBytes(6).toString('hex'),
    runtime,
    session,
    cwd,
    path,
    why,
    at: now,
    file,
    bytes,
    sha256,
    chunks,
    ...present({ boundary, reading, git }),
  };
  await writeAtomic(recordPath(folder, record.id), jsonText(record));
  return record;
};

/** Advisory locks can be lost: a copy counts only if all its pieces are still there. */
const checkPieces = async (folder: string, chunks: readonly Chunk[]): Promise<void> => {
  for (const chunk of chunks)
    if (!(await hasChunk(folder, chunk))) throw new Error('a piece of the copy has vanished');
};

/** Removes copies that were made in passing: those that the new one contains, and too many others. Returns what is left. */
const removePassing = async (
  folder: string,
  checkpoints: readonly CheckpointRecord[],
  contained: readonly CheckpointRecord[],
): Promise<readonly CheckpointRecord[]> => {
  const passing = checkpoints.filter(isPassing);
  const outdated = passing.filter((each) => contained.includes(each));
  const others = passing.filter((each) => !contained.includes(each));
  const gone = [...outdated, ...others.slice(0, -MOST_PASSING)];
  for (const { id } of gone) await unlink(recordPath(folder, id)).catch(() => undefined);
  return checkpoints.filter((each) => !gone.includes(each));
};

/** Whether the older of two files is the beginning of the newer one. */
export const isBeginningOf = async (older: string, newer: string): Promise<boolean> => {
  const first = await openSource(older);
  try {
    const second = await openSource(newer);
    try {
      const { size } = await first.stat();
      if ((await second.stat()).size < size) return false;
      for (let at = 0; at < size; at += HEAD_BYTES) {
        const length = Math.min(HEAD_BYTES, size - at);
        const [a, b] = await Promise.all([first, second].map((file) => readFully(file, at, length)));
        if (!a || !b?.equals(a)) return false;
      }
      return true;
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
};
