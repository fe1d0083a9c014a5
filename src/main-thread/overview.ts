import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Printable } from '../core/printable.js';
import type { Event } from '../core/event.js';
import { compactKeys, hotkeyName } from '../core/format.js';
import type { OverviewKey } from '../core/overview-keys.js';
import { FILE_MODE } from '../storage/file-modes.js';
import { ensureFolder, homeFolder, readOwnFile, stateFolder } from '../storage/state-folder.js';
import { markSlotOverwritten, hasFooter } from '../terminal/filter/grid.js';
import { cursorSequence } from '../terminal/filter/motion.js';
import { hasAlternateScreen } from '../terminal/overview/sequences.js';
import type { SavedScreen } from '../terminal/overview/saved-screen.js';
import { paintHindrance } from '../terminal/footer-sequences.js';
import type { Size } from '../terminal/tty.js';
import type { LateKeys } from './late-keys.js';
import type { Output } from './output.js';
import { showOverview, type ShownOverview } from './overview-screen.js';
import type { CursorQuery } from './cursor-query.js';
import type { Emit } from './terminal-event.js';
import { type TerminalSession, runGuarded } from './terminal-session.js';

// Whether the terminal has an alternate screen. Some have it disabled (xterm's titeInhibit, tmux's alternate-screen) and do not report
// that: the switch is ignored there, and the overview would stay on the child's screen.

const ANSWER_MS = 300;
const SPOTS = [
  { row: 8, column: 8 },
  { row: 4, column: 4 },
] as const;

/**
 * Switches to the alternate screen, moves the cursor and switches back: if the cursor has moved, there is no alternate screen. Call it
 * while output is held.
 */
const hasSecondScreen = async (
  { filter: { grid }, tty }: Pick<TerminalSession, 'filter' | 'tty'>,
  cursorQuery: CursorQuery,
): Promise<boolean> => {
  const { row, column } =
    SPOTS.find((each) => each.row !== grid.row || each.column !== grid.column) ?? SPOTS[0];
  markSlotOverwritten(grid); // the switch saves the cursor in the slot that the child may have used
  const there = `\x1b[?1049h\x1b[${row + 1};${column + 1}H\x1b[?1049l`;
  const found = await cursorQuery.ask(there, ANSWER_MS);
  const hasStayed = found !== undefined && found.row === row && found.column === column;
  if (hasStayed) tty.write(cursorSequence(grid));
  return !hasStayed;
};

// Opens the overview: as soon as the child's output pauses, and where the terminal has an alternate screen.

const RETRY_MS = 10;
const PATIENCE_MS = 500; // for a gap after which nothing needs repair
const NO_SCREEN = 'no overview in this terminal';

/** Milliseconds until the next attempt, 0 to open now, undefined when it will never open. */
const delayOf = (terminal: TerminalSession, isHeld: boolean, waitedMs: number): number | undefined => {
  const { grid, modeTracker, isGround, isComplete } = terminal.filter;
  const isSafe = !isHeld && isGround() && !grid.vt52;
  const isGap = isComplete() && paintHindrance(grid, modeTracker) === undefined; // held bytes may combine with the character before
  if (isSafe && (isGap || waitedMs >= PATIENCE_MS)) return 0;
  return waitedMs < PATIENCE_MS ? RETRY_MS : undefined;
};

interface Opening {
  readonly state: OverviewState;
  readonly contents: OverviewContents;
  readonly close: () => void;
}

