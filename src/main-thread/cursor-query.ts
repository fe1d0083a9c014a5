import { markSlotOverwritten } from '../terminal/filter/grid.js';
import { quirksFromDeviceAttributes } from '../terminal/filter/quirks.js';
import { MARK_COLUMN } from '../terminal/input.js';
import { EXTENDED, SENTINEL } from '../terminal/questions.js';
import { noteCellHeight } from '../terminal/reports.js';
import { backgroundFrom } from '../core/look.js';
import type { PreparedTerminal } from './prepared-terminal.js';
import type { Emit } from './terminal-event.js';
import type { TerminalSession } from './terminal-session.js';

/*
 * Asks the terminal for its cursor position, and at the start for what it is. A plain cursor report (CPR) can have the bytes of F3 with
 * a modifier, so the extended one (DECXCPR) is asked for. xterm, kitty, VTE and Windows Terminal know it; alacritty, foot, ghostty,
 * Terminal.app, tmux and screen do not. Those answer the sentinel behind it first, and are then asked so that no report can be a key.
 */

/** Counted from 0. */
export interface CursorPosition {
  readonly row: number;
  readonly column: number;
}

type OnLate = (afterMs: number, position: CursorPosition | undefined) => void;

/** Asks the terminal for the cursor position; the keyboard passes the answers on. */
export interface CursorQuery {
  /** waits for the answers to the first questions, which have been written before anything could read answers */
  awaitStart: (
    asked: NonNullable<PreparedTerminal['asked']>,
    waitMs: number,
  ) => Promise<CursorPosition | undefined>;
  /**
   * resolves with undefined when the terminal does not answer in time; `prefix` is written before the query. `onLate`: the answer has come
   * later, after so long; the position is that of the moment of the query
   */
  ask: (prefix: string, waitMs: number, onLate?: OnLate) => Promise<CursorPosition | undefined>;
  /** asks once how high a cell is: mouse reports are in pixels */
  askCellHeight: () => void;
  /** calls `act` when all earlier queries are answered, or after `waitMs`; terminals answer in order */
  afterAnswers: (waitMs: number, act: () => void) => void;
  /** resolves when all queries of the wrapper are answered, or after `waitMs` */
  settled: (waitMs: number) => Promise<void>;
}

/**
 * CPR twice: a row further down, so that it is not row 1, for the column; and in the column of the mark, which stands for no modifier
 * that keyboards have, for the row. The cursor stays; its slot is overwritten.
 */
const PLAIN = `\x1b7\x1b[B\x1b[6n\x1b8\x1b[${MARK_COLUMN}G\x1b[6n\x1b8`;
/** Asks for the size of the text area in pixels (xterm ctlseqs, XTWINOPS). */
const TEXT_AREA = '\x1b[14t';

const positionFrom = (answer: string): CursorPosition => {
  const [row = 1, column = 1] = answer.split(/[;R]/).map(Number);
  return { row: row - 1, column: column - 1 };
};

/** Calls back with what comes first: a value, or undefined after `firstMs`, or after `waitMs` where it is to wait again. */
const makeAwaited = <T>(waitMs: number, act: (value: T | undefined) => void, firstMs = waitMs) => {
  let isOver = false;
  let last: NodeJS.Immediate | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    clearImmediate(last);
  };
  const finish = (value: T | undefined): void => {
    stop();
    if (!isOver) act(value);
    isOver = true;
  };
  // on a busy machine the timer may fire before an answer was polled; an immediate runs after the poll phase
  const giveUp = (): void => void (last = setImmediate(finish, undefined));
  let timer = setTimeout(giveUp, firstMs);
  const waitAgain = (): void => {
    stop();
    timer = setTimeout(giveUp, waitMs);
  };
  return { finish, isOver: () => isOver, waitAgain };
};

const READ_MS = 10; // for answers that have come before anything could read them

/** A question for the cursor that has been asked, or is to be asked now. */
interface Question {
  /** when it was asked; undefined: it is asked now, behind `prefix` */
  readonly askedAt?: number;
  readonly prefix?: string;
  /** after so long without any answer */
  readonly waitMs: number;
  readonly onLate?: OnLate | undefined;
}

type Terminal = Pick<TerminalSession, 'filter' | 'session' | 'tty' | 'background' | 'pixels'>;

