import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { Millis } from '../core/reading.js';
import { reasonOf, unwritable } from './unwritable.js';

/** Where the wrapper says what it does, one line an event. Never throws. */
export interface Log {
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
  readonly error: (message: string) => void;
  readonly close: () => void;
}

/** Bytes in a log file after which nothing more is written: a log nobody reads must not fill a disk. */
export const maxLogBytes = 5_000_000;

const maxMessageLength = 2000;
const lastWords = 'the log is full, nothing more is written';

const nothing = (): void => undefined;

/** The log of a session without --log. */
export const nullLog: Log = { info: nothing, warn: nothing, error: nothing, close: nothing };

/** Opens a log file for appending; `now` gives the time of a line. Throws a UserError if the file cannot be written. */
export const openLog = (path: string, now: () => Millis): Log => {
  let file: number | undefined = open(path);
  let room = maxLogBytes - fstatSync(file).size;

  const append = (level: string, message: string): void => {
    if (file === undefined) return;
    const line = (text: string): string => `${new Date(now()).toISOString()} ${level} ${text}\n`;
    const wanted = line(printable(message));
    const last = line(lastWords);
    if (room < last.length) return;
    const fits = Buffer.byteLength(wanted) + last.length <= room;
    room = fits ? room - Buffer.byteLength(wanted) : 0;
    try {
      writeSync(file, fits ? wanted : last);
    } catch {
      room = 0; // a full disk or a closed pipe is no reason to disturb the session
    }
  };

  return {
    info: (message) => append('info', message),
    warn: (message) => append('warn', message),
    error: (message) => append('error', message),
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};

const open = (path: string): number => {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw unwritable('log', path, reasonOf(error));
  }
};

/** One line without control characters: a log is read with `cat`, and its texts come from files and terminals. */
const printable = (message: string): string =>
  message
    .slice(0, maxMessageLength)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
