import { constants } from 'node:fs';
import { lstat, open, opendir, realpath, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import type { Readable } from 'node:stream';
import { errorCode } from '../core/errors.js';
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
}

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
): Promise<StoreContents> => {
  const files: StoredFile[] = [];
  const problems: StoreProblem[] = [];
  const walk = async (path: string, relative: string, depth: number): Promise<void> => {
    for (const { name, isFolder } of await entriesIn(path, problems)) {
      const inner = relative === '' ? name : `${relative}/${name}`;
      if (isFolder && depth < DEEPEST) await walk(join(path, name), inner, depth + 1);
      else if (!isFolder && isWanted(inner) && files.length < MOST_FILES) {
        const stats = await lstat(join(path, name)).catch(() => undefined);
        if (stats?.isFile())
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
  return { files, problems };
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

/**
 * The bytes of a session file from its beginning, unpacked if it is a gzip or zstd file. A chunk is only valid until the next one. Rejects
 * if the file cannot be read, and with a sentence for a packing that this Node does not know.
 */
export async function* readStored(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('not a regular file');
    const packing = await packingOf(file);
    if (packing === undefined) yield* chunksOf(file);
    else yield* unpacked(file, packing);
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
