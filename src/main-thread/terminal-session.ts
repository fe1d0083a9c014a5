import { errorStack } from '../core/errors.js';
import { type AgentStateProxy, makeAgentStateProxy } from '../terminal/agent-state-proxy.js';
import { type StreamFilter, makeStreamFilter } from '../terminal/filter/filter.js';
import { makeGrid } from '../terminal/filter/grid.js';
import { quirksFromEnv } from '../terminal/filter/quirks.js';
import { endOfFrame } from '../terminal/mode-tracker.js';
import { restoreTerminalSequence } from '../terminal/footer-sequences.js';
import type { SttyProcess } from '../terminal/stty-process.js';
import type { Child } from '../terminal/pty.js';
import type { DroppedPresses, PixelPlaces } from '../terminal/reports.js';
import type { Tty } from '../terminal/tty.js';
import type { Background } from '../core/look.js';
import type { LaunchSession, RestartPlan } from '../session/options.js';
import type { PreparedTerminal } from './prepared-terminal.js';
import { makeSessionWorker, type SessionWorker, type StartThread } from './worker-host.js';
import { makeCounters, type Counters } from '../session/thread-messages.js';
import type { ChildScreen } from '../terminal/child-screen.js';

// The state shared by the parts of one wrapped session: terminal, filter, screen model, child.

/** Receives the child's output while the terminal shows the overview. */
export interface OverviewOutput {
  /** splits the output into pieces that are filtered and received one by one */
  readonly cut: (bytes: Uint8Array) => readonly Uint8Array[];
  /** receives the filtered output of one piece */
  readonly take: (parts: readonly Uint8Array[]) => void;
}

/** The state shared by the parts of one wrapped session. */
export interface TerminalSession {
  readonly session: LaunchSession;
  readonly tty: Tty;
  readonly filter: StreamFilter;
  /** answers the child's query for agent states (OSC 7501), for an agent that sends it */
  readonly stateProxy: AgentStateProxy | undefined;
  readonly screen: ChildScreen;
  /** reads, decides and draws the overview */
  readonly worker: SessionWorker;
  /** numbers that the worker sees, too */
  readonly counters: Counters;
  readonly sttyProcess: SttyProcess;
  /** set as soon as the child runs */
  child: Child | undefined;
  /** receives the child's output instead of the terminal while the overview is open */
  overviewOutput: OverviewOutput | undefined;
  /** the user wants to see the footer (the hotkey toggles it) */
  isFooterWanted: boolean;
  /** a compaction is due: its countdown gets a row even in a terminal that is too small for a footer */
  isRowWanted: boolean;
  /** bytes go through untouched: mode off, or a part of the wrapper has failed */
  isPassthrough: boolean;
  /** the terminal has a second screen that the overview can use; undefined until that was tested */
  hasSecondScreen: boolean | undefined;
  /** as the terminal has answered at the start */
  background: Background | undefined;
  /** how mouse reports in pixels are read */
  readonly pixels: PixelPlaces;
  /** clicks on the footer that are not over */
  readonly dropped: DroppedPresses;
  /** the terminal has reported its cursor position at the start, so the screen model's rows match the terminal's */
  isCursorKnown: boolean;
  /** the worker could not load what draws the overview */
  isOverviewUndrawable: boolean;
  /** the child has been told to end, and this is started then */
  restart: RestartPlan | undefined;
  /** the child was started again, and has the session that it was to go on with */
  isRestartTaken: boolean;
}

/** Runs a part of the wrapper whose failure must not end the session: logs an error and returns false. */
export const runGuarded = (
  terminal: Pick<TerminalSession, 'session'>,
  what: string,
  run: () => void,
): boolean => {
  try {
    run();
    return true;
  } catch (error) {
    terminal.session.log.error(`${what} failed: ${errorStack(error)}`);
    return false;
  }
};

/** What a terminal session is built on. */
export interface TerminalParts {
  readonly prepared: PreparedTerminal;
  readonly sttyProcess: SttyProcess;
  readonly startThread: StartThread;
}

/** Builds everything between the terminal and the child. */
export const makeTerminalSession = (
  session: LaunchSession,
  { prepared: { tty, sizes }, sttyProcess, startThread }: TerminalParts,
): TerminalSession => {
  const { columns, rows } = sizes.terminal;
  const isPassthrough = session.values.mode === 'off';
  const grid = makeGrid(columns, sizes.child.rows, rows, quirksFromEnv(session.env));
  grid.isRowKnown = false;
  const childFilter = makeStreamFilter(grid);
  const signs = isPassthrough ? undefined : session.agent.titleSigns?.(session.env);
  const stateProxy = signs && makeAgentStateProxy(childFilter, signs);
  const counters = makeCounters();
  const filter = stateProxy?.filter ?? childFilter;
  const worker = makeSessionWorker({ session, filter, counters, startThread });
  return {
    session,
    tty,
    filter,
    stateProxy,
    screen: worker.screen,
    worker,
    counters,
    sttyProcess,
    child: undefined,
    overviewOutput: undefined,
    isFooterWanted: session.values.footer !== false,
    isRowWanted: false,
    isPassthrough,
    hasSecondScreen: undefined,
    background: undefined,
    pixels: { cellHeight: undefined, areSeen: false },
    dropped: { buttons: new Set(), areReleasesAsked: false },
    isCursorKnown: false,
    isOverviewUndrawable: false,
    restart: undefined,
    isRestartTaken: false,
  };
};

/** What restores the terminal if the wrapper dies. */
const restoringSequence = ({ filter, isPassthrough, session }: TerminalSession): string => {
  const { grid, modeTracker } = filter;
  const isOff = session.values.mode === 'off';
  const state = { isStringOpen: true, hasDied: true, lastRow: isOff ? -1 : undefined };
  return restoreTerminalSequence(grid, modeTracker, {
    ...state,
    isFooterAbandoned: isPassthrough && !isOff,
  });
};

/**
 * Sets the sequence that the stty process writes if the wrapper dies. `leave` removes the overview first, and applies as long as the overview is
 * open.
 */
export const armSttyProcess = (terminal: TerminalSession, leave = ''): void => {
  if (terminal.overviewOutput) return; // modes that the child has set since then have not reached the terminal
  terminal.sttyProcess.arm(endOfFrame + leave + restoringSequence(terminal));
};

/** The same after the child's output, which may change modes with every read. */
export const armSttyProcessSoon = (terminal: TerminalSession): void => {
  if (terminal.overviewOutput) return;
  terminal.sttyProcess.armSoon(() => endOfFrame + restoringSequence(terminal));
};

/** A change of size makes every program repaint. The child is shrunk by one row here; its real size follows. */
export const forceRepaint = ({ child, filter: { grid } }: TerminalSession): void => {
  if (grid.rows > 1) child?.resize({ columns: grid.columns, rows: grid.rows - 1 });
};
