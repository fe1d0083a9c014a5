import type { PaintHindrance } from './painter.js';

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
