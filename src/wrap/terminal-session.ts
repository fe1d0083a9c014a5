import { errorStack } from '../core/json.js';
import { type StandIn, makeStandIn } from '../terminal/agent-states.js';
import { type StreamFilter, makeStreamFilter } from '../terminal/filter/filter.js';
import { makeGrid } from '../terminal/filter/grid.js';
import { cursorSequence } from '../terminal/filter/motion.js';
import { quirksOf } from '../terminal/filter/quirks.js';
import { makeLazyScreen } from '../terminal/lazy-screen.js';
import { endOfFrame } from '../terminal/modes.js';
import { tidySequence } from '../terminal/painter.js';
import type { Child } from '../terminal/pty.js';
import type { Screen } from '../terminal/screen.js';
import { type Size, type Tty, openTty, type TtyListener } from '../terminal/tty.js';
import { type Watchdog, startWatchdog } from '../terminal/watchdog.js';
import type { WrapSession } from './options.js';
import type { Readings } from './readings.js';

/** Where the child's output goes while the terminal shows something else. */
export interface OutputCover {
  /** pieces to be filtered and taken one by one */
  readonly cut: (bytes: Uint8Array) => readonly Uint8Array[];
  /** what the terminal would get for one of them */
  readonly take: (parts: readonly Uint8Array[]) => void;
}

/** What the parts of one wrap share. */
export interface Stage {
  readonly session: WrapSession;
  readonly tty: Tty;
  readonly filter: StreamFilter;
  /** answers the child's question about agent states, for an agent that asks it */
  readonly standIn: StandIn | undefined;
  readonly screen: Screen;
  readonly watchdog: Watchdog;
  /** set as soon as the child runs */
  child: Child | undefined;
  /** takes the child's output in the terminal's place, while a screen of ours is over the child's */
  cover: OutputCover | undefined;
  /** what is read of the child, as long as it runs */
  readings: Readings | undefined;
  /** the user wants to see the footer (the hotkey changes it) */
  footerWanted: boolean;
  /** a compaction is due: its countdown gets a row of a terminal that has none for a footer else */
  rowWanted: boolean;
  /** bytes go through untouched: mode off, or something of ours has failed */
  verbatim: boolean;
  /** there is a screen for us beside the child's; undefined until that was tried */
  hasSecondScreen: boolean | undefined;
  /** the terminal has said where its cursor was at the start, so the screen model has the child's rows where they are */
  cursorKnown: boolean;
}

const MIN_ROWS = 8; // below this an agent needs every row itself
const MIN_DUE_ROWS = 4; // while a compaction is due: a prompt between two lines and the countdown
const MIN_COLUMNS = 20; // below this nothing useful fits into a footer

/** The size of the child's terminal in a terminal of this size. */
export const childSize = (
  { columns, rows, isGuess }: Size,
  { footerWanted, rowWanted = false, verbatim = false }: FooterWish,
): Size => {
  const fits = isGuess !== true && rows >= (rowWanted ? MIN_DUE_ROWS : MIN_ROWS) && columns >= MIN_COLUMNS;
  return { columns, rows: footerWanted && !verbatim && fits ? rows - 1 : rows };
};

type FooterWish = Pick<Stage, 'footerWanted'> & Partial<Pick<Stage, 'rowWanted' | 'verbatim'>>;

/** Runs a part of ours that the session must survive. */
export const survive = (stage: Pick<Stage, 'session'>, what: string, run: () => void): boolean => {
  try {
    run();
    return true;
  } catch (error) {
    stage.session.log.error(`${what} failed: ${errorStack(error)}`);
    return false;
  }
};

/** Takes the terminal and builds everything that stands between it and the child. */
export const setStage = (session: WrapSession, listener: TtyListener): Stage => {
  const tty = openTty(listener);
  const size = tty.size();
  const verbatim = session.mode === 'off';
  const child = childSize(size, { footerWanted: session.footer, verbatim });
  const grid = makeGrid(size.columns, child.rows, size.rows, quirksOf(session.env));
  const plainFilter = makeStreamFilter(grid);
  const signs = verbatim ? undefined : session.runtime.titleSigns?.(session.env);
  const standIn = signs && makeStandIn(plainFilter, signs);
  const seed = (): string => (grid.alternate ? `\x1b[?${grid.alternateMode}h` : '') + cursorSequence(grid);
  const stage: Stage = {
    session,
    tty,
    filter: standIn?.filter ?? plainFilter,
    standIn,
    screen: makeLazyScreen(child, seed, (error) => {
      session.log.error(`the screen is not followed, its model has failed: ${String(error)}`);
      stage.readings?.goBlind();
    }),
    watchdog: startWatchdog(tty.termios),
    child: undefined,
    cover: undefined,
    readings: undefined,
    footerWanted: session.footer,
    rowWanted: false,
    verbatim,
    hasSecondScreen: undefined,
    cursorKnown: false,
  };
  return stage;
};

/** Tells the watchdog how to leave the terminal from here; `leave` takes a screen of ours away first, and lasts as long as it is there. */
export const armWatchdog = (stage: Stage, leave = ''): void => {
  const { filter, watchdog, verbatim, session } = stage;
  const { grid, ledger } = filter;
  if (stage.cover) return; // what the child has turned on since has not reached the terminal
  const isOff = session.mode === 'off';
  const state = { unterminated: true, died: true, lastRow: isOff ? -1 : undefined };
  watchdog.arm(endOfFrame + leave + tidySequence(grid, ledger, { ...state, abandoned: verbatim && !isOff }));
};
