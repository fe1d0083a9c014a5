import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openRegular, readAtMost } from './files.js';
import { isRunning } from './processes.js';
import { ensureFolder, readSmallFile, writeAtomic } from './state-folder.js';
import { keepLooking, pollPause, type Rest } from './watch.js';
import { SESSION_ID } from '../core/report/session-id.js';

// The files of a launch through which an agent's status line reports to the wrapper and its hook gets context, and the removal of stale ones.

const FOLDER = 'status-line';
const REPORT_BYTES = 256 * 1024; // a report is 1 to 3 KB
const SETTINGS_BYTES = 4 * 1024 * 1024; // Claude's old settings file holds much else
const MAX_SWEPT = 200; // files examined per clean-up
const OWN_FILE = /^(\d+)-[A-Za-z0-9_-]+\.(?:settings|report|context)\.json(?:\.[0-9a-f]+\.(?:tmp|taken))?$/;

export interface StatusLineFiles {
  readonly settings: string;
  readonly report: string;
  readonly context: string;
  readonly writeSettings: (text: string) => Promise<void>;
  /** removes the files, and those that a killed command left */
  readonly remove: () => Promise<void>;
  /** removes files of wrappers that no longer run */
  readonly sweep: () => Promise<void>;
}

/** The files of the session with this id, which starts with the wrapper's pid; rejects if the folder cannot be trusted. */
export const statusLineFiles = async (stateFolder: string, id: string): Promise<StatusLineFiles> => {
  if (!SESSION_ID.test(id)) throw new Error(`"${id}" is no id of a session`);
  const folder = await ensureFolder(stateFolder, FOLDER);
  const settings = join(folder, `${id}.settings.json`);
  return {
    settings,
    report: join(folder, `${id}.report.json`),
    context: join(folder, `${id}.context.json`),
    writeSettings: (text) => writeAtomic(settings, text),
    remove: () => removeAll(folder, (name) => name.startsWith(`${id}.`)),
    sweep: () => removeAll(folder, isStale),
  };
};

const removeAll = async (folder: string, wanted: (name: string) => boolean): Promise<void> => {
  const names = await readdir(folder).catch(() => []);
  const stale = names.filter(wanted).slice(0, MAX_SWEPT);
  await Promise.all(stale.map((name) => unlink(join(folder, name)).catch(() => undefined)));
};

const isStale = (name: string): boolean => {
  const pid = Number(OWN_FILE.exec(name)?.[1]);
  return pid > 0 && !isRunning(pid);
};

/** Calls `onText` with the text of the file at the start and after each replacement, until stopped. */
export const watchReport = (
  path: string,
  intervalMs: number,
  onText: (text: string) => void,
  rest?: Rest,
): { readonly stop: () => void } => {
  let lastVersion = '';
  let isStopped = false;
  let changedAt = performance.now();

  const watching = rest?.watch(path);
  const look = async (): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    const version = stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : lastVersion;
    if (version !== lastVersion) {
      const text = await readSmallFile(path, REPORT_BYTES);
      [lastVersion, changedAt] = [version, performance.now()];
      if (text !== undefined && !isStopped) onText(text);
    }
  };

  const looking = keepLooking({ look, pauseMs: () => pollPause(intervalMs, changedAt), rest });
  return {
    stop: () => {
      isStopped = true;
      watching?.close();
      looking.stop();
    },
  };
};

/** A settings file of the user, which may be a link; undefined if it cannot be read, is not a file or is too large. */
export const readSettings = async (path: string): Promise<string | undefined> => {
  try {
    const file = await openRegular(path);
    try {
      return await readAtMost(file, SETTINGS_BYTES);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
};

export const listNames = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
