import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { getuid, pid } from 'node:process';
import { errorCode } from '../core/errors.js';
import { OTHERS, FOLDER_MODE, FILE_MODE } from './file-modes.js';

// The compiled code of the program's parts (V8 code cache) between two starts, one file a part. V8 does not check what it is given: a
// changed byte can crash the process. So a file must be the user's own and undamaged: it holds the code twice, because Node compares
// 300 KB in 0.03 ms, while a checksum in JavaScript takes 3 ms at this point of a start.

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const FOLDER = 'compiled'; // in the state folder
const MAX_BYTES = 16 * 1024 * 1024;
const SPACE_BYTES = 1024 * 1024; // more than most parts have
const PIECE_BYTES = 64 * 1024;
const MAX_OTHERS = 3; // builds or versions of Node that are kept, for a user who switches between them

/** The folder with the compiled code of one build of the program for one version of Node. */
export interface CodeCache {
  /** Compiled code of a part, valid until the next call; undefined if there is none that can be trusted. Never throws. */
  readonly read: (part: string) => Buffer | undefined;
  /** keeps the compiled code of these parts. Never throws. */
  readonly write: (parts: readonly (readonly [part: string, code: Buffer])[]) => void;
}

/**
 * Nothing is written before a session has created `stateFolder`: a command that only prints leaves no files in a home that has none. `build`
 * names the program and the version of Node.
 */
export const openScriptCache = (stateFolder: string, build: string): CodeCache => {
  const folder = join(stateFolder, FOLDER, build);
  return {
    read: (part) => {
      try {
        return readPrivate(folder, join(folder, part));
      } catch {
        return undefined; // the part is compiled as without a cache
      }
    },
    write: (parts) => {
      try {
        if (!isPrivate(lstatSync(stateFolder))) return;
        for (const each of [dirname(folder), folder]) ensureFolder(each);
        if (!isPrivate(lstatSync(folder))) return;
        for (const [part, code] of parts) writeTwice(join(folder, part), code);
        removeOthers(folder);
      } catch {
        // the next start compiles again
      }
    },
  };
};

/** Not with Node's `recursive` option, which would create the state folder, and never ends where a parent cannot be made. */
const ensureFolder = (folder: string): void => {
  try {
    mkdirSync(folder, FOLDER_MODE);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
};

let space = Buffer.alloc(0);

/** The same memory each time: V8 frees what it has read only at the next garbage collection, which a session at rest never comes to. */
const spaceFor = (bytes: number): Buffer => {
  if (space.length < bytes) space = Buffer.allocUnsafeSlow(Math.max(bytes, SPACE_BYTES));
  return space.subarray(0, bytes);
};

/** The first half of a file, undefined if the second one is not the same. */
const readHalf = (file: number, size: number): Buffer | undefined => {
  const code = spaceFor(size / 2);
  if (size === 0 || size % 2 !== 0 || readSync(file, code) < code.length) return undefined;
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, code.length));
  for (let at = 0; at < code.length;) {
    const count = readSync(file, piece);
    if (count === 0 || piece.compare(code, at, at + count, 0, count) !== 0) return undefined;
    at += count;
  }
  return code;
};

const readPrivate = (folder: string, path: string): Buffer | undefined => {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    const isTrusted = stats.isFile() && isPrivate(stats) && stats.size <= MAX_BYTES;
    if (!isTrusted || !isPrivate(lstatSync(folder))) throw new Error(`${path} is not trusted`);
    return readHalf(file, stats.size);
  } finally {
    closeSync(file);
  }
};

/** Only this user can read and write it; a symbolic link never is (its mode is 0777). */
const isPrivate = ({ uid, mode }: Stats): boolean => uid === getuid?.() && (mode & OTHERS) === 0;

/** Not synced to the disk: a file that a crash has cut off no longer holds the same twice. */
const writeTwice = (path: string, code: Buffer): void => {
  const temporaryPath = `${path}.${pid}`;
  const file = openSync(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    writeSync(file, Buffer.concat([code, code]));
  } finally {
    closeSync(file);
  }
  renameSync(temporaryPath, path);
};

/** Removes the oldest folders beside this one. */
const removeOthers = (folder: string): void => {
  const parent = dirname(folder);
  const others = readdirSync(parent)
    .map((name) => join(parent, name))
    .filter((path) => path !== folder && lstatSync(path).isDirectory())
    .map((path) => ({ path, modifiedAt: lstatSync(path).mtimeMs }))
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt);
  for (const { path } of others.slice(MAX_OTHERS)) rmSync(path, { recursive: true });
};
