import type { Stats } from 'node:fs';
import { lstat, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { getSystemErrorMap } from 'node:util';
import { errorText, UserError } from '../core/json.js';

/** A file the user asked us to write cannot be written: said before the child starts. */
export const unwritable = (what: string, path: string, reason: string): UserError =>
  new UserError(`cannot write the ${what} "${path}": ${reason}`, {
    exitCode: 2,
    hint: 'name a file in a folder that exists and that you may write',
  });

/** The folder in which we keep something cannot be read, which is not the same as that there is nothing in it. */
export const unreadableFolder = (what: string, path: string, reason: string): UserError =>
  new UserError(`cannot read the ${what} in "${path}": ${reason}`, {
    exitCode: 2,
    hint: 'make this folder readable, or name another one in XDG_STATE_HOME',
  });

/** The system's own words for a failed call: `permission denied` rather than `EACCES: permission denied, open …`. */
export const reasonOf = (error: unknown): string => {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const known = typeof number === 'number' ? getSystemErrorMap().get(number) : undefined;
  if (known !== undefined) return known[1];
  return errorText(error);
};

/** What keeps a folder from being made, or from taking new files. */
export interface FolderObstacle {
  /** the folder itself, or the nearest above it that there is */
  readonly path: string;
  readonly reason: string;
  readonly kind: 'folder' | 'file' | 'link' | 'device';
  readonly isOwn: boolean;
}

/** Tried rather than asked: rights do not tell of a full or a special file system. Leaves nothing behind. */
export const folderObstacle = async (folder: string): Promise<FolderObstacle | undefined> => {
  const path = await nearestThere(folder);
  const stats = await stat(path).catch(() => undefined);
  const found = { path, kind: kindOf(stats), isOwn: stats?.uid === getuid?.() };
  if (found.kind !== 'folder') return { ...found, reason: 'it is no folder' };
  try {
    await rmdir(await mkdtemp(join(path, '.ctxwrap-')));
    return undefined;
  } catch (error) {
    return { ...found, reason: reasonOf(error) };
  }
};

/** Nothing behind a name that is there: a link that leads nowhere. */
const kindOf = (stats: Stats | undefined): FolderObstacle['kind'] => {
  if (!stats) return 'link';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'device';
};

/** A link counts, wherever it leads. */
const nearestThere = async (path: string): Promise<string> => {
  const stats = await lstat(path).catch(() => undefined);
  return stats || dirname(path) === path ? path : nearestThere(dirname(path));
};
