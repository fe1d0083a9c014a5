import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import * as zlib from 'node:zlib';
import type { Readable } from 'node:stream';
import { errorCode, LimitError } from '../core/errors.js';
import { formatBytes } from '../core/format.js';
import type { Millis } from '../core/reading.js';
import { systemReason } from './errors.js';
import { isOwn } from './files.js';

// The folders in which agents keep their session files: what is in them, and the bytes of one file. Nothing outside of such a folder is
// read through a link in it, and one file that cannot be read does not keep the others from being read.

/** A file in a store. */
export interface StoredFile {
  readonly path: string;
  /** in bytes, as it is stored */
  readonly size: number;
  readonly modifiedAt: Millis;
}

/** What was found in a store besides files. */
export interface StoreProblem {
  readonly path: string;
  readonly reason: string;
  /** nothing is wrong with it, but it is more than is read */
  readonly isLimit?: true;
}

/** Why something at a path was not read. */
export const problemAt = (path: string, error: unknown): StoreProblem => ({
  path,
  reason: systemReason(error),
  ...(error instanceof LimitError ? { isLimit: true } : {}),
});

const MOST_FILES = 200_000; // of one store
const DEEPEST = 6; // folders

export interface StoreContents {
  readonly files: readonly StoredFile[];
  readonly problems: readonly StoreProblem[];
}

/** All wanted files below a folder, which may itself be a link; empty if it does not exist. Links in it are not followed. */
export const listStore = async (
  folder: string,
  isWanted: (relativePath: string) => boolean,
  mostFiles = MOST_FILES,
): Promise<StoreContents> => {
  const files: StoredFile[] = [];
  const problems: StoreProblem[] = [];
  let isFull = false;
  const walk = async (path: string, relative: string, depth: number): Promise<void> => {
    for (const { name, isFolder } of await entriesIn(path, problems)) {
      const inner = relative === '' ? name : `${relative}/${name}`;
      if (isFull) return;
      if (isFolder && depth < DEEPEST) await walk(join(path, name), inner, depth + 1);
      else if (!isFolder && isWanted(inner)) {
        const stats = await lstat(join(path, name)).catch(() => undefined);
        isFull = files.length >= mostFiles && stats?.isFile() === true;
        if (stats?.isFile() && !isFull)
          files.push({ path: join(path, name), size: stats.size, modifiedAt: stats.mtimeMs });
      }
    }
  };
  const root = await realpath(folder).catch((error: unknown) => {
    const isAbsent = errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
    if (!isAbsent) problems.push({ path: folder, reason: systemReason(error) });
    return undefined;
  });
  if (root !== undefined) await walk(root, '', 0);
  const limit = `all but the first ${mostFiles} session files in it`;
  return {
    files,
    problems: isFull ? [...problems, { path: folder, reason: limit, isLimit: true }] : problems,
  };
};

const MOST_OWNERS = 500; // of the newest files

/** The ids of other users to whom some of the newest files in a store belong. */
export const otherOwners = async (files: readonly StoredFile[]): Promise<readonly number[]> => {
  const newest = files.toSorted((a, b) => b.modifiedAt - a.modifiedAt).slice(0, MOST_OWNERS);
  const owners = new Set<number>();
  for (const { path } of newest) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats && !isOwn(stats)) owners.add(stats.uid);
  }
  return [...owners];
};

const entriesIn = async (
  folder: string,
  problems: StoreProblem[],
): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]> => {
  const found: { name: string; isFolder: boolean }[] = [];
  try {
    for await (const entry of await opendir(folder))
      if (entry.isDirectory() || entry.isFile())
        found.push({ name: entry.name, isFolder: entry.isDirectory() });
  } catch (error) {
    problems.push({ path: folder, reason: systemReason(error) });
  }
  return found;
};

/** One file that the user has named, behind any links; rejects with the system's error. */
export const storedFile = async (given: string): Promise<StoredFile & { readonly isFolder: boolean }> => {
  const path = await realpath(given);
  const stats = await lstat(path);
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is not a regular file');
  return { path, size: stats.size, modifiedAt: stats.mtimeMs, isFolder: stats.isDirectory() };
};

const CHUNK_BYTES = 1024 * 1024;

