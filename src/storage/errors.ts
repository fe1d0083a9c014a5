import type { Stats } from 'node:fs';
import { lstat, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { getSystemErrorMap } from 'node:util';
import { errorCode, errorText, UserError } from '../core/errors.js';
import { quoteForCopying } from '../core/text.js';

// Errors for files and folders, with the reason in words.

/** A file that the user has named cannot be written; thrown before the child starts. */
export const unwritableFileError = (what: string, path: string, reason: string): UserError =>
  new UserError(`cannot write the ${what} "${path}": ${reason}`, {
    exitCode: 2,
    hint: 'use a file in an existing folder that you can write to',
  });

/** A folder of ctxwrap cannot be read, which is not the same as an empty folder. */
export const unreadableFolderError = (
  what: string,
  path: string,
  reason: string,
  hint = 'make this folder readable, or set XDG_STATE_HOME to another one',
): UserError => new UserError(`cannot read the ${what} in "${path}": ${reason}`, { exitCode: 2, hint });

/** The command that makes room for a folder of ctxwrap's where something else is in its place. */
export const movingAway = (path: string): string =>
  `mv ${quoteForCopying(path)} ${quoteForCopying(`${path}.old`)}`;

/** The system's text for a failed call: `permission denied` rather than `EACCES: permission denied, open …`. */
export const systemReason = (error: unknown): string => {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const known = typeof number === 'number' ? getSystemErrorMap().get(number) : undefined;
  if (known !== undefined && known[0] === errorCode(error)) return known[1]; // zlib has numbers of its own
  return errorText(error);
};

/** Why a folder cannot be created or written. */
export interface FolderObstacle {
  /** the folder itself, or the nearest existing one above it */
  readonly path: string;
  readonly reason: string;
  readonly kind: 'folder' | 'file' | 'link' | 'device';
  readonly isOwn: boolean;
}

/** Tries to create a temporary folder, since permissions do not show a full or special file system. Removes it again. */
export const findFolderObstacle = async (folder: string): Promise<FolderObstacle | undefined> => {
  const path = await nearestExisting(folder);
  const stats = await stat(path).catch(() => undefined);
  const found = { path, kind: kindOf(stats), isOwn: stats?.uid === getuid?.() };
  if (found.kind !== 'folder') return { ...found, reason: 'not a folder' };
  try {
    await rmdir(await mkdtemp(join(path, '.ctxwrap-')));
    return undefined;
  } catch (error) {
    return { ...found, reason: systemReason(error) };
  }
};

/** No stats for an existing name: a dangling link. */
const kindOf = (stats: Stats | undefined): FolderObstacle['kind'] => {
  if (!stats) return 'link';
  if (stats.isDirectory()) return 'folder';
  return stats.isFile() ? 'file' : 'device';
};

/** The nearest existing path; a dangling link counts as existing. */
const nearestExisting = async (path: string): Promise<string> => {
  const stats = await lstat(path).catch(() => undefined);
  return stats || dirname(path) === path ? path : nearestExisting(dirname(path));
};
