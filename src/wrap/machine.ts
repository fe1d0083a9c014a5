import { spawn } from 'node:child_process';
import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalAnswers } from '../core/doctor-report.js';
import { reasonOf } from '../storage/errors.js';
import { endGroup } from '../storage/processes.js';
import { askTerminal } from '../terminal/tty.js';

// What a wrap needs of the machine, tried without a child.

/** Why no pseudo-terminal can be had; undefined when one can. */
export const ptyFailure = (): Promise<string | undefined> =>
  import('../terminal/pty.js').then(() => undefined, reasonOf);

export interface OwnTerminal {
  readonly size: { readonly columns: number; readonly rows: number };
  readonly answers: TerminalAnswers;
}

/** The terminal behind two streams, asked what it is; undefined where one of them is none. */
export const ownTerminal = async (
  input: ReadStream,
  output: WriteStream,
  waitMs: number,
): Promise<OwnTerminal | undefined> => {
  if (!input.isTTY || !output.isTTY) return undefined;
  const { columns, rows } = output;
  return { size: { columns, rows }, answers: await askTerminal(input, output, waitMs) };
};

// What an agent prints for `--version`. It runs in a session of its own: it cannot touch the terminal, and all that it starts is ended with it.

const MOST_CHARACTERS = 64 * 1024;

/** Undefined when it cannot be started or does not end within `longestMs`. */
export const versionOutput = (file: string, longestMs: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(file, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    let text = '';
    const over = (answer: string | undefined): void => {
      clearTimeout(timer);
      endGroup(child.pid);
      child.stdout.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => over(undefined), longestMs);
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.length > MOST_CHARACTERS) over(text);
    });
    child.on('error', () => over(undefined));
    child.on('close', () => over(text));
  });
