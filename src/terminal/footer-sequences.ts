import { type Printable } from '../core/printable.js';
import { makeRoom, REGION_OFF, setRegion } from './footer-room.js';
import { asciiCharsets, charsetSequence, hasFooter, markSlotOverwritten, type Grid } from './filter/grid.js';
import { cursorSequence } from './filter/motion.js';
import type { ModeTracker } from './mode-tracker.js';
import { SYNCHRONIZED } from './mode-tracker.js';

/*
 * Sequences that paint, move and remove the footer row and restore the terminal; each must be sent as one write between two elements of
 * the child's output. They were tested on ten terminals: docs/facts/terminals.md (#resize, #paint, #reset).
 */

/** Why a paint has to wait although the child's output is between two sequences. */
export type PaintHindrance =
  | 'pending wrap'
  | 'unsure cursor'
  | 'origin mode'
  | 'side margins'
  | 'VT52 mode'
  | 'synchronized output';

/** A paint loses the last-column flag in seven of ten terminals and origin mode in four; and it should not split a frame. */
export const paintHindrance = (grid: Grid, modeTracker: ModeTracker): PaintHindrance | undefined => {
  if (grid.vt52) return 'VT52 mode'; // the sequences of a paint would be printed
  if (modeTracker.isModeSet(SYNCHRONIZED)) return 'synchronized output';
  if (grid.pendingWrap && !grid.wrapLost) return 'pending wrap';
  if (grid.isCursorUnsure) return 'unsure cursor'; // a wrap may be pending
  if (grid.sideMargins) return 'side margins'; // they would clip the footer row, and restoring them moves the cursor
  return grid.origin ? 'origin mode' : undefined;
};

/** Draws `row` (at most as wide as the screen) on the footer row. Uses the terminal's cursor slot. */
export const paintSequence = (grid: Grid, modeTracker: ModeTracker, row: Printable): string => {
  if (!hasFooter(grid)) return '';
  const { close, reopen } = modeTracker.linkSequences();
  const place = `\x1b[${grid.terminalRows};1H\x1b[0m\x1b(B\x0f${close}`;
  const text = `\x1b[?7l\x1b[K${row}\x1b[0m${grid.autowrap ? '\x1b[?7h' : ''}`;
  markSlotOverwritten(grid);
  grid.footerDirty = false;
  grid.repeatLost = true;
  grid.footerShown = true;
  if (grid.origin || grid.sideMargins) {
    const open = (grid.origin ? '\x1b[?6l' : '') + (grid.sideMargins ? '\x1b[?69l' : '');
    const margins = grid.sideMargins ? `\x1b[?69h\x1b[${grid.left + 1};${grid.right + 1}s` : '';
    return `${open}${place}${text}${reopen}${margins}${grid.origin ? '\x1b[?6h' : ''}${cursorSequence(grid)}`;
  }
  // DECRC restores the character sets too, but xterm.js only restores the one in use
  const charsets = grid.charsets === asciiCharsets ? '' : charsetSequence(grid.charsets);
  return `\x1b7${place}${text}${charsets}\x1b8${reopen}`;
};

const eraseFooter = (grid: Grid): string =>
  hasFooter(grid) ? `\x1b7\x1b[${grid.terminalRows};1H\x1b[0m\x1b[2K\x1b8` : '';

/** Removes the footer and the scroll region, for a session that continues without a footer. */
export const removeFooterSequence = (grid: Grid): string =>
  hasFooter(grid) ? REGION_OFF + eraseFooter(grid) : '';

export interface ResizePlan {
  /** rows of the child's content below its cursor to keep; 0 if the width changed and the terminal reflowed */
  readonly rowsBelow: number;
  /** nothing of the child's is at its cursor or right of it in its row */
  readonly isBlankFromCursor: boolean;
  /** rows to move the cursor up first, in a terminal where it does not follow the text (kitty) */
  readonly rowsUp: number;
  /** rows that the cursor's line takes below the cursor when the terminal wraps it again; the child moves over them */
  readonly wrappedRows: number;
}

/** Erases the old footer and sets the region for the new size of `grid`. The cursor stays. */
export const resizeSequence = (grid: Grid, plan: ResizePlan): string => {
  const { rowsBelow, rowsUp, wrappedRows } = plan;
  const lift = rowsUp > 0 ? `\x1b[${rowsUp}A` : '';
  // foot 1.13 takes the footer for the rest of a row that no line feed has ended, and moves it to the cursor
  const isMerged = rowsBelow === 0 && plan.isBlankFromCursor && !grid.alternate;
  const toOldFooter = isMerged ? '' : `\x1b[${rowsBelow + 1}B\r`;
  const erase = `\x1b7${toOldFooter}\x1b[0m\x1b[J\x1b8`;
  grid.footerShown = false;
  grid.footerDirty = true;
  return REGION_OFF + lift + makeRoom(1 + wrappedRows) + erase + setRegion(grid);
};

