import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { link, lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  CheckpointRecord,
  Chunk,
  FileEvent,
  FileIdentity,
  KeptFile,
  KeptOf,
  KeptRecord,
} from '../../core/conversation/checkpoint.js';
import { ID, isSameFile } from '../../core/conversation/checkpoint.js';
import { errorCode } from '../../core/errors.js';
import { parseCheckpoint, parseKept } from '../../core/read-record.js';
import type { Millis } from '../../core/reading.js';
import { isSessionId } from '../../core/report/session-id.js';
import { readChunk } from './chunks.js';
import { systemReason, unreadableFolderError } from '../errors.js';
import { FILE_MODE } from '../file-modes.js';
import { isOwn, openOwn } from '../files.js';
import { withinLimits, BLOCK_BYTES } from '../session-store.js';
import { readOwnFile } from '../state-folder.js';
import { makeLineSplitter } from '../tail.js';

// The black box: what is kept of the agents' session files, in `checkpoints/` of the state folder, one folder a session:
//
//   index.json            what is kept, and what has happened to the agent's file; index.json.bak is the one before
//   ID.file               the agent's file itself, under a second name (a hard link); only ever read
//   ID.json               a copy of the beginning of the agent's file, as a list of pieces; written once, never changed
//   chunks/SHA256.zst     a piece; .gz from versions of Node without zstd
//   lock                  the process that writes there
//
// This part reads. Nothing of a copy is given to anyone before its hash is checked.

const FOLDER = 'checkpoints';
export const CHUNKS_FOLDER = 'chunks';
export const INDEX_NAME = 'index.json';
export const FILE_ENDING = '.file';
const RECORD_ENDING = '.json';
const MAX_RECORD_BYTES = 32 * 1024 * 1024; // a hundred thousand pieces
const MAX_INDEX_BYTES = 1024 * 1024;
const MAX_SESSIONS = 10_000;
const READ_BYTES = 256 * 1024;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

export const blackBoxFolder = (stateFolder: string): string => join(stateFolder, FOLDER);

/** The folder's name of a session: made of agent and id where they are harmless, of their hash otherwise. */
export const keptKey = ({ runtime, session }: Pick<KeptOf, 'runtime' | 'session'>): string => {
  const name = `${runtime}-${session}`;
  if (isSessionId(name)) return name;
  const hash = createHash('sha256').update(`${runtime}\0${session}`).digest('hex');
  return `x-${hash.slice(0, 40)}`;
};

/** A link to the agent's file, as it is now. */
export interface ListedFile extends KeptFile {
  readonly kind: 'file';
  /** when the agent last wrote to it */
  readonly at: Millis;
  readonly bytes: number;
  /** its name in the agent's folder is gone: this is the only one */
  readonly isAlone: boolean;
}

/** A copy of the beginning of the agent's file. */
export interface ListedCheckpoint extends CheckpointRecord {
  readonly kind: 'checkpoint';
}

export type KeptCopy = ListedFile | ListedCheckpoint;

/** Everything the black box keeps of a session. */
export interface KeptSession extends KeptOf {
  readonly key: string;
  /** oldest first */
  readonly copies: readonly KeptCopy[];
  readonly events: readonly FileEvent[];
  /** on the disk; a link whose file the agent still has costs nothing */
  readonly usedBytes: number;
  /** records that cannot be read, as of a newer version or after a fault of the disk */
  readonly damaged: number;
}

/**
 * Everything in the black box, or only the session with this key, in no order. Read-only. Throws a UserError for a folder that cannot be
 * read.
 */
export const listKept = async (stateFolder: string, only?: string): Promise<readonly KeptSession[]> => {
  const folder = blackBoxFolder(stateFolder);
  const found: KeptSession[] = [];
  const keys = only === undefined ? (await namesIn(folder)).filter(isSessionId) : [only];
  for (const key of keys.slice(0, MAX_SESSIONS)) {
    // a fault in one session must not hide the others
    const session = await readKeptSession(folder, key).catch(() => ({ ...nobody(key), ...nothing(key) }));
    if (session) found.push(session);
  }
  return found;
};

/** What is kept of one conversation; undefined if nothing is. */
export const findKept = (
  stateFolder: string,
  of: Pick<KeptOf, 'runtime' | 'session'>,
): Promise<KeptSession | undefined> => readKeptSession(blackBoxFolder(stateFolder), keptKey(of));

