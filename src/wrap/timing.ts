import type { Millis } from '../core/reading.js';

/** The one timer of a session: it rings once at the time that was set last. */
export interface Alarm {
  /** undefined silences it */
  readonly set: (at: Millis | undefined) => void;
  /** nothing rings after it, whatever is set */
  readonly stop: () => void;
}

const LONGEST_MS = 60_000; // Node rings at once where a time is more than 24 days away, as after a clock was set back

export const makeAlarm = (now: () => Millis, onRing: () => void): Alarm => {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const set = (at: Millis | undefined): void => {
    clearTimeout(timer);
    if (at === undefined || isStopped) timer = undefined;
    else timer = setTimeout(onRing, Math.min(LONGEST_MS, Math.max(1, at - now()))).unref();
  };
  return {
    set,
    stop: () => {
      isStopped = true;
      set(undefined);
    },
  };
};

/** One at a time, and once more afterwards for however many were asked for meanwhile. */
export const inTurn = (work: () => Promise<void>): (() => Promise<void>) => {
  let running = Promise.resolve();
  let isWaiting = false;
  return () => {
    if (isWaiting) return running;
    isWaiting = true;
    running = running.then(() => {
      isWaiting = false;
      return work();
    });
    return running;
  };
};

/** Resolves with the work, or after so many milliseconds; the work then goes on by itself. No timer is left. */
export const atMost = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => {
    timer = setTimeout(done, ms).unref();
  });
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    late,
  ]);
  clearTimeout(timer);
};
