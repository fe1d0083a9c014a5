import headless from '@xterm/headless';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import type { Characters } from '../core/estimate.js';
import type { ScreenView, Signals } from '../core/screen-view.js';
import { makeBacklog } from './backlog.js';
import { pictureOf, type Picture } from './cover/picture.js';
import { hookSignals } from './signal-hooks.js';
import { snapshotOf } from './snapshot.js';
import type { Size } from './tty.js';
import { makeWholeCharacters } from './whole-characters.js';
import { watchWrittenText, type WrittenText } from './written-text.js';

/** The child's screen as it is rendered, off the hot path: it may lag behind a flood, and starts anew when it lags too far. */
export interface Screen {
  feed: (bytes: Uint8Array) => void;
  /** rows below the cursor stay, as in a terminal that scrolls when it gets lower; `alignCursor` takes them away if it did not */
  resize: (size: Size) => Promise<void>;
  /** resolves when everything fed so far is on the screen */
  settled: () => Promise<void>;
  /** rows with content below the cursor's row */
  rowsBelowCursor: () => number;
  /** rows that the cursor's row would take below the cursor in a terminal of so many columns that wraps it */
  rowsWrappedAt: (columns: number) => number;
  /** last row of the main screen that has content, from 0; −1 for an empty screen */
  lastRow: () => number;
  /** everything more than this many rows below the cursor is gone: what was erased in the terminal after a resize */
  eraseBelow: (rows: number) => void;
  /** the terminal shows the cursor on this row: the text is moved so that the model agrees, after a resize */
  alignCursor: (row: number) => void;
  /** bytes wait to be parsed: what is on the screen is not what the child has drawn */
  isBehind: () => boolean;
  /** the child is in the middle of a frame: it has begun synchronized output (mode 2026) and not ended it */
  isMidFrame: () => boolean;
  /** what the child shows and tells now, to be read at once, before more is fed; undefined while there is no model */
  seen: () => { readonly screen: ScreenView; readonly signals: Signals } | undefined;
  /** the shown screen, to be drawn again; to be asked for when all is settled */
  picture: () => Picture | undefined;
  /** what leaves the screen at the top is counted from here on; it costs nothing as long as nobody asks for it */
  countWritten: () => void;
  /** all text up to now, the shown screen included; undefined while nothing is counted */
  written: () => Characters | undefined;
}

const SLICE = 16 * 1024; // bytes parsed at a time: under a millisecond
const MAX_BACKLOG = 512 * 1024; // bytes; many times what a screen needs to be drawn
// Rows. Where lines wrap anew and there is no scrollback, xterm.js counts a row that it does not have, and throws at a later line feed.
const REFLOW_ROOM = 1000;
const COUNTING_ROOM = 1; // rows: the one that has just left the screen can be looked at there
const FLOOD_PAUSE_MS = 10; // while more than a slice waits and bytes keep coming, parsing waits

const hasContent = (terminal: headless.Terminal, row: number, main: boolean): boolean => {
  const buffer = main ? terminal.buffer.normal : terminal.buffer.active;
  return (
    (buffer
      .getLine(buffer.baseY + row)
      ?.translateToString(true)
      .trim() ?? '') !== ''
  );
};

const lastContentRow = (terminal: headless.Terminal, main: boolean): number => {
  for (let row = terminal.rows - 1; row >= 0; row -= 1) if (hasContent(terminal, row, main)) return row;
  return -1;
};

const makeTerminal = ({ columns, rows }: Size): headless.Terminal => {
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
  terminal.loadAddon(new Unicode11Addon() as unknown as headless.ITerminalAddon);
  terminal.unicode.activeVersion = '11';
  return terminal;
};

const shiftSequence = (rows: number): string => {
  if (rows > 0) return `\x1b7\x1b[H\x1b[${rows}L\x1b8\x1b[${rows}B`;
  return rows < 0 ? `\x1b7\x1b[H\x1b[${-rows}M\x1b8\x1b[${-rows}A` : '';
};

/** What xterm.js would drop below the cursor when it gets lower, in rows; it can be scrolled away at the top instead. */
const droppedRows = (terminal: headless.Terminal, rows: number): number =>
  terminal.buffer.active.type === 'alternate'
    ? 0
    : Math.max(0, Math.min(lastContentRow(terminal, true) - rows + 1, terminal.buffer.active.cursorY));

