import { hasFooter, defaultSavedCursor, resizeGrid } from '../terminal/filter/grid.js';
import { fixCursor, placeCursor } from '../terminal/filter/reverse-wrap.js';
import { resizeSequence } from '../terminal/footer-sequences.js';
import { SYNCHRONIZED } from '../terminal/mode-tracker.js';
import type { Size } from '../terminal/tty.js';
import type { CursorQuery } from './cursor-query.js';
import type { Output } from './output.js';
import type { Emit } from './terminal-event.js';
import { childSize } from '../terminal/child-size.js';
import { type TerminalSession, forceRepaint } from './terminal-session.js';

// Changes of the terminal's size.

/** Sets terminal, filter, screen model and child to one size, in the order of docs/facts/terminals.md#resize. */
export interface Resize {
  /** compares the terminal's size and the footer setting with the current state; true while a change is needed or running */
  check: () => boolean;
  /** applies the size even if it is unchanged, because the shell has used the terminal */
  force: () => Promise<void>;
  /** asks for the cursor position again: the answer came too late, after so long */
  realign: (afterMs: number) => Promise<void>;
  /** the child's output has left the cursor where only the terminal knows: holds the output and asks it */
  locate: () => void;
  /** starts no further change; resolves when a running one is done */
  stop: () => Promise<void>;
}

export interface ResizeParts {
  readonly output: Output;
  readonly cursorQuery: CursorQuery;
  readonly emit: Emit;
}

const LATE_ANSWER_MS = 1_000; // for a terminal that has answered before, but slowly
const LATE_FACTOR = 3; // so much longer than its last answer; the child's output waits, and a terminal may have stopped answering
const ANSWER_MS = 150; // for the terminal to report its cursor position after a reflow

/** Rows to move the cursor up, in a terminal where it does not follow the text when the height shrinks. */
const rowsToLift = ({ filter: { grid } }: TerminalSession, size: Size): number => {
  const shrunk = grid.terminalRows - size.rows;
  if (!grid.quirks.cursorStaysOnShrink || grid.alternate || shrunk <= 0 || !grid.footerShown) return 0;
  const row = grid.row + 1;
  return Math.max(0, Math.min(row, size.rows) - Math.max(1, row - shrunk));
};

const isNeeded = (terminal: TerminalSession): boolean => {
  const { grid } = terminal.filter;
  const size = terminal.tty.size();
  const wanted = childSize(size, terminal);
  return size.columns !== grid.columns || size.rows !== grid.terminalRows || wanted.rows !== grid.rows;
};

/** Reads the cursor position from the terminal. Not during a synchronized update: kitty answers only at its end. */
const alignCursor = async (terminal: TerminalSession, cursorQuery: CursorQuery): Promise<void> => {
  const { screen } = terminal;
  const { grid, modeTracker } = terminal.filter;
  if (modeTracker.isModeSet(SYNCHRONIZED)) return;
  const cursor = await cursorQuery.ask('', ANSWER_MS);
  if (!cursor) return;
  grid.row = Math.min(grid.rows - 1, cursor.row);
  grid.column = Math.min(grid.columns - 1, cursor.column);
  terminal.isCursorKnown = true;
  grid.isRowKnown = true;
  grid.isCursorUnsure = false;
  screen.alignCursor(grid.row);
};

/** Asks the terminal where its cursor is; if it cannot be asked, puts it where the filter has it. */
const locateCursor = async (terminal: TerminalSession, cursorQuery: CursorQuery): Promise<void> => {
  const { grid, modeTracker } = terminal.filter;
  const canAsk = terminal.isCursorKnown && !modeTracker.isModeSet(SYNCHRONIZED) && !grid.vt52;
  const cursor = canAsk ? await cursorQuery.ask('', LATE_ANSWER_MS) : undefined;
  if (!grid.isCursorUnsure || terminal.isPassthrough) return; // meanwhile a change of size has asked
  terminal.tty.write(cursor ? placeCursor(grid, cursor) : fixCursor(grid));
};

