import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { getuid } from 'node:process';
import { systemReason } from './errors.js';

// Follows a symbolic link to a file, or to a folder, that nobody else could have put there: keepers of dot files (stow, chezmoi, yadm) link a configuration
// to a folder of their own.

export type LinkTarget =
  | { readonly kind: 'trusted'; readonly path: string }
  | {
      readonly kind: 'untrusted';
      /** as the end of a sentence about the link */
      readonly reason: string;
      /** a file or folder of the user that others may write */
      readonly open?: string;
    };

const MOST_LINKS = 40; // as Linux

type Wanted = 'file' | 'socket' | 'folder';

const isWanted = (stats: Stats, wanted: Wanted): boolean =>
  ({ file: stats.isFile(), socket: stats.isSocket(), folder: stats.isDirectory() })[wanted];

/**
 * The regular file, the socket or the folder that the link leads to, if it and every folder and link on the way belong to the user or to root, and no
 * group and nobody else may write them: nobody else can put another in its place.
 */
export const followLink = (link: string, wanted: Wanted = 'file'): LinkTarget => {
  try {
    return follow(link, wanted);
  } catch (error) {
    return { kind: 'untrusted', reason: systemReason(error) };
  }
};

const follow = (link: string, wanted: Wanted): LinkTarget => {
  let folder = '/';
  let names = namesIn(link);
  const root = obstacleAt(folder, lstatSync(folder));
  if (root) return root;
  for (let links = 0; links <= MOST_LINKS;) {
    const [name = '.', ...rest] = names;
    const at = name === '..' ? dirname(folder) : join(folder, name);
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (!stats) return { kind: 'untrusted', reason: 'it leads nowhere' };
    const obstacle = obstacleAt(at, stats);
    if (obstacle) return obstacle;
    if (stats.isSymbolicLink()) {
      links += 1;
      const target = readlinkSync(at);
      if (isAbsolute(target)) folder = '/';
      names = [...namesIn(target), ...rest];
    } else if (rest.length > 0) {
      folder = at;
      names = rest;
    } else if (!isWanted(stats, wanted)) {
      return { kind: 'untrusted', reason: `${at} is not a ${wanted}` };
    } else if (stats.isDirectory() && mayOthersAdd(stats)) {
      return { kind: 'untrusted', reason: `other users can write to ${at}` };
    } else {
      return { kind: 'trusted', path: at };
    }
  }
  return { kind: 'untrusted', reason: 'it leads in a circle' };
};

const namesIn = (path: string): readonly string[] => path.split('/').filter((name) => name !== '');

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/** As to /tmp, which is no obstacle on the way to a folder, and no folder of the user's alone. */
const mayOthersAdd = (stats: Stats): boolean => (stats.mode & OTHERS_MAY_WRITE) !== 0;

const obstacleAt = (path: string, stats: Stats): LinkTarget | undefined => {
  const isOwn = stats.uid === getuid?.();
  if (!isOwn && stats.uid !== 0) return { kind: 'untrusted', reason: `${path} belongs to another user` };
  // a link has no permissions, and whoever may connect to a socket cannot change it
  if (stats.isSymbolicLink() || stats.isSocket() || !mayOthersAdd(stats)) return undefined;
  // as /tmp: others may add to it, and can neither remove nor replace what belongs to the user
  if (stats.isDirectory() && (stats.mode & STICKY) !== 0) return undefined;
  if (stats.isCharacterDevice()) return { kind: 'untrusted', reason: `${path} is not a file` };
  return { kind: 'untrusted', reason: `other users can write to ${path}`, ...(isOwn ? { open: path } : {}) };
};
