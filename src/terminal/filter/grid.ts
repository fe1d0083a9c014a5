import { standardQuirks, type Quirks } from './quirks.js';
import { defaultRendition, type Rendition } from './rendition.js';

// The part of the child's terminal that the filter needs: size, cursor, margins, tab stops, character sets. It holds no cell contents.

/** The four designated character sets, each as the bytes after ESC, and the index of the one that SI, SO, LS2 or LS3 has selected. */
export interface Charsets {
  readonly designations: readonly [string, string, string, string];
  readonly shifted: 0 | 1 | 2 | 3;
}

export const asciiCharsets: Charsets = { designations: ['(B', ')B', '*B', '+B'], shifted: 0 };

const lockingShifts = ['\x0f', '\x0e', '\x1bn', '\x1bo']; // SI, SO, LS2, LS3

/** Designates the child's character sets and selects the child's one. */
export const charsetSequence = ({ designations, shifted }: Charsets): string =>
  designations.map((designation) => `\x1b${designation}`).join('') + (lockingShifts[shifted] ?? '');

/** What DECSC (ESC 7) keeps: VT510 manual, "Save Cursor". */
export interface SavedCursor {
  readonly row: number;
  readonly column: number;
  readonly pendingWrap: boolean;
  readonly origin: boolean;
  readonly rendition: Rendition;
  readonly charsets: Charsets;
  readonly isProtected: boolean;
  /** the grid's `scrolled` when it was saved */
  readonly scrolled: number;
  /** the cursor was unsure */
  readonly isUnsure: boolean;
  /** the terminal's own slot no longer holds this: the wrapper has used the slot for a paint or resize since */
  readonly overwritten: boolean;
}

/**
 * Cursor, margins and modes of the child's terminal of `rows` rows. Rows and columns count from 0.
 * Changed in place, since every run of output bytes changes it.
 */
export interface Grid {
  rows: number;
  columns: number;
  row: number;
  column: number;
  /** the last column has been written and the next character wraps first (DEC STD 070, "last column flag") */
  pendingWrap: boolean;
  /** pendingWrap is true, but the terminal has lost its flag to a cursor save and restore of the wrapper, which must wrap for it */
  wrapLost: boolean;
  top: number;
  bottom: number;
  /** DECLRMM: left and right margins are in use */
  sideMargins: boolean;
  left: number;
  right: number;
  origin: boolean;
  autowrap: boolean;
  /** IRM: printing moves the rest of the row */
  insertMode: boolean;
  /** LNM: a line feed also returns the carriage */
  newLine: boolean;
  /** mode 45: BS and CUB at the left edge go on in the row above */
  reverseWrap: boolean;
  /** mode 1045: also in a row that does not end in a wrap */
  extendedReverseWrap: boolean;
  /** the terminal's cursor may be before this one, in reading order: where a reverse wrap ends depends on what is on the screen */
  isCursorUnsure: boolean;
  /** false at the start of a session, until the terminal has told its cursor or the child has set it */
  isRowKnown: boolean;
  /** 1 where a tab stop is */
  tabs: Uint8Array;
  /** tab stops of the main screen while the alternate one is shown, for terminals with tab stops per buffer */
  mainTabs: Uint8Array;
  rendition: Rendition;
  charsets: Charsets;
  /** DECSCA: printed characters are protected from selective erase */
  isProtected: boolean;
  alternate: boolean;
  /** the mode that switched to the alternate screen: 47, 1047 or 1049 */
  alternateMode: number;
  /** cursor slots of the main and the alternate screen */
  saved: { main: SavedCursor; alternate: SavedCursor };
  /** region of the main screen while the alternate one is shown, for terminals with a region per buffer */
  mainRegion: { readonly top: number; readonly bottom: number };
  /** code point and width of the character just printed, for REP; width 0 = none */
  lastCodePoint: number;
  lastWidth: number;
  /** combining characters after it */
  lastCombining: string;
  /** it has been repeated once; only some terminals repeat it again */
  repeated: boolean;
  /** number of lines that the main screen has scrolled off at the top */
  scrolled: number;
  /** the wrapper has painted since, so the terminal would repeat another character */
  repeatLost: boolean;
  /** VT52 mode (DECANM reset) */
  vt52: boolean;
  /** DEC private modes saved by XTSAVE */
  savedModes: ReadonlyMap<number, boolean>;
  /** mode 40: DECCOLM is allowed */
  isColumnModeAllowed: boolean;
  /** something erased or overwrote the footer row */
  footerDirty: boolean;
  /** the terminal was resized while the alternate screen was shown: the main screen's cursor may return on the footer row */
  mainCursorStale: boolean;
  /** rows of the real terminal; equal to `rows` while there is no footer */
  terminalRows: number;
  /** the footer is on the screen and must be erased before a switch of the buffer */
  footerShown: boolean;
  quirks: Quirks;
}

