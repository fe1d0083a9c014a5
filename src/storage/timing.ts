import { uptime } from 'node:os';
import process from 'node:process';
import type { Millis } from '../core/reading.js';

// Clocks, timers and limits for asynchronous work.

const SLEPT_MS = 2_000; // some systems count the uptime in seconds
const UPTIME_EVERY_MS = 100; // reading the uptime is a system call that reads a file on Linux

const awakeMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * The session's clock: starts at the wall clock's time and continues with a monotonic clock. Linux stops the monotonic clock while the
 * machine sleeps but counts the sleep as uptime; a sleep is noticed at most 100 ms after waking.
 */
export const makeClock = (uptimeMs = (): number => uptime() * 1000): (() => Millis) => {
  let offsetMs = Date.now() - awakeMs(); // from the monotonic clock to the session's clock
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

/** The one timer of a session: it fires once at the time that was set last. */
export interface Alarm {
  /** undefined clears it */
  readonly set: (at: Millis | undefined) => void;
  /** it never fires afterwards, whatever is set */
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

/** Runs one call at a time; calls made meanwhile cause one further run together. */
export const serialize = (work: () => Promise<void>): (() => Promise<void>) => {
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

/** Resolves with whether the work ended (or failed) within so many milliseconds; the work continues otherwise. No timer is left. */
export const endsWithin = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const isOver = (): boolean => true;
  const isInTime = await Promise.race([work.then(isOver, isOver), late]);
  clearTimeout(timer);
  return isInTime;
};

/** Returns what calls `act`; so many milliseconds later it is called by itself. It is called once. */
export const atLatest = (ms: number, act: () => void): (() => void) => {
  let isDone = false;
  const actOnce = (): void => {
    clearTimeout(timer);
    if (isDone) return;
    isDone = true;
    act();
  };
  const timer = setTimeout(actOnce, ms);
  return actOnce;
};

/**
 * Aborts as `signal` does, and after so many milliseconds with a TimeoutError. In Node 20 an `AbortSignal.timeout` that only
 * `AbortSignal.any` refers to is collected as garbage, and never aborts.
 */
export const withLimit = (signal: AbortSignal, ms: number): AbortSignal => {
  const limited = new AbortController();
  const end = (reason: unknown): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    limited.abort(reason);
  };
  const onAbort = (): void => end(signal.reason);
  const timer = setTimeout(() => end(new DOMException('it took too long', 'TimeoutError')), ms).unref();
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  return limited.signal;
};