/** Opens it now, or tries again soon. */
const attemptWith = (
  terminal: TerminalSession,
  { output, cursorQuery, emit }: OverviewParts,
  { state, contents, close }: Opening,
): (() => void) => {
  const { filter, screen } = terminal;

  const show = (savedScreen: SavedScreen | undefined): void => {
    const isShown = runGuarded(terminal, 'opening the overview', () => {
      const shown = showOverview(terminal, { cursorQuery, draw: contents.draw, savedScreen, onEnd: close });
      Object.assign(state, { phase: 'open', shown, isSeen: true });
      shown.redraw();
      if (state.shown) emit({ type: 'overview-opened' });
    });
    if (!isShown) close();
  };
  const giveUp = (): void => {
    if (state.phase !== 'opening') return;
    terminal.session.log.warn('the overview could not be opened while the agent was writing');
    terminal.worker.handle(noOverviewNotice(terminal, 'the overview could not open: try again'));
    close();
  };
  /** The screen model must match the terminal, so nothing may pass until both agree. */
  const showOverAlternate = async (): Promise<void> => {
    output.hold();
    try {
      const savedScreen = await screen.save();
      if (savedScreen && state.phase === 'opening' && filter.isGround()) show(savedScreen);
      else giveUp();
    } finally {
      output.release();
    }
  };
  const tryScreen = async (): Promise<void> => {
    output.hold();
    try {
      terminal.hasSecondScreen = await hasSecondScreen(terminal, cursorQuery);
    } finally {
      output.release();
    }
    if (terminal.hasSecondScreen) return attempt();
    terminal.session.log.warn('no overview: this terminal has no alternate screen');
    terminal.worker.handle({ type: 'notice', text: NO_SCREEN, priority: 300 });
    close();
  };
  const attempt = (): void => {
    clearTimeout(state.timer);
    if (state.phase !== 'opening') return;
    const delay = delayOf(terminal, output.hasHeldBytes(), performance.now() - state.wantedAt);
    if (delay === undefined) return giveUp();
    if (delay > 0) state.timer = setTimeout(attempt, delay);
    else if (filter.grid.alternate) state.settling = showOverAlternate();
    else if (terminal.hasSecondScreen === undefined && !filter.grid.origin) state.settling = tryScreen();
    else show(undefined);
  };
  return attempt;
};

// The overview on top of the running child's screen, which is restored exactly when it closes.

export interface Overview {
  /** the terminal can show one, and there is something to show */
  readonly canOpen: () => boolean;
  /** why the terminal cannot show it, in a few words; undefined if it can */
  readonly hindrance: () => string | undefined;
  /** keys go to the overview: it is open, or about to open */
  readonly isOpen: () => boolean;
  /** keys go to it, and nobody has seen it since it was asked for: it is loaded, or waits for a pause */
  readonly isUnseen: () => boolean;
  /** the overview shows what happens next, so a countdown is visible in it */
  readonly showsNext: () => boolean;
  /** as soon as the child's output pauses */
  readonly open: () => void;
  readonly close: () => void;
  /** as `close`, but not by a key of the user */
  readonly closeByItself: () => void;
  /** something shown has changed; unchanged rows are not written again */
  readonly redraw: () => void;
  /** `isByItself`: not pressed by the user */
  readonly onKey: (key: OverviewKey, isByItself?: boolean) => void;
  /** keys that were meant for what it no longer shows */
  readonly late: LateKeys | undefined;
  /** the child has written: a chance to open */
  readonly noteOutput: () => void;
  /** the terminal is being resized: hide until `resume` */
  readonly pause: () => void;
  readonly resume: () => void;
  /** closes it for good; resolves when no output is held any more */
  readonly stop: () => Promise<void>;
}

const MIN_COLUMNS = 40;
const MIN_ROWS = 8;

/** Why the terminal cannot show an overview; undefined if it can. */
const terminalHindrance = (terminal: TerminalSession): string | undefined => {
  const { grid } = terminal.filter;
  const isLargeEnough = hasFooter(grid) && grid.columns >= MIN_COLUMNS && grid.terminalRows >= MIN_ROWS;
  if (!isLargeEnough || terminal.isPassthrough) return `overview needs ${MIN_COLUMNS}×${MIN_ROWS}`;
  const hasScreen = hasAlternateScreen(terminal.session.env) && terminal.hasSecondScreen !== false;
  return hasScreen ? undefined : NO_SCREEN;
};

const closedState = (): OverviewState => ({
  phase: 'closed',
  wantedAt: 0,
  timer: undefined,
  opening: undefined,
  isSeen: false,
  shown: undefined,
  settling: undefined,
  isStopped: false,
});

/** In a demonstration, opens the overview by itself, with the recap, and gives back what is chosen there. */
export interface OverviewTour {
  /** compactions of the session so far */
  readonly noteCompactions: (count: number) => void;
  /** the overview has opened; false if the user opened it */
  readonly noteOpened: () => boolean;
  /** the user has pressed a key in it, and closes it */
  readonly noteKey: () => void;
  readonly noteClosed: () => void;
  readonly stop: () => void;
}

