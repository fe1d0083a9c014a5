import { spawn } from 'node:child_process';
import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalAnswers } from '../../core/report/doctor-report.js';
import { systemReason } from '../../storage/errors.js';
import { killGroup } from '../../storage/processes.js';
import { queryTerminal } from '../../terminal/tty.js';

// Checks of the machine that need no wrapped child: the PTY module, the terminal, and an agent's version.

/** Why no pseudo-terminal can be opened; undefined when one can. */
export const ptyFailure = (): Promise<string | undefined> =>
  import('../../terminal/native-pty.js')
    .then(({ loadAddon }) => {
      loadAddon();
      return undefined;
    })
    .catch(systemReason);

export interface ProbedTerminal {
  readonly size: { readonly columns: number; readonly rows: number };
  readonly answers: TerminalAnswers;
}

/** Queries the terminal behind the two streams; undefined where one of them is no terminal. */
export const probeTerminal = async (
  input: ReadStream,
  output: WriteStream,
  waitMs: number,
): Promise<ProbedTerminal | undefined> => {
  if (!input.isTTY || !output.isTTY) return undefined;
  const { columns, rows } = output;
  return { size: { columns, rows }, answers: await queryTerminal(input, output, waitMs) };
};

// The output of an agent's `--version`. It runs in a session of its own, so it cannot access the terminal, and all processes it starts are
// ended with it.

const MOST_CHARACTERS = 64 * 1024;

/** Undefined when it cannot be started or does not end within `longestMs`. */
export const readVersionOutput = (file: string, longestMs: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(file, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    let text = '';
    const finish = (answer: string | undefined): void => {
      clearTimeout(timer);
      killGroup(child.pid);
      child.stdout.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(undefined), longestMs);
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.length > MOST_CHARACTERS) finish(text);
    });
    child.on('error', () => finish(undefined));
    child.on('close', () => finish(text));
  });
