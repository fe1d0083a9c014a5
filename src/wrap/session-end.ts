import { constants } from 'node:os';
import type { Child, ChildEnd } from '../terminal/child.js';
import type { ExitStatus } from './wrap-session.js';

const HANGUP_MS = 3_000; // for the child to end after the terminal has hung up

/** How a session comes to its end. */
export interface Ending {
  readonly ended: Promise<ChildEnd>;
  readonly finish: (end: ChildEnd) => void;
  /** somebody has sent us a signal to end, or the terminal has hung up */
  isToldToEnd: boolean;
  /** the terminal has hung up */
  isGone: boolean;
}

export const makeEnding = (): Ending => {
  let finish: (end: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolve) => (finish = resolve));
  return { ended, finish, isToldToEnd: false, isGone: false };
};

/** The terminal has hung up: the child hears of it, and if it does not end we do, which closes its terminal. */
export const hangUp = (ending: Ending, child: Child | undefined): void => {
  ending.isToldToEnd = true;
  ending.isGone = true;
  child?.signal('SIGHUP');
  setTimeout(() => ending.finish({ exitCode: 0, signal: constants.signals.SIGHUP }), HANGUP_MS).unref();
};

/** The child's end in the words of the command line. */
export const statusOf = ({ exitCode, signal }: ChildEnd): ExitStatus => {
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  if (name !== undefined) return { kind: 'signal', signal: name as NodeJS.Signals };
  return { kind: 'code', code: signal > 0 ? 128 + signal : exitCode }; // Node has no names for real-time signals
};
