import type { Characters, ScreenView, Signals } from '../core/reading.js';
import { openEmulator, type Emulator } from './emulator.js';
import type { Picture } from './overlay/picture.js';
import { parseInTurns } from './parse-in-turns.js';
import type { Size } from './tty.js';

/**
 * The child's screen as it is rendered, off the hot path: it may lag behind a flood, and starts anew when it lags too far. There is no
 * model of a terminal that is too large, nor after the model has failed: nothing is known of the screen then.
 */
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
  /** last row of the main screen that has content, from 0; −1 for an empty screen, Infinity while there is no model */
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

// A screen of 640 by 180 is a very small font on a very large display; the model takes 24 bytes a cell, and some sequences touch them all.
const MOST_COLUMNS = 1_000;
const MOST_ROWS = 500;
const MOST_CELLS = 200_000;

const hasModel = ({ columns, rows }: Size): boolean =>
  columns <= MOST_COLUMNS && rows <= MOST_ROWS && columns * rows <= MOST_CELLS;

const NOTHING: Characters = { ascii: 0, wide: 0 };

const together = (one: Characters, other: Characters): Characters => ({
  ascii: one.ascii + other.ascii,
  wide: one.wide + other.wide,
});

/** What all emulators have counted, one after the other. */
const countAll = () => {
  let isCounting = false;
  let before = NOTHING;
  return {
    start: (emulator: Emulator | undefined): void => {
      isCounting = true;
      emulator?.countWritten();
    },
    noteOpen: (emulator: Emulator): void => {
      if (isCounting) emulator.countWritten();
    },
    noteClose: (emulator: Emulator | undefined): void => {
      before = together(before, emulator?.written() ?? NOTHING);
    },
    all: (emulator: Emulator | undefined): Characters | undefined => {
      const counted = emulator?.written();
      return counted && together(before, counted);
    },
  };
};

type Shown = Omit<
  Screen,
  'feed' | 'settled' | 'isBehind' | 'resize' | 'eraseBelow' | 'alignCursor' | 'countWritten' | 'written'
>;

/** What can be asked of the emulator that there is at this moment. */
const shownBy = (emulator: () => Emulator | undefined): Shown => ({
  seen: () => emulator()?.seen(),
  picture: () => emulator()?.picture(),
  isMidFrame: () => emulator()?.isMidFrame() ?? false,
  rowsBelowCursor: () => emulator()?.rowsBelowCursor() ?? 0,
  rowsWrappedAt: (columns) => emulator()?.rowsWrappedAt(columns) ?? 0,
  lastRow: () => emulator()?.lastRow() ?? Infinity,
});

const clocks = {
  now: (): number => performance.now(),
  cpu: (): number => {
    const { user, system } = process.cpuUsage(); // µs
    return (user + system) / 1000;
  },
};

/**
 * `seed` gives the bytes that bring a new terminal to the cursor and modes that the child has now, after output was skipped.
 * `onFailure` is told once, when there is no model from here on.
 */
export const makeScreen = (
  size: Size,
  seed: () => string,
  onFailure: (error: unknown) => void = () => undefined,
): Screen => {
  let emulator: Emulator | undefined;
  let isFailed = false;
  const count = countAll();

  const anew = (): Uint8Array => {
    emulator?.noteSkipped();
    return Buffer.from(`\x1bc${seed()}`);
  };
  const fail = (error: unknown): void => {
    isFailed = true;
    close();
    onFailure(error);
  };
  const attempt = (act: (open: Emulator) => void): void => {
    try {
      if (emulator) act(emulator);
    } catch (error) {
      fail(error);
    }
  };
  const { pause, resume, ...parsing } = parseInTurns({
    parse: (bytes) => emulator?.parse(bytes),
    ...clocks,
    anew,
    onFailure: fail,
  });
  const open = (next: Size): void => {
    emulator = openEmulator(next);
    count.noteOpen(emulator);
  };
  const close = (): void => {
    count.noteClose(emulator);
    emulator?.close();
    emulator = undefined;
    pause();
  };
  const goTo = (next: Size): void => {
    if (isFailed) return;
    if (!hasModel(next)) return close();
    if (emulator) return attempt((opened) => opened.resize(next));
    open(next);
    resume(anew());
  };
  if (hasModel(size)) open(size);
  else pause();
  return {
    ...shownBy(() => emulator),
    ...parsing,
    resize: async (next) => goTo(next),
    countWritten: () => count.start(emulator),
    written: () => count.all(emulator),
    eraseBelow: (rows) => attempt((opened) => opened.eraseBelow(rows)),
    alignCursor: (row) => attempt((opened) => opened.alignCursor(row)),
  };
};