export interface RestoreState {
  /** the child's output ended inside a string */
  readonly isStringOpen: boolean;
  /** the child did not exit normally: titles and agent states are cleared too */
  readonly hasDied: boolean;
  /** last row of the main screen with content, counted from 0; undefined or Infinity if unknown */
  readonly lastRow: number | undefined;
  /** the footer was removed during the session: a terminal with a region per buffer may still have the wrapper's in the other buffer */
  readonly isFooterAbandoned?: boolean;
}

const cursorBelow = (grid: Grid, lastRow = Infinity): string => {
  const bottom = `\x1b[${grid.terminalRows};1H`;
  if (lastRow === Infinity) return hasFooter(grid) ? bottom : `${bottom}\n`; // the footer's row is free
  if (grid.row > lastRow) return '';
  return lastRow + 1 < grid.terminalRows ? `\x1b[${lastRow + 2};1H` : `${bottom}\n`;
};

/**
 * Restores the terminal for the user's shell: turns off all that the child turned on, removes the region and the footer, and, after a
 * child that did not clean up, puts the visible cursor below everything on the screen.
 */
export const restoreTerminalSequence = (
  grid: Grid,
  modeTracker: ModeTracker,
  state: RestoreState,
): string => {
  const { inBuffer, modes, isDirty } = modeTracker.restore(state.hasDied);
  const unclean = isDirty || state.hasDied || grid.alternate;
  const ended = state.isStringOpen ? '\x18\x1b\\' : '';
  const leave = grid.alternate ? `\x1b[?${grid.alternateMode}l` : '';
  const main = grid.alternate && grid.alternateMode === 1049 ? grid.saved.main : grid;
  const plain = unclean ? '\x1b[0m\x1b(B\x0f' : '';
  const moved =
    grid.origin || grid.sideMargins || grid.vt52 ? `\x1b[${main.row + 1};${main.column + 1}H` : '';
  const vt52 = grid.vt52 ? '\x1b<' : '';
  const narrow = hasFooter(grid) || grid.top > 0 || grid.bottom < grid.rows - 1;
  const region = narrow || state.isFooterAbandoned ? REGION_OFF : '';
  // saving and restoring the cursor loses the last-column flag: the shell's next output would overwrite the last character
  const wrappedRows = grid.pendingWrap && grid.autowrap && region !== '' ? '\r\n' : '';
  const rowsBelow = unclean ? cursorBelow({ ...grid, row: main.row }, state.lastRow) : wrappedRows;
  return vt52 + ended + inBuffer + leave + region + modes + plain + moved + eraseFooter(grid) + rowsBelow;
};

/** Decides when the footer may be painted. Times in milliseconds of one clock. */
export interface PaintTiming {
  readonly now: number;
  /** since when the painted footer is out of date */
  readonly dueSince: number;
  readonly lastOutput: number;
  readonly lastPaint: number;
  /** between two elements of the child's output */
  readonly isGround: boolean;
  readonly hindrance: PaintHindrance | undefined;
  /** the child has erased the row: it is repainted at once, or it would flicker with a child that clears every frame */
  readonly isErased: boolean;
}

const QUIET_MS = 50; // without output for so long, the child's frame is over
const DEADLINE_MS = 500; // paints even if the child never pauses
const INTERVAL_MS = 250; // at most four paints a second for changes in the row itself
const ERASED_INTERVAL_MS = 16; // Gemini clears the screen thirty times a second while a long answer streams, and each gap is visible
const FRAME_GRACE_MS = 150; // extra wait for a frame that is never closed (docs/facts/terminals.md#frames)
const RETRY_MS = 25;

/** Milliseconds to wait before the paint; 0 = now. */
export const paintDelay = (timing: PaintTiming): number => {
  const { now, dueSince, lastOutput, lastPaint, isGround, hindrance, isErased } = timing;
  const spacing = lastPaint + (isErased ? ERASED_INTERVAL_MS : INTERVAL_MS) - now;
  if (spacing > 0) return spacing;
  if (!isGround || hindrance === 'side margins' || hindrance === 'VT52 mode') return RETRY_MS;
  const waited = now - dueSince;
  if (hindrance !== undefined) {
    const limit = hindrance === 'synchronized output' ? DEADLINE_MS + FRAME_GRACE_MS : DEADLINE_MS;
    return waited >= limit ? 0 : RETRY_MS;
  }
  if (isErased) return 0;
  const quiet = lastOutput + QUIET_MS - now;
  return quiet > 0 && waited < DEADLINE_MS ? Math.min(quiet, DEADLINE_MS - waited) : 0;
};
