import { hasFooter } from '../terminal/filter/grid.js';
import { paintDelay } from '../terminal/paint-timing.js';
import { paintHindrance, paintSequence } from '../terminal/painter.js';
import type { Stage } from './stage.js';
import { survive } from './stage.js';

/** Puts a row on the screen, in the gaps of the child's output. */
export interface Brush {
  /** paints the row as soon as the moment allows, if it is not on the screen already */
  paint: (row: string) => void;
  noteOutput: () => void;
  /** the row that is to be on the screen is there */
  isPainted: () => boolean;
  /** what was painted is gone: the terminal has another size */
  forget: () => void;
  stop: () => void;
}

/** What is on the screen, what should be, and since when they differ. Times are of `performance.now()`. */
interface Canvas {
  row: string;
  painted: string | undefined;
  dueSince: number | undefined;
  lastOutput: number;
  lastPaint: number;
  /** no paint before: the size may change again at once */
  heldUntil: number;
  stopped: boolean;
}

/**
 * Sizes come in series while a window is dragged, and a row painted between two of them would stay (facts/terminals.md §2). tmux tells
 * its programs a new size up to 250 ms after it has taken it.
 */
const RESIZE_QUIET_MS = 300;

const isDue = ({ filter: { grid }, verbatim, cover }: Stage, { row, painted, stopped }: Canvas): boolean => {
  const isPossible = !stopped && !verbatim && !cover && hasFooter(grid) && row !== '';
  return isPossible && (grid.footerDirty || row !== painted);
};

const isErased = ({ filter: { grid } }: Stage, { row, painted }: Canvas): boolean =>
  grid.footerDirty && row === painted;

/** Paints, or returns the milliseconds to wait before trying again; undefined when there is nothing to paint. */
const attempt = (stage: Stage, canvas: Canvas, now: number): number | undefined => {
  if (!isDue(stage, canvas)) {
    canvas.dueSince = undefined;
    return undefined;
  }
  const { filter, tty } = stage;
  const { lastOutput, lastPaint } = canvas;
  const dueSince = (canvas.dueSince ??= now);
  const hindrance = paintHindrance(filter.grid, filter.ledger);
  const isGround = filter.isGround();
  const moment = {
    now,
    dueSince,
    lastOutput,
    lastPaint,
    isGround,
    hindrance,
    isErased: isErased(stage, canvas),
  };
  const delay = paintDelay(moment);
  if (delay > 0) return delay;
  tty.write(paintSequence(filter.grid, filter.ledger, canvas.row));
  Object.assign(canvas, { painted: canvas.row, lastPaint: now, dueSince: undefined });
  return undefined;
};

const emptyCanvas = (now: number): Canvas => ({
  row: '',
  painted: undefined,
  dueSince: undefined,
  lastOutput: now,
  lastPaint: -Infinity,
  heldUntil: -Infinity,
  stopped: false,
});

/** `isResized` is asked before each paint: true while the terminal has another size than we know. */
export const makeBrush = (stage: Stage, isResized: () => boolean): Brush => {
  const canvas = emptyCanvas(performance.now());
  let timer: NodeJS.Timeout | undefined;

  const tryNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    survive(stage, 'painting the footer', () => {
      if (isResized()) return; // its end asks for the next paint
      const now = performance.now();
      const held = canvas.heldUntil - now;
      const delay = held > 0 ? held : attempt(stage, canvas, now);
      if (delay !== undefined) timer = setTimeout(tryNow, delay);
    });
  };
  const trySoon = (): void => {
    timer ??= setTimeout(tryNow, 0);
  };
  return {
    paint: (row) => {
      canvas.row = row;
      if (isDue(stage, canvas)) trySoon();
    },
    noteOutput: () => {
      canvas.lastOutput = performance.now();
      if (!isDue(stage, canvas)) return;
      if (isErased(stage, canvas)) tryNow();
      else trySoon();
    },
    isPainted: () => !canvas.stopped && canvas.row !== '' && !isDue(stage, canvas),
    forget: () => {
      canvas.painted = undefined;
      canvas.heldUntil = performance.now() + RESIZE_QUIET_MS;
    },
    stop: () => {
      canvas.stopped = true;
      clearTimeout(timer);
    },
  };
};