/** Without a tour in the session it does nothing. */
export const makeOverviewTour = (
  terminal: Pick<TerminalSession, 'session' | 'child'>,
  overview: Pick<Overview, 'isOpen' | 'open' | 'close' | 'onKey'>,
): OverviewTour => {
  const { tour } = terminal.session;
  let step: 'ahead' | 'due' | 'shown' | 'over' = tour ? 'ahead' : 'over';
  let timer: NodeJS.Timeout | undefined;

  const noteClosed = (): void => {
    if (step !== 'shown' || !tour) return;
    step = 'over';
    clearTimeout(timer);
    terminal.child?.signal(tour.signal);
  };
  const take = (): void => {
    overview.onKey('enter', true);
    overview.close(); // where there is nothing to give back
  };
  const show = (): void => {
    step = 'shown';
    overview.open();
    if (overview.isOpen()) overview.onKey('b', true);
    else noteClosed(); // this terminal cannot show it
  };
  return {
    noteCompactions: (count) => {
      if (step !== 'ahead' || !tour || count === 0) return;
      step = 'due';
      timer = setTimeout(show, tour.overviewAfterMs).unref();
    },
    noteOpened: () => {
      if (step !== 'shown' || !tour) return false;
      clearTimeout(timer); // it opens again after a change of size
      timer = setTimeout(take, tour.overviewMs).unref();
      return true;
    },
    noteKey: () => {
      if (step === 'shown') clearTimeout(timer);
    },
    noteClosed,
    stop: () => {
      step = 'over';
      clearTimeout(timer);
    },
  };
};

/** A hint at the overview, for users who have not opened it often yet. */
export interface OverviewHint {
  /** undefined where it is not needed, or the overview cannot be opened */
  readonly text: () => string | undefined;
  /** the user has opened it */
  readonly noteOpened: () => void;
}

const OPENED_OFTEN = 3; // by then the user knows the key
const OPENED_FILE = 'overview-opened'; // one character for each time, so that two sessions never lose a count

/** Reads how often the overview was opened in all sessions, later than the child's start; counts on where the folder can be written. */
export const makeOverviewHint = ({ session }: TerminalSession, emit: Emit): OverviewHint => {
  const { env, values, log } = session;
  const folder = stateFolder(env, homeFolder(env));
  const path = join(folder, OPENED_FILE);
  const hotkey = hotkeyName(values);
  let opened = Infinity; // until it is known
  readOwnFile(path, OPENED_OFTEN)
    .then((text = '') => {
      opened = text.length;
      emit({ type: 'hint-changed' });
    })
    .catch(() => undefined);
  return {
    text: () => (hotkey === undefined || opened >= OPENED_OFTEN ? undefined : `${hotkey} overview`),
    noteOpened: () => {
      if (opened >= OPENED_OFTEN) return;
      opened += 1;
      emit({ type: 'hint-changed' });
      ensureFolder(folder)
        .then(() => appendFile(path, '.', { mode: FILE_MODE }))
        .catch((error: unknown) => log.info(`openings of the overview are not counted: ${String(error)}`));
    },
  };
};

/** Closes or hides whatever is open; false if nothing was. */
const leaveScreen = (state: OverviewState, { emit }: Pick<OverviewParts, 'emit'>, next: Phase): boolean => {
  const { phase, shown } = state;
  clearTimeout(state.timer);
  if (next === 'closed') state.isSeen = false;
  if (phase !== 'closed') Object.assign(state, { phase: next, opening: undefined, shown: undefined });
  shown?.takeAway();
  if (shown) emit({ type: 'uncovered' });
  return phase !== 'closed';
};

const pressKey = (
  terminal: TerminalSession,
  { emit }: Pick<OverviewParts, 'emit'>,
  { onKey }: OverviewContents,
  { key, ...press }: OverviewPress & { readonly key: OverviewKey },
): void => {
  runGuarded(terminal, 'a key of the overview', () => {
    if (!press.isByItself) emit({ type: 'overview-key' });
    onKey(key, press);
  });
};

/** Loads what draws it, and then tries to open it. */
const loadWith = (
  state: OverviewState,
  contents: OverviewContents,
  { attempt, giveUp }: { readonly attempt: () => void; readonly giveUp: () => void },
): void => {
  const opening = Symbol('opening');
  Object.assign(state, { phase: 'opening', wantedAt: Infinity, opening });
  const start = (): void => {
    state.wantedAt = performance.now();
    attempt();
  };
  const isWanted = (): boolean => state.opening === opening; // not closed and opened again meanwhile
  const loading = contents.load?.();
  if (!loading) return start();
  loading.then(
    () => isWanted() && start(),
    () => isWanted() && giveUp(),
  );
};

