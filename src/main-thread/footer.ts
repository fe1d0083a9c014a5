import { own, type Printable } from '../core/printable.js';
import type { InvisibleReason } from '../core/compaction/policy.js';
import { present } from '../core/present.js';
import { hasFooter } from '../terminal/filter/grid.js';
import { paintDelay, paintHindrance, paintSequence } from '../terminal/footer-sequences.js';
import { type Look, readLook } from '../core/look.js';
import type { FooterDrawing, FooterPlace } from '../session/thread-messages.js';
import type { Overview, OverviewHint } from './overview.js';
import { plainRow } from './plain-row.js';
import type { Resize } from './resize.js';
import { type TerminalSession, runGuarded } from './terminal-session.js';
import { childSize } from '../terminal/child-size.js';

// The footer row: has the worker draw it, paints it in the gaps of the child's output, and knows whether the user can see it.

/** What is painted, what should be painted, and since when they differ. Times are of `performance.now()`. */
interface PaintState {
  row: Printable;
  painted: string | undefined;
  dueSince: number | undefined;
  lastOutput: number;
  lastPaint: number;
  /** no paint before this time, because the size may change again */
  heldUntil: number;
  isStopped: boolean;
}

/**
 * While a window is dragged, sizes arrive in a series, and a row painted between two of them would stay on the screen
 * (docs/facts/terminals.md#resize). tmux reports a new size to its programs up to 250 ms after applying it.
 */
const RESIZE_QUIET_MS = 300;

const isPaintDue = (
  { filter: { grid }, isPassthrough, overviewOutput }: TerminalSession,
  { row, painted, isStopped }: PaintState,
): boolean => {
  const isPossible = !isStopped && !isPassthrough && !overviewOutput && hasFooter(grid) && row !== '';
  return isPossible && (grid.footerDirty || row !== painted);
};

const isErased = ({ filter: { grid } }: TerminalSession, { row, painted }: PaintState): boolean =>
  grid.footerDirty && row === painted;

/** Paints, or returns the milliseconds to wait before the next try; undefined when there is nothing to paint. */
const tryPaint = (terminal: TerminalSession, state: PaintState, now: number): number | undefined => {
  if (!isPaintDue(terminal, state)) {
    state.dueSince = undefined;
    return undefined;
  }
  const { filter, tty } = terminal;
  const { lastOutput, lastPaint } = state;
  const dueSince = (state.dueSince ??= now);
  const hindrance = paintHindrance(filter.grid, filter.modeTracker);
  const isGround = filter.isGround();
  const timing = {
    now,
    dueSince,
    lastOutput,
    lastPaint,
    isGround,
    hindrance,
    isErased: isErased(terminal, state),
  };
  const delay = paintDelay(timing);
  if (delay > 0) return delay;
  tty.write(paintSequence(filter.grid, filter.modeTracker, state.row));
  Object.assign(state, { painted: state.row, lastPaint: now, dueSince: undefined });
  return undefined;
};

/** The user has seen the footer in this place. After a change of size it is missing for a moment, in which keys mean the same. */
const isVisible = ({ filter }: TerminalSession, { lastPaint, isStopped }: PaintState): boolean =>
  lastPaint > -Infinity && hasFooter(filter.grid) && !isStopped;

/** The terminal shows the last row. */
const isOnScreen = (terminal: TerminalSession, state: PaintState): boolean =>
  hasFooter(terminal.filter.grid) && !state.isStopped && state.row !== '' && !isPaintDue(terminal, state);

const startPaintState = (now: number): PaintState => ({
  row: own``,
  painted: undefined,
  dueSince: undefined,
  lastOutput: now,
  lastPaint: -Infinity,
  heldUntil: -Infinity,
  isStopped: false,
});

/** The footer row. */
export interface Footer {
  show: (drawing: FooterDrawing) => void;
  /** the worker that drew it has failed, and another one begins */
  restart: () => void;
  /** shows this row from now on, and nothing else */
  showFixed: (row: (look: Look) => Printable) => void;
  /** the look has changed */
  redraw: () => void;
  /** true while the user sees a countdown */
  countsDown: () => boolean;
  /** whether the next Enter is to be held (`holds`), or the user can read the question about the one that is (`asked`) */
  enter: () => FooterDrawing['enter'];
  /** true when the terminal shows the last row, and the row was drawn for its width */
  isPainted: () => boolean;
  /** the child has written: it may have overwritten the row, and a frame may be incomplete */
  noteOutput: () => void;
  /** the size or the visibility of the footer has changed */
  refresh: () => void;
  stop: () => void;
}

const lookOf = ({ session, filter, background }: TerminalSession): Look => {
  const { env, values } = session;
  return readLook({ env, isTTY: true, columns: filter.grid.columns, theme: values.theme, background });
};

/** What stands in the row: what the worker has drawn last, or a row that is fixed. */
const makeContents = (terminal: TerminalSession) => {
  let drawing: FooterDrawing | undefined;
  let fixed: ((look: Look) => Printable) | undefined;
  return {
    show: (next: FooterDrawing): void => void (drawing = next),
    fix: (row: (look: Look) => Printable): void => {
      fixed = row;
      drawing = undefined; // its countdown has ended
    },
    countsDown: () => drawing?.due === 'countdown',
    enter: () => drawing?.enter,
    /** false while what is there was drawn for another width, and may have been cut */
    fits: () => fixed !== undefined || drawing?.columns === terminal.filter.grid.columns,
    /** undefined until there is something to show */
    row: (): Printable | undefined => {
      if (fixed) return fixed(lookOf(terminal));
      if (!drawing) return undefined;
      const { row, columns } = drawing;
      const isOfWidth = columns === terminal.filter.grid.columns;
      return isOfWidth && row !== undefined ? row : plainRow(drawing, lookOf(terminal));
    },
  };
};