type Ask = (question: Question) => Promise<CursorPosition | undefined>;

const makeAsk = ({ filter: { grid, modeTracker }, tty }: Terminal): Ask => {
  const { queries } = modeTracker;
  let hasExtended: boolean | undefined; // whether the terminal knows the extended form; undefined until it has shown that

  const askPlainly = (onFound: (position: CursorPosition) => void): string => {
    if (tty.size().columns < MARK_COLUMN) return ''; // its report would be F3; there is no footer that needs it
    let column = 0;
    markSlotOverwritten(grid);
    queries.addOwn('cursor', (text) => ({ column } = positionFrom(text)));
    queries.addOwn('cursor', (text) => onFound({ row: positionFrom(text).row, column }));
    return PLAIN;
  };
  const askExtended = (onFound: (position: CursorPosition) => void): string => {
    queries.addOwn('extended cursor', (text) => {
      hasExtended = true;
      onFound(positionFrom(text));
    });
    return EXTENDED;
  };
  /** Writes the query in one form behind `prefix`, unless it was written, and a sentinel behind it; `onEnd`: the terminal has got past both. */
  const send = (
    prefix: string | undefined,
    onFound: (position: CursorPosition) => void,
    onEnd: () => void,
  ): void => {
    const isPlain = hasExtended === false;
    const isShared = queries.isChildWaiting(isPlain ? 'cursor' : 'extended cursor');
    if (isShared) queries.addOwn('status');
    const query = isPlain ? askPlainly(onFound) : askExtended(onFound);
    queries.addOwn('status', onEnd);
    if (prefix !== undefined) tty.write((isShared ? SENTINEL : '') + prefix + query + SENTINEL);
  };
  return ({ askedAt: earlier, prefix = '', waitMs, onLate }) =>
    new Promise((resolve) => {
      const askedAt = earlier ?? performance.now();
      const firstMs =
        earlier === undefined ? waitMs : Math.max(READ_MS, earlier + waitMs - performance.now());
      const { finish, isOver, waitAgain } = makeAwaited(waitMs, resolve, firstMs);
      let isFound = false;
      const onFound = (position: CursorPosition | undefined): void => {
        if (!isFound && isOver()) onLate?.(performance.now() - askedAt, position);
        isFound = true;
        finish(position);
      };
      const isKnown = hasExtended !== undefined;
      send(earlier === undefined ? prefix : undefined, onFound, () => {
        if (isFound) return;
        hasExtended ??= false;
        if (isKnown || isOver()) return onFound(undefined);
        waitAgain();
        send('', onFound, () => finish(undefined));
      });
    });
};

export const makeCursorQuery = (terminal: Terminal, emit: Emit): CursorQuery => {
  const { grid, modeTracker } = terminal.filter;
  const { queries } = modeTracker;
  const ask = makeAsk(terminal);
  let isHeightAsked = false;
  return {
    awaitStart: ({ at, isBackgroundAsked }, waitMs) => {
      if (isBackgroundAsked)
        queries.addOwn('background', (text) => {
          terminal.background = backgroundFrom(text);
          emit({ type: 'background-known' });
        });
      queries.addOwn('secondary attributes', (text) => {
        grid.quirks = quirksFromDeviceAttributes(text.slice(0, -1), grid.quirks);
      });
      return ask({ askedAt: at, waitMs, onLate: (afterMs) => emit({ type: 'cursor-late', afterMs }) });
    },
    ask: (prefix, waitMs, onLate) => ask({ prefix, waitMs, onLate }),
    askCellHeight: () => {
      if (isHeightAsked || !terminal.filter.isGround()) return;
      isHeightAsked = true;
      queries.addOwn('text area', (text) => noteCellHeight(`\x1b[${text}`, grid, terminal.pixels));
      queries.addOwn('status');
      terminal.tty.write(TEXT_AREA + SENTINEL);
    },
    afterAnswers: (waitMs, act) => {
      const { finish } = makeAwaited(waitMs, act);
      queries.addOwn('status', () => finish(undefined));
      terminal.tty.write(SENTINEL);
    },
    settled: (waitMs) =>
      new Promise((resolve) => {
        if (!queries.isOwnAnswerExpected()) return resolve();
        const { finish } = makeAwaited<undefined>(waitMs, () => resolve());
        queries.onceAnswered(() => finish(undefined));
      }),
  };
};
