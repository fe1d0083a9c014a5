import { readFileSync } from 'node:fs';
import { errorCode } from '../core/errors.js';
import { systemReason } from '../storage/errors.js';
import { readLook, type Env } from '../ui/look.js';
import { unwritableOutput } from './messages.js';

/**
 * Writes to standard output. Resolves when done: to false when the reader is gone, as after `| head`. Rejects when it fails, as on a full
 * disk.
 */
export const print = async (text: string): Promise<boolean> => {
  const { stdout } = process;
  if (text === '') return !stdout.destroyed;
  if (stdout.listenerCount('error') === 0) stdout.on('error', () => undefined); // the callback reports it too
  const error = await new Promise<unknown>((done) => stdout.write(text, done));
  if (!error) return true;
  if (GONE.has(errorCode(error))) return false;
  throw unwritableOutput(systemReason(error));
};

const GONE: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** From package.json, which lies beside the bundle's folder. */
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
    return process.env['PWD'] ?? '/'; // the current folder has been removed
  }
};

const asciiSigns: Readonly<Record<string, string>> = {
  '▶': '>',
  '→': '>',
  '–': '-',
  '×': 'x',
  '·': '-',
  '✓': 'ok',
  '✗': 'no',
  '…': '*', // a `~` would make the end of a path look like a path of its own
};

/** Replaces ctxwrap's own symbols in a terminal that has only ASCII; the user's text stays. */
export const toAsciiIfNeeded = (text: string, env: Env): string =>
  readLook({ env, isTTY: false, columns: 0 }).ascii
    ? text.replace(/[▶→–×·✓✗…]/gu, (sign) => asciiSigns[sign] ?? sign)
    : text;
