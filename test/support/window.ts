import { spawnSync } from 'node:child_process';
import { openNativePty } from '../../src/terminal/native-pty.js';
import { holdPtsOpen } from '../../src/terminal/pty.js';
import { makeWriteQueue } from '../../src/terminal/write-queue.js';
import { makeEmulator, type Emulator } from './emulator.js';

/** A terminal window: a real PTY with a program in it, drawn by an emulator that answers its queries. */
export interface Window {
  readonly emulator: Emulator;
  /** all output of its programs, markers included */
  bytes: () => Buffer;
  /** text of the rows on the screen, or with `all` of the scrollback too */
  rows: (all?: 'all') => readonly string[];
  /** resolves when the condition holds, tested after every output; a text must be somewhere on the screen */
  until: (condition: string | (() => boolean), what?: string) => Promise<void>;
  type: (keys: string) => void;
  /** typed bytes that the program's terminal has not accepted */
  unread: () => number;
  /** of the program */
  readonly pid: number;
  /** to the program */
  kill: (signal: NodeJS.Signals) => void;
  isOpen: () => boolean;
  resize: (columns: number, rows: number) => void;
  /** stops reading, as a terminal does at Ctrl-S */
  pause: () => void;
  resume: () => void;
  /** of the terminal, as `stty -g` prints it */
  termios: () => string;
  close: () => void;
}

export interface WindowOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
  readonly onOutput?: (bytes: Buffer) => void;
  /** called with what sends an answer of the terminal, as one over a slow link sends it later */
  readonly onAnswer?: (send: () => void) => void;
}

const PATIENCE_MS = 60_000; // tested without any output: then the test fails with the screen instead of by its time limit

export const rowsOf = ({ terminal }: Emulator, all?: 'all'): readonly string[] => {
  const buffer = terminal.buffer.active;
  const first = all ? 0 : buffer.baseY;
  return Array.from(
    { length: buffer.baseY + terminal.rows - first },
    (_, row) => buffer.getLine(first + row)?.translateToString(true) ?? '',
  );
};

const makeWatchers = (describe: () => string) => {
  const watchers = new Set<() => void>();
  const until = (isMet: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        watchers.delete(watcher);
      };
      const watcher = (): void => {
        timer.refresh();
        if (!isMet()) return;
        finish();
        resolve();
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`never came: ${what}; the screen:\n${describe()}`));
      }, PATIENCE_MS);
      watchers.add(watcher);
      watcher();
    });
  return { until, look: (): void => watchers.forEach((watcher) => watcher()) };
};

const endProgram = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has just ended
  }
};

/** Opens a window with a program in it; `close` kills the program. */
export const openWindow = (options: WindowOptions): Window => {
  const { file, args, cwd, env, columns, rows } = options;
  const emulator = makeEmulator(columns, rows);
  const { terminal } = emulator;
  const chunks: Buffer[] = [];
  const watchers = makeWatchers(() => rowsOf(emulator).join('\n'));
  let open = true;
  const term = env['TERM'] ?? 'xterm-256color';
  const pty = openNativePty({ file, args, cwd, env: { ...env, TERM: term }, columns, rows }).read({
    onData: (data) => {
      lastOutput.noteOutput();
      const bytes = Buffer.from(data); // the next read overwrites them
      chunks.push(bytes);
      options.onOutput?.(bytes);
      void emulator.write(bytes).then(watchers.look);
    },
    onClose: () => undefined,
    onExit: () => {
      open = false;
      lastOutput.close();
      keys.close();
      watchers.look();
    },
  });
  // otherwise the end of the output of a program that ends right after a flood would be lost
  const lastOutput = holdPtsOpen(pty.ptsName, pty.pid, () => undefined);
  // a window continues to read while a program does not accept input
  const keys = makeWriteQueue({
    fd: pty.fd,
    isOpen: () => !pty.isClosed(), // the number of a closed descriptor is soon used again
    onDrained: () => undefined,
    onHangUp: () => undefined,
  });
  const type = (text: string): void => keys.write(Buffer.from(text));
  const { onAnswer = (send) => send() } = options;
  terminal.onData((answer) => onAnswer(() => type(answer)));
  return {
    emulator,
    bytes: () => Buffer.concat(chunks),
    rows: (all) => rowsOf(emulator, all),
    until: (condition, what = String(condition)) => {
      if (typeof condition !== 'string') return watchers.until(condition, what);
      return watchers.until(() => rowsOf(emulator).some((row) => row.includes(condition)), what);
    },
    type,
    unread: keys.pending,
    pid: pty.pid,
    kill: (signal) => process.kill(pty.pid, signal),
    isOpen: () => open,
    resize: (newColumns, newRows) => {
      terminal.resize(newColumns, newRows);
      if (!pty.isClosed()) pty.resize(newColumns, newRows);
    },
    pause: pty.pause,
    resume: pty.resume,
    termios: () => spawnSync('stty', ['-F', pty.ptsName, '-g'], { encoding: 'utf8' }).stdout.trim(),
    close: () => {
      keys.close();
      if (open) endProgram(pty.pid);
    },
  };
};
