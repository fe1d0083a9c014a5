import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Chunk } from '../../core/conversation/checkpoint.js';
import { FILE_MODE } from '../file-modes.js';
import { checkContents, diskBytesOf } from '../session-store.js';
import { isOwn, openOwn } from '../files.js';

// The pieces of the black box's copies: compressed files that are named after the hash of their text. A piece is written under another
// name and renamed when it is whole, and it is checked before anything of it is used.

/** Longest piece, in bytes: so much is in memory at a time. */
export const CHUNK_BYTES = 1024 * 1024;
/** A last piece that is shorter is written again together with what follows it, so that a copy has no thousands of pieces. */
const SMALL_BYTES = 256 * 1024;

const NAME = /^[0-9a-f]{64}\.(?:zst|gz)$/;
const endings = { zstd: '.zst', gzip: '.gz' } as const;
const GZIP_LEVEL = 3; // text of session files: 90 % of what level 6 saves, in a third of the time

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

type Transform = (bytes: Uint8Array, options?: object) => Promise<Buffer>;

/** zstd exists since Node 22.15; before that it is missing. */
const zstd = (name: 'zstdCompress' | 'zstdDecompress'): Transform | undefined => {
  const found = (zlib as unknown as Readonly<Record<string, unknown>>)[name];
  return typeof found === 'function' ? (promisify(found) as Transform) : undefined;
};
const compressZstd = zstd('zstdCompress');
const decompressZstd = zstd('zstdDecompress');
const gzip = promisify(zlib.gzip) as Transform;
const gunzip = promisify(zlib.gunzip) as Transform;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const fileOf = (folder: string, { sha256, codec }: Pick<Chunk, 'sha256' | 'codec'>): string =>
  join(folder, sha256 + endings[codec]);

/** Writes a piece, unless there is an intact one. Rejects if the disk is full. */
const writeChunk = async (folder: string, bytes: Buffer): Promise<Chunk> => {
  const codec = compressZstd ? 'zstd' : 'gzip';
  const packed = await (compressZstd ?? ((text: Uint8Array) => gzip(text, { level: GZIP_LEVEL })))(bytes);
  const chunk: Chunk = { sha256: sha256Of(bytes), bytes: bytes.length, storedBytes: packed.length, codec };
  if (await hasChunk(folder, chunk)) return chunk;
  const path = fileOf(folder, chunk);
  const temporaryPath = `${path}.${crypto.randomUUID().replaceAll('-', '')}.tmp`;
  const file = await open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    try {
      await file.writeFile(packed);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporaryPath, path);
  } catch (error) {
    await unlink(temporaryPath).catch(() => undefined);
    throw error;
  }
  return chunk;
};

/** True if there is a file of the right size for it; what is in it is checked when it is read. */
export const hasChunk = async (folder: string, chunk: Chunk): Promise<boolean> => {
  const stats = await lstat(fileOf(folder, chunk)).catch(() => undefined);
  return stats?.isFile() === true && stats.size === chunk.storedBytes && isOwn(stats);
};

/** The text of a piece. Rejects if it is missing, damaged, another user's, or not what its name says. */
export const readChunk = async (folder: string, chunk: Chunk): Promise<Buffer> => {
  const { sha256, bytes, storedBytes, codec } = chunk;
  const unpack = codec === 'zstd' ? decompressZstd : gunzip;
  if (!unpack) throw new Error('compressed with zstd: use Node 22.15 or newer');
  if (bytes > CHUNK_BYTES || storedBytes > 2 * CHUNK_BYTES) throw new Error('a piece of it is too long');
  const file = await openOwn(fileOf(folder, chunk), 'a piece of it');
  try {
    if ((await file.stat()).size !== storedBytes) throw new Error('a piece of it is damaged');
    const packed = await readFully(file, 0, storedBytes);
    const text = await unpack(packed, { maxOutputLength: bytes }).catch(() => undefined);
    if (text?.length !== bytes || sha256Of(text) !== sha256) throw new Error('a piece of it is damaged');
    return text;
  } finally {
    await file.close();
  }
};

