import {
  hasFooter,
  type Grid,
  charsetSequence,
  defaultSavedCursor,
  asciiCharsets,
  defaultTabs,
  markSlotOverwritten,
} from './grid.js';
import { renditionSequence, defaultRendition } from './rendition.js';

/*
 * Cursor movement, scroll regions, screen buffers and printing on the grid, as ECMA-48, the VT510 manual and xterm define them. Functions
 * that return a string give what to send to the terminal.
 */

export const clearWrap = (grid: Grid): void => {
  grid.pendingWrap = false;
  grid.wrapLost = false;
};

/** ED and EL, 0 to 2. */
export const noteErased = (grid: Grid): void => {
  if (grid.quirks.eraseEndsWrap) clearWrap(grid);
};

export const moveTo = (grid: Grid, row: number, column: number): void => {
  const lowest = grid.origin ? grid.top : 0;
  const highest = grid.origin ? grid.bottom : grid.rows - 1;
  grid.row = Math.min(highest, Math.max(lowest, row));
  grid.column = Math.min(grid.columns - 1, Math.max(0, column));
  clearWrap(grid);
};

/** A relative movement. In origin mode xterm.js adds the top margin to the row. */
export const moveBy = (grid: Grid, rows: number, columns: number): void => {
  const extra = grid.origin && grid.quirks.isXtermJs ? grid.top : 0;
  moveTo(grid, grid.row + rows + extra, grid.column + columns);
};

/** The column that an address means: in origin mode it counts from the left margin and ends at the right one. */
export const addressColumn = (grid: Grid, column: number): number =>
  grid.origin && grid.sideMargins ? Math.min(grid.right, grid.left + column) : column;

/** CUP and friends count from the margins in origin mode (DECOM). */
export const moveToAddress = (grid: Grid, row: number, column: number): void => {
  grid.isCursorUnsure = false;
  grid.isRowKnown = true;
  moveTo(grid, grid.origin ? row + grid.top : row, addressColumn(grid, column));
};

export const home = (grid: Grid): void => moveToAddress(grid, 0, 0);

export const isBetweenSideMargins = (grid: Grid): boolean =>
  !grid.sideMargins || (grid.column >= grid.left && grid.column <= grid.right);

/** Records that `lines` lines have scrolled out of the region at its top. */
export const noteScrolled = (grid: Grid, lines: number): void => {
  if (grid.top === 0 && !grid.alternate) grid.scrolled += lines;
};

/** IND: one row down; at the bottom margin the region scrolls; below the region the last row stops the cursor. */
export const index = (grid: Grid): void => {
  if (grid.row === grid.bottom) noteScrolled(grid, 1);
  else if (grid.row < grid.rows - 1) grid.row += 1;
  clearWrap(grid);
};

/** True if the cursor is in the child's last row below its region: an index, line feed or wrap must not move it onto the footer. */
export const isBlockedBelow = (grid: Grid): boolean =>
  hasFooter(grid) && grid.row === grid.rows - 1 && grid.row !== grid.bottom;

export const reverseIndex = (grid: Grid): void => {
  if (grid.row !== grid.top && grid.row > 0) grid.row -= 1;
  clearWrap(grid);
};

export const carriageReturn = (grid: Grid): void => {
  const toMargin = grid.sideMargins && (grid.origin || grid.column >= grid.left);
  grid.column = toMargin ? grid.left : 0;
  clearWrap(grid);
};

export const moveUp = (grid: Grid, count: number): void => {
  const limit = grid.row >= grid.top ? grid.top : 0;
  moveBy(grid, Math.max(limit, grid.row - count) - grid.row, 0);
};

/** The row where CUD stops: the bottom margin, or the last row if the cursor is already below the margin. */
export const lowestRow = (grid: Grid): number => (grid.row <= grid.bottom ? grid.bottom : grid.rows - 1);

export const moveDown = (grid: Grid, count: number): void =>
  moveBy(grid, Math.min(lowestRow(grid), grid.row + count) - grid.row, 0);

export const moveRight = (grid: Grid, count: number): void => {
  const limit = isBetweenSideMargins(grid) && grid.sideMargins ? grid.right : grid.columns - 1;
  moveBy(grid, 0, Math.min(limit, grid.column + count) - grid.column);
};

/** The column where a movement to the left ends: the left margin, or the edge for a cursor left of it. */
export const leftLimit = (grid: Grid): number =>
  grid.sideMargins && grid.column >= grid.left ? grid.left : 0;

export const moveLeft = (grid: Grid, count: number): void =>
  moveBy(grid, 0, Math.max(leftLimit(grid), grid.column - count) - grid.column);

