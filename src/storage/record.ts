// asciicast v2: a JSON header line, then one JSON line an event, https://docs.asciinema.org/manual/asciicast/v2/
import type { Millis } from '../core/reading.js';
import { openFileQueue } from './file-queue.js';
import { reasonOf, unwritable } from './unwritable.js';

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
    const seconds = Math.max(0, options.now() - startedAt) / 1000;
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