/** So many bytes of a file. Rejects if there are fewer. */
export const readFully = async (file: FileHandle, offset: number, length: number): Promise<Buffer> => {
  const buffer = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await file.read(buffer, at, length - at, offset + at);
    if (bytesRead === 0) throw new Error('it became shorter while it was read');
    at += bytesRead;
  }
  return buffer;
};

/** How a copy of the beginning of a file came out. */
export interface CopiedPrefix {
  readonly chunks: readonly Chunk[];
  readonly sha256: string;
  /** the hash of what comes before each of the marks */
  readonly prefixes: ReadonlyMap<number, string>;
}

export interface PrefixRequest {
  /** bytes from the beginning */
  readonly end: number;
  /** pieces of an earlier copy; those that still fit are used again */
  readonly known: readonly Chunk[];
  /** places in bytes at which the hash is wanted, to compare with earlier copies */
  readonly marks: readonly number[];
  /** most bytes to write; more is refused */
  readonly mostBytes: number;
}

/** Copies the beginning of a file into pieces, with one piece in memory at a time. */
export const copyPrefix = async (
  source: FileHandle,
  folder: string,
  { end, known, marks, mostBytes }: PrefixRequest,
): Promise<CopiedPrefix> => {
  checkContents(end, diskBytesOf(await source.stat()));
  const hash = makePrefixHash(marks);
  const chunks: Chunk[] = [];
  let written = 0;
  const add = (chunk: Chunk, bytes: Buffer): void => {
    chunks.push(chunk);
    hash.update(bytes);
  };
  const store = async (bytes: Buffer): Promise<void> => {
    const chunk = await writeChunk(folder, bytes);
    written += chunk.storedBytes;
    if (written > mostBytes) throw new Error('it is larger than blackbox.limit');
    add(chunk, bytes);
  };
  for (const [index, chunk] of known.entries()) {
    const offset = hash.offset();
    const isTail = index === known.length - 1 && chunk.bytes < SMALL_BYTES && offset + chunk.bytes < end;
    if (isTail || offset + chunk.bytes > end) break; // it is cut, or becomes a part of the next piece
    const bytes = await readFully(source, offset, chunk.bytes);
    if (sha256Of(bytes) !== chunk.sha256) break;
    if (await hasChunk(folder, chunk)) add(chunk, bytes);
    else await store(bytes);
  }
  while (hash.offset() < end)
    await store(await readFully(source, hash.offset(), Math.min(CHUNK_BYTES, end - hash.offset())));
  await checkUnchanged(source, end, chunks[0]);
  return { chunks, ...hash.end() };
};

/** The hash of a text, and of its beginnings up to the marks. */
const makePrefixHash = (marks: readonly number[]) => {
  const whole = createHash('sha256');
  const prefixes = new Map<number, string>();
  const due = marks.toSorted((a, b) => a - b);
  let [offset, next] = [0, 0];
  return {
    offset: () => offset,
    update: (bytes: Buffer): void => {
      for (
        let mark = due[next];
        mark !== undefined && mark <= offset + bytes.length;
        mark = due[(next += 1)]
      ) {
        const upTo = bytes.subarray(0, mark - offset);
        prefixes.set(mark, whole.copy().update(upTo).digest('hex'));
      }
      whole.update(bytes);
      offset += bytes.length;
    },
    end: () => ({ sha256: whole.digest('hex'), prefixes }),
  };
};

/** A file that was rewritten while it was copied would give a copy of neither state. */
const checkUnchanged = async (source: FileHandle, end: number, first: Chunk | undefined): Promise<void> => {
  const { size } = await source.stat();
  const isWhole =
    size >= end && (!first || sha256Of(await readFully(source, 0, first.bytes)) === first.sha256);
  if (!isWhole) throw new Error('it was rewritten while it was copied');
};

/** Removes the pieces that no copy needs any more. */
export const sweepChunks = async (folder: string, needed: readonly Chunk[]): Promise<void> => {
  const names = new Set(needed.map((chunk) => chunk.sha256 + endings[chunk.codec]));
  for (const name of await readdir(folder).catch(() => []))
    if (NAME.test(name) && !names.has(name)) await unlink(join(folder, name)).catch(() => undefined);
};
