import { existsSync, lstatSync, realpathSync, statfsSync, statSync, watch, type FSWatcher } from 'node:fs';
import { platform } from 'node:os';
import { basename, dirname } from 'node:path';
import { troubleText } from '../core/errors.js';

// Watches folders and files for changes.

/** A watcher for a folder. It does not keep the process alive. */
export interface FolderWatch {
  /** true while the system reports every change in the folder; otherwise the caller must poll as if nothing were watched */
  readonly isSure: () => boolean;
  readonly close: () => void;
}

// Local file systems of Linux, by statfs(2): inotify reports every write by a process of this machine. A network share, a folder of another
// system (9p, drvfs, FUSE) and an unknown one may report nothing.
const REPORTING_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

const reportsChanges = (folder: string): boolean =>
  platform() === 'linux' && REPORTING_SYSTEMS.has(statfsSync(folder).type);

/**
 * `onChange` gets the changed name if the system reports it, and whether the file was only written: `false` where something was created,
 * moved or removed. Never throws. Some file systems report nothing, and the number of watched folders per user is limited, so the caller
 * must also poll.
 */
export const watchFolder = (
  folder: string,
  onChange: (name: string | undefined, isWrite: boolean) => void,
): FolderWatch => {
  let watcher: FSWatcher | undefined;
  let isSure = false;
  const close = (): void => {
    isSure = false;
    watcher?.close();
  };
  try {
    watcher = watch(folder, { persistent: false }, (kind, name) =>
      onChange(name ?? undefined, kind === 'change'),
    );
    watcher.on('error', close);
    isSure = reportsChanges(folder);
  } catch {
    close();
  }
  return { isSure: () => isSure, close };
};

interface WatchedPlace {
  readonly folder: string;
  /** what in the folder leads to the file, or is it */
  readonly name: string;
}

/** Where a file is, or the folder in which the next one on the way to it will be created. */
const nearestPlace = (path: string): WatchedPlace => {
  let place = { folder: dirname(path), name: basename(path) };
  while (!existsSync(place.folder) && place.folder !== dirname(place.folder))
    place = { folder: dirname(place.folder), name: basename(place.folder) };
  return place;
};

/** The places of a file: also that of the file behind a link; none where a link leads nowhere. */
const placesOf = (path: string): readonly WatchedPlace[] => {
  const own = nearestPlace(path);
  try {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? [own, nearestPlace(realpathSync(path))] : [own];
  } catch {
    return [];
  }
};

const identityOf = (places: readonly WatchedPlace[]): string => {
  try {
    return places
      .map(({ folder, name }) => [folder, name, statSync(folder).dev, statSync(folder).ino].join())
      .join(' ');
  } catch {
    return 'unknown'; // it has gone just now, or may not be entered
  }
};

/** A watcher for one path. */
interface PathWatch extends FolderWatch {
  /** watches other folders where the file is reached through others than before */
  readonly renew: () => void;
}

/** Calls `onChange` when the file may have been written, replaced, removed or created, also in a folder that is created later. Never throws. */
const watchPath = (path: string, onChange: () => void): PathWatch => {
  let watched = '';
  let watches: readonly FolderWatch[] = [];
  const close = (): void => {
    for (const each of watches) each.close();
    watches = [];
  };
  const renew = (): void => {
    const places = placesOf(path);
    const now = identityOf(places);
    if (now === watched) return;
    const isMoved = watched !== '';
    close();
    watched = now;
    watches = places.map((place) => watchFolder(place.folder, (name, isWrite) => note(place, name, isWrite)));
    if (identityOf(placesOf(path)) !== now) return renew(); // it was moved before the watchers were there
    if (isMoved) onChange(); // what would have told may have been closed just now
  };
  const note = ({ folder, name }: WatchedPlace, changed: string | undefined, isWrite: boolean): void => {
    const isFolder = changed === basename(folder); // it was moved or removed
    if (changed !== undefined && changed !== name && !isFolder) return;
    if (isFolder && !isWrite) watched = ''; // another one may have its number
    if (!isWrite) renew();
    onChange();
  };
  const isSure = (): boolean => watches.length > 0 && watches.every((each) => each.isSure());
  renew();
  return { isSure, renew, close };
};

const QUIET_MS = 30_000;
const QUIET_FACTOR = 3;

/**
 * The pause before the next look at a file, in milliseconds: longer when nothing has happened for half a minute, so that an idle session
 * hardly wakes. `changedAt` is the `performance.now()` of the last change.
 */
export const pollPause = (intervalMs: number, changedAt: number): number =>
  performance.now() - changedAt < QUIET_MS ? intervalMs : intervalMs * QUIET_FACTOR;