/** Parses what it is fed, a slice a turn of the event loop, and not at all in the middle of a flood. */
const makeParser = (
  terminal: headless.Terminal,
  seed: () => string,
  onSkip: () => void,
): Pick<Screen, 'feed' | 'settled' | 'isBehind'> => {
  const backlog = makeBacklog(SLICE);
  const whole = makeWholeCharacters();
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let lastFeed = 0;
  const wake = (delayMs: number): void => {
    timer ??= setTimeout(pump, delayMs);
  };
  const isFlood = (): boolean =>
    waiting.length === 0 && backlog.size() > SLICE && performance.now() - lastFeed < FLOOD_PAUSE_MS;
  const pump = (): void => {
    timer = undefined;
    if (busy) return;
    if (isFlood()) return wake(FLOOD_PAUSE_MS);
    const slice = backlog.take();
    if (slice === undefined) {
      for (const done of waiting.splice(0)) done();
      return;
    }
    busy = true;
    terminal.write(whole(slice), () => {
      busy = false;
      pump();
    });
  };
  return {
    isBehind: () => busy || backlog.size() > 0,
    feed: (bytes) => {
      backlog.add(bytes);
      lastFeed = performance.now();
      if (backlog.size() > MAX_BACKLOG) {
        backlog.startAnew(Buffer.from(`\x1bc${seed()}`));
        onSkip();
      }
      wake(0);
    },
    settled: () =>
      new Promise((resolve) => {
        waiting = [...waiting, resolve];
        if (!busy) pump();
      }),
  };
};

/** `seed` gives the bytes that bring a new terminal to the cursor and modes that the child has now, after output was skipped. */
export const makeScreen = (size: Size, seed: () => string): Screen => {
  const terminal = makeTerminal(size);
  const signals = hookSignals(terminal);
  let text: WrittenText | undefined;
  let isWhole = true;
  terminal.parser.registerCsiHandler({ final: 'J' }, ([what]) => {
    isWhole ||= what === 2;
    return false; // the emulator's own handler comes next
  });
  return {
    ...makeParser(terminal, seed, () => (isWhole = false)),
    picture: () => pictureOf(terminal, isWhole),
    seen: () => ({ screen: snapshotOf(terminal), signals: signals() }),
    isMidFrame: () => terminal.modes.synchronizedOutputMode,
    countWritten: () => {
      text ??= watchWrittenText(terminal);
      terminal.options.scrollback = COUNTING_ROOM;
    },
    written: () => text?.characters(),
    resize: async ({ columns, rows }) => {
      const lifted = droppedRows(terminal, rows);
      text?.takeTop(lifted);
      await new Promise<void>((resolve) => terminal.write(shiftSequence(-lifted), resolve));
      terminal.options.scrollback = 0; // a row kept for counting would come back to the screen
      terminal.options.scrollback = REFLOW_ROOM;
      terminal.resize(Math.max(2, columns), Math.max(1, rows));
      text?.noteResize();
      terminal.options.scrollback = 0;
      if (text) terminal.options.scrollback = COUNTING_ROOM;
    },
    rowsBelowCursor: () => Math.max(0, lastContentRow(terminal, false) - terminal.buffer.active.cursorY),
    rowsWrappedAt: (columns) => {
      const { active } = terminal.buffer;
      const length = active.getLine(active.baseY + active.cursorY)?.translateToString(true).length ?? 0;
      const last = Math.floor(Math.max(0, length - 1) / columns);
      return Math.max(0, last - Math.floor(active.cursorX / columns));
    },
    lastRow: () => lastContentRow(terminal, true),
    eraseBelow: (rows) => {
      const isInside = terminal.buffer.active.cursorY + rows + 1 < terminal.rows;
      if (isInside) terminal.write(`\x1b7\x1b[${rows + 1}B\r\x1b[0m\x1b[J\x1b8`);
    },
    alignCursor: (row) =>
      terminal.write('', () => terminal.write(shiftSequence(row - terminal.buffer.active.cursorY))),
  };
};
