import type { Stats } from 'node:fs';
import { lstat, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { reasonOf } from './unwritable.js';

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
