import { hasFooter, homeSaved, resizeGrid } from '../terminal/filter/grid.js';
import { quirksOfDeviceAttributes } from '../terminal/filter/quirks.js';
import { resizeSequence } from '../terminal/painter.js';
import type { Size } from '../terminal/tty.js';
import type { Output } from './output.js';
import { childSize, type Stage } from './terminal-session.js';

/** Brings terminal, filter, screen model and child to one size: the sequence of facts/terminals.md §2. */
export interface Resize {
  /** looks at the terminal's size and the wish for a footer; true while something has to change */
  check: () => boolean;
  /** goes through all of it, also if the size is the same: the shell has had the terminal */
  renew: () => Promise<void>;
  /** asks once more where the cursor is: the first answer came after we had to go on */
  realign: () => Promise<void>;
  /** no change begins any more; resolves when one that is under way is done */
  stop: () => Promise<void>;
}

export interface ResizeParts {
  readonly output: Output;
  readonly question: CursorQuestion;
  /** nothing of ours may be over the child's screen from here on, until all is done */
  readonly onStart: () => void;
  readonly onDone: () => void;
}

const LATE_ANSWER_MS = 1_000; // for a terminal that has already shown that it answers, but slowly
const ANSWER_MS = 150; // for the terminal to say where its cursor is after a reflow
const SYNCHRONIZED = 2026;

/** Rows to lift the cursor in a terminal where it does not follow the text when the height shrinks. */
const liftOf = ({ filter: { grid } }: Stage, size: Size): number => {
  const shrunk = grid.terminalRows - size.rows;
  if (!grid.quirks.cursorStaysOnShrink || grid.alternate || shrunk <= 0 || !grid.footerShown) return 0;
  const row = grid.row + 1;
  return Math.max(0, Math.min(row, size.rows) - Math.max(1, row - shrunk));
};

const isNeeded = (stage: Stage): boolean => {
  const { grid } = stage.filter;
  const size = stage.tty.size();
  const wanted = childSize(size, stage);
  return size.columns !== grid.columns || size.rows !== grid.terminalRows || wanted.rows !== grid.rows;
};

/** Where the terminal has put the cursor. Not asked inside a frame: kitty answers only at its end. */
const align = async (stage: Stage, question: CursorQuestion): Promise<void> => {
  const { screen } = stage;
  const { grid, ledger } = stage.filter;
  if (ledger.isSet(SYNCHRONIZED)) return;
  const cursor = await question.ask('', ANSWER_MS);
  if (!cursor) return;
  grid.row = Math.min(grid.rows - 1, cursor.row);
  grid.column = Math.min(grid.columns - 1, cursor.column);
  stage.cursorKnown = true;
  screen.alignCursor(grid.row);
};

/** Everything counted so far began at a wrong row: cursor and saved cursor are moved to where they are. */
const correct = async (stage: Stage, question: CursorQuestion): Promise<void> => {
  const { grid } = stage.filter;
  const cursor = await question.ask('', LATE_ANSWER_MS);
  if (!cursor || grid.alternate) return;
  const { main } = grid.saved;
  const row = Math.min(grid.rows - 1, Math.max(0, main.row + cursor.row - grid.row));
  if (main !== homeSaved) grid.saved.main = { ...main, row };
  Object.assign(grid, {
    row: Math.min(grid.rows - 1, cursor.row),
    column: Math.min(grid.columns - 1, cursor.column),
  });
  stage.cursorKnown = true;
  stage.screen.alignCursor(grid.row);
};

/** Our own row is moved to its new place, or taken away; the child's rows stay. */
const moveFooter = async (stage: Stage, size: Size, next: Size): Promise<void> => {
  const { tty, filter, screen } = stage;
  const { grid } = filter;
  await screen.settled();
  const below = size.columns === grid.columns ? screen.rowsBelowCursor() : 0;
  const up = liftOf(stage, size);
  const isReflowed = size.columns < grid.columns && !grid.alternate;
  const wrapped = isReflowed ? screen.rowsWrappedAt(size.columns) : 0;
  resizeGrid(grid, size.columns, next.rows, size.rows);
  tty.write(resizeSequence(grid, { below, up, wrapped }));
  await screen.resize(next);
  screen.eraseBelow(below);
};

