import { closeSync, fstatSync, realpathSync, renameSync, statSync, writeSync, constants } from 'node:fs';
import { lstat, open as openInPromises, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { errorCode } from '../core/json.js';
import { logLevels, type LogLevel } from '../core/format.js';
import type { Millis } from '../core/reading.js';
import { reasonOf, unwritable } from './errors.js';
import { openPrivateFile } from './files.js';
import { ensureFolder, readOwn } from './state-folder.js';

/** Where the wrapper says what it does, one line an event. Never throws. */
export interface Log {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
  readonly error: (message: string) => void;
  /** what stands on the screen, the conversation too; absent unless the user has allowed it */
  readonly text?: (message: string) => void;
  readonly close: () => void;
}

export interface LogOptions {
  /** what is less is not written; `info` when absent */
  readonly level?: LogLevel | undefined;
  /** the log may hold what was said; false when absent */
  readonly withText?: boolean | undefined;
}

/** Bytes after which a log file becomes the old one, in place of the one before: a log nobody reads must not fill a disk. */
export const maxLogBytes = 5_000_000;

const maxMessageLength = 2000;
const lastWords = 'the log is full, nothing more is written';

const nothing = (): void => undefined;

/** The log of a session without --log. */
export const nullLog: Log = { info: nothing, warn: nothing, error: nothing, close: nothing };

/** Opens a log file for appending; `now` gives the time of a line. Throws a UserError if the file cannot be written. */
export const openLog = (
  path: string,
  now: () => Millis,
  { level: least = 'info', withText = false }: LogOptions = {},
): Log => {
  let file: number | undefined = open(path);
  const place = realpathSync(path); // a link stays where it is when the file goes
  let isOver = false;

  const append = (level: string, message: string): void => {
    if (file === undefined || isOver) return;
    const line = (text: string): string => `${new Date(now()).toISOString()} ${level} ${text}\n`;
    const wanted = line(printable(message));
    const last = line(lastWords);
    try {
      if (!hasRoom(file, wanted + last)) file = startAnew(file, place);
      writeSync(file, wanted);
    } catch {
      isOver = true; // a full disk or a folder that takes no file is no reason to disturb the session
      endWith(file, last);
    }
  };

  const at =
    (level: LogLevel): Log['info'] =>
    (message) => {
      if (logLevels.indexOf(level) >= logLevels.indexOf(least)) append(level, message);
    };

  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    ...(withText ? { text: (message: string) => append('text', message) } : {}),
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};

const open = (path: string): number => {
  try {
    return openPrivateFile(path, 'append');
  } catch (error) {
    throw unwritable('log', path, reasonOf(error));
  }
};

/** Other sessions may write into the same file, so that only the file itself knows how long it is. */
const hasRoom = (file: number, text: string): boolean =>
  fstatSync(file).size + Buffer.byteLength(text) <= maxLogBytes;

/** Makes the file the old one and begins another. Where another session has done that already, its file is taken. */
const startAnew = (file: number, path: string): number => {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.ino === fstatSync(file).ino) renameSync(path, `${path}.1`);
  const next = openPrivateFile(path, 'append');
  closeSync(file);
  return next;
};

const endWith = (file: number, last: string): void => {
  try {
    if (hasRoom(file, last)) writeSync(file, last);
  } catch {
    // the reason why nothing more is written
  }
};

/** One line without control characters: a log is read with `cat`, and its texts come from files and terminals. */
const printable = (message: string): string =>
  message
    .slice(0, maxMessageLength)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();

// `audit.jsonl` in the state folder: one line for each attempt to compact, of all wrappers of this user.

export interface Audit {
  /** a line with its newline; never waits and never throws */
  readonly append: (line: string) => void;
  /** resolves when what was appended is in the file, or cannot be */
  readonly flushed: () => Promise<void>;
}

export interface AuditOptions {
  readonly stateFolder: string;
  /** called once */
  readonly onFailure: (reason: string) => void;
  /** of a file, before it becomes the old one; 1 MB when absent */
  readonly mostBytes?: number;
}

