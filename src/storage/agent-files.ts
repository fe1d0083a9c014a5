import { constants, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { lstat, open, readdir, type FileHandle, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readAtMost } from './files.js';
import { namesIn, settingsText } from './status-line.js';

// What finding an agent's session file asks of the machine. Everything here is bounded, follows no link to its end,
// and answers "nothing" instead of failing.

const MOST_FILES = 500; // looked at in one folder
const MOST_PROCESSES = 100;
const SMALL_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
const MOST_FIRST_LINES = 64; // remembered

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly modifiedAt: number;
}

/** The machine as the runtimes see it. First lines are remembered, because the files are append-only. */
export const sessionFiles = () => {
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
    sha256: async (text: string): Promise<string> =>
      (await import('node:crypto')).createHash('sha256').update(text).digest('hex'), // no child waits for its loading
    firstLine: async (path: string): Promise<string | undefined> => {
      const line = firstLines.get(path) ?? (await readFirstLine(path));
      if (line === undefined) return undefined;
      if (firstLines.size >= MOST_FIRST_LINES) firstLines.clear();
      firstLines.set(path, line);
      return line;
    },
  };
};

const list = async (folder: string, wanted: (name: string) => boolean): Promise<readonly Entry[]> => {
  const names = (await orNothing(readdir(folder))) ?? [];
  // The agents' file names begin with the time where they begin with anything useful: the last ones are the newest.
  const newest = names.filter(wanted).toSorted().slice(-MOST_FILES);
  const entries = await Promise.all(newest.map((name) => entry(join(folder, name))));
  return entries.filter((found) => found !== undefined);
};

const folders = async (folder: string): Promise<readonly string[]> => {
  const found = (await orNothing(readdir(folder, { withFileTypes: true }))) ?? [];
  const names = found.filter((each) => each.isDirectory()).map((each) => each.name);
  return names.toSorted().slice(-MOST_FILES);
};

const entry = async (path: string): Promise<Entry | undefined> => {
  const stats = await orNothing(lstat(path));
  return stats?.isFile() ? { path, name: basename(path), modifiedAt: stats.mtimeMs } : undefined;
};

const exists = async (path: string): Promise<boolean> => (await orNothing(lstat(path))) !== undefined;

const smallText = (path: string): Promise<string | undefined> =>
  orNothing(withFile(path, (file) => readAtMost(file, SMALL_BYTES)));

const lastPart = (path: string): Promise<string | undefined> =>
  orNothing(
    withFile(path, async (file) => {
      const start = Math.max(0, (await file.stat()).size - CHUNK_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, start);
      return buffer.toString('utf8', 0, bytesRead);
    }),
  );

const readFirstLine = (path: string): Promise<string | undefined> =>
  orNothing(
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

// /proc is memory, not a disk: asking it directly costs a tenth of the processor time that asking it behind the event loop does,
// and this is asked again and again as long as the session lasts.

/** The process and its descendants, nearest first; only the process itself where /proc does not exist. */
const family = async (pid: number): Promise<readonly number[]> => {
  const found = [pid];
  for (let i = 0; i < found.length && found.length < MOST_PROCESSES; i++) {
    found.push(...children(found[i] ?? pid));
  }
  return found.slice(0, MOST_PROCESSES);
};

// Any thread of a process may have started a child.
const children = (pid: number): readonly number[] => {
  const threads = orNone(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  const texts = threads.map((thread) =>
    orNone(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')),
  );
  return texts.flatMap((text) => (text ?? '').split(' ').filter(Boolean).map(Number));
};

const openFiles = async (pid: number): Promise<readonly string[] | undefined> => {
  const folder = `/proc/${pid}/fd`;
  const numbers = orNone(() => readdirSync(folder));
  // No /proc, or a process that hides its files. One that has just ended has none.
  if (!numbers) return (await exists('/proc/self/fd')) && !(await exists(folder)) ? [] : undefined;
  const targets = numbers.map((number) => orNone(() => readlinkSync(`${folder}/${number}`)));
  return targets.filter((target) => target !== undefined && target.startsWith('/')).map(String);
};

const orNone = <T>(ask: () => T): T | undefined => {
  try {
    return ask();
  } catch {
    return undefined;
  }
};

const orNothing = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  try {
    return await answer;
  } catch {
    return undefined;
  }
};

// Settings files of an agent, read for what they say and looked at again for whether they say something else.

/** Files and folders as they were when they were read. */
export interface SettingsFiles {
  readonly text: (path: string) => Promise<string | undefined>;
  readonly names: (folder: string) => Promise<readonly string[]>;
  /** whether one of those that were read is another one now */
  readonly haveChanged: () => Promise<boolean>;
}

/** Links are followed: the files are the user's own, who may keep them elsewhere. */
export const settingsFiles = (): SettingsFiles => {
  const stamps = new Map<string, string>();
  const stamped = async (path: string): Promise<string> => {
    stamps.set(path, await stampOf(path)); // before it is read: a change meanwhile is seen the next time
    return path;
  };
  return {
    text: async (path) => settingsText(await stamped(path)),
    names: async (folder) => namesIn(await stamped(folder)),
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