/** The column of the next tab stop, at most the right edge. */
export const tabForward = (grid: Grid, count: number): void => {
  if (grid.pendingWrap) return;
  const edge = isBetweenSideMargins(grid) && grid.sideMargins ? grid.right : grid.columns - 1;
  for (let left = Math.min(count, grid.columns); left > 0; left -= 1) {
    do grid.column += 1;
    while (grid.column < edge && grid.tabs[grid.column] !== 1);
    grid.column = Math.min(grid.column, edge);
  }
};

export const tabBackward = (grid: Grid, count: number): void => {
  if (grid.pendingWrap && grid.quirks.isXtermJs) return;
  clearWrap(grid);
  for (let left = Math.min(count, grid.columns); left > 0; left -= 1) {
    do grid.column -= 1;
    while (grid.column > 0 && grid.tabs[grid.column] !== 1);
    grid.column = Math.max(grid.column, 0);
  }
};

const bufferOf = (grid: Grid): 'main' | 'alternate' => (grid.alternate ? 'alternate' : 'main');

/** DECSC, SCOSC, mode 1048: one slot for each screen buffer (docs/facts/terminals.md#how-terminals-differ). */
export const saveCursor = (grid: Grid): void => {
  const { row, column, pendingWrap, origin, rendition, charsets, isProtected, scrolled, wrapLost } = grid;
  const isUnsure = grid.isCursorUnsure;
  grid.saved[bufferOf(grid)] = {
    row,
    column,
    pendingWrap,
    origin,
    rendition,
    charsets,
    isProtected,
    scrolled,
    isUnsure,
    overwritten: wrapLost,
  };
};

/** After DECSTR the slot holds the home position (VT510 manual). */
const forgetSavedCursor = (grid: Grid): void => {
  grid.saved[bufferOf(grid)] = { ...defaultSavedCursor, scrolled: grid.scrolled };
};

/** Rows and columns of `ESC Y`, VT52's cursor address, are sent with this added. */
export const VT52_ORIGIN = 0x20;

export const vt52Address = (row: number, column: number): string =>
  `\x1bY${String.fromCharCode(row + VT52_ORIGIN, column + VT52_ORIGIN)}`;

/** CUP to the cursor's row and this column; not CHA, with which xterm.js also changes the row in origin mode. */
export const cursorPositionSequence = (grid: Grid, column: number = grid.column): string => {
  if (grid.vt52) return vt52Address(grid.row, column);
  const row = grid.origin ? grid.row - grid.top : grid.row;
  const left = grid.origin && grid.sideMargins ? grid.left : 0;
  return `\x1b[${row + 1};${column - left + 1}H`;
};

/** Sets the child's cursor, rendition and character sets explicitly, for a terminal whose cursor slot does not hold them. */
export const cursorSequence = (grid: Grid): string => {
  const protection = grid.isProtected ? '\x1b[1"q' : '\x1b[0"q';
  return `${renditionSequence(grid.rendition)}${protection}${charsetSequence(grid.charsets)}${cursorPositionSequence(grid)}`;
};

/**
 * DECRC. If the wrapper has used the terminal's cursor slot since the child saved, returns sequences that set the child's cursor,
 * rendition, character sets and origin mode. Undefined if the terminal's slot still holds them.
 */
export const restoreCursor = (grid: Grid): string | undefined => {
  const saved = grid.saved[bufferOf(grid)];
  const originBefore = grid.origin;
  const hasMoved = grid.scrolled !== saved.scrolled && !grid.alternate;
  const lines = hasMoved && grid.quirks.isXtermJs ? grid.scrolled - saved.scrolled : 0; // xterm.js moves its slot with the text
  const column = Math.min(saved.column, grid.columns - 1);
  if (!grid.quirks.restoreKeepsOrigin) grid.origin = saved.origin;
  const [first, last] = grid.origin ? [grid.top, grid.bottom] : [0, grid.rows - 1];
  const row = Math.max(first, Math.min(saved.row - lines, last));
  Object.assign(grid, { row, column, rendition: saved.rendition, charsets: saved.charsets });
  grid.isProtected = saved.isProtected;
  clearWrap(grid);
  grid.pendingWrap = saved.pendingWrap && !grid.quirks.restoreKeepsOrigin;
  grid.isCursorUnsure = saved.isUnsure;
  if (!saved.overwritten && !hasMoved && grid.origin === originBefore) return undefined;
  grid.wrapLost = grid.pendingWrap;
  grid.isCursorUnsure = false;
  const originSwitch = grid.origin === originBefore ? '' : `\x1b[?6${grid.origin ? 'h' : 'l'}`;
  return originSwitch + cursorSequence(grid);
};