/** Locates the cursor, one question at a time; `stop` resolves when the last one is answered. */
const makeLocator = (
  terminal: TerminalSession,
  { output, cursorQuery }: Pick<ResizeParts, 'output' | 'cursorQuery'>,
): { readonly locate: () => void; readonly stop: () => Promise<void> } => {
  const { filter, session } = terminal;
  let running: Promise<void> | undefined;
  let isStopped = false;

  const run = async (): Promise<void> => {
    output.hold();
    try {
      await locateCursor(terminal, cursorQuery);
    } catch (error) {
      session.log.error(`asking for the cursor failed: ${String(error)}`);
    }
    running = undefined;
    output.release();
  };
  return {
    locate: () => {
      const isPossible = filter.isGround() && hasFooter(filter.grid) && !terminal.overviewOutput;
      if (!isStopped && !running && isPossible) running = run();
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
};

/** The cursor was tracked from a wrong start row: corrects the cursor and the saved cursor. */
const correctCursor = async (
  terminal: TerminalSession,
  ask: () => ReturnType<CursorQuery['ask']>,
): Promise<void> => {
  const { grid } = terminal.filter;
  const cursor = await ask();
  if (!cursor || grid.alternate) return;
  const { main } = grid.saved;
  const row = Math.min(grid.rows - 1, Math.max(0, main.row + cursor.row - grid.row));
  if (main !== defaultSavedCursor) grid.saved.main = { ...main, row };
  Object.assign(grid, {
    row: Math.min(grid.rows - 1, cursor.row),
    column: Math.min(grid.columns - 1, cursor.column),
    isRowKnown: true,
  });
  terminal.isCursorKnown = true;
  terminal.screen.alignCursor(grid.row);
};

/**
 * An answer that is late again, because the link has become slower, is the measure of the next question. `stop` lets go what is held: it
 * may be the child's last output.
 */
const makeRealign = (
  terminal: TerminalSession,
  { output, cursorQuery }: Pick<ResizeParts, 'output' | 'cursorQuery'>,
): { readonly realign: Resize['realign']; readonly stop: () => Promise<void> } => {
  let isStopped = false;
  let running: Promise<void> | undefined;
  let giveUp: () => void = () => undefined;
  const stopped = new Promise<undefined>((resolve) => (giveUp = () => resolve(undefined)));

  const run = async (afterMs: number): Promise<void> => {
    const waitMs = Math.min(LATE_ANSWER_MS, Math.max(ANSWER_MS, LATE_FACTOR * afterMs));
    const again = waitMs < LATE_ANSWER_MS ? (ms: number) => void realign(ms) : undefined;
    output.hold();
    await correctCursor(terminal, () => Promise.race([cursorQuery.ask('', waitMs, again), stopped]));
    output.release();
  };
  const realign = async (afterMs: number): Promise<void> => {
    if (isStopped || terminal.isCursorKnown || terminal.overviewOutput) return;
    running = run(afterMs);
    await running;
  };
  return {
    realign,
    stop: async () => {
      isStopped = true;
      giveUp();
      await running;
    },
  };
};

/** Moves the footer row to its new place, or removes it; the child's rows stay. */
const moveFooter = async (terminal: TerminalSession, size: Size, next: Size): Promise<void> => {
  const { tty, filter, screen } = terminal;
  const { grid } = filter;
  const { rowsBelowCursor, isBlankFromCursor, wrappedRows } = await screen.measure(size.columns);
  if (terminal.isPassthrough) return; // a failure has meanwhile given the whole screen to the child
  const below = size.columns === grid.columns ? rowsBelowCursor : 0;
  const up = rowsToLift(terminal, size);
  const isReflowed = size.columns < grid.columns && !grid.alternate;
  const wrapped = isReflowed ? wrappedRows : 0;
  resizeGrid(grid, size.columns, next.rows, size.rows);
  const plan = { rowsBelow: below, isBlankFromCursor, rowsUp: up, wrappedRows: wrapped };
  tty.write(resizeSequence(grid, plan));
  screen.resize(next);
  screen.eraseBelow(below);
};

const applySize = async (terminal: TerminalSession, cursorQuery: CursorQuery): Promise<void> => {
  const { filter, screen } = terminal;
  const size = terminal.tty.size();
  const next = childSize(size, terminal);
  if (!terminal.isPassthrough && (hasFooter(filter.grid) || next.rows < size.rows)) {
    await moveFooter(terminal, size, next);
    await alignCursor(terminal, cursorQuery);
  } else {
    resizeGrid(filter.grid, size.columns, next.rows, size.rows);
    screen.resize(next);
  }
  const { columns, rows } = filter.grid; // not `next`: a failure may have given the whole screen to the child
  terminal.child?.resize({ columns, rows }); // last, so that the child draws into a terminal that is ready
  terminal.session.recording?.resize(columns, rows);
};

export const makeResize = (terminal: TerminalSession, { output, cursorQuery, emit }: ResizeParts): Resize => {
  let running: Promise<void> | undefined;
  const locator = makeLocator(terminal, { output, cursorQuery });
  const realigner = makeRealign(terminal, { output, cursorQuery });
  let isStopped = false;

  const run = async (force: boolean): Promise<void> => {
    output.hold();
    try {
      emit({ type: 'resizing' });
      if (force) forceRepaint(terminal);
      do await applySize(terminal, cursorQuery);
      while (!isStopped && isNeeded(terminal));
    } finally {
      running = undefined;
      output.release();
      emit({ type: 'resized' });
    }
  };
  const start = (force: boolean): void => {
    running = run(force).catch((error: unknown) =>
      terminal.session.log.error(`resizing failed: ${String(error)}`),
    );
  };
  return {
    check: () => {
      if (running) return true;
      if (isStopped || !isNeeded(terminal)) return false;
      start(false);
      return true;
    },
    force: async () => {
      await running;
      if (isStopped) return;
      start(true);
      await running;
    },
    realign: realigner.realign,
    locate: locator.locate,
    stop: async () => {
      isStopped = true;
      await realigner.stop();
      await locator.stop();
      await running;
    },
  };
};
