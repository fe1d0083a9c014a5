import { type TerminalSession, runGuarded } from './terminal-session.js';

/** Writes control sequences that draw nothing to the terminal, in the gaps of the child's output. */
export interface IdleWriter {
  /** `make` is called when the sequence can be written */
  send: (make: () => string) => void;
  stop: () => void;
}

const RETRY_MS = 25;
const PATIENCE_MS = 10_000; // the child may never close a control string
const MOST_WAITING = 8;

interface Waiting {
  readonly make: () => string;
  readonly until: number;
}

export const makeIdleWriter = (terminal: TerminalSession): IdleWriter => {
  let waiting: readonly Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    const now = performance.now();
    waiting = terminal.isPassthrough ? [] : waiting.filter(({ until }) => now < until);
    if (waiting.length === 0) return;
    if (!terminal.filter.isGround()) {
      timer = setTimeout(flush, RETRY_MS).unref();
      return;
    }
    const ready = waiting;
    waiting = [];
    runGuarded(terminal, 'a notification', () => {
      terminal.tty.write(ready.map(({ make }) => make()).join(''));
      terminal.filter.grid.repeatLost = true; // the terminal's last input is no longer the last character, so REP would repeat something else
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
