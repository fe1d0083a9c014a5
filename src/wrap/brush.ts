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
  /** what was painted is gone */
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
  stopped: boolean;
}

const isDue = ({ filter: { grid }, verbatim }: Stage, { row, painted, stopped }: Canvas): boolean => {
  const isPossible = !stopped && !verbatim && hasFooter(grid) && row !== '';
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

export const makeBrush = (stage: Stage): Brush => {
  const canvas: Canvas = {
    row: '',
    painted: undefined,
    dueSince: undefined,
    lastOutput: performance.now(),
    lastPaint: -Infinity,
    stopped: false,
  };
  let timer: NodeJS.Timeout | undefined;

  const tryNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    survive(stage, 'painting the footer', () => {
      const delay = attempt(stage, canvas, performance.now());
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
    forget: () => {
      canvas.painted = undefined;
    },
    stop: () => {
      canvas.stopped = true;
      clearTimeout(timer);
    },
  };
};
