import { constants, lstatSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { errorCode } from '../core/errors.js';
import { systemReason } from './errors.js';
import { FOLDER_MODE, FILE_MODE, OTHERS } from './file-modes.js';
import { isOwn, readAtMost } from './files.js';
import { followLink } from './trusted-link.js';

// The state folder, and how files are written there: readable by the user only, without following links, and atomically, so that no
// reader finds half a file.

const PERMISSIONS = 0o777;
const SMALL_BYTES = 1024 * 1024;

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Path of ctxwrap's state folder, which may not exist yet. A relative XDG_STATE_HOME is ignored, as its specification says. The folder may be
 * a link, to another disk for example, if nobody else can change where it leads.
 */
export const stateFolder = (env: Readonly<Record<string, string | undefined>>, home: string): string => {
  const given = env['XDG_STATE_HOME'];
  const base = given !== undefined && isAbsolute(given) ? given : join(home, '.local', 'state');
  return throughLink(join(base, 'ctxwrap'));
};

/** Where a link leads to a folder of the user's alone; any other link stays as it is, and is refused when something is written. */
const throughLink = (folder: string): string => {
  const target = isLink(folder) ? followLink(folder, 'folder') : undefined;
  return target?.kind === 'trusted' && !isOpenToOthers(target.path) ? target.path : folder;
};

/** It may be in use for something else, so its permissions stay, and nothing is written there. */
const isOpenToOthers = (folder: string): boolean => (lstatSync(folder).mode & OTHERS) !== 0;

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    return false; // a folder above it cannot be entered, or is none
  }
};

/** Creates the folder, or the folder `name` in it, for the user only; returns its path. Rejects if it is a link or another user's. */
export const ensureFolder = async (folder: string, name?: string): Promise<string> => {
  // links above this folder are allowed: many users keep their dot folders elsewhere
  const folders = name === undefined ? [folder] : [folder, join(folder, name)];
  for (const each of folders) {
    if (isPrivate(each)) continue; // the usual case, for which no start waits
    await makeFolder(each);
    await makePrivate(each);
  }
  return folders.at(-1) ?? folder;
};

const isPrivate = (folder: string): boolean => {
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    return stats?.isDirectory() === true && isOwn(stats) && (stats.mode & OTHERS) === 0;
  } catch {
    return false; // a folder above it cannot be entered, or is none
  }
};

/** Creates the folder and its parents, for the user only. Node's `recursive` option never ends if the system keeps reporting a missing parent. */
export const makeFolder = async (folder: string): Promise<void> => {
  const error = await tryFolder(folder);
  if (error === undefined) return;
  const parent = dirname(folder);
  if (errorCode(error) !== 'ENOENT' || parent === folder) throw error;
  if (!(await exists(parent))) await makeFolder(parent);
  const second = await tryFolder(folder); // the parent may also be there because another wrapper has just made it
  if (second !== undefined) throw second;
};

/** The error, unless the folder is there afterwards. */
const tryFolder = (folder: string): Promise<unknown> =>
  mkdir(folder, FOLDER_MODE).then(
    () => undefined,
    (error: unknown) => (errorCode(error) === 'EEXIST' ? undefined : error),
  );

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Why nothing is read or written there: it is a link, which `stateFolder` has not followed. Undefined if it is none. */
export const linkRefusal = (folder: string): string | undefined => {
  if (!isLink(folder)) return undefined;
  const target = followLink(folder, 'folder');
  if (target.kind === 'untrusted') return `${folder} is a symbolic link, and ${target.reason}`;
  // otherwise it is below the state folder, where no link is expected
  const isOpen = isOpenToOthers(target.path);
  return `${folder} is a symbolic link${isOpen ? `, and other users can access ${target.path}` : ''}`;
};

/** Why nothing can be recorded in the state folder; undefined where it can, or where the folder is not there yet. */
export const stateFolderRefusal = (folder: string): string | undefined => {
  const refusal = linkRefusal(folder);
  if (refusal !== undefined) return refusal;
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (!stats) return undefined;
    if (!stats.isDirectory()) return `${folder} is not a folder`;
    return isOwn(stats) ? undefined : `${folder} belongs to another user`;
  } catch (error) {
    return systemReason(error);
  }
};

const makePrivate = async (folder: string): Promise<void> => {
  const refusal = linkRefusal(folder);
  if (refusal !== undefined) throw new Error(refusal);
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const stats = await handle.stat();
    if (!isOwn(stats)) throw new Error(`${folder} belongs to another user`);
    if ((stats.mode & OTHERS) !== 0) await handle.chmod(FOLDER_MODE);
  } finally {
    await handle.close();
  }
};

export interface WriteOptions {
  /** permissions, whatever the process's mask takes away from new files; for the user only if undefined */
  readonly mode?: number | undefined;
  /** called when all is written; if it rejects, the file stays as it is */
  readonly beforeRename?: () => Promise<void>;
}

/** Replaces a file atomically. Rejects if the path is not a regular file. */
export const writeAtomic = async (
  path: string,
  text: string,
  { mode, beforeRename }: WriteOptions = {},
): Promise<void> => {
  const before = await lstat(path).catch(() => undefined);
  if (before && !before.isFile()) throw new Error(`${path} is not a regular file`);
  const temporaryPath = `${path}.${crypto.randomUUID().replaceAll('-', '')}.tmp`;
  const handle = await open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    try {
      await handle.writeFile(text);
      if (mode !== undefined) await handle.chmod(mode & PERMISSIONS);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await beforeRename?.();
    await rename(temporaryPath, path);
  } catch (error) {
    await unlink(temporaryPath).catch(() => undefined);
    throw error;
  }
};

/** The text of a regular file of at most `maxBytes`; undefined for anything else and if it cannot be read. */
export const readSmallFile = (path: string, maxBytes = SMALL_BYTES): Promise<string | undefined> =>
  readIf(path, maxBytes, () => true);

/** The same, but only for a file of this user: for files whose content makes the wrapper act. */
export const readOwnFile = (path: string, maxBytes = SMALL_BYTES): Promise<string | undefined> =>
  readIf(path, maxBytes, isOwn);

const readIf = async (
  path: string,
  maxBytes: number,
  isWanted: (stats: Stats) => boolean,
): Promise<string | undefined> => {
  try {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = await handle.stat();
      return stats.isFile() && isWanted(stats) ? await readAtMost(handle, maxBytes) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
};

/** The user's home folder: HOME, unless it is missing or relative. */
export const homeFolder = (env: Readonly<Record<string, string | undefined>>): string => {
  const given = env['HOME'];
  return given !== undefined && isAbsolute(given) ? given : registeredHome();
};

/** The home folder in the user database; a container may run as a user that is not in it. */
const registeredHome = (): string => {
  try {
    return userInfo().homedir;
  } catch {
    return '/';
  }
};
