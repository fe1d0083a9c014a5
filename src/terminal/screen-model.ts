import type { CharacterCounts, ScreenView, Signals } from '../core/reading.js';
import { openEmulator, type Emulator } from './emulator.js';
import type { SavedScreen } from './overview/saved-screen.js';
import { makeTimeSlicedParser } from './time-sliced-parser.js';
import type { Size } from './tty.js';

/**
 * A model of the child's screen, updated asynchronously: it may lag behind a flood of output, and restarts when it lags too far. A
 * terminal that is too large has no model, and there is none after a failure; the screen is unknown then.
 */
export interface ScreenModel {
  feed: (bytes: Uint8Array) => void;
  /** keeps the rows below the cursor, like a terminal that scrolls when its height shrinks; call `alignCursor` if it did not scroll */
  resize: (size: Size) => Promise<void>;
  /** resolves when everything fed so far is on the screen */
  settled: () => Promise<void>;
  /** rows with content below the cursor's row */
  rowsBelowCursor: () => number;
  /** nothing is at the cursor or right of it in its row */
  isBlankFromCursor: () => boolean;
  /** rows that the cursor's line would take below the cursor if it were wrapped at `columns` */
  rowsWrappedAt: (columns: number) => number;
  /** last row of the main screen with content, from 0; −1 for an empty screen, Infinity while there is no model */
  lastRow: () => number;
  /** erases everything more than `rows` rows below the cursor, as was done in the terminal after a resize */
  eraseBelow: (rows: number) => void;
  /** moves the text so that the cursor is on the row where the terminal has it, after a resize */
  alignCursor: (row: number) => void;
  /** output was left out: starts again with these bytes, which bring it to the child's cursor and modes */
  restart: (seed: string) => void;
  /** bytes wait to be parsed: the model is not what the child has drawn */
  isBehind: () => boolean;
  /** the child is in the middle of a frame: it has started synchronized output (mode 2026) and not ended it */
  isMidFrame: () => boolean;
  /** the child tells pasted text from typed text (mode 2004), so that a newline in it is not Enter */
  takesPastes: () => boolean;
  /** screen and signals of the child now; read it before more is fed; undefined while there is no model */
  snapshot: () => { readonly screen: ScreenView; readonly signals: Signals } | undefined;
  /** a copy of the visible screen, to draw it again; call it after `settled` */
  saveScreen: () => SavedScreen | undefined;
  /** starts to count the text that scrolls off the screen; without it counting costs nothing */
  startCounting: () => void;
  /** all text up to now, including the visible screen; undefined before `startCounting` */
  writtenText: () => CharacterCounts | undefined;
}

// 640 by 180 is a very small font on a very large display; the model takes 24 bytes per cell, and some sequences touch all cells.
const MAX_COLUMNS = 1_000;
const MAX_ROWS = 500;
const MAX_CELLS = 200_000;

const isModelled = ({ columns, rows }: Size): boolean =>
  columns <= MAX_COLUMNS && rows <= MAX_ROWS && columns * rows <= MAX_CELLS;

const NOTHING: CharacterCounts = { ascii: 0, wide: 0 };

const sum = (one: CharacterCounts, other: CharacterCounts): CharacterCounts => ({
  ascii: one.ascii + other.ascii,
  wide: one.wide + other.wide,
});

/** Adds up what the emulators have counted, one after the other. */
const makeTotalCount = () => {
  let isCounting = false;
  let before = NOTHING;
  return {
    start: (emulator: Emulator | undefined): void => {
      isCounting = true;
      emulator?.startCounting();
    },
    noteOpen: (emulator: Emulator): void => {
      if (isCounting) emulator.startCounting();
    },
    noteClose: (emulator: Emulator | undefined): void => {
      before = sum(before, emulator?.writtenText() ?? NOTHING);
    },
    all: (emulator: Emulator | undefined): CharacterCounts | undefined => {
      const counted = emulator?.writtenText();
      return counted && sum(before, counted);
    },
  };
};

type EmulatorReads = Omit<
  ScreenModel,
  | 'feed'
  | 'settled'
  | 'isBehind'
  | 'resize'
  | 'restart'
  | 'eraseBelow'
  | 'alignCursor'
  | 'startCounting'
  | 'writtenText'
>;

/** Reads from the current emulator; default values if there is none. */
const emulatorReads = (emulator: () => Emulator | undefined): EmulatorReads => ({
  snapshot: () => emulator()?.snapshot(),
  saveScreen: () => emulator()?.saveScreen(),
  isMidFrame: () => emulator()?.isMidFrame() ?? false,
  takesPastes: () => emulator()?.takesPastes() ?? false,
  rowsBelowCursor: () => emulator()?.rowsBelowCursor() ?? 0,
  isBlankFromCursor: () => emulator()?.isBlankFromCursor() ?? false,
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
 * `seed` gives the bytes that bring a new terminal to the child's present cursor and modes, after output was skipped.
 * `onFailure` is called once, when the model has failed for good.
 */
export const makeScreenModel = (
  size: Size,
  seed: () => string,
  onFailure: (error: unknown) => void = () => undefined,
): ScreenModel => {
  let emulator: Emulator | undefined;
  let hasFailed = false;
  const count = makeTotalCount();

  const restartBytes = (text = seed()): Uint8Array => {
    emulator?.markIncomplete();
    return Buffer.from(`\x1bc${text}`);
  };
  const fail = (error: unknown): void => {
    hasFailed = true;
    close();
    onFailure(error);
  };
  const runOrFail = (act: (open: Emulator) => void): void => {
    try {
      if (emulator) act(emulator);
    } catch (error) {
      fail(error);
    }
  };
  const { pause, resume, inOrder, ...parsing } = makeTimeSlicedParser({
    parse: (bytes) => emulator?.parse(bytes),
    ...clocks,
    restartBytes: () => restartBytes(),
    onFailure: fail,
  });
  const open = (next: Size): void => count.noteOpen((emulator = openEmulator(next)));
  const close = (): void => {
    count.noteClose(emulator);
    emulator?.close();
    emulator = undefined;
    pause();
  };
  const changeSize = (next: Size): void => {
    if (hasFailed) return;
    if (!isModelled(next)) return close();
    if (emulator) return runOrFail((opened) => opened.resize(next));
    open(next);
    resume(restartBytes());
  };
  if (isModelled(size)) open(size);
  else pause();
  return {
    ...emulatorReads(() => emulator),
    ...parsing,
    resize: async (next) => inOrder(() => changeSize(next)),
    restart: (text) => {
      if (emulator) resume(restartBytes(text));
    },
    startCounting: () => count.start(emulator),
    writtenText: () => count.all(emulator),
    eraseBelow: (rows) => inOrder(() => runOrFail((opened) => opened.eraseBelow(rows))),
    alignCursor: (row) => inOrder(() => runOrFail((opened) => opened.alignCursor(row))),
  };
};