const apply = async (stage: Stage, question: CursorQuestion): Promise<void> => {
  const { filter, screen } = stage;
  const size = stage.tty.size();
  const next = childSize(size, stage);
  if (!stage.verbatim && (hasFooter(filter.grid) || next.rows < size.rows)) {
    await moveFooter(stage, size, next);
    await align(stage, question);
  } else {
    resizeGrid(filter.grid, size.columns, next.rows, size.rows);
    await screen.resize(next);
  }
  stage.child?.resize(next); // last, so that the child draws into a terminal that is ready
  stage.session.recording?.resize(next.columns, next.rows);
};

/** A change of size makes every program repaint; the real one has to come after it. */
export const nudge = ({ child, filter: { grid } }: Stage): void => {
  if (grid.rows > 1) child?.resize({ columns: grid.columns, rows: grid.rows - 1 });
};

export const makeResize = (stage: Stage, { output, question, onStart, onDone }: ResizeParts): Resize => {
  let running: Promise<void> | undefined;
  let stopped = false;

  const run = async (force: boolean): Promise<void> => {
    output.hold();
    try {
      onStart();
      if (force) nudge(stage);
      do await apply(stage, question);
      while (!stopped && isNeeded(stage));
    } finally {
      running = undefined;
      output.release();
      onDone();
    }
  };
  const start = (force: boolean): void => {
    running = run(force).catch((error: unknown) =>
      stage.session.log.error(`resizing failed: ${String(error)}`),
    );
  };
  return {
    check: () => {
      if (running) return true;
      if (stopped || !isNeeded(stage)) return false;
      start(false);
      return true;
    },
    renew: async () => {
      await running;
      if (stopped) return;
      start(true);
      await running;
    },
    realign: async () => {
      output.hold();
      await correct(stage, question);
      output.release();
    },
    stop: async () => {
      stopped = true;
      await running;
    },
  };
};

/** Asks the terminal where its cursor is; the answer comes in through the keys. */
export interface CursorQuestion {
  /** resolves with row and column from 0, or undefined when the terminal does not answer in time */
  ask: (
    prefix: string,
    waitMs: number,
  ) => Promise<{ readonly row: number; readonly column: number } | undefined>;
  /** acts when everything that was asked before is answered, or after `waitMs`: terminals answer in order */
  inTurn: (waitMs: number, act: () => void) => void;
  /** parameters and final byte of an answer to us */
  answered: (text: string) => void;
  /** resolves when no answer to us is on its way any more, or after `waitMs` */
  settled: (waitMs: number) => Promise<void>;
}

const CPR = '\x1b[6n';
/** Secondary device attributes: xterm.js can be told from its answer. */
export const DEVICE_ATTRIBUTES = '\x1b[>c';

/** `onLate`: an answer about the cursor has come that nobody waits for any more. */
export const makeCursorQuestion = (stage: Stage, onLate: () => void): CursorQuestion => {
  const { grid, ledger } = stage.filter;
  const { questions } = ledger;
  let listeners: ((text: string) => void)[] = [];

  const awaitAnswer = (waitMs: number, act: (text: string | undefined) => void): void => {
    const finish = (text: string | undefined): void => {
      clearTimeout(timer);
      listeners = listeners.filter((listener) => listener !== finish);
      act(text);
    };
    const timer = setTimeout(() => finish(undefined), waitMs);
    listeners = [...listeners, finish];
  };
  const next = (waitMs: number): Promise<string | undefined> =>
    new Promise((resolve) => awaitAnswer(waitMs, resolve));

  return {
    ask: async (prefix, waitMs) => {
      if (prefix === DEVICE_ATTRIBUTES) questions.ask('c', true);
      questions.ask('R', true);
      stage.tty.write(prefix + CPR);
      const text = await next(waitMs);
      const [, row, column] = /^(\d+);(\d+)R$/.exec(text ?? '') ?? [];
      return row === undefined || column === undefined
        ? undefined
        : { row: Number(row) - 1, column: Number(column) - 1 };
    },
    inTurn: (waitMs, act) => {
      questions.ask('R', true);
      stage.tty.write(CPR);
      awaitAnswer(waitMs, act);
    },
    answered: (text) => {
      if (text.endsWith('c')) {
        grid.quirks = quirksOfDeviceAttributes(text.slice(0, -1), grid.quirks);
        return;
      }
      const [first] = listeners; // answers come in the order of the questions
      if (first) first(text);
      else onLate();
    },
    settled: async (waitMs) => {
      if (questions.open() > 0) await next(waitMs);
    },
  };
};
