import { constants, readdirSync, readlinkSync } from 'node:fs';
import { lstat, open, readdir, type FileHandle, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { LimitError } from '../core/errors.js';
import { type Row, type RowQuery, readRows } from './database.js';
import { readAtMost } from './files.js';
import { allChildrenOf, processStat } from './processes.js';
import { listNames, readSettings } from './status-line.js';

// File and process access for finding an agent's session file. All reads are bounded, follow no symbolic links, and return undefined
// or an empty list instead of failing.

const MAX_FILES = 500; // read in one folder
const MAX_PROCESSES = 100;
const SMALL_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const MAX_FIRST_LINES = 64; // cached

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly modifiedAt: number;
}

/** The port through which agents read files and processes. First lines are cached, since session files are append-only. */
export const makeFilePort = () => {
  const firstLines = new Map<string, string>();
  return {
    list,
    folders,
    entry,
    exists,
    smallText,
    lastPart,
    family,
    openFiles,
    rows,
    sha256: async (text: string): Promise<string> =>
      (await import('node:crypto')).createHash('sha256').update(text).digest('hex'), // late: must not delay the child's start
    firstLine: async (path: string): Promise<string | undefined> => {
      const line = firstLines.get(path) ?? (await readFirstLine(path));
      if (line === undefined) return undefined;
      if (firstLines.size >= MAX_FIRST_LINES) firstLines.clear();
      firstLines.set(path, line);
      return line;
    },
  };
};

const list = async (folder: string, wanted: (name: string) => boolean): Promise<readonly Entry[]> => {
  const names = (await tryAsync(readdir(folder))) ?? [];
  // If the agent's file names are ordered, they start with the time, so the last ones are the newest.
  const newest = names.filter(wanted).toSorted().slice(-MAX_FILES);
  const entries = await Promise.all(newest.map((name) => entry(join(folder, name))));
  return entries.filter((found) => found !== undefined);
};

const folders = async (folder: string): Promise<readonly string[]> => {
  const found = (await tryAsync(readdir(folder, { withFileTypes: true }))) ?? [];
  const names = found.filter((each) => each.isDirectory()).map((each) => each.name);
  return names.toSorted().slice(-MAX_FILES);
};

const entry = async (path: string): Promise<Entry | undefined> => {
  const stats = await tryAsync(lstat(path));
  return stats?.isFile() ? { path, name: basename(path), modifiedAt: stats.mtimeMs } : undefined;
};

const exists = async (path: string): Promise<boolean> => (await tryAsync(lstat(path))) !== undefined;

const smallText = (path: string): Promise<string | undefined> =>
  tryAsync(withFile(path, (file) => readAtMost(file, SMALL_BYTES)));

const lastPart = (path: string): Promise<string | undefined> =>
  tryAsync(
    withFile(path, async (file) => {
      const start = Math.max(0, (await file.stat()).size - CHUNK_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, start);
      return buffer.toString('utf8', 0, bytesRead);
    }),
  );

const readFirstLine = (path: string): Promise<string | undefined> =>
  tryAsync(
    withFile(path, async (file) => {
      const pieces: Buffer[] = [];
      for (let offset = 0; offset < SMALL_BYTES; offset += CHUNK_BYTES) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
        const chunk = buffer.subarray(0, bytesRead);
        const newline = chunk.indexOf(0x0a);
        pieces.push(newline < 0 ? chunk : chunk.subarray(0, newline));
        if (newline >= 0) return Buffer.concat(pieces).toString('utf8');
        if (bytesRead < CHUNK_BYTES) return undefined;
      }
      return undefined;
    }),
  );

const withFile = async <T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | undefined> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await file.stat()).isFile() ? await use(file) : undefined;
  } finally {
    await file.close();
  }
};

const rows = async (path: string, query: RowQuery): Promise<readonly Row[] | undefined> => {
  if (!(await entry(path))) return undefined;
  try {
    const [rows] = await readRows(path, [query]);
    return rows;
  } catch (error) {
    if (error instanceof LimitError) throw error; // the user has to know that there will be no numbers
    return undefined;
  }
};

// /proc is in memory, not on a disk: synchronous calls take a tenth of the CPU time of asynchronous ones, and these are repeated for the
// whole session.

/**
 * The process and its descendants, nearest first; only the process itself where /proc does not exist. Not those in a session of their own:
 * that is a server that the process has started for other terminals, too.
 */
const family = async (pid: number): Promise<readonly number[]> => {
  const found = [pid];
  const session = processStat(pid)?.session;
  for (let i = 0; i < found.length && found.length < MAX_PROCESSES; i++) {
    found.push(...allChildrenOf(found[i] ?? pid).filter((child) => processStat(child)?.session === session));
  }
  return found.slice(0, MAX_PROCESSES);
};

const openFiles = async (pid: number): Promise<readonly string[] | undefined> => {
  const folder = `/proc/${pid}/fd`;
  const numbers = trySync(() => readdirSync(folder));
  // undefined: no /proc, or the files of this process are not readable. A process that has just ended has none.
  if (!numbers) return (await exists('/proc/self/fd')) && !(await exists(folder)) ? [] : undefined;
  const targets = numbers.map((number) => trySync(() => readlinkSync(`${folder}/${number}`)));
  return targets.filter((target) => target !== undefined && target.startsWith('/')).map(String);
};

const trySync = <T>(ask: () => T): T | undefined => {
  try {
    return ask();
  } catch {
    return undefined;
  }
};

const tryAsync = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch {
    return undefined;
  }
};

// Settings files of an agent, with a check whether they have changed since they were read.

/** Reads settings files and folders and records their state. */
export interface SettingsFiles {
  readonly text: (path: string) => Promise<string | undefined>;
  readonly names: (folder: string) => Promise<readonly string[]>;
  /** true if one of the files or folders has changed since it was read */
  readonly haveChanged: () => Promise<boolean>;
}

/** Follows links: these are the user's own files, which may be kept elsewhere. */
export const openSettingsFiles = (): SettingsFiles => {
  const stamps = new Map<string, string>();
  const recordStamp = async (path: string): Promise<string> => {
    stamps.set(path, await stampOf(path)); // taken before reading, so that a change in between is noticed
    return path;
  };
  return {
    text: async (path) => readSettings(await recordStamp(path)),
    names: async (folder) => listNames(await recordStamp(folder)),
    haveChanged: async () => {
      const now = await Promise.all([...stamps.keys()].map(stampOf));
      return [...stamps.values()].some((stamp, index) => stamp !== now[index]);
    },
  };
};

const stampOf = async (path: string): Promise<string> => {
  const stats = await stat(path).catch(() => undefined);
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeMs].join() : '';
};
