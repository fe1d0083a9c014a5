import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { OnReadOpts, SocketConstructorOpts } from 'node:net';
import { ReadStream } from 'node:tty';

// A child in a new pseudo-terminal, through the native part of node-pty. Its JavaScript part is not used: it reads through a stream that
// allocates a buffer for every read, and writes in a way that can block for ever (see write-queue.ts).

type ForkArguments = [
  file: string,
  args: readonly string[],
  env: readonly string[],
  cwd: string,
  columns: number,
  rows: number,
  uid: number,
  gid: number,
  isUtf8: boolean,
  spawnHelper: string,
  onExit: (exitCode: number, signal: number) => void,
];

/** The native addon of @lydell/node-pty 1.1.0 (its unix/pty.cc). */
interface Addon {
  /** throws if no pseudo-terminal is available; sets O_NONBLOCK on `fd` */
  fork: (...args: ForkArguments) => { readonly fd: number; readonly pid: number; readonly pty: string };
  resize: (fd: number, columns: number, rows: number) => void;
}

const NO_USER = -1; // the child runs as the wrapper's user

/** The addon is in a package of its own for each platform, and node-pty is what depends on it. Throws where they are not installed. */
export const loadAddon = (): { readonly addon: Addon; readonly spawnHelper: string } => {
  const fromHere = createRequire(import.meta.url);
  const fromNodePty = createRequire(fromHere.resolve('@lydell/node-pty'));
  const platformPackage = `@lydell/node-pty-${process.platform}-${process.arch}`;
  const addon = fromNodePty(`${platformPackage}/pty.node`) as Addon;
  const isMac = process.platform === 'darwin'; // only there the child is started through another program
  return { addon, spawnHelper: isMac ? fromNodePty.resolve(`${platformPackage}/spawn-helper`) : '' };
};

export interface NativePtyOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

export interface NativePtyListener {
  /** the bytes are valid until it returns: the next read overwrites them. Whoever keeps them copies them. */
  readonly onData: (bytes: Uint8Array) => void;
  /** nothing more can be read or written */
  readonly onClose: () => void;
  /** the child has just ended; its last output may still follow */
  readonly onGone?: (() => void) | undefined;
  /** the child has ended; after `onClose`. `signal` is a number, 0 for a normal exit */
  readonly onExit: (exitCode: number, signal: number) => void;
}

/** A child that runs in a new pseudo-terminal. What it writes waits there until somebody reads it. */
export interface UnreadPty {
  readonly pid: number;
  /** path of the child's side */
  readonly ptsName: string;
  /** descriptor of the wrapper's side; O_NONBLOCK is set */
  readonly fd: number;
  readonly resize: (columns: number, rows: number) => void;
  /** hangs the terminal up, unread: the child gets SIGHUP. In place of `read`. */
  readonly close: () => void;
  /** to be called once */
  readonly read: (listener: NativePtyListener) => NativePty;
}

/** A pseudo-terminal that is read, and the child in it. */
export interface NativePty extends Pick<UnreadPty, 'pid' | 'ptsName' | 'fd' | 'resize'> {
  readonly isClosed: () => boolean;
  /** stops reading; not once the child has ended, because its last output would be lost */
  readonly pause: () => void;
  readonly resume: () => void;
}

const READ_BYTES = 64 * 1024; // of one read; a PTY on Linux gives at most 4 KB
const CLOSE_MS = 200; // after the child's exit for its last output: the PTY does not hang up while another process has it open
const HELD_BYTES = 128 * 1024; // more than a PTY holds: what follows so much was not written by the child

/** Starts the child. Throws the system's error if no pseudo-terminal is available. */
export const openNativePty = ({ file, args, cwd, env, columns, rows }: NativePtyOptions): UnreadPty => {
  const { addon, spawnHelper } = loadAddon();
  let onExit: (exitCode: number, signal: number) => void;
  const exited = new Promise<[exitCode: number, signal: number]>((resolve) => {
    onExit = (...exit) => resolve(exit);
  });
  const pairs = Object.entries({ ...env, PWD: cwd }).map(([name, value]) => `${name}=${value}`);
  const { fd, pid, pty } = addon.fork(
    file,
    args,
    pairs,
    cwd,
    columns,
    rows,
    NO_USER,
    NO_USER,
    false,
    spawnHelper,
    (exitCode, signal) => onExit(exitCode, signal),
  );
  const child = {
    pid,
    ptsName: pty,
    fd,
    resize: (newColumns: number, newRows: number) => addon.resize(fd, newColumns, newRows),
  };
  return {
    ...child,
    close: () => closeSync(fd),
    read: (listener) => ({ ...child, ...readPty(fd, exited, listener) }),
  };
};

/** Calls back when nothing is left to read. A busy machine may have left no time for it, and a turn of the event loop reads 4 KB. */
const afterHeldBytes = (bytesRead: () => number, act: () => void): void => {
  const most = bytesRead() + HELD_BYTES;
  let before = bytesRead();
  const look = (): void => {
    const now = bytesRead();
    if (now === before || now > most) return act();
    before = now;
    setImmediate(look);
  };
  setImmediate(look); // it runs after the poll phase, which reads
};

const readPty = (
  fd: number,
  exited: Promise<[exitCode: number, signal: number]>,
  listener: NativePtyListener,
): Pick<NativePty, 'isClosed' | 'pause' | 'resume'> => {
  let isClosed = false;
  let isExited = false;
  let bytesRead = 0;
  let onClosed: () => void = () => undefined;
  void exited.then((exit) => {
    isExited = true;
    listener.onGone?.();
    if (isClosed) return listener.onExit(...exit);
    socket.resume();
    const timer = setTimeout(() => afterHeldBytes(() => bytesRead, close), CLOSE_MS);
    onClosed = () => {
      clearTimeout(timer);
      listener.onExit(...exit);
    };
  });
  const close = (): void => void socket.destroy();
  const buffer = new Uint8Array(READ_BYTES); // one for all reads: only a collection would give others back
  const onread: OnReadOpts = {
    buffer,
    callback: (count) => {
      bytesRead += count;
      listener.onData(buffer.subarray(0, count));
      return true;
    },
  };
  const socket = new ReadStream(fd, { onread } as SocketConstructorOpts); // missing in @types/node
  socket.on('error', () => undefined); // EIO when the child's side is closed; `close` follows
  socket.on('close', () => {
    isClosed = true;
    listener.onClose();
    onClosed();
  });
  socket.resume();
  return {
    isClosed: () => isClosed || socket.destroyed,
    pause: () => void (isExited || socket.pause()),
    resume: () => void socket.resume(),
  };
};
