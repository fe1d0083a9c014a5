import { spawnSync } from 'node:child_process';
import type { ReadStream, WriteStream } from 'node:tty';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The user's terminal. */
export interface Tty {
  /** asked from the kernel each time: the resize event alone comes too late (facts/terminals.md §2) */
  size: () => Size;
  write: (bytes: Uint8Array | string) => void;
  /** bytes that the terminal has not taken yet */
  pending: () => number;
  /** resolves when everything written so far has been taken, or the terminal is gone */
  drained: () => Promise<void>;
  /** termios as it was before `hold`, in the form that `stty` takes back; '' if `stty` failed */
  readonly termios: string;
  /** raw mode without output processing; also after a stop, when the shell has changed the terminal */
  hold: () => void;
  /** exactly the termios from before */
  release: () => void;
}

const stty = (...args: string[]): string =>
  spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? '';

/** Node's TTY output blocks the whole process when the terminal stops reading; this internal switch lets it queue instead. */
const stopBlocking = (output: WriteStream): void => {
  const { _handle: handle } = output as unknown as {
    _handle?: { setBlocking?: (blocking: boolean) => void };
  };
  handle?.setBlocking?.(false);
};

const sizeOf = (output: WriteStream): Size => {
  const [columns, rows] = output.getWindowSize();
  return { columns, rows };
};

/** `onGone` is called when the terminal has hung up: nothing can be written any more. */
export const openTty = (input: ReadStream, output: WriteStream, onGone: () => void): Tty => {
  const termios = stty('-g');
  let lastSize = sizeOf(output);
  stopBlocking(output);
  output.on('error', onGone);
  return {
    termios,
    size: () => {
      try {
        lastSize = sizeOf(output);
      } catch {
        // a terminal that hung up has no size; its end is reported by onGone
      }
      return lastSize;
    },
    write: (bytes) => {
      if (!output.destroyed) output.write(bytes);
    },
    pending: () => output.writableLength,
    drained: () =>
      new Promise((resolve) => {
        if (output.destroyed) return resolve();
        output.once('close', () => resolve());
        output.write('', () => resolve());
      }),
    hold: () => {
      input.setRawMode(false); // without this libuv believes that the terminal is raw already
      input.setRawMode(true);
      stty('-opost'); // setRawMode leaves ONLCR on, which would turn the child's LF into CR LF
    },
    release: () => input.setRawMode(false),
  };
};