const restarting = ({ session, filter }: TerminalSession): FooterDrawing => ({
  columns: filter.grid.columns,
  text: ` ${session.agent.name}  no reading`,
  compactions: 0,
});

/** Asks the worker for the footer's row whenever its place has changed. `hint` is what to show about the hotkey. */
const makeRequests = (terminal: TerminalSession, hint: () => string | undefined) => {
  let asked = '';
  return {
    ask: (): void => {
      const { filter, background, worker } = terminal;
      const place: FooterPlace = { columns: filter.grid.columns, ...present({ background, hint: hint() }) };
      const text = JSON.stringify(place);
      if (text === asked) return;
      asked = text;
      worker.post({ type: 'draw-footer', place });
    },
    /** nobody has been asked yet */
    forget: (): void => void (asked = ''),
  };
};

/** Paints now or as soon as it is possible. */
const makePaintTimer = (terminal: TerminalSession, state: PaintState, { check }: FooterParts['resize']) => {
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const tryNow = (): void => {
    cancel();
    runGuarded(terminal, 'painting the footer', () => {
      if (check()) return; // the resize requests the next paint when it is done
      const now = performance.now();
      const held = state.heldUntil - now;
      const delay = held > 0 ? held : tryPaint(terminal, state, now);
      if (delay !== undefined) timer = setTimeout(tryNow, delay);
    });
  };
  return { tryNow, trySoon: (): void => void (timer ??= setTimeout(tryNow, 0)), cancel };
};

export interface FooterParts {
  /** asked before each paint */
  readonly resize: Pick<Resize, 'check'>;
  readonly overview: Pick<Overview, 'hindrance'>;
  readonly hint: Pick<OverviewHint, 'text'>;
}

export const makeFooter = (terminal: TerminalSession, { resize, overview, hint }: FooterParts): Footer => {
  const { grid } = terminal.filter;
  const state = startPaintState(performance.now());
  const contents = makeContents(terminal);
  const requests = makeRequests(terminal, () =>
    overview.hindrance() === undefined && !terminal.isOverviewUndrawable ? hint.text() : undefined,
  );
  const { tryNow, trySoon, cancel } = makePaintTimer(terminal, state, resize);
  let isDrawn = false;

  const draw = (): void => {
    isDrawn = runGuarded(terminal, 'rendering the footer', () => {
      const row = hasFooter(grid) ? contents.row() : undefined;
      if (row === undefined) return;
      state.row = row;
      if (isPaintDue(terminal, state)) trySoon();
    });
  };
  const redraw = (): void => {
    requests.ask();
    draw();
  };
  const isPainted = (): boolean => isDrawn && contents.fits() && isOnScreen(terminal, state);
  return {
    show: (next) => {
      contents.show(next);
      redraw();
    },
    restart: () => {
      contents.show(restarting(terminal));
      requests.forget();
      redraw();
    },
    showFixed: (row) => {
      contents.fix(row);
      draw();
    },
    redraw,
    countsDown: () => contents.countsDown() && isVisible(terminal, state),
    enter: () => {
      const enter = contents.enter();
      const isSeen = enter === 'asked' ? isPainted() : isVisible(terminal, state) && contents.fits();
      return isSeen ? enter : undefined;
    },
    isPainted,
    noteOutput: () => {
      state.lastOutput = performance.now();
      if (isPaintDue(terminal, state)) (isErased(terminal, state) ? tryNow : trySoon)();
    },
    refresh: () => {
      state.painted = undefined; // the terminal's size has changed, so the row is gone
      state.heldUntil = performance.now() + RESIZE_QUIET_MS;
      redraw();
    },
    stop: () => {
      state.isStopped = true;
      cancel();
    },
  };
};

// Whether the user can see the wrapper's footer or overview now.

export interface VisibilityParts {
  readonly terminal: TerminalSession;
  readonly footer: Pick<Footer, 'isPainted'>;
  readonly overview: Pick<Overview, 'showsNext'> | undefined;
}

// Twice the longest delay of a paint: whatever prevents the row for this long may prevent it forever.
const LATE_MS = 1_500;

const hasRoom = ({ tty, isFooterWanted }: TerminalSession): boolean => {
  const size = tty.size();
  return childSize(size, { isFooterWanted, isRowWanted: true }).rows < size.rows;
};

/**
 * Returns a function that tells why a countdown could not be seen now; undefined while it can be seen, or could a moment ago. The function
 * has to be called regularly.
 */
export const makeVisibilityCheck = ({
  terminal,
  footer,
  overview,
}: VisibilityParts): (() => InvisibleReason | undefined) => {
  let lateSince: number | undefined;

  const isLate = (): boolean => {
    const isThere =
      terminal.tty.pending() === 0 && (terminal.overviewOutput !== undefined || footer.isPainted());
    lateSince = isThere ? undefined : (lateSince ?? performance.now());
    return lateSince !== undefined && performance.now() - lateSince >= LATE_MS;
  };
  return () => {
    if (terminal.isPassthrough) return 'failed';
    if (terminal.overviewOutput && overview?.showsNext() !== true) return 'covered';
    if (!terminal.isFooterWanted) return 'off';
    if (!hasRoom(terminal)) return 'small';
    if (!hasFooter(terminal.filter.grid) && !terminal.isRowWanted) {
      lateSince = undefined; // the footer row is added when it is needed
      return undefined;
    }
    return isLate() ? 'undrawn' : undefined;
  };
};
