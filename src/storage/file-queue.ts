// A file that is written behind the back of the event loop: appending never waits and never throws.
import { closeSync, write } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openPrivateFile } from './private-file.js';
import { reasonOf } from './unwritable.js';

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
export const openFileQueue = (path: string, onFailure: (reason: string) => void): FileQueue => {
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
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      await wait(fullDeviceWaitMs);
    }
  }
};
