import { hasFooter, type Grid } from './grid.js';

/*
 * Cursor movement as ECMA-48, the VT510 manual and xterm define it, on the grid alone: nothing here writes to the terminal.
 */

export const clearWrap = (grid: Grid): void => {
  grid.pendingWrap = false;
  grid.wrapLost = false;
};

export const moveTo = (grid: Grid, row: number, column: number): void => {
  const lowest = grid.origin ? grid.top : 0;
  const highest = grid.origin ? grid.bottom : grid.rows - 1;
  grid.row = Math.min(highest, Math.max(lowest, row));
  grid.column = Math.min(grid.columns - 1, Math.max(0, column));
  clearWrap(grid);
};

/** A movement from where the cursor is. In origin mode xterm.js takes the row for one that counts from the top margin. */
export const moveBy = (grid: Grid, rows: number, columns: number): void => {
  const extra = grid.origin && grid.quirks.isXtermJs ? grid.top : 0;
  moveTo(grid, grid.row + rows + extra, grid.column + columns);
};

/** CUP and friends count from the margins in origin mode (DECOM). */
export const moveToAddress = (grid: Grid, row: number, column: number): void => {
  const left = grid.origin && grid.sideMargins ? grid.left : 0;
  moveTo(grid, grid.origin ? row + grid.top : row, column + left);
};

export const home = (grid: Grid): void => moveToAddress(grid, 0, 0);

const isBetweenSideMargins = (grid: Grid): boolean =>
  !grid.sideMargins || (grid.column >= grid.left && grid.column <= grid.right);

/** So many lines have left the region at its top. */
export const noteScrolled = (grid: Grid, lines: number): void => {
  if (grid.top === 0 && !grid.alternate) grid.scrolled += lines;
};

/** IND: one row down; at the bottom margin the region scrolls instead; below it the last row holds. */
export const index = (grid: Grid): void => {
  if (grid.row === grid.bottom) noteScrolled(grid, 1);
  else if (grid.row < grid.rows - 1) grid.row += 1;
  clearWrap(grid);
};

/** True where an index, a line feed or a wrap must not move because the row is the child's last and lies below its region. */
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

/** The row where CUD stops: the bottom margin, or the last row for a cursor that is already below it. */
export const lowestRow = (grid: Grid): number => (grid.row <= grid.bottom ? grid.bottom : grid.rows - 1);

export const moveDown = (grid: Grid, count: number): void =>
  moveBy(grid, Math.min(lowestRow(grid), grid.row + count) - grid.row, 0);

export const moveRight = (grid: Grid, count: number): void => {
  const limit = isBetweenSideMargins(grid) && grid.sideMargins ? grid.right : grid.columns - 1;
  moveBy(grid, 0, Math.min(limit, grid.column + count) - grid.column);
};

const leftLimit = (grid: Grid): number => (grid.sideMargins && grid.column >= grid.left ? grid.left : 0);

export const moveLeft = (grid: Grid, count: number): void =>
  moveBy(grid, 0, Math.max(leftLimit(grid), grid.column - count) - grid.column);

export const backspace = (grid: Grid): void => {
  if (grid.column > 0 || !grid.reverseWrap || !grid.autowrap)
    return moveTo(grid, grid.row, Math.max(leftLimit(grid), grid.column - 1));
  moveTo(grid, grid.row > grid.top ? grid.row - 1 : grid.bottom, grid.columns - 1);
};

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
