import { reasonOf } from '../storage/unwritable.js';
import { unwritableOutput } from './messages.js';

/**
 * Writes to the standard output. Resolves when that is done: to false when nobody reads any more, as after `| head`. Rejects when it
 * cannot be done, as on a full disk.
 */
export const print = async (text: string): Promise<boolean> => {
  const { stdout } = process;
  if (text === '') return !stdout.destroyed;
  if (stdout.listenerCount('error') === 0) stdout.on('error', () => undefined); // it comes to the one who writes, too
  const error = await new Promise<unknown>((done) => stdout.write(text, done));
  if (!error) return true;
  if (error instanceof Error && 'code' in error && GONE.has(error.code)) return false;
  throw unwritableOutput(reasonOf(error));
};

const GONE: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);
