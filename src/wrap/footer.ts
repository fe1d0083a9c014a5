import type { Unseen } from '../core/compaction/policy.js';
import type { FooterView } from '../core/footer-view.js';
import type { FooterItem } from '../core/format.js';
import { hasFooter } from '../terminal/filter/grid.js';
import { paintDelay, paintHindrance, paintSequence } from '../terminal/painter.js';
import { type Look, lookOf } from '../ui/look.js';
import type { Overlay } from './overlay.js';
import { type Stage, survive, childSize } from './terminal-session.js';

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

/** The footer row: rendered by Ink when its view changes, painted when the child's output leaves a gap. */
export interface Footer {
  show: (view: FooterView) => void;
  /** what was shown last is on the screen */
  isPainted: () => boolean;
  /** the child has written: what is painted may be gone, and a frame may not be over */
  noteOutput: () => void;
  /** the size or the visibility has changed */
  refresh: () => void;
  stop: () => void;
}

type Render = (view: FooterView, look: Look, items?: readonly FooterItem[]) => string;

const LOAD_AFTER_MS = 150; // Ink is loaded when the child has drawn its first screen; it takes the time of some frames

/** Ink's renderer once it is loaded; a footer that can't be loaded is reported and stays away. */
const loadLater = (stage: Stage, onLoad: (render: Render) => void): NodeJS.Timeout =>
  setTimeout(() => {
    import('../ui/Footer.js')
      .then(({ renderFooter }) => onLoad(renderFooter))
      .catch((error: unknown) => stage.session.log.error(`the footer could not be loaded: ${String(error)}`));
  }, LOAD_AFTER_MS);

/** `isResized` is asked before each paint: true while the terminal has another size than we know. */
export const makeFooter = (stage: Stage, isResized: () => boolean): Footer => {
  const { session } = stage;
  const { grid } = stage.filter;
  const canvas = emptyCanvas(performance.now());
  let render: Render | undefined;
  let view: FooterView | undefined;
  let isDrawn = false;
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
  const draw = (): void => {
    isDrawn = survive(stage, 'rendering the footer', () => {
      if (!render || !view || !hasFooter(grid)) return;
      const look = lookOf(session.env, true, grid.columns, session.theme);
      canvas.row = render(view, look, session.footerItems);
      if (isDue(stage, canvas)) trySoon();
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
    isPainted: () =>
      isDrawn && hasFooter(grid) && !canvas.stopped && canvas.row !== '' && !isDue(stage, canvas),
    noteOutput: () => {
      canvas.lastOutput = performance.now();
      if (!isDue(stage, canvas)) return;
      if (isErased(stage, canvas)) tryNow();
      else trySoon();
    },
    refresh: () => {
      canvas.painted = undefined; // the terminal has another size
      canvas.heldUntil = performance.now() + RESIZE_QUIET_MS;
      draw();
    },
    stop: () => {
      canvas.stopped = true;
      clearTimeout(loading);
      clearTimeout(timer);
    },
  };
};

// What the user can see of ours at this moment.

export interface SightParts {
  readonly stage: Stage;
  readonly footer: Pick<Footer, 'isPainted'>;
  readonly overlay: Pick<Overlay, 'showsNext'> | undefined;
}

// Twice what a paint may wait for: whatever keeps a row from the screen for so long may keep it for ever.
const LATE_MS = 1_500;

const hasRoom = ({ tty, footerWanted }: Stage): boolean => {
  const size = tty.size();
  return childSize(size, { footerWanted, rowWanted: true }).rows < size.rows;
};

/** Tells why a countdown could not be seen now; undefined where it can, or could a moment ago. To be asked again and again. */
export const makeSight = ({ stage, footer, overlay }: SightParts): (() => Unseen | undefined) => {
  let lateSince: number | undefined;

  const isLate = (): boolean => {
    const isThere = stage.tty.pending() === 0 && (stage.cover !== undefined || footer.isPainted());
    lateSince = isThere ? undefined : (lateSince ?? performance.now());
    return lateSince !== undefined && performance.now() - lateSince >= LATE_MS;
  };
  return () => {
    if (stage.verbatim) return 'failed';
    if (stage.cover && overlay?.showsNext() !== true) return 'covered';
    if (!stage.footerWanted) return 'off';
    if (!hasRoom(stage)) return 'small';
    if (!hasFooter(stage.filter.grid) && !stage.rowWanted) {
      lateSince = undefined; // a row is made when it is needed
      return undefined;
    }
    return isLate() ? 'undrawn' : undefined;
  };
};