const MOST_BYTES = 1_000_000_000; // of contents that take hardly anything on the disk: packed ones, holes
const MOST_TIMES = 50; // what a file takes on the disk; text is packed to a tenth
const LEAST_MS = 10_000; // of computing, in which more than 1 GB of an ordinary file is read
const BYTES_A_SECOND = 20_000_000; // more time for larger files: ordinary ones are read five to ten times as fast

/** Throws a LimitError for contents of so many bytes in a file that takes far less on the disk. */
export const checkContents = (bytes: number, diskBytes: number): void => {
  const most = Math.max(MOST_BYTES, MOST_TIMES * diskBytes);
  if (bytes > most)
    throw new LimitError(
      `it holds more than ${formatBytes(most)}, and takes ${formatBytes(diskBytes)} on the disk`,
    );
};

/** How long a file that takes so many bytes on the disk may be read. */
export const readingLimitMs = (diskBytes: number): Millis => LEAST_MS + (diskBytes / BYTES_A_SECOND) * 1000;

/** Computing time of this process so far: unlike a clock, it does not run while others have the processor. */
const computingMs = (): number => {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
};

export interface ReadingPace {
  readonly clock?: () => Millis;
  /** how much longer than with a session file the reader takes between two pieces */
  readonly timesLonger?: number;
}

/**
 * Passes on the contents of a file that takes so many bytes on the disk. Throws a LimitError when they are far more than that, or when
 * reading them, with all that the reader does between two pieces, takes far longer than ordinary contents do.
 */
export async function* withinLimits(
  pieces: AsyncIterable<Buffer>,
  diskBytes: number,
  { clock = computingMs, timesLonger = 1 }: ReadingPace = {},
): AsyncGenerator<Buffer, void> {
  const mostMs = timesLonger * readingLimitMs(diskBytes);
  const began = clock();
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    checkContents(bytes, diskBytes);
    yield piece;
    if (clock() - began > mostMs)
      throw new LimitError(`reading it takes more than ${Math.round(mostMs / 1000)} s`);
  }
}

export const BLOCK_BYTES = 512; // st_blocks counts these, whatever the file system uses

/** What a file takes on the disk: of one with holes less than its size. */
export const diskBytesOf = ({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): number =>
  Math.min(size, blocks * BLOCK_BYTES);

/**
 * The bytes of a session file from its beginning, unpacked if it is a gzip or zstd file. A chunk is only valid until the next one. Rejects
 * if the file cannot be read, with a sentence for a packing that this Node does not know, and as `withinLimits` for too large contents.
 */
export async function* readStored(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('not a regular file');
    const packing = await packingOf(file);
    const contents = packing === undefined ? chunksOf(file) : unpacked(file, packing);
    yield* withinLimits(contents, diskBytesOf(stats));
  } finally {
    await file.close();
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let offset = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    if (bytesRead === 0) return;
    offset += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

type Packing = 'gzip' | 'zstd';

const marks: Readonly<Record<Packing, Buffer>> = {
  gzip: Buffer.from([0x1f, 0x8b]),
  zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
};

const packingOf = async (file: FileHandle): Promise<Packing | undefined> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
  const head = buffer.subarray(0, bytesRead);
  const isOf = (packing: Packing): boolean => head.subarray(0, marks[packing].length).equals(marks[packing]);
  return isOf('gzip') ? 'gzip' : isOf('zstd') ? 'zstd' : undefined;
};

/** Node has zstd from 22.15 on; its types here are those of Node 20. */
const zstd = (zlib as { readonly createZstdDecompress?: typeof zlib.createGunzip }).createZstdDecompress;

/** Why a file cannot be unpacked. */
export const PACKED = 'compressed with zstd: unpack it with zstd -d, or use Node 22.15 or newer';

/** Whether this Node can unpack such a file. */
export const canUnpack = (path: string): boolean => !path.endsWith('.zst') || zstd !== undefined;

async function* unpacked(file: FileHandle, packing: Packing): AsyncGenerator<Buffer> {
  const unpack = packing === 'gzip' ? zlib.createGunzip : zstd;
  if (!unpack) throw new Error(PACKED);
  const source: Readable = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
  const target = unpack({ chunkSize: CHUNK_BYTES });
  source.on('error', (error) => target.destroy(error));
  source.pipe(target);
  try {
    for await (const chunk of target) yield chunk as Buffer;
  } finally {
    source.destroy();
    target.destroy();
  }
}
