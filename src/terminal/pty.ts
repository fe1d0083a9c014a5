import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import { type NativePtyOptions, openNativePty, type UnreadPty } from './native-pty.js';
import type { Size } from './tty.js';
import { makeWriteQueue } from './write-queue.js';

// Runs the agent in a pseudo-terminal.

/**
 * The child's side of the PTY (pts), which the wrapper keeps open too. Otherwise the PTY hangs up when the child exits, and unread output
 * is lost: libuv takes a short read together with a hang-up for the end, and a PTY on Linux gives 4 KB per read.
 */
export interface HeldPts {
  noteOutput: () => void;
  /** the child may have just exited: its output must be read now, without back-pressure */
  isEnding: () => boolean;
  /** closes the pts, so that the PTY can hang up */
  close: () => void;
}

// SIGCHLD may be for another child or a suspend; node-pty waits 200 ms for the last output of a child that has exited.
const ENDING_MS = 1_000;
const POLL_MS = 5; // without output in this time everything has been read

const hasExited = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

/** If this fails the session continues; only the last output of a child under back-pressure may be lost. */
const openTerminal = (path: string): number | undefined => {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
};

/** `path` of the pts; `onEnding` is called whenever the child may have exited. */
export const holdPtsOpen = (path: string, pid: number, onEnding: () => void): HeldPts =>
  holdPts(openTerminal(path), pid, onEnding);

const holdPts = (opened: number | undefined, pid: number, onEnding: () => void): HeldPts => {
  let held = opened;
  let endingUntil = -Infinity;
  let hasOutput = false;
  let timer: NodeJS.Timeout | undefined = setTimeout(() => poll(), POLL_MS); // the child may have exited before the signal listener is set

  const close = (): void => {
    clearTimeout(timer);
    process.off('SIGCHLD', onSignal);
    if (held !== undefined) closeSync(held);
    held = undefined;
  };
  const isEnding = (): boolean => performance.now() < endingUntil;
  const closeIfRead = (): void => {
    if (held === undefined) return;
    if (!hasOutput) return close();
    timer ??= setTimeout(poll, POLL_MS);
  };
  const poll = (): void => {
    timer = undefined;
    const isExited = hasExited(pid);
    // on a busy machine the timer may fire before output was polled; an immediate runs after the poll phase
    if (isExited && !hasOutput) return void setImmediate(closeIfRead);
    hasOutput = false;
    if (isExited || isEnding()) timer = setTimeout(poll, POLL_MS);
  };
  const onSignal = (): void => {
    endingUntil = performance.now() + ENDING_MS;
    hasOutput = true; // the first check only covers output up to then
    onEnding();
    timer ??= setTimeout(poll, 0);
  };
  process.on('SIGCHLD', onSignal);
  return {
    noteOutput: () => {
      hasOutput = true;
    },
    isEnding,
    close,
  };
};

/** How the child ended; `signal` is a number, 0 for a normal exit. */
export interface ChildEnd {
  readonly exitCode: number;
  readonly signal: number;
}

/** The agent, running in a pseudo-terminal of its own. */
export interface Child {
  readonly pid: number;
  /** queues what the child does not read yet; never blocks */
  write: (bytes: Uint8Array) => void;
  /** bytes that the child has not read yet */
  pending: () => number;
  resize: (size: Size) => void;
  /** height of its terminal, as last set */
  rows: () => number;
  /**
   * signals the child's process group: some agents ignore a signal to their first process
   * (docs/facts/gemini.md#ends-and-starts-without-a-terminal)
   */
  signal: (signal: NodeJS.Signals) => void;
  /** back-pressure: stops reading; reading resumes when the child exits, so that its last output is not lost */
  pause: () => void;
  resume: () => void;
}

export interface ChildOptions extends Omit<NativePtyOptions, 'columns' | 'rows'> {
  readonly size: Size;
  /** termios of the user's terminal for the new PTY, as `stty -g` prints it; '' for the system's default */
  readonly termios: string;
}

export interface ChildListener {
  /** the bytes are valid until it returns */
  onOutput: (bytes: Uint8Array) => void;
  /** the child has read everything queued, or will read nothing more */
  onDrain: () => void;
  /** the child has just ended; its last output may still follow */
  onGone?: () => void;
  /** after the last byte of output */
  onEnd: (end: ChildEnd) => void;
}

