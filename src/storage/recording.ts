import { closeSync, write } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorCode } from '../core/json.js';
import type { Millis } from '../core/reading.js';
import { reasonOf, unwritable } from './errors.js';
import { openPrivateFile } from './files.js';

// A file that is written behind the back of the event loop: appending never waits and never throws.

export interface FileQueue {
  readonly append: (text: string) => void;
  /** resolves when everything is written, has failed, or the file took nothing for `closeWaitMs` */
  readonly close: () => Promise<void>;
}

/** UTF-16 units kept for a file that takes them slower than they come. Beyond it the file is given up, not the session. */
export const maxPendingLength = 16_000_000;

const closeWaitMs = 2000;
const fullDeviceWaitMs = 20;

/** Opens (and empties) a file; throws what the system throws. `onFailure` is called at most once. */
const openFileQueue = (path: string, onFailure: (reason: string) => void): FileQueue => {
  const file = openPrivateFile(path, 'empty');
  let waiting: string[] = [];
  let pendingLength = 0;
  let writing: Promise<void> | undefined;
  let usable = true;

  const fail = (reason: string): void => {
    if (usable) onFailure(reason);
    usable = false;
    waiting = [];
  };

  const drain = async (): Promise<void> => {
    while (usable && waiting.length > 0) {
      const text = waiting.join('');
      waiting = [];
      try {
        await writeAll(file, Buffer.from(text));
      } catch (error) {
        fail(reasonOf(error));
      }
      pendingLength -= text.length;
    }
    writing = undefined;
  };

  return {
    append: (text) => {
      if (!usable) return;
      pendingLength += text.length;
      waiting.push(text);
      if (pendingLength > maxPendingLength) return fail('the file takes the bytes slower than they come');
      writing ??= drain();
    },
    close: async () => {
      await Promise.race([writing, wait(closeWaitMs, undefined, { ref: false })]);
      if (writing) return fail('the file takes no more bytes');
      if (usable) closeSync(file);
      usable = false;
    },
  };
};

const writeSome = promisify(write);

const writeAll = async (file: number, bytes: Buffer): Promise<void> => {
  let start = 0;
  while (start < bytes.length) {
    try {
      start += (await writeSome(file, bytes, start)).bytesWritten;
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      await wait(fullDeviceWaitMs);
    }
  }
};

// asciicast v2: a JSON header line, then one JSON line an event, https://docs.asciinema.org/manual/asciicast/v2/

/** A session being recorded. Nothing here waits or throws; bytes are text only in the file. */
export interface Recording {
  /** bytes of the child, as it sent them */
  readonly output: (bytes: Uint8Array) => void;
  /** bytes of the user; recorded only if the recording was opened for input */
  readonly input: (bytes: Uint8Array) => void;
  readonly resize: (columns: number, rows: number) => void;
  readonly close: () => Promise<void>;
}

export interface RecordingOptions {
  /** size of the child's screen, not of the user's terminal */
  readonly columns: number;
  readonly rows: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** a clock that never goes back */
  readonly now: () => Millis;
  readonly withInput: boolean;
  /** told once, when the file cannot be written any more and recording has stopped */
  readonly onFailure: (reason: string) => void;
}

/** Opens the file before the child starts; throws a UserError if it cannot be written. */
export const openRecording = (path: string, options: RecordingOptions): Recording => {
  const startedAt = options.now();
  const file = open(path, options.onFailure);
  const event = (kind: 'o' | 'i' | 'r', data: string): void => {
    if (data === '') return;
    const seconds = (options.now() - startedAt) / 1000;
    file.append(`[${seconds.toFixed(6)}, "${kind}", ${JSON.stringify(data)}]\n`);
  };
  const output = textReader();
  const input = textReader();

  file.append(`${JSON.stringify(header(options, startedAt))}\n`);
  return {
    output: (bytes) => event('o', output.decode(bytes, { stream: true })),
    input: (bytes) => {
      if (options.withInput) event('i', input.decode(bytes, { stream: true }));
    },
    resize: (columns, rows) => event('r', `${columns}x${rows}`),
    close: () => {
      event('o', output.decode()); // a character the child left unfinished
      event('i', input.decode());
      return file.close();
    },
  };
};

const open = (path: string, onFailure: (reason: string) => void) => {
  try {
    return openFileQueue(path, onFailure);
  } catch (error) {
    throw unwritable('recording', path, reasonOf(error));
  }
};

const header = ({ columns, rows, env }: RecordingOptions, startedAt: Millis) => ({
  version: 2,
  width: columns,
  height: rows,
  timestamp: Math.floor(startedAt / 1000),
  env: { TERM: env['TERM'] ?? '', SHELL: env['SHELL'] ?? '' },
});

// A chunk may end inside a character; a byte order mark is the child's, and is kept.
const textReader = () => new TextDecoder('utf-8', { ignoreBOM: true });
