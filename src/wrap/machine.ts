// What a wrap needs of the machine, tried without a child.
import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalAnswers } from '../core/doctor-report.js';
import { reasonOf } from '../storage/unwritable.js';
import { askTerminal } from '../terminal/ask-terminal.js';

/** Why no pseudo-terminal can be had; undefined when one can. */
export const ptyFailure = (): Promise<string | undefined> =>
  import('../terminal/child.js').then(() => undefined, reasonOf);

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
