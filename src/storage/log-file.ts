import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { stripControls } from '../core/printable.js';
import { errorCode } from '../core/errors.js';
import { logLevels, type LogLevel } from '../core/format.js';
import type { Millis } from '../core/reading.js';
import { systemReason, unwritableFileError } from './errors.js';
import { FILE_MODE, OTHERS } from './file-modes.js';
import { openPrivateFile } from './files.js';
import { ensureFolder, linkRefusal, readOwnFile } from './state-folder.js';

// The log of a session (`--log`), and the audit log of all sessions.

/** Log of the wrapper's actions, one line per event. Never throws. */
export interface Log {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
  readonly error: (message: string) => void;
  /** text on the screen, including the conversation; absent unless the user has allowed it */
  readonly text?: (message: string) => void;
  readonly close: () => void;
}

export interface LogOptions {
  /** lowest level written; `info` when absent */
  readonly level?: LogLevel | undefined;
  /** the log may contain the conversation; false when absent */
  readonly withText?: boolean | undefined;
}

/** Bytes after which a log file is rotated to FILE.1, replacing the previous one, so that it cannot fill a disk. */
export const maxLogBytes = 5_000_000;

const maxMessageLength = 2000;
const FULL_MESSAGE = 'the log is full, nothing more is written';

const nothing = (): void => undefined;

/** The log of a session without --log. */
export const nullLog: Log = { info: nothing, warn: nothing, error: nothing, close: nothing };

/** Opens a log file for appending; `now` gives the time of a line. Throws a UserError if the file cannot be written. */
export const openLog = (
  path: string,
  now: () => Millis,
  { level: minLevel = 'info', withText = false }: LogOptions = {},
): Log => {
  let file: number | undefined = open(path);
  const place = realpathSync(path); // rotation renames the file, not a link to it
  let isFull = false;

  const append = (level: string, message: string): void => {
    if (file === undefined || isFull) return;
    const line = (text: string): string => `${new Date(now()).toISOString()} ${level} ${text}\n`;
    const wanted = line(printable(message));
    const last = line(FULL_MESSAGE);
    try {
      if (!hasRoom(file, wanted + last)) file = rotateLog(file, place);
      writeSync(file, wanted);
    } catch {
      isFull = true; // a full disk or an unwritable folder must not disturb the session
      writeLastLine(file, last);
    }
  };

  const at =
    (level: LogLevel): Log['info'] =>
    (message) => {
      if (logLevels.indexOf(level) >= logLevels.indexOf(minLevel)) append(level, message);
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
    throw unwritableFileError('log', path, systemReason(error));
  }
};

/** Checks the file's real size, since other sessions may write to it too. */
const hasRoom = (file: number, text: string): boolean =>
  fstatSync(file).size + Buffer.byteLength(text) <= maxLogBytes;

/** Rotates the log and opens a new file. If another session has already rotated it, opens that session's file. */
const rotateLog = (file: number, path: string): number => {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.ino === fstatSync(file).ino) renameSync(path, `${path}.1`);
  const next = openPrivateFile(path, 'append');
  closeSync(file);
  return next;
};

const writeLastLine = (file: number, last: string): void => {
  try {
    if (hasRoom(file, last)) writeSync(file, last);
  } catch {
    // the log could not be written, so this line cannot either
  }
};

