import { constants } from 'node:os';
import type { ExitStatus } from './options.js';

// How the child ended, and how the wrapper ends in the same way.

/** Converts the code and signal that Node reports for an ended child to one value. */
export const exitStatusOf = (code: number | null, signal: NodeJS.Signals | null): ExitStatus =>
  signal === null ? { kind: 'code', code: code ?? 0 } : { kind: 'signal', signal };

/** The status that a shell shows for a process ended by this signal. */
export const exitCodeOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/**
 * Ends this process with the signal that ended the child, so that the parent process sees the same status. Returns only if the signal does
 * not end a process; then use `exitCodeOfSignal`.
 */
export const exitBySignal = (signal: NodeJS.Signals): void => {
  if (signal !== 'SIGKILL' && signal !== 'SIGSTOP') {
    // Node ignores SIGPIPE and SIGXFSZ. Adding and removing a handler restores the default action, which ends the process.
    process.on(signal, ignore);
    process.removeAllListeners(signal);
  }
  process.kill(process.pid, signal);
};

const ignore = (): void => undefined;
