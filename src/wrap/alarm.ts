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
