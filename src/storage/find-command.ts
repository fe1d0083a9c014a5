import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { isOwnShim } from './shim.js';

/** Where a command is, or why it cannot be run: the difference between the statuses 126 and 127 of a shell. */
export type FoundCommand =
  /** `shims` are files of that name that start us, and come before it on PATH */
  | { readonly kind: 'found'; readonly file: string; readonly shims: readonly string[] }
  | { readonly kind: 'not-executable'; readonly file: string; readonly reason: Obstacle }
  | { readonly kind: 'missing'; readonly shims: readonly string[] };

/** A folder is no program, nor is a pipe, a device or a socket (`special`); `locked` is a file in a folder we may not enter. */
export type Obstacle = 'folder' | 'special' | 'permission' | 'locked';

export interface SearchPlace {
  /** PATH; where it is not set, the system's default */
  readonly path: string | undefined;
  /** real path of our own bin */
  readonly self: string;
}

/** Finds the real program for a word as a shell does, but past our own shims. A word with a slash is used as it is. */
export const findCommand = (word: string, place: SearchPlace): FoundCommand => {
  if (word.includes('/')) return look(word);
  let blocked: FoundCommand | undefined;
  const shims: string[] = [];
  // An empty element of PATH is the current folder; the result must hold a slash, so that nobody searches it again.
  const folders = word === '' ? [] : (place.path ?? '/usr/local/bin:/usr/bin:/bin').split(':');
  for (const folder of folders) {
    const file = folder.startsWith('/') ? join(folder, word) : `./${join(folder, word)}`;
    const seen = look(file);
    if (seen.kind === 'found') {
      if (!isOwnShim(file, place.self)) return { ...seen, shims };
      shims.push(file);
    }
    // a shell, too, forgets what is no file of that name and folders it may not enter
    if (seen.kind === 'not-executable' && seen.reason === 'permission') blocked ??= seen;
  }
  return blocked ?? { kind: 'missing', shims };
};

const look = (file: string): FoundCommand => {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing', shims: [] };
    if (stats.isDirectory()) return { kind: 'not-executable', file, reason: 'folder' };
    if (!stats.isFile()) return { kind: 'not-executable', file, reason: 'special' };
  } catch {
    return { kind: 'not-executable', file, reason: 'locked' };
  }
  return isExecutable(file)
    ? { kind: 'found', file, shims: [] }
    : { kind: 'not-executable', file, reason: 'permission' };
};

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
