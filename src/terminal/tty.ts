import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import type { TerminalAnswers } from '../core/doctor-report.js';
import { makeWriteQueue, type WriteQueue } from './write-queue.js';

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
  /** stops reading what the user types, so that the terminal has to keep it */
  pauseInput: () => void;
  resumeInput: () => void;
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

/** What Node has of a terminal beside the stream; internal, so nothing is taken for granted. */
interface Handle {
  readonly fd?: number;
  readonly setBlocking?: (blocking: boolean) => void;
}

/** Whether this is the terminal that /dev/tty stands for; false where the system does not tell. */
const isControlling = (fd: number): boolean => {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // proc(5), field 7, tty_nr; the second field is a name in brackets, which may hold blanks and brackets of its own
    const [, , , , device] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(device) === fstatSync(fd).rdev;
  } catch {
    return false;
  }
};

const openControlling = (): number | undefined => {
  try {
    return openSync('/dev/tty', constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
};

/**
 * A descriptor of the terminal on which a write never waits. O_NONBLOCK belongs to the open file, which we share with the shell that
 * started us: libuv opens the terminal anew where it may. A terminal of another user's (`sudo -u`) can still be opened as /dev/tty.
 */
const nonBlocking = (output: WriteStream & { readonly fd: number }): { fd: number; isOwn: boolean } => {
  const { _handle: handle } = output as unknown as { readonly _handle?: Handle };
  const isShared = handle?.fd === undefined || handle.fd === output.fd;
  const own = isShared && isControlling(output.fd) ? openControlling() : undefined;
  if (own !== undefined) return { fd: own, isOwn: true };
  handle?.setBlocking?.(false); // Node puts back at its end what it found
  return { fd: handle?.fd ?? output.fd, isOwn: false };
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
  return () => {
    input.off('data', listener.onInput);
    input.off('end', listener.onGone);
    input.pause(); // the error listeners stay: a late EIO must not end the process
  };
};

const queueTo = (output: WriteStream & { readonly fd: number }, listener: TtyListener): WriteQueue => {
  const { fd, isOwn } = nonBlocking(output);
  const queue = makeWriteQueue({
    fd,
    isOpen: () => !output.destroyed,
    onDrained: listener.onDrain,
    onGone: listener.onGone,
  });
  if (!isOwn) return queue;
  return {
    ...queue,
    close: () => {
      queue.close();
      closeSync(fd);
    },
  };
};

/** The terminal that this process was started in; both its streams must be TTYs. */
export const openTty = (listener: TtyListener): Tty => {
  const { stdin: input, stdout: output } = process;
  const termios = stty('-g');
  let lastSize = sizeOf(output);
  const queue = queueTo(output, listener);
  let isInputPaused = false;
  const stopListening = listen(input, output, listener);
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
    write: (bytes) => queue.write(typeof bytes === 'string' ? Buffer.from(bytes) : bytes),
    pending: queue.pending,
    drained: queue.drained,
    pauseInput: () => {
      isInputPaused = true;
      input.pause();
    },
    resumeInput: () => {
      if (isInputPaused) input.resume();
      isInputPaused = false;
    },
    hold: () => {
      input.setRawMode(false); // without this libuv believes that the terminal is raw already
      input.setRawMode(true);
      stty('-opost'); // setRawMode leaves ONLCR on, which would turn the child's LF into CR LF
    },
    release: () => input.setRawMode(false),
    close: () => {
      isInputPaused = false;
      stopListening();
      queue.close();
    },
  };
};

/** What the process is told from outside, each with its own reaction. */
export interface SignalListener {
  /** HUP INT QUIT TERM USR1 USR2: meant for the child */
  onForward: (signal: NodeJS.Signals) => void;
  onResize: () => void;
  /** somebody stops us (TSTP) */
  onStop: () => void;
}

const forwarded: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'];

/** Listens until the returned function is called. */
export const listenToSignals = ({ onForward, onResize, onStop }: SignalListener): (() => void) => {
  for (const signal of forwarded) process.on(signal, onForward);
  process.on('SIGWINCH', onResize);
  process.on('SIGTSTP', onStop);
  return () => {
    for (const signal of forwarded) process.off(signal, onForward);
    process.off('SIGWINCH', onResize);
    process.off('SIGTSTP', onStop);
  };
};

const AFTER_STOP_MS = 50; // timers do not run while we are stopped

/**
 * Stops our whole process group, as the terminal driver does at Ctrl-Z, and resolves when we run again. In a group that no shell
 * watches over (orphaned, POSIX 2.4.3) the system ignores the stop, and we go on at once.
 */
export const stopOurselves = (): Promise<void> =>
  new Promise((resolve) => {
    const listeners = process.listeners('SIGTSTP');
    process.removeAllListeners('SIGTSTP');
    setTimeout(() => {
      for (const listener of listeners) process.on('SIGTSTP', listener);
      resolve();
    }, AFTER_STOP_MS);
    process.kill(0, 'SIGTSTP');
  });

/** Calls back for anything thrown that nobody caught, instead of ending the process. Returns the function that ends this. */
export const catchStrayErrors = (onError: (error: unknown) => void): (() => void) => {
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return () => {
    process.off('uncaughtException', onError);
    process.off('unhandledRejection', onError);
  };
};

// Asks the terminal what it is, for `ctxwrap doctor`. Not for a session: there the answers travel with the user's keys.

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