/** What DECRC restores if nothing was saved: home, no attributes (VT510 manual). */
export const defaultSavedCursor: SavedCursor = {
  row: 0,
  column: 0,
  pendingWrap: false,
  origin: false,
  rendition: defaultRendition,
  charsets: asciiCharsets,
  isProtected: false,
  scrolled: 0,
  isUnsure: false,
  overwritten: false,
};

export const defaultTabs = (columns: number): Uint8Array =>
  Uint8Array.from({ length: columns }, (_, column) => (column > 0 && column % 8 === 0 ? 1 : 0));

const keptTabs = (before: Uint8Array, columns: number): Uint8Array =>
  defaultTabs(columns).map((tab, column) => before[column] ?? tab);

const defaultGridModes = {
  sideMargins: false,
  origin: false,
  autowrap: true,
  insertMode: false,
  newLine: false,
  reverseWrap: false,
  extendedReverseWrap: false,
  isCursorUnsure: false,
  isRowKnown: true,
  vt52: false,
};

/** A terminal after power-on (RIS) with the cursor at home. */
export const makeGrid = (
  columns: number,
  rows: number,
  terminalRows: number,
  quirks: Quirks = standardQuirks,
): Grid => ({
  rows,
  columns,
  row: 0,
  column: 0,
  pendingWrap: false,
  wrapLost: false,
  top: 0,
  bottom: rows - 1,
  left: 0,
  right: columns - 1,
  ...defaultGridModes,
  tabs: defaultTabs(columns),
  mainTabs: defaultTabs(columns),
  rendition: defaultRendition,
  charsets: asciiCharsets,
  isProtected: false,
  alternate: false,
  alternateMode: 1049,
  saved: { main: defaultSavedCursor, alternate: defaultSavedCursor },
  mainRegion: { top: 0, bottom: rows - 1 },
  lastCodePoint: 0,
  lastWidth: 0,
  lastCombining: '',
  repeated: false,
  scrolled: 0,
  repeatLost: false,
  savedModes: new Map(),
  isColumnModeAllowed: false,
  footerDirty: true,
  mainCursorStale: false,
  terminalRows,
  footerShown: false,
  quirks,
});

/** Changes the size and resets the margins to the whole screen, as terminals do (docs/facts/terminals.md#how-terminals-differ). */
export const resizeGrid = (grid: Grid, columns: number, rows: number, terminalRows: number): void => {
  grid.mainCursorStale ||= grid.alternate;
  Object.assign(grid, {
    columns,
    rows,
    terminalRows,
    tabs: keptTabs(grid.tabs, columns),
    mainTabs: keptTabs(grid.mainTabs, columns),
    top: 0,
    bottom: rows - 1,
    left: 0,
    right: columns - 1,
  });
  grid.mainRegion = { top: 0, bottom: rows - 1 };
  grid.row = Math.min(grid.row, rows - 1);
  grid.column = Math.min(grid.column, columns - 1);
  Object.assign(grid, { pendingWrap: false, wrapLost: false });
  markSlotOverwritten(grid);
  grid.saved.main = { ...grid.saved.main, overwritten: true };
};

/** Records that the wrapper has used the cursor slot of the visible screen. */
export const markSlotOverwritten = (grid: Grid): void => {
  const buffer = grid.alternate ? 'alternate' : 'main';
  grid.saved[buffer] = { ...grid.saved[buffer], overwritten: true };
  if (grid.pendingWrap) grid.wrapLost = true;
};

/** True while there is a footer row below the child's rows; without one nothing needs rewriting. */
export const hasFooter = (grid: Grid): boolean => grid.rows < grid.terminalRows;

/** True if there are rows between the child's region and the footer, so that a line feed in the last one would reach the footer. */
export const hasRowsBelowRegion = (grid: Grid): boolean => hasFooter(grid) && grid.bottom < grid.rows - 1;

/** Resets everything that RIS does; size and quirks stay. */
export const resetGrid = (grid: Grid): void => {
  const { columns, rows, terminalRows, quirks, footerShown, newLine } = grid;
  Object.assign(grid, makeGrid(columns, rows, terminalRows, quirks), { footerShown });
  grid.newLine = newLine && quirks.isXtermJs; // xterm.js keeps LNM
};
