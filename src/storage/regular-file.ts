// Opens files that somebody else may have put there. Opening a FIFO waits until somebody writes, opening a device may do something, and
// what a file says of its length need not be so: so it is asked what it is before it is opened and after, and read up to a bound.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;
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
