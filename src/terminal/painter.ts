import { asciiCharsets, charsetSequence, hasFooter, markSlotOverwritten, type Grid } from './filter/grid.js';
import { cursorSequence } from './filter/motion.js';
import type { Ledger } from './modes.js';

/*
 * The bytes that put rows of ours on the screen, each to be sent as one write between two elements of the child's output. They are the
 * sequences that proved right on ten terminals: facts/terminals.md §2 (resize), §3 (paint), §4 (reset).
 */

/** Why a paint has to wait although the child's output is between two sequences. */
export type PaintHindrance = 'pending wrap' | 'origin mode' | 'side margins' | 'synchronized output';

const SYNCHRONIZED = 2026;

/** The last-column flag gets lost by a paint in seven terminals of ten, origin mode in four; a frame should not be cut in two. */
export const paintHindrance = (grid: Grid, ledger: Ledger): PaintHindrance | undefined => {
  if (ledger.isSet(SYNCHRONIZED)) return 'synchronized output';
  if (grid.pendingWrap && !grid.wrapLost) return 'pending wrap';
  if (grid.sideMargins) return 'side margins'; // they would cut the row off, and can't be put back without moving the cursor
  return grid.origin ? 'origin mode' : undefined;
};

/** Draws `row` (SGR and text, at most as wide as the screen) on the footer row. Uses the terminal's cursor slot. */
export const paintSequence = (grid: Grid, ledger: Ledger, row: string): string => {
  if (!hasFooter(grid)) return '';
  const { close, reopen } = ledger.linkPause();
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
  // DECRC brings the character sets back too, but in xterm.js only what of them is in use
  const charsets = grid.charsets === asciiCharsets ? '' : charsetSequence(grid.charsets);
  return `\x1b7${place}${text}${charsets}\x1b8${reopen}`;
};

const REGION_OFF = '\x1b7\x1b[r\x1b8';

const eraseFooter = (grid: Grid): string =>
  hasFooter(grid) ? `\x1b7\x1b[${grid.terminalRows};1H\x1b[0m\x1b[2K\x1b8` : '';

/** Gives the footer's row and the region back, for a session that goes on without a footer. */
export const abandonSequence = (grid: Grid): string =>
  hasFooter(grid) ? REGION_OFF + eraseFooter(grid) : '';

/** Rows of room below the cursor: scrolls at the end of the screen, does nothing elsewhere. Only with the region off. */
const makeRoom = (rows: number): string => `${'\x1bD'.repeat(rows)}\x1b[${rows}A`;

/** The region of the child, and room for the footer, at the start or after a stop. */
export const holdRegionSequence = (grid: Grid): string =>
  hasFooter(grid) ? `${makeRoom(1)}\x1b7\x1b[1;${grid.rows}r\x1b8` : '';

export interface ResizePlan {
  /** rows of the child's content below its cursor that must stay; 0 when the width changed and the terminal reflowed */
  readonly below: number;
  /** rows to move the cursor up first, for a terminal where it does not follow the text (kitty) */
  readonly up: number;
  /** rows that the cursor's own line takes below it when the terminal wraps it anew; the child moves over them */
  readonly wrapped: number;
}

/** Erases what is left of the old footer and sets the region for the size that `grid` has now. The cursor keeps its place. */
export const resizeSequence = (grid: Grid, { below, up, wrapped }: ResizePlan): string => {
  const lift = up > 0 ? `\x1b[${up}A` : '';
  const erase = `\x1b7\x1b[${below + 1}B\r\x1b[0m\x1b[J\x1b8`;
  const region = hasFooter(grid) ? `\x1b7\x1b[1;${grid.rows}r\x1b8` : '';
  grid.footerShown = false;
  grid.footerDirty = true;
  return REGION_OFF + lift + makeRoom(1 + wrapped) + erase + region;
};

export interface TidyState {
  /** the child's output ended inside a string */
  readonly unterminated: boolean;
  /** it did not end by itself: titles and agent states are cleared too */
  readonly died: boolean;
  /** last row with content of the main screen, counted from 0, if it is known */
  readonly lastRow: number | undefined;
  /** the footer was given up on the way: a terminal with a region per buffer may still have ours in the other one */
  readonly abandoned?: boolean;
}

