import type { Millis } from '../core/reading.js';

/** The one timer of a session: it rings once at the time that was set last. */
export interface Alarm {
  /** undefined silences it */
  readonly set: (at: Millis | undefined) => void;
  /** nothing rings after it, whatever is set */
  readonly stop: () => void;
}

export const makeAlarm = (now: () => Millis, onRing: () => void): Alarm => {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const set = (at: Millis | undefined): void => {
    clearTimeout(timer);
    timer = at === undefined || isStopped ? undefined : setTimeout(onRing, Math.max(1, at - now())).unref();
  };
  return {
    set,
    stop: () => {
      isStopped = true;
      set(undefined);
    },
  };
};
