import type { Stage } from './stage.js';

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

export interface AnswerListener {
  /** the answer to DA2, without its final byte */
  readonly onAttributes: (text: string) => void;
  /** an answer about the cursor that nobody waits for any more */
  readonly onLate: () => void;
}

const CPR = '\x1b[6n';
/** Secondary device attributes: xterm.js can be told from its answer. */
export const DEVICE_ATTRIBUTES = '\x1b[>c';

export const makeCursorQuestion = (
  stage: Stage,
  { onAttributes, onLate }: AnswerListener,
): CursorQuestion => {
  const { questions } = stage.filter.ledger;
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
      if (text.endsWith('c')) return onAttributes(text.slice(0, -1));
      const [first] = listeners; // answers come in the order of the questions
      if (first) first(text);
      else onLate();
    },
    settled: async (waitMs) => {
      if (questions.open() > 0) await next(waitMs);
    },
  };
};
