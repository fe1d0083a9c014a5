// Asks the terminal what it is, for `ctxwrap doctor`. Not for a session: there the answers travel with the user's keys.
import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalAnswers } from '../core/doctor-report.js';

// Every terminal answers DA1, and in the order of the questions: after it nothing more will come.
const QUESTIONS = '\x1b[>q\x1b[?2026$p\x1b[?u\x1b[c';
const DA1 = /\x1b\[\?[\d;]*c/;

/** The terminal must be in nobody's hands; keys that are pressed meanwhile are lost. */
export const askTerminal = async (
  input: ReadStream,
  output: WriteStream,
  waitMs: number,
): Promise<TerminalAnswers> => {
  const wasRaw = input.isRaw;
  input.setRawMode(true);
  try {
    return readAnswers(await answersTo(input, output, waitMs));
  } finally {
    input.setRawMode(wasRaw);
    input.pause();
  }
};

const answersTo = (input: ReadStream, output: WriteStream, waitMs: number): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const finish = (): void => {
      clearTimeout(timer);
      input.off('data', take);
      resolve(text);
    };
    const take = (bytes: Uint8Array): void => {
      text += Buffer.from(bytes).toString('latin1');
      if (DA1.test(text)) finish();
    };
    const timer = setTimeout(finish, waitMs);
    input.on('data', take);
    output.write(QUESTIONS);
  });

/** Reads answers in any order, with keys of the user's between them. */
const readAnswers = (text: string): TerminalAnswers => {
  const name = /\x1bP>\|([^\x1b\x07]*)/.exec(text)?.[1];
  const mode = /\x1b\[\?2026;(\d)\$y/.exec(text)?.[1];
  const answers = DA1.test(text);
  return {
    answers,
    ...(name === undefined ? {} : { name }),
    ...(answers ? { synchronized: mode !== undefined && mode !== '0' && mode !== '4' } : {}),
    ...(answers ? { kittyKeyboard: /\x1b\[\?\d+u/.test(text) } : {}),
  };
};
