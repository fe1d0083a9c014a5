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

/** Missing in @types/node. */
declare const WebAssembly: { readonly Memory: new (pages: { readonly initial: number }) => object };

/**
 * Ends this process with a code at once. An ordinary exit waits for every thread: one in its last garbage collections takes seconds, and one
 * in a native call as long as that. An exit of a WASI program ends the process without waiting, as Node documents it (`returnOnExit`).
 * Returns only where Node has no WASI.
 */
export const exitWithoutThreads = async (code: number): Promise<void> => {
  try {
    process.removeAllListeners('warning'); // one says that WASI is experimental
    const { WASI } = await import('node:wasi');
    const program = new WASI({ version: 'preview1', returnOnExit: false });
    program.initialize({ exports: { memory: new WebAssembly.Memory({ initial: 1 }) } });
    const { proc_exit: exit } = program.wasiImport as { readonly proc_exit: (code: number) => void };
    exit(code);
  } catch {
    return;
  }
};

const ignore = (): void => undefined;
