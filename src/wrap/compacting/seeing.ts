// Waiting for something to be on the screen, without trusting a screen that the machine had no time to draw.
import { setImmediate as nextTurn, setTimeout as pass } from 'node:timers/promises';
import type { Look, TypistPort } from './type-order.js';

/** Time in which there was somebody to look, in milliseconds: a stop of the wrapper, or of the whole machine, does not count. */
export interface AwakeClock {
  ms: number;
  /** when a screen was seen last, by this clock */
  seenAt: number;
}

export const startClock = (): AwakeClock => ({ ms: 0, seenAt: 0 });

/** Nothing can be seen, and perhaps never again: the user's keys must not wait for it. */
export const isBlind = ({ ms, seenAt }: AwakeClock): boolean => ms - seenAt > BLIND_MS;

export interface Expectation {
  readonly wanted: (look: Look) => boolean;
  /** not looked at before, in milliseconds */
  readonly pauseMs: number;
  /** runs while it is waited for */
  readonly clock: AwakeClock;
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

const LOOK_MS = 20; // between two looks
const LATE_MS = 100; // a timer that rings so much too late rings before anybody has read what the child wrote meanwhile
const BLIND_MS = 5_000; // a screen that is drawn without a pause for so long is no prompt's
const MOST_LATE = 100; // looks put off in a row, on a machine that is never on time

/** Resolves with true when it is seen, with false when the time is over or there is nobody left to look for. */
export const seeing = async (port: TypistPort, expected: Expectation): Promise<boolean> => {
  const { wanted, pauseMs, clock, isOver, signal } = expected;
  await resting(pauseMs, signal, clock);
  while (!signal.aborted) {
    const look = await lookWhenRested(port, signal, clock);
    if (look && wanted(look)) return true;
    if (isOver()) return false;
  }
  return false;
};

/**
 * Looks after a short rest. Where the rest took much longer than asked, what was written meanwhile has not been read: it rests again, so
 * that after a stop nothing is decided on what stood on the screen before. Undefined while the screen is being drawn.
 */
export const lookWhenRested = async (
  port: Pick<TypistPort, 'look'>,
  signal: AbortSignal,
  clock: AwakeClock,
): Promise<Look | undefined> => {
  for (let late = 0; !signal.aborted && late < MOST_LATE; late += 1) {
    if (await resting(LOOK_MS, signal, clock)) continue;
    const look = port.look();
    if (look) clock.seenAt = clock.ms;
    return look;
  }
  return undefined;
};

/** Lets time pass, and then whatever has come be read; true when it took much longer than asked. Ends at once with the signal. */
export const resting = async (ms: number, signal: AbortSignal, clock = startClock()): Promise<boolean> => {
  const startedAt = performance.now();
  await pass(ms, undefined, { ref: false, signal }).catch(() => undefined);
  await nextTurn();
  const passedMs = performance.now() - startedAt;
  clock.ms += Math.min(passedMs, ms + LATE_MS);
  return passedMs > ms + LATE_MS;
};
