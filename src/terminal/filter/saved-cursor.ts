import { charsetSequence } from './charsets.js';
import { homeSaved, type Grid } from './grid.js';
import { clearWrap } from './motion.js';
import { renditionSequence } from './rendition.js';

const bufferOf = (grid: Grid): 'main' | 'alternate' => (grid.alternate ? 'alternate' : 'main');

/** DECSC, SCOSC, mode 1048: one slot for each screen buffer (facts/terminals.md, table). */
export const saveCursor = (grid: Grid): void => {
  const { row, column, pendingWrap, origin, rendition, charsets, isProtected, scrolled, wrapLost } = grid;
  grid.saved[bufferOf(grid)] = {
    row,
    column,
    pendingWrap,
    origin,
    rendition,
    charsets,
    isProtected,
    scrolled,
    overwritten: wrapLost,
  };
};

/** After DECSTR the slot holds the home position (VT510 manual). */
export const forgetSavedCursor = (grid: Grid): void => {
  grid.saved[bufferOf(grid)] = { ...homeSaved, scrolled: grid.scrolled };
};

/** CUP to the cursor's row and this column. In origin mode xterm.js takes CHA for a change of the row, too. */
export const placeSequence = (grid: Grid, column: number = grid.column): string => {
  const row = grid.origin ? grid.row - grid.top : grid.row;
  const left = grid.origin && grid.sideMargins ? grid.left : 0;
  return `\x1b[${row + 1};${column - left + 1}H`;
};

/** The child's cursor, rendition and character sets spelled out, for a terminal whose slot does not hold them. */
export const cursorSequence = (grid: Grid): string => {
  const protection = grid.isProtected ? '\x1b[1"q' : '\x1b[0"q';
  return `${renditionSequence(grid.rendition)}${protection}${charsetSequence(grid.charsets)}${placeSequence(grid)}`;
};

/**
 * DECRC. Returns what to send instead, when the terminal's own slot has been used by us since the child saved: the child's
 * cursor, rendition, character sets and origin mode spelled out. Undefined = the terminal still has it.
 */
export const restoreCursor = (grid: Grid): string | undefined => {
  const saved = grid.saved[bufferOf(grid)];
  const originBefore = grid.origin;
  const hasMoved = grid.scrolled !== saved.scrolled && !grid.alternate;
  const lines = hasMoved && grid.quirks.isXtermJs ? grid.scrolled - saved.scrolled : 0; // its slot moves with the text
  const column = Math.min(saved.column, grid.columns - 1);
  if (!grid.quirks.restoreKeepsOrigin) grid.origin = saved.origin;
  const [first, last] = grid.origin ? [grid.top, grid.bottom] : [0, grid.rows - 1];
  const row = Math.max(first, Math.min(saved.row - lines, last));
  Object.assign(grid, { row, column, rendition: saved.rendition, charsets: saved.charsets });
  grid.isProtected = saved.isProtected;
  clearWrap(grid);
  grid.pendingWrap = saved.pendingWrap && !grid.quirks.restoreKeepsOrigin;
  if (!saved.overwritten && !hasMoved && grid.origin === originBefore) return undefined;
  grid.wrapLost = grid.pendingWrap;
  const originSwitch = grid.origin === originBefore ? '' : `\x1b[?6${grid.origin ? 'h' : 'l'}`;
  return originSwitch + cursorSequence(grid);
};
