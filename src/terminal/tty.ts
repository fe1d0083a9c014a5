import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { OnReadOpts, SocketConstructorOpts } from 'node:net';
import { ReadStream, type WriteStream } from 'node:tty';
import type { TerminalAnswers } from '../core/report/doctor-report.js';
import { makeWriteQueue, type StreamedWrite, type WriteQueue } from './write-queue.js';
import { present } from '../core/present.js';

// The user's terminal: raw mode, reading, writing, signals, and the queries of `ctxwrap doctor`.

export interface Size {
  readonly columns: number;
  readonly rows: number;
  /** the terminal reports no size */
  readonly isGuess?: true;
}

/** The user's terminal. */
export interface Tty {
  /** read from the kernel each time: the resize event alone comes too late (docs/facts/terminals.md#resize) */
  size: () => Size;
  write: (bytes: Uint8Array | string) => void;
  /** starts to read; what came before waits in the kernel */
  listen: (listener: TtyListener) => void;
  /** bytes that the terminal has not taken yet */
  pending: () => number;
  /** resolves when the terminal has taken everything written so far, or has hung up */
  drained: () => Promise<void>;
  /** stops reading input; the kernel keeps it */
  pauseInput: () => void;
  resumeInput: () => void;
  /** the same for good: what is typed from now on stays in the terminal, for the program that reads it next */
  leaveInput: () => void;
  /** raw mode for input; output processing stays on, so that an LF becomes CR LF (stty-process.ts) */
  setRaw: () => void;
  /** restores the termios from before */
  restoreTermios: () => void;
  /** stops listening, so that the process can end */
  close: () => void;
  isClosed: () => boolean;
}

export interface TtyListener {
  onInput: (bytes: Uint8Array) => void;
  /** the terminal has taken everything queued */
  onDrain: () => void;
  /** the terminal has hung up: no more reads or writes */
  onHangUp: () => void;
}

/** Node's internal handle of a TTY stream; every member may be missing. */
interface Handle {
  readonly fd?: number;
  readonly setBlocking?: (blocking: boolean) => void;
  /** writes columns and rows into `size`, as the kernel has them now; returns an error's number, or 0 */
  readonly getWindowSize?: (size: [columns: number, rows: number]) => number;
}

type Output = WriteStream & { readonly fd: number };

const handleOf = (output: Output): Handle | undefined =>
  (output as unknown as { readonly _handle?: Handle })._handle;

