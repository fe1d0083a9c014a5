import { constants } from 'node:os';
import type { ExitStatus } from './options.js';

/** What Node reports of an ended child, as one value. */
export const exitStatusOf = (code: number | null, signal: NodeJS.Signals | null): ExitStatus =>
  signal === null ? { kind: 'code', code: code ?? 0 } : { kind: 'signal', signal };

/** The status a shell shows for a process that a signal ended. */
export const codeOfSignal = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/**
 * Ends this process by the signal that ended the child, so that whoever waits for us sees the same. Returns only if the signal
 * does not end a process; then `codeOfSignal` is the status that is left.
 */
export const dieBy = (signal: NodeJS.Signals): void => {
  if (signal !== 'SIGKILL' && signal !== 'SIGSTOP') {
    // Node ignores SIGPIPE and SIGXFSZ: a handler that comes and goes leaves the default action, which is to die.
    process.on(signal, ignore);
    process.removeAllListeners(signal);
  }
  process.kill(process.pid, signal);
};

const ignore = (): void => undefined;
