import { hasFooter, type Grid } from './grid.js';
import {
  clearWrap,
  cursorPositionSequence,
  isBetweenSideMargins,
  lastColumnOf,
  leftLimit,
  moveLeft,
} from './motion.js';

/*
 * Reverse wrap: with mode 45 or 1045 BS and CUB go on at the end of the row above. When they do so depends on the terminal, and some go from
 * the first row to the last one, which is the footer's. What the child sent is sent on wherever it cannot get there. Where the new place
 * depends on what is on the screen, the grid has the last place that it can be, and its cursor is unsure until the terminal is asked.
 */

interface Place {
  readonly row: number;
  readonly column: number;
}

/** The rows that a move to the left can go on in: those that end in a wrap, or any; for 'unknown' the terminal may do neither. */
type Reach = 'none' | 'wrapped rows' | 'any row' | 'unknown';

const reachOf = ({ reverseWrap, extendedReverseWrap, autowrap, quirks }: Grid): Reach => {
  if (quirks.reverseWrap === 'unknown') return reverseWrap || extendedReverseWrap ? 'unknown' : 'none';
  if (!autowrap) return 'none';
  if (quirks.reverseWrap === 'xterm-347') return reverseWrap ? 'any row' : 'none';
  if (extendedReverseWrap) return 'any row';
  return reverseWrap ? 'wrapped rows' : 'none';
};

/** Cells that a move by `count` goes to the left: with a pending wrap the first one only ends it (xterm's CursorBack). */
const cellsOf = ({ pendingWrap, quirks }: Grid, count: number): number => {
  if (!pendingWrap) return count;
  const isCountedTwice = quirks.reverseWrap === 'xterm-383' || quirks.reverseWrap === 'xterm-397';
  return isCountedTwice ? Math.max(0, count - 2) : count - 1;
};

const rightMargin = (grid: Grid): number => (grid.sideMargins ? grid.right : grid.columns - 1);

/** Number of rows that a move goes up, and the column where it ends. */
const climb = (grid: Grid, cells: number): { readonly rows: number; readonly column: number } => {
  const limit = leftLimit(grid);
  const width = rightMargin(grid) - limit + 1;
  const rest = cells - (grid.column - limit) - 1; // after the first cell of the row above
  return { rows: Math.floor(rest / width) + 1, column: rightMargin(grid) - (rest % width) };
};

/** For xterm up to 379 the screen is one long line, except in the first place of the region, before which comes its last one. */
const offsetInLine = (grid: Grid, cells: number): { readonly offset: number; readonly width: number } => {
  const limit = leftLimit(grid);
  const width = rightMargin(grid) - limit + 1;
  const isFirst = grid.row === grid.top && grid.column === limit && isBetweenSideMargins(grid);
  const offset = isFirst ? (grid.bottom + 1) * width - 1 : grid.row * width + grid.column - cells - limit;
  return { offset, width };
};

/** Moves in that line, whose begin joins its end; returns how many cells the terminal, whose line is longer, has to move for it. */
const moveInLine = (grid: Grid, cells: number): number => {
  const { offset, width } = offsetInLine(grid, cells);
  const limit = leftLimit(grid);
  const before = grid.row * width + grid.column - limit;
  const length = grid.rows * width;
  const after = ((offset % length) + length) % length;
  const row = Math.floor(after / width);
  const isShort = row !== grid.row && before - after <= grid.column - limit; // it would end in this row, right of the margins
  Object.assign(grid, { row, column: (after % width) + limit });
  return before - after + (after > before || isShort ? grid.terminalRows * width : 0);
};

/** For later ones the last row of the region comes before its first one. */
const placeInRegion = (grid: Grid, cells: number): Place => {
  const { rows, column } = climb(grid, cells);
  const { row, top, bottom } = grid;
  if (row < top || rows <= row - top) return { row: Math.max(0, row - rows), column };
  return { row: bottom - ((rows - (row - top) - 1) % (bottom - top + 1)), column };
};

/** The first row that the terminal can go up to without a way to the footer row, or to a row above the screen, where xterm 402 crashes. */
const safeRow = ({ row, top, quirks }: Grid, reach: Reach): number => {
  if (reach === 'any row' && row >= top && (top > 0 || quirks.reverseWrap === 'xterm-383')) return -Infinity;
  if (quirks.reverseWrap === 'xterm-397') return 1; // it takes the first row for one above the screen
  return reach === 'unknown' && row >= top ? top : 0;
};