/** DECSTBM for the child's margins; it moves the cursor home. */
export const regionSequence = (grid: Grid): string => `\x1b[${grid.top + 1};${grid.bottom + 1}r`;

/** Sets the child's region again and leaves the cursor where it is. Uses the terminal's cursor slot. */
const setRegionAgain = (grid: Grid): string => {
  markSlotOverwritten(grid);
  return `\x1b7${regionSequence(grid)}\x1b8`;
};

const resetRegion = (grid: Grid): void => {
  grid.top = 0;
  grid.bottom = grid.rows - 1;
};

const NO_EFFECT = '\x1b[2;1r'; // margins that every terminal rejects: a sequence without effect

/** DECSTBM. Margins that a terminal of the child's size would reject stay rejected, larger ones are clamped. */
export const setRegion = (grid: Grid, top: number, bottom: number): string | undefined => {
  const last = bottom === 0 || bottom > grid.rows ? grid.rows : bottom;
  const first = Math.max(1, top);
  if (first >= last) return hasFooter(grid) ? NO_EFFECT : undefined;
  grid.top = first - 1;
  grid.bottom = last - 1;
  home(grid);
  return hasFooter(grid) && bottom !== last ? regionSequence(grid) : undefined;
};

/**
 * Erases the footer row; the cursor stays. Uses the terminal's cursor slot. Sent before the child clears or leaves the main screen: some
 * terminals keep its contents (tmux and VTE scroll a cleared screen into their history).
 */
export const eraseFooter = (grid: Grid): string => {
  grid.footerShown = false;
  markSlotOverwritten(grid);
  const erase = `\x1b[${grid.terminalRows};1H\x1b[0m\x1b[2K`;
  return grid.origin ? `\x1b[?6l${erase}\x1b[?6h${cursorSequence(grid)}` : `\x1b7${erase}\x1b8`;
};

export const isFooterOnMain = (grid: Grid): boolean => hasFooter(grid) && grid.footerShown && !grid.alternate;

/** The alternate screen has its own tab stops. */
const switchTabs = (grid: Grid, on: boolean): void => {
  if (on) grid.mainTabs = grid.tabs;
  grid.tabs = on ? defaultTabs(grid.columns) : grid.mainTabs;
};

/**
 * Modes 47, 1047 and 1049: erases the footer before the child leaves the main screen, so that no stale footer returns later, and sets
 * the region again in both directions (docs/facts/terminals.md#resize).
 */
export const switchBuffer = (grid: Grid, mode: number, on: boolean): string | undefined => {
  const sequence = `\x1b[?${mode}${on ? 'h' : 'l'}`;
  const before = on && isFooterOnMain(grid) ? eraseFooter(grid) : '';
  const changed = grid.alternate !== on;
  if (on && mode === 1049) {
    saveCursor(grid);
    noteErased(grid);
  }
  if (changed && grid.quirks.regionPerBuffer) {
    const kept = grid.mainRegion;
    if (on) grid.mainRegion = { top: grid.top, bottom: grid.bottom };
    Object.assign(grid, on ? { top: 0, bottom: grid.rows - 1 } : kept);
    switchTabs(grid, on);
  }
  if (changed && grid.quirks.switchResetsRegion) resetRegion(grid);
  grid.alternate = on;
  if (on) grid.alternateMode = mode;
  grid.footerDirty = true;
  const restored = (!on && mode === 1049 ? restoreCursor(grid) : undefined) ?? '';
  if (!hasFooter(grid) || !changed)
    return before + restored === '' ? undefined : before + sequence + restored;
  const isKept = !on && grid.quirks.regionPerBuffer && !grid.mainCursorStale; // the main screen still has its region
  const after = (on ? '' : leaveFooterRow(grid)) + (isKept ? '' : setRegionAgain(grid));
  return before + sequence + restored + after;
};

/** After a resize during the alternate screen the main screen's cursor may be on the footer row: makes one row of room. */
const leaveFooterRow = (grid: Grid): string => {
  if (!grid.mainCursorStale) return '';
  grid.mainCursorStale = false;
  markSlotOverwritten(grid);
  return '\x1b7\x1b[r\x1b8\x1bD\x1b[A';
};

/** What a soft reset does to the modes, for a terminal that does not reset at this sequence. */
export const softResetModes = (grid: Grid): string =>
  [
    grid.origin ? '\x1b[?6l' : '',
    grid.sideMargins ? '\x1b[?69l' : '',
    grid.autowrap ? '' : '\x1b[?7h',
    grid.insertMode ? '\x1b[4l' : '',
    grid.charsets === asciiCharsets ? '' : charsetSequence(asciiCharsets),
    '\x1b[0m\x1b[0"q',
  ].join('');

