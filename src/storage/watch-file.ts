// Tells of a change of one file, which may be replaced, removed and made again, as editors do.
import { lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { watchFolder } from './watch-folder.js';

const SETTLED_MS = 200; // an editor writes in several steps
const LOOK_MS = 1_000; // where the system tells of nothing: the folder may be made later, or be put in another's place

/** `onChange` is called when the file has changed and has been quiet for a moment, until the returned function is called. */
export const watchFile = (path: string, onChange: () => void): (() => void) => {
  let seen = stampOf(path);
  let settling: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = stampOf(path);
    if (now === seen) return;
    seen = now;
    clearTimeout(settling);
    settling = setTimeout(onChange, SETTLED_MS).unref();
  };
  const watch = watchFolder(dirname(path), (name) => {
    if (name === undefined || name === basename(path)) look();
  });
  const looking = setInterval(look, LOOK_MS).unref();
  return () => {
    watch.close();
    clearInterval(looking);
    clearTimeout(settling);
  };
};

const stampOf = (path: string): string => {
  try {
    const { ino, size, mtimeMs, mode } = lstatSync(path);
    return [ino, size, mtimeMs, mode].join();
  } catch {
    return '';
  }
};
