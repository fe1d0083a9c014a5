import type { Stage } from './stage.js';
import { survive } from './stage.js';

/** Sequences of ours that draw nothing, for the terminal, in the gaps of the child's output. */
export interface Outlet {
  /** `make` is asked when the moment has come */
  send: (make: () => string) => void;
  stop: () => void;
}

const RETRY_MS = 25;
const PATIENCE_MS = 10_000; // a string of the child's that is never closed
const MOST_WAITING = 8;

interface Waiting {
  readonly make: () => string;
  readonly until: number;
}

export const makeOutlet = (stage: Stage): Outlet => {
  let waiting: readonly Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    const now = performance.now();
    waiting = stage.verbatim ? [] : waiting.filter(({ until }) => now < until);
    if (waiting.length === 0) return;
    if (!stage.filter.isGround()) {
      timer = setTimeout(flush, RETRY_MS).unref();
      return;
    }
    const ready = waiting;
    waiting = [];
    survive(stage, 'a notification', () => {
      stage.tty.write(ready.map(({ make }) => make()).join(''));
      stage.filter.grid.repeatLost = true; // the last character is not the last thing that the terminal has read
    });
  };
  return {
    send: (make) => {
      if (waiting.length >= MOST_WAITING) return;
      waiting = [...waiting, { make, until: performance.now() + PATIENCE_MS }];
      timer ??= setTimeout(flush, 0).unref();
    },
    stop: () => {
      waiting = [];
      clearTimeout(timer);
    },
  };
};