// A session at rest: where nothing is written and nothing typed, its files are hardly looked at.

const AWAKE_MS = 10_000; // files are written some time after what caused it
export const RESTING_PAUSE_MS = 30_000; // a watcher may miss something

/** Whether a session is at rest, for all that look at files on its behalf. */
export interface Rest {
  /** something has happened: output, a key, a request */
  readonly end: () => void;
  readonly isResting: () => boolean;
  /** a change of this file ends the rest; where the system does not report its changes there is no rest */
  readonly watch: (path: string) => { readonly close: () => void };
  /** `wake` is called when a rest ends, until the returned function is called */
  readonly onEnd: (wake: () => void) => () => void;
}

/** Looks first whether the watched folders are still the ones that lead to the file. */
const isSureNow = (watching: PathWatch): boolean => {
  watching.renew();
  return watching.isSure();
};

export const makeRest = (): Rest => {
  let stirredAt = performance.now();
  const watches = new Set<PathWatch>();
  const wakes = new Set<() => void>();
  const isQuiet = (): boolean => performance.now() - stirredAt > AWAKE_MS;
  const end = (): void => {
    const wasQuiet = isQuiet();
    stirredAt = performance.now();
    if (wasQuiet) for (const wake of wakes) wake();
  };
  return {
    end,
    isResting: () => isQuiet() && [...watches].every(isSureNow),
    watch: (path) => {
      const watching = watchPath(path, end);
      watches.add(watching);
      return {
        close: () => {
          watches.delete(watching);
          watching.close();
        },
      };
    },
    onEnd: (wake) => {
      wakes.add(wake);
      return () => void wakes.delete(wake);
    },
  };
};

interface LookOptions {
  /** must not reject */
  readonly look: () => Promise<void>;
  /** before the next look, in milliseconds */
  readonly pauseMs: () => number;
  readonly rest?: Rest | undefined;
}

/** A look at files again and again. */
export interface Looking {
  /** looks at once, unless a look is going on */
  readonly lookNow: () => void;
  readonly stop: () => void;
}

/** Looks now and after each pause, until stopped. While the session rests the pause is long; it ends a short pause after the rest. */
export const keepLooking = ({ look, pauseMs, rest }: LookOptions): Looking => {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const lookIn = (milliseconds: number): void => {
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds).unref();
  };
  const run = async (): Promise<void> => {
    timer = undefined;
    await look();
    if (!isStopped) lookIn(rest?.isResting() ? RESTING_PAUSE_MS : pauseMs());
  };
  const isWaiting = (): boolean => timer !== undefined && !isStopped;
  const forget = rest?.onEnd(() => void (isWaiting() && lookIn(pauseMs())));
  void run();
  return {
    lookNow: () => {
      if (!isWaiting()) return;
      clearTimeout(timer);
      void run();
    },
    stop: () => {
      isStopped = true;
      forget?.();
      clearTimeout(timer);
    },
  };
};

export interface FollowOptions {
  readonly path: string;
  /** the files that change, where `path` is not the only one */
  readonly watched?: readonly string[];
  readonly intervalMs: number;
  /** true if something was new */
  readonly readNew: () => Promise<boolean>;
  /** everything is read again at the next call */
  readonly reset: () => void;
  /** the end was reached after something new was read */
  readonly onCaughtUp: () => void;
  /** called once for a problem until reading works again; the caller drops its values, so that everything is read again afterwards */
  readonly onProblem: (reason: string) => void;
  /** absent: it is never at rest */
  readonly rest?: Rest | undefined;
}

/** Reads what is new at every interval, until stopped. */
export const followByPolling = (options: FollowOptions): { readonly stop: () => void } => {
  const { path, watched = [path], intervalMs, readNew, reset, onCaughtUp, onProblem, rest } = options;
  let isStopped = false;
  let problem: string | undefined;
  let changedAt = performance.now();

  const watching = watched.map((each) => rest?.watch(each));
  const look = async (): Promise<void> => {
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
  };

  const looking = keepLooking({ look, pauseMs: () => pollPause(intervalMs, changedAt), rest });
  return {
    stop: () => {
      isStopped = true;
      for (const each of watching) each?.close();
      looking.stop();
    },
  };
};

// Watches one file, which may be replaced, removed and created again, as editors do.

const SETTLED_MS = 200; // an editor writes in several steps
const POLL_MS = 1_000; // where the system reports nothing

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
  const watching = watchPath(path, check);
  const looking = keepLooking({
    look: async () => {
      watching.renew();
      check();
    },
    pauseMs: () => (watching.isSure() ? RESTING_PAUSE_MS : POLL_MS),
  });
  return () => {
    watching.close();
    looking.stop();
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
