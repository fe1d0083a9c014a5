import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openRegular, readAtMost } from './files.js';
import { isRunning } from './processes.js';
import { ensureFolder, readSmall, writeAtomic } from './state-folder.js';

// The two files through which an agent reports its numbers for one launch, and the clearing away of what dead wrappers left.

const FOLDER = 'status-line';
const REPORT_BYTES = 256 * 1024; // a report is 1 to 3 KB
const SETTINGS_BYTES = 4 * 1024 * 1024; // Claude keeps much else in its old one
const MOST_SWEPT = 200; // files looked at in one clean-up
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const OWN_FILE = /^(\d+)-[A-Za-z0-9_-]+\.(?:settings|report)\.json(?:\.[0-9a-f]+\.tmp)?$/;

export interface StatusLineFiles {
  readonly settings: string;
  readonly report: string;
  readonly writeSettings: (text: string) => Promise<void>;
  /** removes both, and what a killed command left beside them */
  readonly remove: () => Promise<void>;
  /** removes files of wrappers that are gone */
  readonly sweep: () => Promise<void>;
}

/** Names the files of the wrap session with this id, which begins with the wrapper's pid; rejects when the folder cannot be trusted. */
export const statusLineFiles = async (stateFolder: string, id: string): Promise<StatusLineFiles> => {
  if (!ID.test(id)) throw new Error(`"${id}" is no id of a session`);
  const folder = await ensureFolder(stateFolder, FOLDER);
  const settings = join(folder, `${id}.settings.json`);
  return {
    settings,
    report: join(folder, `${id}.report.json`),
    writeSettings: (text) => writeAtomic(settings, text),
    remove: () => removeAll(folder, (name) => name.startsWith(`${id}.`)),
    sweep: () => removeAll(folder, isLeftOver),
  };
};

const removeAll = async (folder: string, wanted: (name: string) => boolean): Promise<void> => {
  const names = await readdir(folder).catch(() => []);
  const doomed = names.filter(wanted).slice(0, MOST_SWEPT);
  await Promise.all(doomed.map((name) => unlink(join(folder, name)).catch(() => undefined)));
};

const isLeftOver = (name: string): boolean => {
  const pid = Number(OWN_FILE.exec(name)?.[1]);
  return pid > 0 && !isRunning(pid);
};

/** Gives the text of a file that is replaced now and then, at the start and after each replacement, until stopped. */
export const watchReport = (
  path: string,
  intervalMs: number,
  onText: (text: string) => void,
): { readonly stop: () => void } => {
  let seen = '';
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    const version = stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : seen;
    if (version !== seen) {
      const text = await readSmall(path, REPORT_BYTES);
      seen = version;
      if (text !== undefined && !stopped) onText(text);
    }
    if (!stopped) timer = setTimeout(look, intervalMs).unref();
  };

  void look();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
};

/** A settings file of the user, who may keep it behind links; undefined when it cannot be read, is no file or is too large. */
export const settingsText = async (path: string): Promise<string | undefined> => {
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

export const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
