import { plain, shortened } from '../ui/plain-text.js';

/** Where the command says what it waits for: one line that is written anew in a terminal, and lines elsewhere. */
export interface ProgressLine {
  readonly say: (text: string) => void;
  /** leaves nothing of it in the terminal */
  readonly clear: () => void;
}

/** On the standard error, so that the output is only the outcome. */
export const progressLine = (): ProgressLine => {
  const { stderr } = process;
  const { isTTY, columns = 80 } = stderr;
  let isShown = false;
  return {
    say: (text) => {
      stderr.write(isTTY ? `\r\x1b[K${shortened(plain(text), columns - 1)}` : `ctxwrap: ${plain(text)}\n`);
      isShown = true;
    },
    clear: () => {
      if (isTTY && isShown) stderr.write('\r\x1b[K');
      isShown = false;
    },
  };
};

export const noProgress: ProgressLine = { say: () => undefined, clear: () => undefined };