/** One line without control characters: the text comes from files and terminals, and users read the log with `cat`. */
const printable = (message: string): string =>
  stripControls(message.slice(0, maxMessageLength).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')).trim();

// The audit log, `audit.jsonl` in the state folder: one line for each compaction attempt of all wrappers of this user, and for each change of the
// configuration.

export interface Audit {
  /**
   * Appends a line, given with its newline; never throws. When it returns the line is in the file, whatever happens to the thread or the
   * process then; only in the first milliseconds, before the folder is known to be there, does it wait.
   */
  readonly append: (line: string) => void;
  /** resolves when no line waits any more */
  readonly flushed: () => Promise<void>;
}

export interface AuditOptions {
  readonly stateFolder: string;
  /** called at most once */
  readonly onFailure: (reason: string) => void;
  /** size at which the file is rotated; 1 MB when absent */
  readonly maxBytes?: number;
}

const NAME = 'audit.jsonl';
const OLD_NAME = 'audit.1.jsonl';
const LOCK_NAME = 'audit.lock';
const MAX_BYTES = 1024 * 1024;
const MOST_TIMES = 2; // the file can grow while another wrapper holds the lock, or while it cannot be rotated
const MAX_READ_BYTES = MOST_TIMES * MAX_BYTES;
const MAX_WAITING = 100; // lines; more are dropped
const LOCK_MS = 10_000; // an older lock was left by a wrapper that was killed
const NEWLINE = 0x0a;

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

export const openAudit = ({ stateFolder, onFailure, maxBytes = MAX_BYTES }: AuditOptions): Audit => {
  let waiting: string[] | undefined = []; // for the folder
  let hasFailed = false;
  const fail = (error: unknown): void => {
    if (!hasFailed) onFailure(systemReason(error));
    hasFailed = true;
  };
  const append = (line: string): void => appendLine(stateFolder, line, { maxBytes, onUnrotated: fail });
  const tryAppend = (line: string): void => {
    try {
      append(line);
    } catch (error) {
      fail(error);
    }
  };
  /** The lines that wait are dropped if it cannot be there. */
  const prepare = async (): Promise<void> => {
    try {
      await ensureFolder(stateFolder);
      for (const line of waiting ?? []) tryAppend(line);
    } catch (error) {
      fail(error);
    }
    waiting = undefined;
  };
  let prepared = prepare();
  const wait = (lines: string[], line: string): void => {
    if (lines.length < MAX_WAITING) lines.push(line);
    else fail(new Error('the disk is too slow for the log'));
  };
  return {
    append: (line) => {
      if (waiting) return wait(waiting, line);
      try {
        append(line);
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') return fail(error);
        waiting = [line]; // somebody has removed the folder
        prepared = prepare();
      }
    },
    flushed: () => prepared,
  };
};

/**
 * Appends one line, for a command that ends then. Never rejects: without a log the command does its work all the same. Resolves with why it
 * could not.
 */
export const appendToAudit = async (stateFolder: string, line: string): Promise<unknown> => {
  let failure: unknown;
  const audit = openAudit({ stateFolder, onFailure: (error) => (failure = error) });
  audit.append(line);
  await audit.flushed();
  return failure;
};

/** All lines, oldest first; empty if no file can be read. */
export const readAudit = async (stateFolder: string): Promise<readonly string[]> => {
  const texts = await Promise.all(
    [OLD_NAME, NAME].map((name) =>
      readOwnFile(join(stateFolder, name), MAX_READ_BYTES).catch(() => undefined),
    ),
  );
  return texts.flatMap((text) => (text ?? '').split('\n')).filter((line) => line !== '');
};

interface Rotation {
  readonly maxBytes: number;
  /** the line is written all the same */
  readonly onUnrotated: (error: Error) => void;
}

const appendLine = (folder: string, line: string, { maxBytes, onUnrotated }: Rotation): void => {
  const refusal = linkRefusal(folder);
  if (refusal !== undefined) throw new Error(refusal);
  const path = join(folder, NAME);
  const bytes = Buffer.from(line);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const size = (stats?.isFile() ? stats.size : 0) + bytes.length;
  if (stats && size > maxBytes)
    tryToRotate(folder, stats.ino, (error) => {
      if (size > MOST_TIMES * maxBytes) throw error; // nobody would read a longer file
      onUnrotated(error);
    });
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, FILE_MODE);
  try {
    const { size } = checkFile(file);
    // starts a new line if a full disk has left half a line
    const whole = size === 0 || lastByte(file, size) === NEWLINE ? bytes : Buffer.from(`\n${line}`);
    // one call, so that the system appends the line in one piece
    if (writeSync(file, whole) < whole.length) throw new Error('the disk is full');
  } finally {
    closeSync(file);
  }
};

const checkFile = (file: number): { readonly size: number } => {
  const stats = fstatSync(file);
  if (!stats.isFile()) throw new Error(`${NAME} is not a regular file`);
  if (stats.uid !== getuid?.()) throw new Error(`${NAME} belongs to another user`);
  if ((stats.mode & OTHERS) !== 0) fchmodSync(file, FILE_MODE);
  return stats;
};

const lastByte = (file: number, size: number): number | undefined => {
  const byte = Buffer.alloc(1);
  return readSync(file, byte, 0, 1, size - 1) === 1 ? byte[0] : undefined;
};

const tryToRotate = (folder: string, inode: number, onFailure: (error: Error) => void): void => {
  try {
    rotate(folder, inode);
  } catch (error) {
    onFailure(new Error(`${NAME} cannot be moved to ${OLD_NAME}: ${systemReason(error)}`));
  }
};

/** Rotates the file under a lock: two wrappers that rotate at once would replace the old lines with a file of one new line. */
const rotate = (folder: string, inode: number): void => {
  const lock = join(folder, LOCK_NAME);
  if (!acquireLock(lock)) return;
  try {
    const stats = lstatSync(join(folder, NAME), { throwIfNoEntry: false });
    if (stats?.ino === inode) renameSync(join(folder, NAME), join(folder, OLD_NAME));
  } finally {
    rmSync(lock, { force: true });
  }
};

/** True if this wrapper now holds the lock. If another one does, the file just grows by a line. */
const acquireLock = (lock: string): boolean => {
  try {
    closeSync(openSync(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE));
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    const stats = lstatSync(lock, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > LOCK_MS) rmSync(lock, { force: true });
    return false;
  }
};
