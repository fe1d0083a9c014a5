import type { Millis } from '../core/reading.js';

/** The one timer of a session: it rings once at the time that was set last. */
export interface Alarm {
  /** undefined silences it */
  readonly set: (at: Millis | undefined) => void;
}

export const makeAlarm = (now: () => Millis, onRing: () => void): Alarm => {
  let timer: NodeJS.Timeout | undefined;
  return {
    set: (at) => {
      clearTimeout(timer);
      timer = at === undefined ? undefined : setTimeout(onRing, Math.max(1, at - now())).unref();
    },
  };
};
