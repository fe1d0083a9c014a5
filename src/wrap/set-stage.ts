import { makeGrid } from '../terminal/filter/grid.js';
import { quirksOf } from '../terminal/filter/quirks.js';
import { cursorSequence } from '../terminal/filter/saved-cursor.js';
import { makeStreamFilter } from '../terminal/filter/stream-filter.js';
import { makeLazyScreen } from '../terminal/lazy-screen.js';
import { endOfFrame } from '../terminal/left-on.js';
import { makeStandIn } from '../terminal/stand-in.js';
import { tidySequence } from '../terminal/painter.js';
import { openTty, type TtyListener } from '../terminal/tty.js';
import { startWatchdog } from '../terminal/watchdog.js';
import { childSize, type Stage } from './stage.js';
import type { WrapSession } from './wrap-session.js';

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