/** Whether this is the controlling terminal, /dev/tty; false if the system does not say. */
const isControlling = (fd: number): boolean => {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // proc(5), field 7, tty_nr; field 2 is a name in parentheses, which may contain blanks and parentheses
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
 * A descriptor of the terminal on which a write never blocks. O_NONBLOCK belongs to the open file description, which the wrapper shares
 * with the shell that started it; libuv reopens the terminal if it can. Another user's terminal (`sudo -u`) can still be opened as
 * /dev/tty.
 */
const nonBlocking = (output: Output): { fd: number; isOwn: boolean; isReopened: boolean } => {
  const handle = handleOf(output);
  const isReopened = handle?.fd !== undefined && handle.fd !== output.fd;
  const own = !isReopened && isControlling(output.fd) ? openControlling() : undefined;
  if (own !== undefined) return { fd: own, isOwn: true, isReopened };
  handle?.setBlocking?.(false); // Node restores the flag when it exits
  return { fd: handle?.fd ?? output.fd, isOwn: false, isReopened };
};

/** Where libuv shares the description with other processes, or waits for a terminal in a way that nobody has tried, it is not used. */
const streamedTo = (output: Output): StreamedWrite | undefined =>
  process.platform === 'linux' ? (bytes, onDone) => void output.write(bytes, onDone) : undefined;

/** Node's own numbers are those of its last SIGWINCH, which it handles too late. */
const kernelSize = (output: Output): readonly [columns: number, rows: number] => {
  const size: [columns: number, rows: number] = [0, 0];
  return handleOf(output)?.getWindowSize?.(size) === 0 ? size : output.getWindowSize();
};

/** A terminal on a serial line or in a container may have no size; like other programs, the wrapper assumes 80 by 24, without a footer. */
export const terminalSize = (output: Output): Size => {
  const [columns, rows] = kernelSize(output);
  return columns > 0 && rows > 0
    ? { columns, rows }
    : { columns: columns || 80, rows: rows || 24, isGuess: true };
};

const INPUT_BYTES = 64 * 1024; // of one read; the kernel gives 4 KB

/**
 * Standard input, without the buffers and the events of Node's own stream for it, which cost a key as much as everything else here. It is a
 * stream of this session alone: another session in this process, or `process.stdin` after it, opens the terminal again.
 */
const openInput = (onInput: TtyListener['onInput']): ReadStream => {
  const buffer = new Uint8Array(INPUT_BYTES);
  const onread: OnReadOpts = {
    buffer,
    callback: (count) => {
      onInput(buffer.slice(0, count)); // the next read writes into the same buffer
      return true;
    },
  };
  return new ReadStream(0, { onread } as SocketConstructorOpts); // missing in @types/node
};

const ignore = (): void => undefined;

const watchForHangUp = (input: ReadStream, output: WriteStream, onHangUp: () => void): (() => void) => {
  input.on('end', onHangUp);
  input.on('error', onHangUp);
  output.on('error', onHangUp);
  if (!output.listeners('error').includes(ignore)) output.on('error', ignore); // a late EIO must not crash the process
  return () => {
    input.off('end', onHangUp);
    output.off('error', onHangUp);
    input.destroy();
  };
};

const queueTo = (output: Output, listener: Omit<TtyListener, 'onInput'>): WriteQueue => {
  const { fd, isOwn, isReopened } = nonBlocking(output);
  const queue = makeWriteQueue({
    fd,
    isOpen: () => !output.destroyed,
    onDrained: listener.onDrain,
    onHangUp: listener.onHangUp,
    streamed: isReopened ? streamedTo(output) : undefined,
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

/** Opens the terminal that this process was started in; stdin and stdout must be TTYs. */
export const openTty = (): Tty => {
  const { stdout: output } = process;
  let listener: TtyListener | undefined;
  let hasHungUp = false;
  const onHangUp = (): void => {
    if (hasHungUp) return; // each of input and output tells it
    hasHungUp = true;
    listener?.onHangUp();
  };
  const input = openInput((bytes) => listener?.onInput(bytes));
  let lastSize = terminalSize(output);
  const queue = queueTo(output, { onDrain: () => listener?.onDrain(), onHangUp });
  let isInputPaused = false;
  let isInputLeft = false;
  let isClosed = false;
  const stopListening = watchForHangUp(input, output, onHangUp);
  return {
    listen: (given) => {
      listener = given;
      input.resume();
      if (hasHungUp) given.onHangUp();
    },
    size: () => {
      try {
        lastSize = terminalSize(output);
      } catch {
        // a terminal that hung up has no size; onHangUp reports it
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
      if (isInputPaused && !isInputLeft) input.resume();
      isInputPaused = false;
    },
    leaveInput: () => {
      isInputLeft = true;
      input.pause();
    },
    setRaw: () => {
      input.setRawMode(false); // otherwise libuv assumes that the terminal is still raw
      input.setRawMode(true);
    },
    restoreTermios: () => input.setRawMode(false),
    close: () => {
      isClosed = true;
      isInputPaused = false;
      stopListening();
      queue.close();
    },
    isClosed: () => isClosed,
  };
};

/** Reactions to signals. */
export interface SignalListener {
  /** HUP INT QUIT TERM USR1 USR2: to forward to the child */
  onForward: (signal: NodeJS.Signals) => void;
  onResize: () => void;
  /** CHLD: a process that the wrapper has started has stopped, continues or has ended */
  onChild: () => void;
  /** TSTP: the wrapper is to be suspended */
  onSuspend: () => void;
}

const forwardedSignals: readonly NodeJS.Signals[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
];

/** Listens until the returned function is called. */
export const listenToSignals = ({
  onForward,
  onResize,
  onSuspend,
  onChild,
}: SignalListener): (() => void) => {
  for (const signal of forwardedSignals) process.on(signal, onForward);
  process.on('SIGWINCH', onResize);
  process.on('SIGTSTP', onSuspend);
  process.on('SIGCHLD', onChild);
  return () => {
    for (const signal of forwardedSignals) process.off(signal, onForward);
    process.off('SIGWINCH', onResize);
    process.off('SIGTSTP', onSuspend);
    process.off('SIGCHLD', onChild);
  };
};

/** A signal that was kept back. */
export const sendToItself = (signal: NodeJS.Signals): void => void process.kill(process.pid, signal);

const AFTER_STOP_MS = 50; // timers do not run while the process is suspended

/**
 * Suspends the wrapper's process group, as the terminal driver does at Ctrl-Z, and resolves when it runs again. In an orphaned process
 * group (POSIX 2.4.3) the system ignores the signal, and it resolves at once.
 */
export const suspendProcessGroup = (): Promise<void> =>
  new Promise((resolve) => {
    const listeners = process.listeners('SIGTSTP');
    process.removeAllListeners('SIGTSTP');
    setTimeout(() => {
      for (const listener of listeners) process.on('SIGTSTP', listener);
      resolve();
    }, AFTER_STOP_MS);
    process.kill(0, 'SIGTSTP');
  });

/** Calls `onError` for uncaught exceptions and unhandled rejections instead of ending the process, until the returned function is called. */
export const catchUncaughtErrors = (onError: (error: unknown) => void): (() => void) => {
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
  return () => {
    process.off('uncaughtException', onError);
    process.off('unhandledRejection', onError);
  };
};

// Queries the terminal for `ctxwrap doctor`. Not for a session, where answers arrive between the user's keys.

// Every terminal answers DA1, and answers come in the order of the queries: after DA1 nothing more will come.
const QUERIES = '\x1b[>q\x1b[?2026$p\x1b[?u\x1b[c';
const DA1 = /\x1b\[\?[\d;]*c/;

/** No session may use the terminal; keys pressed meanwhile are lost. */
export const queryTerminal = async (
  input: ReadStream,
  output: WriteStream,
  waitMs: number,
): Promise<TerminalAnswers> => {
  const wasRaw = input.isRaw;
  input.setRawMode(true);
  try {
    return readAnswers(await collectAnswers(input, output, waitMs));
  } finally {
    input.setRawMode(wasRaw);
    input.pause();
  }
};

const collectAnswers = (input: ReadStream, output: WriteStream, waitMs: number): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const finish = (): void => {
      clearTimeout(timer);
      input.off('data', addBytes);
      resolve(text);
    };
    const addBytes = (bytes: Uint8Array): void => {
      text += Buffer.from(bytes).toString('latin1');
      if (DA1.test(text)) finish();
    };
    const timer = setTimeout(finish, waitMs);
    input.on('data', addBytes);
    output.write(QUERIES);
  });

/** Reads answers in any order, with the user's keys between them. */
const readAnswers = (text: string): TerminalAnswers => {
  const name = /\x1bP>\|([^\x1b\x07]*)/.exec(text)?.[1];
  const mode = /\x1b\[\?2026;(\d)\$y/.exec(text)?.[1];
  const answers = DA1.test(text);
  return {
    answers,
    ...present({ name }),
    ...(answers ? { synchronized: mode !== undefined && mode !== '0' && mode !== '4' } : {}),
    ...(answers ? { kittyKeyboard: /\x1b\[\?\d+u/.test(text) } : {}),
  };
};
