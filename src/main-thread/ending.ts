import { constants } from 'node:os';
import { restoreTerminalSequence } from '../terminal/footer-sequences.js';
import type { Child, ChildEnd } from '../terminal/pty.js';
import type { ExitStatus } from '../session/options.js';
import type { CursorQuery } from './cursor-query.js';
import type { TerminalSession } from './terminal-session.js';
import { endsWithin } from '../storage/timing.js';
import type { ScreenMeasures } from '../terminal/child-screen.js';

// The end of a session: how the child has ended, and how the terminal is restored for the user's shell.

const HANGUP_MS = 3_000; // for the child to end after the terminal has hung up

/** How a session ends. */
export interface Ending {
  readonly ended: Promise<ChildEnd>;
  readonly finish: (end: ChildEnd) => void;
  /** the wrapper has received a signal to end, or the terminal has hung up */
  isTerminating: boolean;
  /** the terminal has hung up */
  hasHungUp: boolean;
  /** when the child last got SIGHUP from ctxwrap, of performance.now() */
  hangUpSentAt: number;
}

export const makeEnding = (): Ending => {
  let finish: (end: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolve) => (finish = resolve));
  return { ended, finish, isTerminating: false, hasHungUp: false, hangUpSentAt: -Infinity };
};

const ONE_HANGUP_MS = 500;

/** Sends the child SIGHUP, once for each hang-up: ctxwrap gets the system's signal, and finds that it can no longer read. */
export const signalHangUp = (ending: Ending, child: Child | undefined): void => {
  const now = performance.now();
  if (now - ending.hangUpSentAt < ONE_HANGUP_MS) return;
  ending.hangUpSentAt = now;
  child?.signal('SIGHUP');
};

/** The terminal has hung up: the child gets SIGHUP. If it does not end in time, the wrapper ends, which closes the child's terminal. */
export const hangUp = (ending: Ending, child: Child | undefined): void => {
  ending.isTerminating = true;
  ending.hasHungUp = true;
  signalHangUp(ending, child);
  setTimeout(() => ending.finish({ exitCode: 0, signal: constants.signals.SIGHUP }), HANGUP_MS).unref();
};

/** The child's end as an exit status for the command line. */
export const statusOf = ({ exitCode, signal }: ChildEnd): ExitStatus => {
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  if (name !== undefined) return { kind: 'signal', signal: name as NodeJS.Signals };
  return { kind: 'code', code: signal > 0 ? 128 + signal : exitCode }; // Node has no names for real-time signals
};

const SCREEN_MS = 300; // for the screen model to catch up, so that the cursor can be put below its content
const ENDING_ANSWER_MS = 300; // for an answer that would otherwise end up as input of the user's shell
// When the wrapper was told to end, a terminal that takes nothing for so long is stuck. One that reads slowly takes 4 KB at once, as the system
// wakes its writers only when what it holds for the reader is nearly empty.
const STUCK_MS = 3_000;

/** Waits until the terminal has accepted everything written; gives up on a stuck terminal only when the wrapper was told to end. */
const drain = async (terminal: TerminalSession, isTerminating: () => boolean): Promise<boolean> => {
  const drained = terminal.tty.drained();
  let left = terminal.tty.pending();
  while (!(await endsWithin(STUCK_MS, drained))) {
    if (isTerminating() && terminal.tty.pending() >= left) return false;
    left = terminal.tty.pending();
  }
  return true;
};

const nothing = new Uint8Array();
const NOWHERE = -1; // in mode off the child leaves the cursor where it likes

/** Restores the terminal after the child's end. If the terminal does not accept the sequence, the stty process writes it. */
export const restoreTerminal = async (
  terminal: TerminalSession,
  end: ChildEnd,
  { cursorQuery, isTerminating }: { cursorQuery: CursorQuery; isTerminating: () => boolean },
): Promise<void> => {
  const { filter, screen, tty, sttyProcess } = terminal;
  await cursorQuery.settled(ENDING_ANSWER_MS); // the first output waits for this answer, too
  tty.leaveInput();
  const isStringOpen = !filter.isGround();
  const rest = terminal.isPassthrough ? nothing : filter.flush(); // a failed filter is not called again
  if (rest.length > 0) tty.write(rest);
  const hasModel = terminal.isCursorKnown && !terminal.isPassthrough;
  let measured: ScreenMeasures | undefined;
  const measuring = hasModel && screen.measure(filter.grid.columns).then((found) => (measured = found));
  if (measuring) await endsWithin(SCREEN_MS, measuring);
  const isOff = terminal.session.values.mode === 'off';
  const lastRow = isOff ? NOWHERE : measured?.lastRow;
  tty.write(
    restoreTerminalSequence(filter.grid, filter.modeTracker, {
      isStringOpen: isStringOpen || rest.length > 0,
      hasDied: end.signal > 0 || isTerminating(), // an agent that was told to end may leave its cursor inside its input box
      lastRow,
      isFooterAbandoned: terminal.isPassthrough && !isOff,
    }),
  );
  if (await drain(terminal, isTerminating)) sttyProcess.disarm();
};