/** DECSTR and DECSCL: reset modes and margins and the saved cursor; the cursor stays. */
export const softReset = (grid: Grid, sequence: string): string | undefined => {
  Object.assign(grid, {
    origin: false,
    autowrap: true,
    rendition: defaultRendition,
    charsets: asciiCharsets,
  });
  Object.assign(grid, { sideMargins: false, left: 0, right: grid.columns - 1, isProtected: false });
  Object.assign(grid, { insertMode: false, reverseWrap: false, extendedReverseWrap: false });
  forgetSavedCursor(grid);
  if (grid.quirks.softResetKeepsRegion || !hasFooter(grid)) return undefined;
  resetRegion(grid);
  if (grid.isCursorUnsure) return sequence + setRegionAgain(grid);
  if (grid.pendingWrap) grid.wrapLost = true;
  return `${sequence}${regionSequence(grid)}\x1b7\x1b[${grid.row + 1};${grid.column + 1}H`;
};

/** DECALN fills the whole screen, including the footer row. */
export const alignScreen = (grid: Grid): string | undefined => {
  grid.footerDirty = true;
  if (!grid.quirks.alignmentKeepsRegion) {
    resetRegion(grid);
    Object.assign(grid, { left: 0, right: grid.columns - 1 });
  }
  home(grid);
  return hasFooter(grid) && !grid.quirks.alignmentKeepsRegion ? `\x1b#8${regionSequence(grid)}` : undefined;
};

/** DECCOLM, if the terminal supports it: clears the screen, moves home, resets margins. */
export const switchColumns = (grid: Grid, on: boolean): string | undefined => {
  const sequence = `\x1b[?3${on ? 'h' : 'l'}`;
  if (grid.quirks.columnMode === 'no') return undefined;
  if (!grid.isColumnModeAllowed && !grid.quirks.columnModeAlways)
    return grid.quirks.columnMode === 'unknown' ? '' : undefined;
  resetRegion(grid);
  Object.assign(grid, { sideMargins: false, left: 0, right: grid.columns - 1 });
  grid.footerDirty = true;
  home(grid);
  clearWrap(grid);
  return hasFooter(grid) ? sequence + regionSequence(grid) : undefined;
};

/** Inserts bytes into the output before the child's byte at this offset of the chunk. */
export type Insert = (at: number, bytes: string) => void;

/** The last column for text printed at the cursor: the right margin or the screen's edge. */
export const lastColumnOf = (grid: Grid): number =>
  grid.sideMargins && grid.column <= grid.right ? grid.right : grid.columns - 1;

/** A wide character that wraps early leaves one cell free, which some terminals blank. */
const blankCell = (grid: Grid): string => (grid.quirks.earlyWrapBlanks && !grid.pendingWrap ? ' ' : '');

/** The wrap before a character at `at`: the terminal does it, unless it would reach the footer or the terminal has lost its flag. */
export const wrap = (grid: Grid, at: number, insert: Insert): void => {
  const blocked = isBlockedBelow(grid);
  if (blocked) insert(at, `${blankCell(grid)}\r`);
  else if (grid.wrapLost) insert(at, '\r\x1bD');
  if (!blocked) index(grid);
  grid.column = grid.sideMargins ? grid.left : 0;
  clearWrap(grid);
};

/** Moves the cursor for `count` printed characters of one cell each. */
export const printCells = (grid: Grid, count: number, at: number, insert: Insert): void => {
  let left = count;
  while (left > 0) {
    if (grid.pendingWrap && grid.autowrap) wrap(grid, at + count - left, insert);
    const edge = lastColumnOf(grid);
    const taken = Math.min(left, edge - grid.column + 1);
    grid.column += taken;
    left -= taken;
    if (grid.column <= edge) continue;
    grid.column = edge;
    grid.pendingWrap = true;
    grid.wrapLost = false;
    if (!grid.autowrap) return;
  }
};

/** Moves the cursor for one printed character of two cells: it wraps early if only one cell is left. */
export const printWide = (grid: Grid, at: number, insert: Insert): void => {
  if (grid.autowrap && (grid.pendingWrap || grid.column >= lastColumnOf(grid))) wrap(grid, at, insert);
  const edge = lastColumnOf(grid);
  if (!grid.autowrap && grid.quirks.isXtermJs && (grid.pendingWrap || grid.column >= edge)) {
    grid.column = edge; // xterm.js prints nothing if there is no room
    return clearWrap(grid);
  }
  grid.column += 2;
  if (grid.column <= edge) return;
  grid.column = edge;
  grid.pendingWrap = true;
  grid.wrapLost = false;
};
