import { hasFooter, isNarrow, markSlotOverwritten, type Grid } from './grid.js';
import {
  clearWrap,
  lowestRow,
  moveBy,
  moveDown,
  moveLeft,
  moveRight,
  moveTo,
  moveToAddress,
  moveUp,
} from './motion.js';
import { tabBackward, tabForward } from './motion.js';
import { eraseFooter, isFooterOnMain, setRegion } from './region.js';
import { placeSequence, restoreCursor, saveCursor } from './saved-cursor.js';
import { countAt, parameterText, valueAt, type Sequence } from './sequence.js';

/** Changes the grid as the sequence does; returns what to send instead, or undefined to send the sequence as it is. */
export type Rule = (grid: Grid, sequence: Sequence) => string | undefined;

/** A movement that can never leave the child's rows. */
const safe =
  (move: (grid: Grid, count: number) => void): Rule =>
  (grid, sequence) => {
    move(grid, countAt(sequence, 0));
    return undefined;
  };

const addressRow = (grid: Grid): number => (grid.origin ? grid.row - grid.top : grid.row) + 1;

/** CUP, HVP: a row below the child's screen is its last row. */
const position: Rule = (grid, sequence) => {
  const row = countAt(sequence, 0);
  const column = countAt(sequence, 1);
  moveToAddress(grid, row - 1, column - 1);
  return hasFooter(grid) && !grid.origin && row > grid.rows ? `\x1b[${grid.rows};${column}H` : undefined;
};

/** VPA. */
const row: Rule = (grid, sequence) => {
  const line = countAt(sequence, 0);
  moveTo(grid, line - 1 + (grid.origin ? grid.top : 0), grid.column);
  return hasFooter(grid) && !grid.origin && line > grid.rows ? `\x1b[${grid.rows}d` : undefined;
};

/** CUD: below a region that ends early the last row stops it, and two terminals run through the margin (facts, §3). */
const down: Rule = (grid, sequence) => {
  const count = countAt(sequence, 0);
  const isBelow = grid.row > grid.bottom;
  const beyond =
    count >= (isBelow ? grid.rows - grid.row : grid.rows - 1) && grid.row + count > lowestRow(grid);
  moveDown(grid, count);
  return hasFooter(grid) && beyond ? `\x1b[${addressRow(grid)}d` : undefined;
};

/** VPR stops at the last row whatever the margins are; where the region ends there, CUD does the same and can't reach the footer. */
const rowRelative: Rule = (grid, sequence) => {
  const count = countAt(sequence, 0);
  if (hasFooter(grid) && !isNarrow(grid)) return down(grid, sequence) ?? `\x1b[${count}B`;
  const beyond = grid.row + count > grid.rows - 1;
  moveBy(grid, count, 0);
  return hasFooter(grid) && !grid.origin && beyond ? `\x1b[${grid.rows}d` : undefined;
};

const firstColumn = (grid: Grid): void => {
  const toMargin = grid.sideMargins && (grid.origin || grid.column >= grid.left);
  grid.column = toMargin ? grid.left : 0;
};

/** CNL. */
const nextLine: Rule = (grid, sequence) => {
  const instead = down(grid, sequence);
  firstColumn(grid);
  return instead === undefined ? undefined : `${instead}\r`;
};

/** CPL. */
const previousLine: Rule = (grid, sequence) => {
  moveUp(grid, countAt(sequence, 0));
  firstColumn(grid);
  return undefined;
};

/** CHA, HPA. */
const column: Rule = (grid, sequence) => {
  const margin = grid.origin && grid.sideMargins ? grid.left : 0;
  moveBy(grid, 0, countAt(sequence, 0) - 1 + margin - grid.column);
  return undefined;
};

/** ED, DECSED: everything below the cursor is erased, the footer too. */
const eraseDisplay: Rule = (grid, sequence) => {
  const part = valueAt(sequence, 0);
  if (part === 3 && grid.quirks.isXtermJs && !grid.alternate) grid.scrolled = 0; // the saved cursor does not go with the lines
  if (part === 1 || part === 3) return undefined;
  grid.footerDirty = true;
  const isWhole = part !== 0 || (grid.row === 0 && grid.column === 0);
  if (!isWhole || sequence.prefix !== 0 || !isFooterOnMain(grid)) return undefined;
  return `${eraseFooter(grid)}\x1b[${parameterText(sequence)}J`;
};

/** IL, DL: the cursor goes to the first column, if it is in the region at all. */
const shiftLines: Rule = (grid) => {
  clearWrap(grid);
  if (grid.row >= grid.top && grid.row <= grid.bottom) grid.column = grid.sideMargins ? grid.left : 0;
  return undefined;
};

/** ICH, DCH, ECH: the cursor stays, the last-column flag goes. */
const shiftCells: Rule = (grid) => {
  clearWrap(grid);
  return undefined;
};

/** CBT: with its last-column flag set xterm.js stays where it is. */
const backTab: Rule = (grid, sequence) => {
  const wasPending = grid.pendingWrap;
  const wasLost = grid.wrapLost;
  const place = wasPending ? placeSequence(grid) : '';
  tabBackward(grid, countAt(sequence, 0));
  if (!wasPending) return undefined;
  if (grid.quirks.isXtermJs) return wasLost ? '' : undefined;
  return `${place}\x1b[${countAt(sequence, 0)}Z`;
};

const clearTab: Rule = (grid, sequence) => {
  const part = valueAt(sequence, 0);
  if (part === 0) grid.tabs[grid.column] = 0;
  if (part === 3) grid.tabs.fill(0);
  return undefined;
};

/** DECSTBM. */
const region: Rule = (grid, sequence) => setRegion(grid, valueAt(sequence, 0), valueAt(sequence, 1));

/** `CSI s`: DECSLRM while mode 69 is on, else SCOSC. */
const sideMarginsOrSave: Rule = (grid, sequence) => {
  if (!grid.sideMargins) {
    saveCursor(grid);
    return undefined;
  }
  const left = countAt(sequence, 0) - 1;
  const right = Math.min(grid.columns, valueAt(sequence, 1) || grid.columns) - 1;
  if (left >= right) return grid.quirks.sideMargins === 'yes' ? undefined : '';
  Object.assign(grid, { left, right });
  moveToAddress(grid, 0, 0);
  if (grid.quirks.sideMargins === 'yes') return undefined;
  markSlotOverwritten(grid); // it is SCOSC for a terminal without such margins
  return `\x1b[${left + 1};${right + 1}s\x1b[H`;
};

const horizontalRelative: Rule = (grid, sequence) => {
  moveBy(grid, 0, countAt(sequence, 0));
  return undefined;
};

/** Finals of sequences without prefix and intermediate (ECMA-48 8.3, xterm ctlseqs). */
export const cursorRules: Readonly<Record<string, Rule>> = {
  '@': shiftCells,
  A: safe(moveUp),
  B: down,
  C: safe(moveRight),
  D: safe(moveLeft),
  E: nextLine,
  F: previousLine,
  G: column,
  H: position,
  I: safe(tabForward),
  J: eraseDisplay,
  L: shiftLines,
  M: shiftLines,
  P: shiftCells,
  X: shiftCells,
  Z: backTab,
  '`': column,
  a: horizontalRelative,
  d: row,
  e: rowRelative,
  f: position,
  g: clearTab,
  r: region,
  s: sideMarginsOrSave,
  u: (grid) => restoreCursor(grid),
  '?J': eraseDisplay,
};
