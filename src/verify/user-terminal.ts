import { setTimeout as pause } from 'node:timers/promises';
import { openEmulator } from '../terminal/emulator.js';
import { makeStreamFilter } from '../terminal/filter/filter.js';
import { makeGrid } from '../terminal/filter/grid.js';
import { startChild, type ChildEnd } from '../terminal/pty.js';
import type { Size } from '../terminal/tty.js';

// The user's terminal: a PTY drawn by an emulator, and waits for what it shows.

const SIZE: Size = { columns: 120, rows: 40 };

const KEY_MS = 30; // between two keys of a fast typist; shorter gaps look like a paste
const LOOK_MS = 50; // between two tests of a condition

export interface UserTerminal {
  readonly rows: () => readonly string[];
  readonly screen: () => string;
  /** one write to the PTY, like a key or a paste */
  readonly press: (keys: string) => void;
  /** a key for the wrapper, which the agent must never receive */
  readonly pressForWrapper: (key: string) => void;
  /** letter by letter */
  readonly type: (text: string) => Promise<void>;
  /** everything the user has pressed for the agent */
  readonly pressed: () => string;
  /** resolves when the condition holds; rejects with `what` at the timeout or when the program has ended */
  readonly until: (isMet: () => boolean, what: string, patienceMs?: number) => Promise<void>;
  /** the states that programs have reported (OSC 7501) */
  readonly states: () => readonly string[];
  /** the program has reset the terminal: modes, cursor, main screen */
  readonly isTidy: () => boolean;
  readonly ended: Promise<ChildEnd>;
  readonly signal: (signal: NodeJS.Signals) => void;
}

export interface UserTerminalOptions {
  readonly commandLine: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** the terminal supports OSC 7501 */
  readonly understandsState: boolean;
  /** timeout of `until`, in milliseconds */
  readonly patienceMs?: number | undefined;
  /** says that its background is light; dark when absent */
  readonly isLight?: boolean | undefined;
  /** 120 × 40 when absent */
  readonly size?: Size | undefined;
  /** everything that is drawn, as it comes */
  readonly onOutput?: ((bytes: Uint8Array) => void) | undefined;
}

const PATIENCE_MS = 60_000;

export const openUserTerminal = (options: UserTerminalOptions): UserTerminal => {
  const { commandLine, cwd, env, size = SIZE } = options;
  const [file, ...args] = commandLine;
  let [isOpen, pressed] = [true, ''];
  let states: readonly string[] = [];
  let hasEnded: (end: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolve) => (hasEnded = resolve));
  const write = (keys: string): void => child.write(Buffer.from(keys));
  const emulator = openEmulator(size, {
    send: write,
    understandsState: options.understandsState,
    isLight: options.isLight,
    onState: (state) => (states = [...states, state]),
  });
  const filter = makeStreamFilter(makeGrid(size.columns, size.rows, size.rows));
  const child = startChild({ file, args, cwd, env, size, termios: '' }).listen({
    onOutput: (read) => {
      const bytes = new Uint8Array(read); // the emulator reads them later
      emulator.parse(bytes);
      filter.push(bytes);
      options.onOutput?.(bytes);
    },
    onDrain: () => undefined,
    onEnd: (end) => {
      isOpen = false;
      hasEnded(end);
    },
  });
  const press = (keys: string): void => {
    pressed += keys;
    write(keys);
  };
  const rows = (): readonly string[] => {
    const { screen } = emulator.snapshot();
    return Array.from({ length: screen.rows }, (_, row) => screen.text(row));
  };
  return {
    rows,
    screen: () => rows().join('\n'),
    press,
    pressForWrapper: write,
    type: async (text) => {
      // a busy Gemini changes a command that is typed letter by letter into another one
      for (const key of text.startsWith('/') ? [text] : text) {
        press(key);
        await pause(KEY_MS);
      }
    },
    pressed: () => pressed,
    until: makeUntil(() => isOpen, options.patienceMs ?? PATIENCE_MS),
    states: () => states,
    isTidy: () => !filter.modeTracker.restore(false).isDirty && !filter.grid.alternate,
    ended,
    signal: (signal) => {
      if (isOpen) child.signal(signal);
    },
  };
};

const makeUntil =
  (isOpen: () => boolean, usualMs: number): UserTerminal['until'] =>
  async (isMet, what, patienceMs = usualMs) => {
    const end = performance.now() + patienceMs;
    while (!isMet()) {
      if (!isOpen()) throw new Error(`expected, but the program ended first: ${what}`);
      if (performance.now() > end)
        throw new Error(`expected, but not seen within ${Math.round(patienceMs / 1000)} s: ${what}`);
      await pause(LOOK_MS);
    }
  };
