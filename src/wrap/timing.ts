import { uptime } from 'node:os';
import process from 'node:process';
import type { Millis } from '../core/reading.js';

const SLEPT_MS = 2_000; // the machine's uptime is counted in seconds on some systems
const UPTIME_EVERY_MS = 100; // to ask for it is a system call that reads a file on Linux

const awakeMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * The time of a session: it begins with the wall clock's, and goes on with a clock that nobody can set. Linux stops that one while the
 * machine sleeps, and counts the sleep as uptime; a sleep is noticed at the latest 100 ms after waking.
 */
export const makeClock = (uptimeMs = (): number => uptime() * 1000): (() => Millis) => {
  let offsetMs = Date.now() - awakeMs(); // from the unset clock to the time of the session
  let last = { awake: awakeMs(), up: uptimeMs() };
  return () => {
    const awake = awakeMs();
    if (awake - last.awake >= UPTIME_EVERY_MS) {
      const up = uptimeMs();
      const slept = up - last.up - (awake - last.awake);
      if (slept > SLEPT_MS) offsetMs += slept;
      last = { awake, up };
    }
    return Math.round(awake + offsetMs);
  };
};

/** The one timer of a session: it rings once at the time that was set last. */
export interface Alarm {
  /** undefined silences it */
  readonly set: (at: Millis | undefined) => void;
  /** nothing rings after it, whatever is set */
  readonly stop: () => void;
}

const LONGEST_MS = 60_000; // a timer does not count the time in which the machine sleeps

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

/** Whether the work is done, or has failed, in so many milliseconds; else it goes on by itself. No timer is left. */
export const atMost = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const isOver = (): boolean => true;
  const isInTime = await Promise.race([work.then(isOver, isOver), late]);
  clearTimeout(timer);
  return isInTime;
};
