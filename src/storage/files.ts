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
import { open, stat, type FileHandle } from 'node:fs/promises';
import { getuid } from 'node:process';

// Opens the files that are to hold what a session shows, where the user has named them.

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Opens a file for writing, for the user alone from before the first byte; throws why that cannot be. A file that is there is taken when
 * it is the user's own; of what is no file only devices, which nobody but the system can have put there. Nothing is waited for: what
 * writes into a device must reckon with EAGAIN.
 */
export const openPrivateFile = (path: string, how: 'append' | 'empty'): number => {
  demandHonestName(path);
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, FILE_MODE);
  try {
    const stats = fstatSync(file);
    if (stats.isCharacterDevice()) return file;
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.uid !== getuid?.()) throw new Error('it belongs to another user');
    if ((stats.mode & OTHERS) !== 0) fchmodSync(file, FILE_MODE);
    if (how === 'empty') ftruncateSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
};

/** A link of another user's, in a folder for all, would lead into a file of this user's that they have not named. */
const demandHonestName = (path: string): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const isOwn = stats?.uid === 0 || stats?.uid === getuid?.();
  if (stats?.isSymbolicLink() === true && !isOwn) throw new Error('it is a link of another user');
  if (stats?.isFIFO() === true) throw new Error('it is not a regular file');
};

// Opens files that somebody else may have put there. Opening a FIFO waits until somebody writes, opening a device may do something, and
// what a file says of its length need not be so: so it is asked what it is before it is opened and after, and read up to a bound.

/** For what was a regular file a moment ago, and may not be one now. */
const CAREFULLY = O_RDONLY | O_NONBLOCK | O_NOCTTY;
const CHUNK_BYTES = 64 * 1024;

const demandRegular = (stats: Stats): void => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
};

/** Opens a regular file, also behind links; rejects for everything else. The caller closes it. */
export const openRegular = async (path: string): Promise<FileHandle> => {
  demandRegular(await stat(path));
  const file = await open(path, CAREFULLY);
  try {
    demandRegular(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** The whole text from the present place on; undefined where it has more bytes. */
export const readAtMost = async (file: FileHandle, mostBytes: number): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= mostBytes;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8');
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return undefined;
};

/** The first bytes of a regular file, also behind links; throws for everything else. */
export const readHead = (path: string, mostBytes: number): Buffer => {
  demandRegular(statSync(path));
  const file = openSync(path, CAREFULLY);
  try {
    demandRegular(fstatSync(file));
    const buffer = Buffer.alloc(mostBytes);
    let length = 0;
    for (let read = 1; read > 0 && length < mostBytes; length += read)
      read = readSync(file, buffer, length, mostBytes - length, null);
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
};