const NAME = 'audit.jsonl';
const OLD_NAME = 'audit.1.jsonl';
const LOCK_NAME = 'audit.lock';
const MOST_BYTES = 1024 * 1024;
const MOST_READ_BYTES = 2 * MOST_BYTES; // a lock that another holds lets a file grow by some lines
const MOST_WAITING = 100; // lines; a disk that takes none gets no more
const LOCK_MS = 10_000; // a rename takes a moment; a lock that is older was left by a wrapper that was killed
const FILE_MODE = 0o600;
const OTHERS = 0o077;
const NEWLINE = 0x0a;

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

export const openAudit = ({ stateFolder, onFailure, mostBytes = MOST_BYTES }: AuditOptions): Audit => {
  let written = Promise.resolve();
  let waiting = 0;
  let hasFailed = false;
  const fail = (error: unknown): void => {
    if (!hasFailed) onFailure(reasonOf(error));
    hasFailed = true;
  };
  return {
    append: (line) => {
      if (waiting >= MOST_WAITING) return fail(new Error('the disk takes the lines slower than they come'));
      waiting += 1;
      written = written
        .then(() => appendLine(stateFolder, line, mostBytes))
        .catch(fail)
        .then(() => {
          waiting -= 1;
        });
    },
    flushed: () => written,
  };
};

/** All lines that there are, the oldest first; none where no file can be read. */
export const readAudit = async (stateFolder: string): Promise<readonly string[]> => {
  const texts = await Promise.all(
    [OLD_NAME, NAME].map((name) => readOwn(join(stateFolder, name), MOST_READ_BYTES).catch(() => undefined)),
  );
  return texts.flatMap((text) => (text ?? '').split('\n')).filter((line) => line !== '');
};

const appendLine = async (stateFolder: string, line: string, mostBytes: number): Promise<void> => {
  const folder = await ensureFolder(stateFolder);
  const bytes = Buffer.from(line);
  const stats = await lstat(join(folder, NAME)).catch(() => undefined);
  if (stats?.isFile() && stats.size + bytes.length > mostBytes) await rotate(folder, stats.ino);
  const file = await openInPromises(
    join(folder, NAME),
    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
    FILE_MODE,
  );
  try {
    const { size } = await checked(file);
    // a full disk may have left half a line
    const whole = size === 0 || (await lastByte(file, size)) === NEWLINE ? bytes : Buffer.from(`\n${line}`);
    // one call: the system appends it in one piece, whoever else writes
    const { bytesWritten } = await file.write(whole);
    if (bytesWritten < whole.length) throw new Error('the disk is full');
  } finally {
    await file.close();
  }
};

const checked = async (file: FileHandle): Promise<{ readonly size: number }> => {
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error(`${NAME} is not a regular file`);
  if (stats.uid !== getuid?.()) throw new Error(`${NAME} belongs to another user`);
  if ((stats.mode & OTHERS) !== 0) await file.chmod(FILE_MODE);
  return stats;
};

const lastByte = async (file: FileHandle, size: number): Promise<number | undefined> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 ? buffer[0] : undefined;
};

/** Makes the file the old one. Two wrappers that come to it at once must not throw away the old lines for a file with one new line. */
const rotate = async (folder: string, inode: number): Promise<void> => {
  const lock = join(folder, LOCK_NAME);
  if (!(await isLocked(lock))) return;
  try {
    const stats = await lstat(join(folder, NAME)).catch(() => undefined);
    if (stats?.ino === inode) await rename(join(folder, NAME), join(folder, OLD_NAME));
  } finally {
    await unlink(lock).catch(() => undefined);
  }
};

/** Whether the lock is ours now. Where it is another's, the file grows by a line more, and that is no harm. */
const isLocked = async (lock: string): Promise<boolean> => {
  try {
    await (await openInPromises(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE)).close();
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    const stats = await lstat(lock).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > LOCK_MS) await unlink(lock).catch(() => undefined);
    return false;
  }
};
