import { closeSync, write } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errorCode } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import { systemReason, unwritableFileError } from './errors.js';
import { openPrivateFile } from './files.js';

// Records a session (`--record`). First, a file that is written asynchronously: appending never blocks and never throws.

export interface FileQueue {
  readonly append: (text: string) => void;
  /** resolves when everything is written, has failed, or the file took nothing for `closeWaitMs` */
  readonly close: () => Promise<void>;
}

/** UTF-16 units that may wait for a slow file. Beyond that the recording stops, not the session. */
export const maxPendingLength = 16_000_000;

const closeWaitMs = 2000;
const fullDeviceWaitMs = 20;

/** Opens and truncates a file; throws the system's error. `onFailure` is called at most once. */
const openFileQueue = (path: string, onFailure: (reason: string) => void): FileQueue => {
  const file = openPrivateFile(path, 'empty');
  let waiting: string[] = [];
  let pendingLength = 0;
  let writing: Promise<void> | undefined;
  let isUsable = true;

  const fail = (reason: string): void => {
    if (isUsable) onFailure(reason);
    isUsable = false;
    waiting = [];
  };

  const drain = async (): Promise<void> => {
    while (isUsable && waiting.length > 0) {
      const text = waiting.join('');
      waiting = [];
      try {
        await writeAll(file, Buffer.from(text));
      } catch (error) {
        fail(systemReason(error));
      }
      pendingLength -= text.length;
    }
    writing = undefined;
  };

  return {
    append: (text) => {
      if (!isUsable) return;
      pendingLength += text.length;
      waiting.push(text);
      if (pendingLength > maxPendingLength) return fail('the disk is too slow for the recording');
      writing ??= drain();
    },
    close: async () => {
      await Promise.race([writing, wait(closeWaitMs, undefined, { ref: false })]);
      if (writing) return fail('the file takes no more bytes');
      if (isUsable) closeSync(file);
      isUsable = false;
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

// asciicast v2: a JSON header line, then one JSON line per event, https://docs.asciinema.org/manual/asciicast/v2/

/** A running recording. Nothing here blocks or throws. */
export interface Recording {
  /** the child's output, before the filter */
  readonly output: (bytes: Uint8Array) => void;
  /** the user's input; recorded only with `withInput` */
  readonly input: (bytes: Uint8Array) => void;
  readonly resize: (columns: number, rows: number) => void;
  readonly close: () => Promise<void>;
}

export interface RecordingOptions {
  /** size of the child's screen, not of the user's terminal */
  readonly columns: number;
  readonly rows: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** a monotonic clock */
  readonly now: () => Millis;
  readonly withInput: boolean;
  /** called once, when the file can no longer be written and recording has stopped */
  readonly onFailure: (reason: string) => void;
}

/** Opens the file before the child starts; throws a UserError if it cannot be written. */
export const openRecording = (path: string, options: RecordingOptions): Recording => {
  const startedAt = options.now();
  const file = open(path, options.onFailure);
  const appendEvent = (kind: 'o' | 'i' | 'r', data: string): void => {
    if (data === '') return;
    const seconds = (options.now() - startedAt) / 1000;
    file.append(`[${seconds.toFixed(6)}, "${kind}", ${JSON.stringify(data)}]\n`);
  };
  const output = makeTextDecoder();
  const input = makeTextDecoder();

  file.append(`${JSON.stringify(header(options, startedAt))}\n`);
  return {
    output: (bytes) => appendEvent('o', output.decode(bytes, { stream: true })),
    input: (bytes) => {
      if (options.withInput) appendEvent('i', input.decode(bytes, { stream: true }));
    },
    resize: (columns, rows) => appendEvent('r', `${columns}x${rows}`),
    close: () => {
      appendEvent('o', output.decode()); // an incomplete last character of the child
      appendEvent('i', input.decode());
      return file.close();
    },
  };
};

const open = (path: string, onFailure: (reason: string) => void) => {
  try {
    return openFileQueue(path, onFailure);
  } catch (error) {
    throw unwritableFileError('recording', path, systemReason(error));
  }
};

const header = ({ columns, rows, env }: RecordingOptions, startedAt: Millis) => ({
  version: 2,
  width: columns,
  height: rows,
  timestamp: Math.floor(startedAt / 1000),
  env: { TERM: env['TERM'] ?? '', SHELL: env['SHELL'] ?? '' },
});

// A chunk may end inside a character; a byte order mark is part of the output and is kept.
const makeTextDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
