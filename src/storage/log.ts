import { closeSync, fstatSync, realpathSync, renameSync, statSync, writeSync } from 'node:fs';
import { logLevels } from '../core/log-levels.js';
import type { LogLevel } from '../core/log-levels.js';
import type { Millis } from '../core/reading.js';
import { openPrivateFile } from './private-file.js';
import { reasonOf, unwritable } from './unwritable.js';

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
