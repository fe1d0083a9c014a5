import type { FooterView } from '../core/view.js';
import { hasFooter } from '../terminal/filter/grid.js';
import { paintDelay } from '../terminal/paint-timing.js';
import { paintHindrance, paintSequence } from '../terminal/painter.js';
import type { Look } from '../ui/look.js';
import type { Stage } from './stage.js';
import { survive } from './stage.js';

/** The footer row: rendered by Ink when its view changes, painted when the child's output leaves a gap. */
export interface Footer {
  show: (view: FooterView) => void;
  /** the child has written: what is painted may be gone, and a frame may not be over */
  noteOutput: () => void;
  /** the size or the visibility has changed */
  refresh: () => void;
  stop: () => void;
}

type Render = (view: FooterView, look: Look) => string;

const LOAD_AFTER_MS = 150; // Ink is loaded when the child has drawn its first screen; it takes the time of some frames

/** Ink's renderer once it is loaded; a footer that can't be loaded is reported and stays away. */
const loadLater = (stage: Stage, onLoad: (render: Render) => void): NodeJS.Timeout =>
  setTimeout(() => {
    import('../ui/frame.js')
      .then(({ renderFooter }) => onLoad(renderFooter))
      .catch((error: unknown) => stage.session.log.error(`the footer could not be loaded: ${String(error)}`));
  }, LOAD_AFTER_MS);

interface Brush {
  /** paints the row as soon as the moment allows, if it is not on the screen already */
  paint: (row: string) => void;
  noteOutput: () => void;
  /** what was painted is gone */
  forget: () => void;
  stop: () => void;
}

const makeBrush = (stage: Stage): Brush => {
  const { filter, tty } = stage;
  let row = '';
  let painted: string | undefined;
  let dueSince: number | undefined;
  let lastOutput = performance.now();
  let lastPaint = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const isDue = (): boolean => {
    const isPossible = !stopped && !stage.verbatim && hasFooter(filter.grid) && row !== '';
    return isPossible && (filter.grid.footerDirty || row !== painted);
  };
  const attempt = (): void => {
    timer = undefined;
    if (!isDue()) {
      dueSince = undefined;
      return;
    }
    const now = performance.now();
    dueSince ??= now;
    const hindrance = paintHindrance(filter.grid, filter.ledger);
    const delay = paintDelay({
      now,
      dueSince,
      lastOutput,
      lastPaint,
      isGround: filter.isGround(),
      hindrance,
    });
    if (delay > 0) return arm(delay);
    tty.write(paintSequence(filter.grid, filter.ledger, row));
    painted = row;
    lastPaint = now;
    dueSince = undefined;
  };
  const arm = (delayMs: number): void => {
    timer ??= setTimeout(() => survive(stage, 'painting the footer', attempt), delayMs);
  };
  return {
    paint: (next) => {
      row = next;
      if (isDue()) arm(0);
    },
    noteOutput: () => {
      lastOutput = performance.now();
      if (timer === undefined && isDue()) arm(0);
    },
    forget: () => {
      painted = undefined;
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
};

export const makeFooter = (stage: Stage, look: (columns: number) => Look): Footer => {
  const { grid } = stage.filter;
  const brush = makeBrush(stage);
  let render: Render | undefined;
  let view: FooterView | undefined;

  const draw = (): void => {
    survive(stage, 'rendering the footer', () => {
      if (render && view && hasFooter(grid)) brush.paint(render(view, look(grid.columns)));
    });
  };
  const loading = loadLater(stage, (loaded) => {
    render = loaded;
    draw();
  });
  return {
    show: (next) => {
      view = next;
      draw();
    },
    noteOutput: brush.noteOutput,
    refresh: () => {
      brush.forget();
      draw();
    },
    stop: () => {
      clearTimeout(loading);
      brush.stop();
    },
  };
};
