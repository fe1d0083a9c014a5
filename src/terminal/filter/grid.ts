import { standardQuirks, type Quirks } from './quirks.js';
import { plainRendition, type Rendition } from './rendition.js';

/** The four designated character sets, each as the bytes after ESC, and which of them the locking shifts SI, SO, LS2 or LS3 shifted in. */
export interface Charsets {
  readonly designations: readonly [string, string, string, string];
  readonly shifted: 0 | 1 | 2 | 3;
}

export const asciiCharsets: Charsets = { designations: ['(B', ')B', '*B', '+B'], shifted: 0 };

const lockingShifts = ['\x0f', '\x0e', '\x1bn', '\x1bo']; // SI, SO, LS2, LS3

/** Designates the child's character sets and shifts as it has. */
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
  /** the terminal's own slot no longer holds this: a paint or a resize of ours has used the slot since */
  readonly overwritten: boolean;
}

/**
 * What the child's terminal of `rows` rows would know about its cursor and margins. Rows and columns count from 0.
 * One value that is changed in place: it is touched for every run of output bytes.
 */
export interface Grid {
  rows: number;
  columns: number;
  row: number;
  column: number;
  /** the last column has been written and the next character wraps first (DEC STD 070, "last column flag") */
  pendingWrap: boolean;
  /** pendingWrap holds, but the terminal has lost its flag to a save and restore of ours: we wrap for it */
  wrapLost: boolean;
  top: number;
  bottom: number;
  /** DECLRMM: left and right margins are in use */
  sideMargins: boolean;
  left: number;
  right: number;
  origin: boolean;
  autowrap: boolean;
  /** IRM: what is printed moves the rest of the row */
  insertMode: boolean;
  /** LNM: a line feed also returns the carriage */
  newLine: boolean;
  reverseWrap: boolean;
  /** 1 where a tab stop is */
  tabs: Uint8Array;
  /** the main screen's while the alternate one is shown, for terminals with tab stops per buffer */
  mainTabs: Uint8Array;
  rendition: Rendition;
  charsets: Charsets;
  /** DECSCA: what is printed is safe from selective erasing */
  isProtected: boolean;
  alternate: boolean;
  /** the mode that switched to the alternate screen: 47, 1047 or 1049 */
  alternateMode: number;
  /** cursor slots of the main and the alternate screen */
  saved: { main: SavedCursor; alternate: SavedCursor };
  /** the main screen's region while the alternate one is shown, for terminals with a region per buffer */
  mainRegion: { readonly top: number; readonly bottom: number };
  /** code point and width of the character just printed, for REP; width 0 = there is none */
  lastCodePoint: number;
  lastWidth: number;
  /** combining characters that have joined it */
  lastMarks: string;
  /** it has been repeated: only some terminals repeat it again */
  repeated: boolean;
  /** lines that the main screen has scrolled into the history */
  scrolled: number;
  /** a paint has printed since, so that the terminal would repeat something else */
  repeatLost: boolean;
  /** VT52 mode (DECANM reset) */
  vt52: boolean;
  /** DEC private modes as XTSAVE has kept them */
  savedModes: ReadonlyMap<number, boolean>;
  /** mode 40: DECCOLM is allowed */
  columnSwitch: boolean;
  /** something erased or overwrote the footer row */
  footerDirty: boolean;
  /** the terminal was resized while the alternate screen was shown: the main cursor may come back on the footer row */
  mainCursorStale: boolean;
  /** rows of the real terminal; equal to `rows` while there is no footer */
  terminalRows: number;
  /** the footer is on the screen, so that it must be taken away before the buffer is switched */
  footerShown: boolean;
  quirks: Quirks;
}

/** What DECRC restores when nothing was saved: home, no attributes (VT510 manual). */
export const homeSaved: SavedCursor = {
  row: 0,
  column: 0,
  pendingWrap: false,
  origin: false,
  rendition: plainRendition,
  charsets: asciiCharsets,
  isProtected: false,
  scrolled: 0,
  overwritten: false,
};

export const defaultTabs = (columns: number): Uint8Array =>
  Uint8Array.from({ length: columns }, (_, column) => (column > 0 && column % 8 === 0 ? 1 : 0));

const keptTabs = (before: Uint8Array, columns: number): Uint8Array =>
  defaultTabs(columns).map((tab, column) => before[column] ?? tab);

const modesOff = {
  sideMargins: false,
  origin: false,
  autowrap: true,
  insertMode: false,
  newLine: false,
  reverseWrap: false,
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
  ...modesOff,
  tabs: defaultTabs(columns),
  mainTabs: defaultTabs(columns),
  rendition: plainRendition,
  charsets: asciiCharsets,
  isProtected: false,
  alternate: false,
  alternateMode: 1049,
  saved: { main: homeSaved, alternate: homeSaved },
  mainRegion: { top: 0, bottom: rows - 1 },
  lastCodePoint: 0,
  lastWidth: 0,
  lastMarks: '',
  repeated: false,
  scrolled: 0,
  repeatLost: false,
  savedModes: new Map(),
  columnSwitch: false,
  footerDirty: true,
  mainCursorStale: false,
  terminalRows,
  footerShown: false,
  quirks,
});

/** The rows and columns are new: margins go back to the whole screen, as terminals do (facts/terminals.md, table). */
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

/** A paint, a resize or an assertion of the region has just used the cursor slot of the shown screen. */
export const markSlotOverwritten = (grid: Grid): void => {
  const buffer = grid.alternate ? 'alternate' : 'main';
  grid.saved[buffer] = { ...grid.saved[buffer], overwritten: true };
  if (grid.pendingWrap) grid.wrapLost = true;
};

/** True while a footer row lies below the child's rows; without one nothing needs to be rewritten. */
export const hasFooter = (grid: Grid): boolean => grid.rows < grid.terminalRows;

/** True where rows lie between the child's region and the footer, so that a line feed in the last one would reach the footer. */
export const isNarrow = (grid: Grid): boolean => hasFooter(grid) && grid.bottom < grid.rows - 1;

/** Everything that RIS resets; what the terminal is and how large stays. */
export const resetGrid = (grid: Grid): void => {
  const { columns, rows, terminalRows, quirks, footerShown, newLine } = grid;
  Object.assign(grid, makeGrid(columns, rows, terminalRows, quirks), { footerShown });
  grid.newLine = newLine && quirks.isXtermJs; // it keeps LNM as an option of its own
};