/**
 * The copy with the most of the newest contents; undefined if there is none. That is the file itself, unless it has lost what an earlier
 * copy of it still has.
 */
export const newestCopy = ({ copies }: Pick<KeptSession, 'copies'>): KeptCopy | undefined => {
  const newest = copies.at(-1);
  const files = copies.filter((each) => each.kind === 'file');
  const file = files.toSorted((a, b) => a.since - b.since).at(-1);
  if (!file) return newest;
  const before = copies.findLast((each) => each.kind === 'checkpoint' && isSameFile(each.file, file));
  return before && before.bytes > file.bytes ? before : file;
};

/** The bytes of a copy, piece by piece, each one checked before it is given. Rejects where something is missing or damaged. */
export const readCopy = (
  stateFolder: string,
  { key }: Pick<KeptSession, 'key'>,
  copy: KeptCopy,
): AsyncGenerator<Buffer, void> => {
  const folder = join(blackBoxFolder(stateFolder), key);
  if (copy.kind === 'file') return readLinked(join(folder, copy.id + FILE_ENDING), copy);
  const stored = new Map(copy.chunks.map((chunk) => [chunk.sha256, chunk.storedBytes]));
  const diskBytes = [...stored.values()].reduce((sum, bytes) => sum + bytes, 0);
  return withinLimits(readPieces(join(folder, CHUNKS_FOLDER), copy), diskBytes);
};

/** Calls `onLine` with each complete line of a copy. */
export const readCopyLines = async (
  stateFolder: string,
  session: Pick<KeptSession, 'key'>,
  copy: KeptCopy,
  onLine: (line: string) => void,
): Promise<void> => {
  const splitter = makeLineSplitter(onLine);
  for await (const piece of readCopy(stateFolder, session, copy)) splitter.push(piece);
};

/**
 * Writes a copy into a new file of the user's, readable by the user only. Rejects if there is one already, or if the copy is damaged; then
 * nothing is left of it.
 */
export const restoreCopy = async (
  stateFolder: string,
  session: Pick<KeptSession, 'key'>,
  copy: KeptCopy,
  path: string,
): Promise<void> => {
  const temporaryPath = `${path}.${crypto.randomUUID().replaceAll('-', '')}.tmp`;
  const file = await open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    try {
      for await (const piece of readCopy(stateFolder, session, copy)) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await moveToNew(temporaryPath, path);
  } finally {
    await unlink(temporaryPath).catch(() => undefined);
  }
};

/** Unlike a rename, a link never replaces a file. */
const moveToNew = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' || (await lstat(to).catch(() => undefined))) throw error;
    await rename(from, to); // a file system without hard links
  }
};

async function* readPieces(folder: string, { chunks, sha256 }: CheckpointRecord) {
  const whole = createHash('sha256');
  for (const chunk of chunks) {
    const bytes = await readChunk(folder, chunk).catch((error: unknown) => {
      throw errorCode(error) === 'ENOENT' ? new Error('a piece of it is missing') : error;
    });
    whole.update(bytes);
    yield bytes;
  }
  if (whole.digest('hex') !== sha256) throw new Error('its pieces do not belong together');
}

async function* readLinked(path: string, identity: FileIdentity) {
  const file = await openOwn(path, 'the session file');
  try {
    const stats = await file.stat({ bigint: true });
    if (!isSameFile(identityOf(stats), identity)) throw new Error('it is another file');
    const end = Number(stats.size); // the agent may still write
    yield* withinLimits(beginningOf(file, end), Math.min(end, Number(stats.blocks) * BLOCK_BYTES));
  } finally {
    await file.close();
  }
}

