import { homeSaved, type Charsets, type Grid } from './grid.js';
import { clearWrap } from './motion.js';
import { renditionSequence } from './rendition.js';

const bufferOf = (grid: Grid): 'main' | 'alternate' => (grid.alternate ? 'alternate' : 'main');

/** DECSC, SCOSC, mode 1048: one slot for each screen buffer (facts/terminals.md, table). */
export const saveCursor = (grid: Grid): void => {
  const { row, column, pendingWrap, origin, rendition, charsets, isProtected, wrapLost } = grid;
  grid.saved[bufferOf(grid)] = {
    row,
    column,
    pendingWrap,
    origin,
    rendition,
    charsets,
    isProtected,
    overwritten: wrapLost,
  };
};

/** After DECSTR the slot holds the home position (VT510 manual). */
export const forgetSavedCursor = (grid: Grid): void => {
  grid.saved[bufferOf(grid)] = homeSaved;
};

/** Designates the child's character sets and shifts as it has. */
export const charsetSequence = ({ designations, shiftedOut }: Charsets): string =>
  designations.map((designation) => `\x1b${designation}`).join('') + (shiftedOut ? '\x0e' : '\x0f');

/** The child's cursor, rendition and character sets spelled out, for a terminal whose slot does not hold them. */
export const cursorSequence = (grid: Grid): string => {
  const row = grid.origin ? grid.row - grid.top : grid.row;
  const column = grid.origin && grid.sideMargins ? grid.column - grid.left : grid.column;
  const protection = grid.isProtected ? '\x1b[1"q' : '\x1b[0"q';
  return `${renditionSequence(grid.rendition)}${protection}${charsetSequence(grid.charsets)}\x1b[${row + 1};${column + 1}H`;
};

/**
 * DECRC. Returns what to send instead, when the terminal's own slot has been used by us since the child saved: the child's
 * cursor, rendition, character sets and origin mode spelled out. Undefined = the terminal still has it.
 */
export const restoreCursor = (grid: Grid): string | undefined => {
  const saved = grid.saved[bufferOf(grid)];
  const originBefore = grid.origin;
  const row = Math.min(saved.row, grid.rows - 1);
  const column = Math.min(saved.column, grid.columns - 1);
  if (!grid.quirks.restoreKeepsOrigin) grid.origin = saved.origin;
  Object.assign(grid, { row, column, rendition: saved.rendition, charsets: saved.charsets });
  grid.isProtected = saved.isProtected;
  clearWrap(grid);
  grid.pendingWrap = saved.pendingWrap && !grid.quirks.restoreKeepsOrigin;
  if (!saved.overwritten) return undefined;
  grid.wrapLost = grid.pendingWrap;
  const originSwitch = grid.origin === originBefore ? '' : `\x1b[?6${grid.origin ? 'h' : 'l'}`;
  return originSwitch + cursorSequence(grid);
};
