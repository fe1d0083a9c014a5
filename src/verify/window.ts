import { setTimeout as pause } from 'node:timers/promises';
import { openEmulator } from '../terminal/emulator.js';
import { makeStreamFilter } from '../terminal/filter/filter.js';
import { makeGrid } from '../terminal/filter/grid.js';
import { startChild, type ChildEnd } from '../terminal/pty.js';

// The user's terminal: a PTY drawn by an emulator, and a user who looks before pressing the next key.

const SIZE = { columns: 120, rows: 40 };

const KEY_MS = 30; // between two keys of a fast typist; less is taken for a paste
const LOOK_MS = 50; // for conditions that no output tells of

export interface UserWindow {
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
  /** resolves when the condition holds; rejects with `what` when it does not in time or the program has ended */
  readonly until: (isMet: () => boolean, what: string, patienceMs?: number) => Promise<void>;
  /** what programs have said of their state (OSC 7501) */
  readonly states: () => readonly string[];
  /** what the program has left on in the terminal: a mode, a hidden cursor, the other screen */
  readonly isTidy: () => boolean;
  readonly ended: Promise<ChildEnd>;
  readonly signal: (signal: NodeJS.Signals) => void;
}

export interface WindowOptions {
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** it understands OSC 7501 */
  readonly hearsState: boolean;
  /** for what `until` waits for, in milliseconds */
  readonly patienceMs?: number | undefined;
}

const PATIENCE_MS = 60_000;

export const openWindow = (options: WindowOptions): UserWindow => {
  const { words, cwd, env, hearsState } = options;
  const [file, ...args] = words;
  let isOpen = true;
  let pressed = '';
  let states: readonly string[] = [];
  let hasEnded: (end: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolve) => (hasEnded = resolve));
  const write = (keys: string): void => child.write(Buffer.from(keys));
  const emulator = openEmulator(SIZE, {
    send: write,
    hearsState,
    onState: (state) => (states = [...states, state]),
  });
  const marks = makeStreamFilter(makeGrid(SIZE.columns, SIZE.rows, SIZE.rows));
  const child = startChild(
    { file, args, cwd, env, size: SIZE, termios: '' },
    {
      onOutput: (bytes) => {
        emulator.parse(bytes);
        marks.push(bytes);
      },
      onDrain: () => undefined,
      onEnd: (end) => {
        isOpen = false;
        hasEnded(end);
      },
    },
  );
  const press = (keys: string): void => {
    pressed += keys;
    write(keys);
  };
  const rows = (): readonly string[] => {
    const { screen } = emulator.seen();
    return Array.from({ length: screen.rows }, (_, row) => screen.text(row));
  };
  return {
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
    until: makeUntil(() => isOpen, options.patienceMs ?? PATIENCE_MS),
    states: () => states,
    isTidy: () => !marks.ledger.restore(false).dirty && !marks.grid.alternate,
    ended,
    signal: (signal) => {
      if (isOpen) child.signal(signal);
    },
  };
};

const makeUntil =
  (isOpen: () => boolean, usualMs: number): UserWindow['until'] =>
  async (isMet, what, patienceMs = usualMs) => {
    const end = performance.now() + patienceMs;
    while (!isMet()) {
      if (!isOpen()) throw new Error(`expected, and the program has ended before it: ${what}`);
      if (performance.now() > end)
        throw new Error(`expected, and not seen in ${Math.round(patienceMs / 1000)} s: ${what}`);
      await pause(LOOK_MS);
    }
  };