/** True if the terminal stays in the child's rows with this move, which leaves the cursor's row. */
const isSafe = (grid: Grid, reach: Reach, cells: number): boolean => {
  if (!hasFooter(grid)) return true;
  if (grid.quirks.reverseWrap === 'xterm-347') return offsetInLine(grid, cells).offset >= 0;
  return grid.row - climb(grid, cells).rows >= safeRow(grid, reach);
};

const leftSequence = (cells: number): string => (cells > 0 ? `\x1b[${cells}D` : '');

/** A move to the left that ends in another row, or that a terminal without reverse wrap ends at the edge. */
const leaveRow = (grid: Grid, reach: Reach, count: number, cells: number): string | undefined => {
  const isSent = isSafe(grid, reach, cells);
  const isKnown = reach === 'any row' || (!isSent && grid.extendedReverseWrap);
  const limit = leftLimit(grid);
  if (grid.quirks.reverseWrap === 'xterm-347') {
    const moved = moveInLine(grid, cells);
    return isSent ? undefined : leftSequence(moved + count - cells);
  }
  if (isKnown) {
    Object.assign(grid, placeInRegion(grid, cells));
    return isSent ? undefined : cursorPositionSequence(grid);
  }
  const rows = Math.max(0, grid.row - safeRow(grid, reach));
  const possible = grid.column - limit + rows * (rightMargin(grid) - limit + 1) + count - cells;
  grid.isCursorUnsure ||= isSent || rows > 0;
  grid.column = limit;
  if (reach === 'wrapped rows') grid.row = Math.max(grid.row, grid.top); // xterm 383 to 401 go down to the region
  if (isSent) return undefined;
  return leftSequence(possible);
};

/** BS, CUB, and cursor left in VT52 mode. Returns what to send instead, or undefined to send it unchanged. */
export const moveBack = (grid: Grid, count: number): string | undefined => {
  const reach = reachOf(grid);
  if (reach === 'none') {
    moveLeft(grid, count);
    return undefined;
  }
  if (grid.wrapLost) return moveBackAnew(grid, count);
  const cells = cellsOf(grid, count);
  const isInRow = grid.column - cells >= leftLimit(grid);
  if (reach === 'unknown' && grid.pendingWrap) grid.isCursorUnsure = true;
  const instead = isInRow ? undefined : leaveRow(grid, reach, count, cells);
  if (isInRow) grid.column -= cells;
  clearWrap(grid);
  return instead;
};

/** The terminal has lost the pending wrap: sends the cursor's place, and a move by the cells that are left. */
const moveBackAnew = (grid: Grid, count: number): string => {
  const place = cursorPositionSequence(grid);
  const cells = cellsOf(grid, count);
  clearWrap(grid);
  if (cells === 0) return place;
  return place + (moveBack(grid, cells) ?? (grid.vt52 ? '\x1bD'.repeat(cells) : leftSequence(cells)));
};

/**
 * Sets an unsure cursor to the place that the terminal has reported (CPR). Returns what to send if that is below the child's rows. After
 * text that ends in the last column a wrap may be pending or not, so the cursor stays unsure.
 */
export const placeCursor = (grid: Grid, reported: Place): string => {
  const first = grid.origin ? grid.top : 0;
  const left = grid.origin && grid.sideMargins ? grid.left : 0;
  const column = Math.min(grid.columns - 1, left + reported.column);
  clearWrap(grid);
  Object.assign(grid, { row: Math.max(0, Math.min(grid.rows - 1, first + reported.row)), column });
  const isPast = left + reported.column > column; // xterm.js reports a pending wrap as a column more
  grid.isCursorUnsure = !isPast && column === lastColumnOf(grid) && grid.lastWidth > 0;
  grid.pendingWrap = isPast || grid.isCursorUnsure;
  return first + reported.row < grid.rows ? '' : fixCursor(grid);
};

/** Makes an unsure cursor sure: returns the sequence that puts the terminal's cursor where the grid has it. */
export const fixCursor = (grid: Grid): string => {
  grid.isCursorUnsure = false;
  grid.wrapLost = grid.pendingWrap;
  return cursorPositionSequence(grid);
};
