// The slowest echo of a key in the first moments of a session, while a wrapper still loads what it needs.
import { echo, quit, timeKey } from './echo.js';
import { sleep } from './numbers.js';
import { withTerminal } from './terminal.js';
import { measureInTurn } from './turns.js';

const FIRST_MS = 1_500;
const PAUSE_MS = 5;
const LOST_MS = 2_000; // what a key counts that is not shown

/** Milliseconds: the slowest echo of the keys that are typed, one after the other, until it is over. */
export const slowestEcho = async (terminal, isOver) => {
  let slowest = 0;
  for (let count = 0; !isOver(); count += 1) {
    slowest = Math.max(slowest, (await timeKey(terminal, count)) ?? LOST_MS);
    await sleep(PAUSE_MS);
  }
  return slowest;
};

/** Milliseconds, the median of the rounds, by candidate; `answers: false` is a terminal that does not say where its cursor is. */
export const measureEarly = (candidates, { rounds, answers }) =>
  measureInTurn(candidates, rounds, (candidate) =>
    withTerminal(candidate.words(echo), { answers }, async (terminal) => {
      await terminal.until('READY');
      const until = performance.now() + FIRST_MS;
      const slowest = await slowestEcho(terminal, () => performance.now() > until);
      await terminal.leave(quit);
      return { slowest };
    }),
  );
