import { spawn, type IPty } from '@lydell/node-pty';
import { closeSync, constants, openSync, realpathSync } from 'node:fs';
import type { Size } from './tty.js';
import { makeWriteQueue } from './write-queue.js';

/**
 * The program's side of the child's terminal, held open by us too. Without that the terminal hangs up when the child exits, and what
 * has not been read by then is lost: libuv takes a short read together with a hang-up for the end, and a PTY on Linux gives 4 KB a read.
 */
export interface LastOutput {
  noteOutput: () => void;
  /** the child may have just ended: what it wrote must be read now, whatever it costs */
  isEnding: () => boolean;
  /** lets the terminal hang up */
  close: () => void;
}

// SIGCHLD may be about another child, or a stop; node-pty waits 200 ms for the last output of one that has ended.
const ENDING_MS = 1_000;
const LOOK_MS = 5; // without output in this time everything has been read

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

/** Without it the session goes on; only the last output of a child under back-pressure may be lost. */
const openTerminal = (path: string): number | undefined => {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
};

/** `path` is the terminal's; `onEnding` is called whenever the child may have ended. */
export const holdLastOutput = (path: string, pid: number, onEnding: () => void): LastOutput => {
  let held = openTerminal(path);
  let endingUntil = -Infinity;
  let hasOutput = false;
  let timer: NodeJS.Timeout | undefined = setTimeout(() => look(), LOOK_MS); // it may be gone before we listen

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
    timer ??= setTimeout(look, LOOK_MS);
  };
  const look = (): void => {
    timer = undefined;
    const gone = isGone(pid);
    // on a busy machine the time may pass without anybody looking for output; before an immediate it has been looked for
    if (gone && !hasOutput) return void setImmediate(closeIfRead);
    hasOutput = false;
    if (gone || isEnding()) timer = setTimeout(look, LOOK_MS);
  };
  const onSignal = (): void => {
    endingUntil = performance.now() + ENDING_MS;
    hasOutput = true; // the first look is for what has come until then
    onEnding();
    timer ??= setTimeout(look, 0);
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

/** How the child ended: `signal` is a number, 0 for an ordinary exit. */
export interface ChildEnd {
  readonly exitCode: number;
  readonly signal: number;
}

/** The agent, running in a pseudo-terminal of its own. */
export interface Child {
  readonly pid: number;
  /** what it does not read yet waits, and nobody waits for it */
  write: (bytes: Uint8Array) => void;
  /** bytes that wait for it to read */
  pending: () => number;
  resize: (size: Size) => void;
  /** to the child's process group: some agents ignore a signal to their first process (facts/gemini.md §8) */
  signal: (signal: NodeJS.Signals) => void;
  /** back-pressure: stops reading; undone by itself when the child exits, so that its last output is not lost */
  pause: () => void;
  resume: () => void;
}

export interface ChildOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: Size;
  /** termios of the user's terminal, as `stty -g` prints it, for the new terminal; '' for the system's default */
  readonly termios: string;
}

export interface ChildListener {
  onOutput: (bytes: Uint8Array) => void;
  /** it has read everything that waited for it, or will read nothing more */
  onDrain: () => void;
  /** after the last byte of output */
  onEnd: (end: ChildEnd) => void;
}

// The child gets the terminal settings that it would have had without us (erase key, IUTF8, flow control) before it starts.
const SETTINGS_THEN_EXEC = 'stty "$0" 2>/dev/null; exec "$@"';

/** The working directory by the name the user knows it by: node-pty puts it into PWD. */
const namedDirectory = (cwd: string, named: string | undefined): string => {
  try {
    return named !== undefined && realpathSync(named) === realpathSync(cwd) ? named : cwd;
  } catch {
    return '.'; // the directory has been removed: its inode is still ours
  }
};

/** LINES and COLUMNS, where the user exports them, must name the child's size. */
const environmentFor = (
  env: Readonly<Record<string, string>>,
  { columns, rows }: Size,
): Record<string, string> => {
  const result: Record<string, string> = { ...env };
  if (result['LINES'] !== undefined) result['LINES'] = `${rows}`;
  if (result['COLUMNS'] !== undefined) result['COLUMNS'] = `${columns}`;
  return result;
};

/** node-pty without an encoding, in which data are bytes, and with what its types leave out. */
interface BytePty extends Omit<IPty, 'write'> {
  readonly ptsName: string;
  /** of the PTY's own side; node-pty has set O_NONBLOCK */
  readonly fd: number;
  /** closes the descriptor */
  readonly _socket: { readonly destroyed: boolean };
  readonly on: (event: 'close', listener: () => void) => void;
}

const spawnIn = ({ file, args, cwd, env, size, termios }: ChildOptions): BytePty => {
  const isDirect = termios === '';
  const words = isDirect ? [...args] : ['-c', SETTINGS_THEN_EXEC, termios, file, ...args];
  const pty = spawn(isDirect ? file : '/bin/sh', words, {
    cols: size.columns,
    rows: size.rows,
    cwd: namedDirectory(cwd, env['PWD']),
    env: environmentFor(env, size),
    name: env['TERM'] ?? 'xterm-256color',
    encoding: null,
  });
  return pty as unknown as BytePty;
};

/** Starts the child. Throws what the system says if a pseudo-terminal can't be had. */
export const startChild = (options: ChildOptions, listener: ChildListener): Child => {
  const pty = spawnIn(options);
  let open = true;
  let paused = false;
  const resume = (): void => {
    if (paused) pty.resume();
    paused = false;
  };
  const lastOutput = holdLastOutput(pty.ptsName, pty.pid, resume);
  const isOpen = (): boolean => open && !pty._socket.destroyed;
  const ignore = (): void => undefined; // reading finds out that it is gone
  const queue = makeWriteQueue({ fd: pty.fd, isOpen, onDrained: listener.onDrain, onGone: ignore });
  const closed = (): void => {
    open = false;
    queue.close();
    listener.onDrain();
  };
  pty.onData((data) => {
    lastOutput.noteOutput();
    listener.onOutput(data as unknown as Uint8Array);
  });
  pty.on('close', closed);
  pty.onExit(({ exitCode, signal }) => {
    closed();
    lastOutput.close();
    listener.onEnd({ exitCode, signal: signal ?? 0 });
  });
  return {
    pid: pty.pid,
    write: queue.write,
    pending: queue.pending,
    resize: ({ columns, rows }) => {
      if (isOpen()) pty.resize(Math.max(1, columns), Math.max(1, rows));
    },
    signal: (signal) => signalGroup(pty.pid, signal),
    pause: () => {
      if (paused || lastOutput.isEnding()) return;
      pty.pause();
      paused = true;
    },
    resume,
  };
};

/** The child leads a session of its own, so its process group has its pid. */
const signalGroup = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-pid, signal);
  } catch {
    // the group is gone already; its end is on the way
  }
};
