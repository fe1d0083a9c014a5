import { watch, lstatSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { troubleText } from '../core/errors.js';

// Watches folders and files for changes.

/** A watcher for a folder. It does not keep the process alive. */
export interface FolderWatch {
  readonly close: () => void;
}

/**
 * `onChange` gets the changed name if the system reports it. Never throws. Some file systems report nothing, and the number of watched
 * folders per user is limited, so the caller must also poll.
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

const QUIET_MS = 30_000;
const QUIET_FACTOR = 3;

/**
 * The pause before the next look at a file, in milliseconds: longer when nothing has happened for half a minute, so that an idle session
 * hardly wakes. `changedAt` is the `performance.now()` of the last change.
 */
export const pollPause = (intervalMs: number, changedAt: number): number =>
  performance.now() - changedAt < QUIET_MS ? intervalMs : intervalMs * QUIET_FACTOR;

export interface FollowOptions {
  readonly path: string;
  readonly intervalMs: number;
  /** true if something was new */
  readonly readNew: () => Promise<boolean>;
  /** everything is read again at the next call */
  readonly reset: () => void;
  /** the end was reached after something new was read */
  readonly onCaughtUp: () => void;
  /** called once for a problem until reading works again; the caller drops its values, so that everything is read again afterwards */
  readonly onProblem: (reason: string) => void;
}

/** Reads what is new at every interval, until stopped. */
export const followByPolling = (options: FollowOptions): { readonly stop: () => void } => {
  const { path, intervalMs, readNew, reset, onCaughtUp, onProblem } = options;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  let changedAt = performance.now();

  const poll = async (): Promise<void> => {
    try {
      const isNew = await readNew();
      problem = undefined;
      if (isNew) changedAt = performance.now();
      if (isNew && !isStopped) onCaughtUp();
    } catch (error) {
      const reason = `${path}: ${troubleText(error)}`;
      if (!isStopped && reason !== problem) onProblem(reason);
      problem = reason;
      reset();
    }
    if (!isStopped) timer = setTimeout(poll, pollPause(intervalMs, changedAt)).unref();
  };

  void poll();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

// Watches one file, which may be replaced, removed and created again, as editors do.

const SETTLED_MS = 200; // an editor writes in several steps
const POLL_MS = 1_000; // if the system reports nothing: the folder may be created later or be replaced

/** Calls `onChange` when the file has changed and then not changed for SETTLED_MS, until the returned function is called. */
export const watchFile = (path: string, onChange: () => void): (() => void) => {
  let lastStamp = stampOf(path);
  let settling: NodeJS.Timeout | undefined;
  const check = (): void => {
    const now = stampOf(path);
    if (now === lastStamp) return;
    lastStamp = now;
    clearTimeout(settling);
    settling = setTimeout(onChange, SETTLED_MS).unref();
  };
  const watch = watchFolder(dirname(path), (name) => {
    if (name === undefined || name === basename(path)) check();
  });
  const polling = setInterval(check, POLL_MS).unref();
  return () => {
    watch.close();
    clearInterval(polling);
    clearTimeout(settling);
  };
};

const stampOf = (path: string): string => {
  try {
    // the file behind a link has its own changes
    return [lstatSync(path), statSync(path, { throwIfNoEntry: false })]
      .map((stats) => [stats?.ino, stats?.size, stats?.mtimeMs, stats?.mode].join())
      .join(' ');
  } catch {
    return '';
  }
};
