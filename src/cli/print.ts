import { readFileSync } from 'node:fs';
import { errorCode } from '../core/errors.js';
import { systemReason } from '../storage/errors.js';
import { readLook, type Env } from '../ui/look.js';
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
  if (GONE.has(errorCode(error))) return false;
  throw unwritableOutput(systemReason(error));
};

const GONE: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** As in our package.json, which lies beside the folder of the bundle. */
export const version = (): string => {
  const { version: found }: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return found;
};

export const workingFolder = (): string => {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/'; // the folder was removed under us
  }
};

const asciiSigns: Readonly<Record<string, string>> = {
  '▶': '>',
  '→': '>',
  '·': '-',
  '✓': 'ok',
  '✗': 'no',
  '…': '*', // a `~` would make a path of the end of one
};

/** The signs with which our texts are drawn, in a terminal that has no others than ASCII; the rest is the user's own. */
export const toAsciiIfNeeded = (text: string, env: Env): string =>
  readLook(env, false, 0).ascii ? text.replace(/[▶→·✓✗…]/gu, (sign) => asciiSigns[sign] ?? sign) : text;