const cursorBelow = (grid: Grid, lastRow: number | undefined): string => {
  const bottom = `\x1b[${grid.terminalRows};1H`;
  if (lastRow === undefined) return hasFooter(grid) ? bottom : `${bottom}\n`;
  if (grid.row > lastRow) return '';
  return lastRow + 1 < grid.terminalRows ? `\x1b[${lastRow + 2};1H` : `${bottom}\n`;
};

/**
 * Leaves the terminal as the user's shell needs it: nothing the child turned on is on, the region is off, the footer is gone, and
 * after a child that did not clean up the cursor is visible below everything on the screen.
 */
export const tidySequence = (grid: Grid, ledger: Ledger, state: TidyState): string => {
  const { inBuffer, modes, dirty } = ledger.restore(state.died);
  const unclean = dirty || state.died || grid.alternate;
  const ended = state.unterminated ? '\x18\x1b\\' : '';
  const leave = grid.alternate ? `\x1b[?${grid.alternateMode}l` : '';
  const main = grid.alternate && grid.alternateMode === 1049 ? grid.saved.main : grid;
  const plain = unclean ? '\x1b[0m\x1b(B\x0f' : '';
  const moved =
    grid.origin || grid.sideMargins || grid.vt52 ? `\x1b[${main.row + 1};${main.column + 1}H` : '';
  const vt52 = grid.vt52 ? '\x1b<' : '';
  const narrow = hasFooter(grid) || grid.top > 0 || grid.bottom < grid.rows - 1;
  const region = narrow || state.abandoned ? REGION_OFF : '';
  // a save and restore of ours loses the last-column flag: what the shell prints next would overwrite the last character
  const wrapped = grid.pendingWrap && grid.autowrap && region !== '' ? '\r\n' : '';
  const below = unclean ? cursorBelow({ ...grid, row: main.row }, state.lastRow) : wrapped;
  return vt52 + ended + inBuffer + leave + region + modes + plain + moved + eraseFooter(grid) + below;
};

/** When the footer may be painted. Times in milliseconds of one clock. */
export interface PaintMoment {
  readonly now: number;
  /** since when the screen shows something else than it should */
  readonly dueSince: number;
  readonly lastOutput: number;
  readonly lastPaint: number;
  /** between two elements of the child's output */
  readonly isGround: boolean;
  readonly hindrance: PaintHindrance | undefined;
  /** the child has erased the row: it is painted again at once, or it would flicker with a child that clears every frame */
  readonly isErased: boolean;
}

const QUIET_MS = 50; // a frame of the child is over
const DEADLINE_MS = 500; // a child that never pauses gets its footer all the same
const INTERVAL_MS = 250; // at most four paints a second for what changes in the row itself
const ERASED_INTERVAL_MS = 16; // Gemini clears the screen thirty times a second while a long answer streams: each gap is seen
const FRAME_GRACE_MS = 150; // a frame that is never closed (facts/terminals.md §5)
const RETRY_MS = 25;

/** Milliseconds to wait before the paint; 0 = now. */
export const paintDelay = (moment: PaintMoment): number => {
  const { now, dueSince, lastOutput, lastPaint, isGround, hindrance, isErased } = moment;
  const spacing = lastPaint + (isErased ? ERASED_INTERVAL_MS : INTERVAL_MS) - now;
  if (spacing > 0) return spacing;
  if (!isGround || hindrance === 'side margins') return RETRY_MS;
  const waited = now - dueSince;
  if (hindrance !== undefined) {
    const limit = hindrance === 'synchronized output' ? DEADLINE_MS + FRAME_GRACE_MS : DEADLINE_MS;
    return waited >= limit ? 0 : RETRY_MS;
  }
  if (isErased) return 0;
  const quiet = lastOutput + QUIET_MS - now;
  return quiet > 0 && waited < DEADLINE_MS ? Math.min(quiet, DEADLINE_MS - waited) : 0;
};
