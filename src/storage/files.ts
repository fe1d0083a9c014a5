import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
  type Stats,
} from 'node:fs';
import { link, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import { errorCode } from '../core/errors.js';
import { FILE_MODE, OTHERS } from './file-modes.js';

// Opens files safely. First, files named by the user to which a session's contents are written.

const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Opens a file for writing, readable by the user only before the first byte is written; throws if that is impossible. Takes an existing
 * file of the user, or a character device, which only the system can create. Never blocks: writes to a device can fail with EAGAIN.
 */
export const openPrivateFile = (path: string, how: 'append' | 'empty'): number => {
  assertOwnLink(path);
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, FILE_MODE);
  try {
    const stats = fstatSync(file);
    if (stats.isCharacterDevice()) return file;
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (!isOwn(stats)) throw new Error('it belongs to another user');
    if ((stats.mode & OTHERS) !== 0) fchmodSync(file, FILE_MODE);
    if (how === 'empty') ftruncateSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
};

/** Rejects a link of another user in a shared folder: it could point to a file of this user that the user has not named. */
const assertOwnLink = (path: string): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const isTrusted = stats?.uid === 0 || (stats && isOwn(stats));
  if (stats?.isSymbolicLink() === true && !isTrusted) throw new Error('it is a link of another user');
  if (stats?.isFIFO() === true) throw new Error('it is not a regular file');
};

// Opens files that another user may have created. Opening a FIFO blocks until somebody writes, opening a device may have effects, and the
// reported size may be wrong: so the type is checked before and after opening, and reading is bounded.

/** Safe even if the file was replaced by a FIFO or device after the check. */
const READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY;
const CHUNK_BYTES = 64 * 1024;

const assertRegular = (stats: Stats): void => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
};

/** Opens a regular file, following links; rejects for everything else. The caller closes it. */
export const openRegular = async (path: string): Promise<FileHandle> => {
  assertRegular(await stat(path));
  return openChecked(path, READ_FLAGS, assertRegular);
};

/**
 * Opens a regular file of this user, without following a link in its place; rejects for everything else. The caller closes it. Permissions do
 * not count: they let root read everything, and everybody what another user shows to all. `what` is the file in a sentence.
 */
export const openOwn = (path: string, what: string): Promise<FileHandle> =>
  openChecked(path, READ_FLAGS | O_NOFOLLOW, (stats) => {
    assertRegular(stats);
    if (!isOwn(stats)) throw new Error(`${what} belongs to another user`);
  });

/** Whether a file or folder belongs to the user as whom this process makes files. */
export const isOwn = ({ uid }: { readonly uid: number | bigint }): boolean => Number(uid) === geteuid?.();

/** What was opened is checked, since the path may lead to another file by now. */
const openChecked = async (
  path: string,
  flags: number,
  check: (stats: Stats) => void,
): Promise<FileHandle> => {
  const file = await open(path, flags);
  try {
    check(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** The text from the current position to the end; undefined if it has more than `maxBytes`. */
export const readAtMost = async (file: FileHandle, maxBytes: number): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= maxBytes;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8');
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return undefined;
};

/** The first bytes of a regular file, following links; throws for everything else. */
export const readHead = (path: string, maxBytes: number): Buffer => {
  assertRegular(statSync(path));
  const file = openSync(path, READ_FLAGS);
  try {
    assertRegular(fstatSync(file));
    const chunks: Buffer[] = [];
    for (let [length, read] = [0, 1]; read > 0 && length < maxBytes; length += read) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes - length));
      read = readSync(file, buffer, 0, buffer.length, null);
      chunks.push(buffer.subarray(0, read));
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(file);
  }
};

// New files in a folder of another program, which must see each of them whole or not at all.

const PART_BYTES = 256 * 1024; // written at once

/**
 * Writes a file that is not there yet, for the user only. It appears under its name when it is complete; rejects with EEXIST if the name is
 * taken, and leaves nothing behind then.
 */
export const createFile = (path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<void> =>
  create(path, async (file) => {
    let part: string[] = [];
    let length = 0;
    for await (const line of lines) {
      part.push(line, '\n');
      length += line.length + 1;
      if (length < PART_BYTES) continue;
      await file.writeFile(part.join('')); // `write` may write a part of it, as on a disk that is full
      [part, length] = [[], 0];
    }
    await file.writeFile(part.join(''));
  });

/** Copies a regular file to one that is not there yet, as `createFile` writes it; rejects with ENOENT if there is none to copy. */
export const copyToNewFile = async (from: string, path: string): Promise<void> => {
  const source = await openRegular(from);
  try {
    await create(path, async (file) => {
      const chunks: AsyncIterable<Buffer> = source.createReadStream({ autoClose: false });
      for await (const chunk of chunks) await file.writeFile(chunk);
    });
  } finally {
    await source.close();
  }
};

const create = async (path: string, write: (file: FileHandle) => Promise<void>): Promise<void> => {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.tmp`);
  const file = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await giveName(draft, path);
  } finally {
    await unlink(draft).catch(() => undefined);
  }
};

/** Removes a file that `createFile` has just written and nobody knows yet. Never rejects. */
export const removeCreated = (path: string): Promise<void> => unlink(path).catch(() => undefined);

/** Never takes the place of another file, which a plain rename would. */
const giveName = async (draft: string, path: string): Promise<void> => {
  try {
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw error;
    // no hard links on this file system: an empty file of our own takes the name first
    await (await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE)).close();
    await rename(draft, path);
  }
};
