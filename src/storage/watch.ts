import { watch, lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Tells of changes in a folder until closed. It does not keep the process alive. */
export interface FolderWatch {
  readonly close: () => void;
}

/**
 * `onChange` gets the name of what has changed, where the system tells. Never throws: some file systems tell of nothing, and there is
 * a limit to how many folders a user may watch. So whoever calls this has to look by himself, too.
 */
export const watchFolder = (folder: string, onChange: (name: string | undefined) => void): FolderWatch => {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => onChange(name ?? undefined));
    watcher.on('error', () => watcher.close());
    return { close: () => watcher.close() };
  } catch {
    return { close: () => undefined };
  }
};

// Tells of a change of one file, which may be replaced, removed and made again, as editors do.

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
