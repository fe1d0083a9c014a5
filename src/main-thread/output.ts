import { makeReusedBytes } from '../terminal/reused-bytes.js';
import type { Emit } from './terminal-event.js';
import { type TerminalSession, runGuarded } from './terminal-session.js';

// The child's output: filters it and writes it to the terminal, then passes it to the screen model and the recording.

/** The child's output on its way to the terminal; it is written first and analysed afterwards. */
export interface Output {
  /**
   * `bytes` are valid until it returns. `isResizing` is called before each chunk that need not wait: true if the terminal's size has
   * changed, so that it has to.
   */
  fromChild: (bytes: Uint8Array, isResizing: () => boolean) => void;
  /** holds the child's output while the terminal is being prepared */
  hold: () => void;
  /** some output is held: not everything that was read has been filtered */
  hasHeldBytes: () => boolean;
  release: () => void;
  /** the terminal has accepted everything written to it */
  onDrained: () => void;
}

export const HIGH_WATER = 64 * 1024; // bytes the terminal has not accepted yet; above this the child is paused (docs/facts/terminals.md)
const HELD_HIGH_WATER = 512 * 1024; // bytes; above this the child is paused, too

/** Pauses a child that writes faster than the terminal reads. */
export const pauseIfBehind = ({ tty, child }: TerminalSession): void => {
  if (tty.pending() > HIGH_WATER) child?.pause();
};

const joined = makeReusedBytes();

const writeParts = (terminal: TerminalSession, parts: readonly Uint8Array[]): void => {
  if (terminal.overviewOutput) return terminal.overviewOutput.take(parts);
  const [first] = parts;
  if (parts.length > 1) parts.forEach(joined.add);
  if (first !== undefined) terminal.tty.write(parts.length === 1 ? first : joined.take());
};

/** Filters and writes the pieces in order; if the filter fails, returns the pieces after the one it failed on. */
const writePieces = (
  terminal: TerminalSession,
  pieces: readonly Uint8Array[],
): readonly Uint8Array[] | undefined => {
  for (const [at, piece] of pieces.entries()) {
    let parts: readonly Uint8Array[] = [];
    const isRead = runGuarded(terminal, 'the stream filter', () => (parts = terminal.filter.push(piece)));
    writeParts(terminal, isRead ? parts : [terminal.filter.takeFiltered()]);
    if (!isRead) return pieces.slice(at + 1);
  }
  return undefined;
};

/** Filters and writes the child's bytes; they reach the terminal even if a part of the wrapper fails. */
const send = (terminal: TerminalSession, bytes: Uint8Array, onFailure: () => void): void => {
  const { tty, filter, screen, isPassthrough, overviewOutput } = terminal;
  if (isPassthrough) {
    tty.write(bytes);
    runGuarded(terminal, 'the stream filter', () => filter.push(bytes)); // only to track the modes
    return;
  }
  const unread = writePieces(terminal, overviewOutput ? overviewOutput.cut(new Uint8Array(bytes)) : [bytes]);
  if (unread) {
    onFailure(); // writes what the filter still holds
    for (const piece of unread) tty.write(piece);
    return;
  }
  if (!runGuarded(terminal, 'the screen model', () => screen.feed(bytes))) onFailure();
};

const BUSY_MS = 5;

/**
 * Tells whether this thread has been busy since the last call, or does so for the first time: then a signal may wait, because Node handles
 * signals after everything else that has come meanwhile. `idle` is the time in which it has waited for events, in ms as `now`.
 */
export const makeBusyMeter = (
  now = (): number => performance.now(),
  idle = (): number => performance.nodeTiming.idleTime, // 0 where Node does not measure it: then every pause counts as busy
): (() => boolean) => {
  let busyBefore = -Infinity;
  return () => {
    const busy = now() - idle();
    const isBusy = busy - busyBefore > BUSY_MS;
    busyBefore = busy;
    return isBusy;
  };
};

export const makeOutput = (terminal: TerminalSession, emit: Emit): Output => {
  const { tty, session, counters } = terminal;
  const isBusy = makeBusyMeter();
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let holds = 0;
  let isFollowed = true; // false after the first failure: it is not tried again for each chunk

  const fail = (): void => emit({ type: 'failure' });
  const follow = (bytes: Uint8Array): void => {
    if (!isFollowed) return;
    isFollowed = runGuarded(terminal, 'following the output', () => emit({ type: 'output-written', bytes }));
    if (!isFollowed) fail();
  };
  const noteBehind = (): void => {
    const isBehind = holds > 0 || held.length > 0 || tty.pending() > HIGH_WATER;
    counters.set('behind', isBehind ? 1 : 0);
  };
  const deliver = (bytes: Uint8Array): void => {
    send(terminal, bytes, fail);
    session.recording?.output(bytes);
    pauseIfBehind(terminal);
    noteBehind();
    follow(bytes);
    if (terminal.filter.grid.isCursorUnsure) emit({ type: 'cursor-unsure' });
  };
  const keep = (bytes: Uint8Array): void => {
    held.push(new Uint8Array(bytes));
    heldBytes += bytes.length;
    if (heldBytes > HELD_HIGH_WATER) terminal.child?.pause();
  };
  return {
    fromChild: (bytes, isResizing) => {
      counters.add('written', bytes.length);
      const mayResize = isBusy(); // of the terminal, whose signal would come too late
      if (holds > 0 || (mayResize && isResizing())) keep(bytes);
      else deliver(bytes);
    },
    hold: () => {
      holds += 1;
      noteBehind();
    },
    hasHeldBytes: () => holds > 0 || held.length > 0,
    release: () => {
      holds -= 1;
      if (holds > 0) return;
      for (let next = held.shift(); next; next = holds === 0 ? held.shift() : undefined) {
        heldBytes -= next.length;
        deliver(next);
      }
      noteBehind();
      if (tty.pending() <= HIGH_WATER) terminal.child?.resume();
    },
    onDrained: () => {
      noteBehind();
      if (holds === 0) terminal.child?.resume();
    },
  };
};
