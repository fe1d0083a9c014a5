// Waiting for something to be on the screen, without trusting a screen that the machine had no time to draw.
import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import type { Look, TypistPort } from './type-order.js';

export interface Expectation {
  readonly wanted: (look: Look) => boolean;
  /** not looked at before, in milliseconds */
  readonly pauseMs: number;
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

const LOOK_MS = 20; // between two looks
const LATE_MS = 100; // a timer that rings so much too late rings before anybody has read what the child wrote meanwhile

/** Resolves with true when it is seen, with false when the time is over or there is nobody left to look for. */
export const seeing = async (port: TypistPort, expected: Expectation): Promise<boolean> => {
  const { wanted, pauseMs, isOver, signal } = expected;
  let isLate = await resting(pauseMs, signal);
  while (!signal.aborted) {
    const look = isLate ? undefined : port.look();
    if (look && wanted(look)) return true;
    if (isOver()) return false;
    isLate = await resting(LOOK_MS, signal);
  }
  return false;
};

/** Lets time pass, and then whatever has come be read; true when it took much longer than asked. Ends at once with the signal. */
export const resting = async (ms: number, signal: AbortSignal): Promise<boolean> => {
  const startedAt = performance.now();
  await pass(ms, undefined, { ref: false, signal }).catch(() => undefined);
  await nextTurn();
  return performance.now() > startedAt + ms + LATE_MS;
};
