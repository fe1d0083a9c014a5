import { constants } from 'node:os';
import type { ExitStatus } from '../session/options.js';

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

/** Since Node 22.15: replaces this process by another program, without waiting for any thread. */
interface Replaceable {
  readonly execve?: (file: string, args: readonly string[]) => never;
}

/** Whoever sends one of these to a program takes its own exit with the same status in a shell for the same. */
const requests: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGINT'];

/**
 * Ends this process with a code, as soon as Node can. An ordinary exit waits for every thread: one in its last garbage collections
 * takes a second on a busy machine, and one in a native call as long as that. Before Node 22.15 a code that stands for a request to end
 * becomes that signal; for any other code this returns. An exit in C without waiting (that of node:wasi) crashes one time in seven.
 */
export const exitWithoutThreads = (code: number): void => {
  const { execve } = process as Replaceable;
  execve?.('/bin/sh', ['sh', '-c', `exit ${code}`]);
  const request = requests.find((signal) => exitCodeOfSignal(signal) === code);
  if (request !== undefined) exitBySignal(request);
};

const ignore = (): void => undefined;