// Before the child starts, its PTY gets the settings of the user's terminal (erase key, IUTF8, flow control).
const SETTINGS_THEN_EXEC = 'stty "$1" 2>/dev/null; shift; exec "$@"';

/** The working directory under the user's name for it (PWD): node-pty puts it into PWD. */
const workingDirectory = (cwd: string, named: string | undefined): string => {
  try {
    return named !== undefined && realpathSync(named) === realpathSync(cwd) ? named : cwd;
  } catch {
    return '.'; // the directory was removed; `.` still refers to its inode
  }
};

/** LINES and COLUMNS, if the user exports them, must give the child's size. */
const environmentFor = (
  env: Readonly<Record<string, string>>,
  { columns, rows }: Size,
): Record<string, string> => {
  const result: Record<string, string> = { ...env };
  if (result['LINES'] !== undefined) result['LINES'] = `${rows}`;
  if (result['COLUMNS'] !== undefined) result['COLUMNS'] = `${columns}`;
  return result;
};

/** A child that runs. What it writes waits in its pseudo-terminal until somebody listens. */
export interface UnreadChild {
  readonly pid: number;
  /** milliseconds since 1970 */
  readonly startedAt: number;
  /** nobody will listen: ends the child, and hangs up. Does nothing once somebody listens. */
  readonly abandon: () => void;
  /** to be called once, and soon: a child that writes more than 4 KB waits until then */
  readonly listen: (listener: ChildListener) => Child;
}

/** Starts the child. Throws the system's error if no pseudo-terminal is available. */
export const startChild = ({ file, args, cwd, env, size, termios }: ChildOptions): UnreadChild => {
  const isDirect = termios === '';
  const pty = openNativePty({
    file: isDirect ? file : '/bin/sh',
    args: isDirect ? args : ['-c', SETTINGS_THEN_EXEC, 'ctxwrap', termios, file, ...args],
    cwd: workingDirectory(cwd, env['PWD']),
    env: { TERM: 'xterm-256color', ...environmentFor(env, size) },
    columns: size.columns,
    rows: size.rows,
  });
  const held = openTerminal(pty.ptsName);
  let isTaken = false;
  return {
    pid: pty.pid,
    startedAt: Date.now(),
    abandon: () => {
      if (isTaken) return;
      isTaken = true;
      if (held !== undefined) closeSync(held);
      signalGroup(pty.pid, 'SIGTERM'); // for one that ignores the hangup
      pty.close();
    },
    listen: (listener) => {
      isTaken = true;
      return listenTo(pty, held, { size, listener });
    },
  };
};

const listenTo = (
  unread: UnreadPty,
  held: number | undefined,
  { size, listener }: { readonly size: Size; readonly listener: ChildListener },
): Child => {
  let isPaused = false;
  let lastRows = size.rows;
  const handleClose = (): void => {
    queue.close();
    listener.onDrain();
  };
  const pty = unread.read({
    onData: (bytes) => {
      heldPts.noteOutput();
      listener.onOutput(bytes);
    },
    onClose: handleClose,
    onGone: listener.onGone,
    onExit: (exitCode, signal) => {
      heldPts.close();
      listener.onEnd({ exitCode, signal });
    },
  });
  const resume = (): void => {
    if (isPaused) pty.resume();
    isPaused = false;
  };
  const heldPts = holdPts(held, pty.pid, resume);
  const isOpen = (): boolean => !pty.isClosed();
  const ignore = (): void => undefined; // reading from the PTY reports the end
  const queue = makeWriteQueue({ fd: pty.fd, isOpen, onDrained: listener.onDrain, onHangUp: ignore });
  return {
    pid: pty.pid,
    write: queue.write,
    pending: queue.pending,
    resize: ({ columns, rows }) => {
      lastRows = Math.max(1, rows);
      if (isOpen()) pty.resize(Math.max(1, columns), lastRows);
    },
    rows: () => lastRows,
    signal: (signal) => signalGroup(pty.pid, signal),
    pause: () => {
      if (isPaused || heldPts.isEnding()) return;
      pty.pause();
      isPaused = true;
    },
    resume,
  };
};

/** The child leads a session of its own, so its process group has its pid. */
const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // the group has already ended; onEnd follows
  }
};
