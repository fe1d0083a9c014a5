import { spawnSync } from 'node:child_process';
import type { ReadStream, WriteStream } from 'node:tty';

export interface Size {
  readonly columns: number;
  readonly rows: number;
  /** the terminal has not told */
  readonly isGuess?: true;
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
  /** stops listening, so that the process can end */
  close: () => void;
}

export interface TtyListener {
  onInput: (bytes: Uint8Array) => void;
  /** the terminal has taken everything that waited */
  onDrain: () => void;
  /** the terminal has hung up: nothing can be read or written any more */
  onGone: () => void;
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

/** Serial lines and containers can have a terminal without a size: programs take it for 80 by 24, and so do we, without a footer. */
const sizeOf = (output: WriteStream): Size => {
  const [columns, rows] = output.getWindowSize();
  return columns > 0 && rows > 0
    ? { columns, rows }
    : { columns: columns || 80, rows: rows || 24, isGuess: true };
};

const listen = (input: ReadStream, output: WriteStream, listener: TtyListener): (() => void) => {
  input.on('data', listener.onInput);
  input.on('end', listener.onGone);
  input.on('error', listener.onGone);
  output.on('error', listener.onGone);
  output.on('drain', listener.onDrain);
  return () => {
    input.off('data', listener.onInput);
    input.off('end', listener.onGone);
    output.off('drain', listener.onDrain);
    input.pause(); // the error listeners stay: a late EIO must not end the process
  };
};

/** Resolves when `output` has taken everything; at once when it is gone. */
const drained = (output: WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (output.destroyed) return resolve();
    output.once('close', () => resolve());
    output.write('', () => resolve());
  });

/** The terminal that this process was started in; both its streams must be TTYs. */
export const openTty = (listener: TtyListener): Tty => {
  const { stdin: input, stdout: output } = process;
  const termios = stty('-g');
  let lastSize = sizeOf(output);
  stopBlocking(output);
  const close = listen(input, output, listener);
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
    drained: () => drained(output),
    hold: () => {
      input.setRawMode(false); // without this libuv believes that the terminal is raw already
      input.setRawMode(true);
      stty('-opost'); // setRawMode leaves ONLCR on, which would turn the child's LF into CR LF
    },
    release: () => input.setRawMode(false),
    close,
  };
};