async function* beginningOf(file: FileHandle, end: number): AsyncGenerator<Buffer, void> {
  for (let offset = 0; offset < end;) {
    const length = Math.min(READ_BYTES, end - offset);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(length), 0, length, offset);
    if (bytesRead === 0) throw new Error('it became shorter while it was read');
    offset += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Where no birth time is known, Node gives the time of the last change of the inode, which a link changes. */
export const identityOf = ({ dev, ino, birthtimeNs, ctimeNs }: BigIntStats): FileIdentity => ({
  device: String(dev),
  inode: String(ino),
  bornAt: String(birthtimeNs > 0n && birthtimeNs !== ctimeNs ? birthtimeNs : 0n),
});

/** The identity of an open file, and its size. */
export const identify = async (file: FileHandle): Promise<FileIdentity & { readonly bytes: number }> => {
  const stats = await file.stat({ bigint: true });
  if (!stats.isFile()) throw new Error('it is not a regular file');
  return { ...identityOf(stats), bytes: Number(stats.size) };
};

/** What is known of a session, apart from the sizes of its files. */
export interface SessionRecords {
  readonly index: KeptRecord | undefined;
  /** oldest first */
  readonly checkpoints: readonly CheckpointRecord[];
  readonly damaged: number;
}

/** The records in the folder of a session. */
export const readRecords = async (folder: string, key: string): Promise<SessionRecords> => {
  const names = await namesIn(folder);
  const index = (await readIndex(folder, INDEX_NAME)) ?? (await readIndex(folder, `${INDEX_NAME}.bak`));
  const ids = names
    .filter((name) => name.endsWith(RECORD_ENDING) && ID.test(name.slice(0, -RECORD_ENDING.length)))
    .map((name) => name.slice(0, -RECORD_ENDING.length));
  const checkpoints: CheckpointRecord[] = [];
  for (const id of ids) {
    const text = await readOwnFile(join(folder, id + RECORD_ENDING), MAX_RECORD_BYTES);
    const record = text === undefined ? undefined : parseCheckpoint(text);
    if (record?.id === id && keptKey(record) === key) checkpoints.push(record);
  }
  return {
    index: index && keptKey(index) === key ? index : undefined,
    checkpoints: checkpoints.toSorted((a, b) => a.at - b.at),
    damaged: ids.length - checkpoints.length,
  };
};

const readIndex = async (folder: string, name: string): Promise<KeptRecord | undefined> => {
  const text = await readOwnFile(join(folder, name), MAX_INDEX_BYTES);
  return text === undefined ? undefined : parseKept(text);
};

export const recordPath = (folder: string, id: string): string => join(folder, id + RECORD_ENDING);

const readKeptSession = async (parent: string, key: string): Promise<KeptSession | undefined> => {
  const folder = join(parent, key);
  if (!(await isOwnFolder(parent)) || !(await isOwnFolder(folder))) return undefined;
  const { index, checkpoints, damaged } = await readRecords(folder, key);
  const files: ListedFile[] = [];
  for (const file of index?.files ?? []) {
    const stats = await lstat(join(folder, file.id + FILE_ENDING), { bigint: true }).catch(() => undefined);
    if (!stats?.isFile() || !isSameFile(identityOf(stats), file)) continue;
    const at = Number(stats.mtimeMs);
    files.push({ kind: 'file', ...file, at, bytes: Number(stats.size), isAlone: stats.nlink === 1n });
  }
  const of = index ?? checkpoints.at(-1) ?? (damaged > 0 ? nobody(key) : undefined);
  if (!of || files.length + checkpoints.length + damaged === 0) return undefined;
  const copies = [...files, ...checkpoints.map((each) => ({ kind: 'checkpoint' as const, ...each }))];
  const { runtime, session, cwd, path } = of;
  return {
    key,
    runtime,
    session,
    cwd,
    path,
    copies: copies.toSorted((a, b) => a.at - b.at),
    events: index?.events ?? [],
    usedBytes: await usedBytes(folder),
    damaged,
  };
};

/** A session of which no record can be read. */
const nobody = (key: string): KeptOf => ({ runtime: 'unknown', session: key, cwd: '', path: '' });

const nothing = (key: string) => ({ key, copies: [], events: [], usedBytes: 0, damaged: 1 });

/** Everything in a session's folder must belong to the user; a link in its place is not followed. */
const isOwnFolder = async (folder: string): Promise<boolean> => {
  const stats = await lstat(folder).catch(() => undefined);
  return stats?.isDirectory() === true && isOwn(stats);
};

/** What a session takes on the disk. */
export const usedBytes = async (folder: string): Promise<number> => {
  let used = 0;
  for (const path of [folder, join(folder, CHUNKS_FOLDER)])
    for (const name of await namesIn(path)) {
      const stats = await lstat(join(path, name)).catch(() => undefined);
      if (!stats?.isFile() || (name.endsWith(FILE_ENDING) && stats.nlink > 1)) continue;
      used += stats.blocks * BLOCK_BYTES;
    }
  return used;
};

/** Names in a folder; empty if it does not exist. */
export const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw unreadableFolderError('black box', folder, systemReason(error));
  }
};

/** The pieces that the copies of a session need. */
export const chunksOf = (checkpoints: readonly CheckpointRecord[]): readonly Chunk[] =>
  checkpoints.flatMap(({ chunks }) => chunks);
