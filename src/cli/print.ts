import { readFileSync } from 'node:fs';
import { errorCode, UserError } from '../core/errors.js';
import { type Printable, type Styled, toPrintableLines } from '../core/printable.js';
import { systemReason } from '../storage/errors.js';
import { readLook, type Env } from '../core/look.js';
import { OWN_FAILURE } from './messages.js';

/**
 * Writes to standard output. Resolves when done: to false when the reader is gone, as after `| head`. Rejects when it fails, as on a full
 * disk.
 */
export const print = async (text: Printable): Promise<boolean> => {
  const { stdout } = process;
  if (text === '') return !stdout.destroyed;
  if (stdout.listenerCount('error') === 0) stdout.on('error', () => undefined); // the callback reports it too
  const error = await new Promise<unknown>((done) => stdout.write(text, done));
  if (!error) return true;
  if (GONE.has(errorCode(error))) return false;
  throw new UserError(`cannot write the output: ${systemReason(error)}`, { exitCode: OWN_FAILURE });
};

/** Rows with a newline behind each, and ctxwrap's own symbols in ASCII where the terminal has only that. */
export const linesToPrint = (lines: readonly Styled[]): Printable =>
  toAsciiIfNeeded(toPrintableLines(lines), process.env);

export const printLines = (lines: readonly Styled[]): Promise<boolean> => print(linesToPrint(lines));

/** Writes to standard error, if that still exists. Nothing else opens it, because that takes a millisecond of every start. */
export const printError = (text: Printable): void => {
  const { stderr } = process;
  if (stderr.listenerCount('error') === 0) stderr.on('error', () => undefined); // there is nowhere else to report it
  stderr.write(text);
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
export const toAsciiIfNeeded = <Text extends string>(text: Text, env: Env): Text =>
  readLook({ env, isTTY: false, columns: 0 }).ascii
    ? (text.replace(/[▶→–×·✓✗…]/gu, (sign) => asciiSigns[sign] ?? sign) as Text)
    : text;
