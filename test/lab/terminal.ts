// The user's terminal: a PTY drawn by an emulator, and a user who looks before pressing the next key.
import { setTimeout as pause } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import { makeEmulator } from '../support/emulator.js';
import { rowsOf } from '../support/window.js';

const COLUMNS = 120;
const ROWS = 40;

const KEY_MS = 30; // between two keys of a fast typist; less is taken for a paste
const LOOK_MS = 50; // for conditions that no output tells of

export interface UserTerminal {
  readonly pid: number;
  readonly rows: () => readonly string[];
  readonly screen: () => string;
  /** one write to the PTY, as a key or a paste is */
  readonly press: (keys: string) => void;
  /** a key for the wrapper, which the agent must never get */
  readonly pressForUs: (key: string) => void;
  /** letter by letter */
  readonly type: (text: string) => Promise<void>;
  /** everything the user has pressed for the agent */
  readonly pressed: () => string;
  /** resolves when the condition holds; rejects with the screen when it does not in time or the program has ended */
  readonly until: (isMet: () => boolean, what: string, patienceMs?: number) => Promise<void>;
  readonly ended: Promise<void>;
  readonly isOpen: () => boolean;
  readonly signal: (signal: string) => void;
}

export interface TerminalOptions {
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const PATIENCE_MS = 60_000;

export const openUserTerminal = ({ words: [file, ...args], cwd, env }: TerminalOptions): UserTerminal => {
  const emulator = makeEmulator(COLUMNS, ROWS);
  const { terminal } = emulator;
  const pty = spawn(file, args, { cols: COLUMNS, rows: ROWS, cwd, env: { ...env }, encoding: null });
  let isOpen = true;
  let pressed = '';
  pty.onData((data) => terminal.write(data as unknown as Uint8Array)); // there is no encoding
  const ended = new Promise<void>((resolve) =>
    pty.onExit(() => {
      isOpen = false;
      resolve();
    }),
  );
  const write = (bytes: string): void => {
    if (isOpen) pty.write(bytes);
  };
  terminal.onData(write); // its answers to what programs ask
  const press = (keys: string): void => {
    pressed += keys;
    write(keys);
  };
  const rows = (): readonly string[] => rowsOf(emulator);
  return {
    pid: pty.pid,
    rows,
    screen: () => rows().join('\n'),
    press,
    pressForUs: write,
    type: async (text) => {
      // a busy Gemini makes another command of one that comes letter by letter
      for (const key of text.startsWith('/') ? [text] : text) {
        press(key);
        await pause(KEY_MS);
      }
    },
    pressed: () => pressed,
    until: async (isMet, what, patienceMs = PATIENCE_MS) => {
      const end = performance.now() + patienceMs;
      while (!isMet()) {
        if (!isOpen) throw new Error(`the program has ended, and this never came: ${what}`);
        if (performance.now() > end) throw new Error(`never came: ${what}`);
        await pause(LOOK_MS);
      }
    },
    ended,
    isOpen: () => isOpen,
    signal: (signal) => {
      if (isOpen) pty.kill(signal);
    },
  };
};