export const makeOverview = (
  terminal: TerminalSession,
  parts: OverviewParts,
  contents: OverviewContents,
): Overview => {
  const state = closedState();
  const leave = (next: Phase): boolean => leaveScreen(state, parts, next);
  const end = (isByItself: boolean): void => {
    if (!leave('closed')) return;
    runGuarded(terminal, 'closing the overview', () => {
      contents.onClose?.(isByItself);
      parts.emit({ type: 'overview-closed' });
    });
  };
  const close = (): void => end(false);
  const closeByItself = (): void => end(true);
  const attempt = attemptWith(terminal, parts, { state, contents, close: closeByItself });
  const giveUp = (): void => {
    terminal.worker.handle(noOverviewNotice(terminal));
    closeByItself();
  };
  const begin = (): void => loadWith(state, contents, { attempt, giveUp });
  const canOpen = (): boolean =>
    !state.isStopped && (contents.isAvailable?.() ?? true) && terminalHindrance(terminal) === undefined;
  return {
    canOpen,
    hindrance: () => terminalHindrance(terminal),
    isOpen: () => state.phase !== 'closed',
    isUnseen: () => state.phase !== 'closed' && !state.isSeen,
    showsNext: () => state.phase === 'open' && contents.showsNext?.() === true,
    open: () => void (state.phase === 'closed' && canOpen() && begin()),
    close,
    closeByItself,
    redraw: () => state.shown?.redraw(),
    late: contents.late,
    onKey: (key, isByItself = false) =>
      pressKey(terminal, parts, contents, { key, isByItself, isSeen: state.isSeen }),
    noteOutput: () => {
      if (state.phase === 'opening' && state.wantedAt < Infinity) attempt();
    },
    pause: () => void leave('paused'),
    resume: () => {
      if (state.phase !== 'paused') return;
      if (canOpen()) return begin();
      const hindrance = terminalHindrance(terminal);
      if (hindrance !== undefined) terminal.worker.handle(noOverviewNotice(terminal, hindrance)); // its keys are the agent's again
      closeByItself();
    },
    stop: async () => {
      state.isStopped = true;
      close();
      await state.settling;
    },
  };
};

/** Says why the overview does not open, and what works without it. `hindrance`: the reason is the terminal, or what it shows. */
export const noOverviewNotice = (
  { session, isOverviewUndrawable }: Pick<TerminalSession, 'session' | 'isOverviewUndrawable'>,
  hindrance?: string,
): Event => {
  const why =
    hindrance ?? (isOverviewUndrawable ? 'the overview cannot be drawn' : 'the overview is not ready yet');
  const compact = session.agent.recipe && compactKeys(session.values);
  return {
    type: 'notice',
    text: compact === undefined ? why : `${why} · ${compact} compacts`,
    priority: 300,
  };
};

/** How a key of the overview was pressed. */
export interface OverviewPress {
  /** the overview has been on the screen since it was asked for */
  readonly isSeen: boolean;
  /** not by the user */
  readonly isByItself: boolean;
}

/** What an overview shows and does. */
export interface OverviewContents {
  /** rows of text and SGR, at most as many as the size has, none wider */
  readonly draw: (size: Size) => readonly Printable[];
  readonly onKey: (key: OverviewKey, press: OverviewPress) => void;
  /** `isByItself`: not by a key of the user */
  readonly onClose?: (isByItself: boolean) => void;
  readonly late?: LateKeys;
  /** whether the last drawing included what happens next; never when absent */
  readonly showsNext?: () => boolean;
  /** there is something to show, or will be; otherwise the hotkey acts as if there were no overview */
  readonly isAvailable?: () => boolean;
  /** loads what it draws with before it opens; undefined when that is loaded; rejects when it cannot be drawn */
  readonly load?: () => Promise<void> | undefined;
}

export interface OverviewParts {
  readonly output: Pick<Output, 'hold' | 'hasHeldBytes' | 'release'>;
  readonly cursorQuery: CursorQuery;
  readonly emit: Emit;
}

/** `paused`: the terminal is being resized. */
export type Phase = 'closed' | 'opening' | 'open' | 'paused';

/** The state of one overview; mutable. */
export interface OverviewState {
  phase: Phase;
  /** by `performance.now()`; Infinity while the contents load */
  wantedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** stands for one opening, to tell it from the next */
  opening: symbol | undefined;
  /** it has been on the screen since it was asked for */
  isSeen: boolean;
  shown: ShownOverview | undefined;
  /** waiting for the screen model, with the child's output held */
  settling: Promise<void> | undefined;
  isStopped: boolean;
}
