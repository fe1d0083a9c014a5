import type { Grid } from './grid.js';
import { clearWrap, index, isBlockedBelow } from './motion.js';

/** Puts bytes of ours into the output before the child's byte at this offset of the chunk. */
export type Insert = (at: number, bytes: string) => void;

/** The column where a line of text that goes through the cursor's column ends. */
export const edgeOf = (grid: Grid): number =>
  grid.sideMargins && grid.column <= grid.right ? grid.right : grid.columns - 1;

/** A wide character that wraps early leaves a cell behind, which some terminals blank. */
const leftCell = (grid: Grid): string => (grid.quirks.earlyWrapBlanks && !grid.pendingWrap ? ' ' : '');

/** The wrap before a character at `at`: done by the terminal, except where it would reach the footer or has been forgotten. */
export const wrap = (grid: Grid, at: number, insert: Insert): void => {
  const blocked = isBlockedBelow(grid);
  if (blocked) insert(at, `${leftCell(grid)}\r`);
  else if (grid.wrapLost) insert(at, '\r\x1bD');
  if (!blocked) index(grid);
  grid.column = grid.sideMargins && grid.column <= grid.right ? grid.left : 0;
  clearWrap(grid);
};

/** Moves the cursor as `count` characters of one cell each do. */
export const printCells = (grid: Grid, count: number, at: number, insert: Insert): void => {
  let left = count;
  while (left > 0) {
    if (grid.pendingWrap && grid.autowrap) wrap(grid, at + count - left, insert);
    const edge = edgeOf(grid);
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

/** Moves the cursor as one character of two cells does: it wraps early when only one cell is left. */
export const printWide = (grid: Grid, at: number, insert: Insert): void => {
  if (grid.autowrap && (grid.pendingWrap || grid.column >= edgeOf(grid))) wrap(grid, at, insert);
  const edge = edgeOf(grid);
  if (!grid.autowrap && grid.quirks.isXtermJs && (grid.pendingWrap || grid.column >= edge)) {
    grid.column = edge; // it prints nothing where there is no room
    return clearWrap(grid);
  }
  grid.column += 2;
  if (grid.column <= edge) return;
  grid.column = edge;
  grid.pendingWrap = true;
  grid.wrapLost = false;
};
