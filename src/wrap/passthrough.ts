import { spawn, type ChildProcess } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { processStat } from '../storage/processes.js';
import { exitStatusOf } from './exit-status.js';
import type { ExitStatus } from './options.js';

// The transparent way: no PTY, no output of ours, the child has our own stdin, stdout and stderr.

export interface PassthroughCommand {
  /** path with a slash */
  readonly file: string;
  /** the word the user typed: programs print it in their messages */
  readonly word: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs the command in our place; rejects with the system's error if it cannot be started. */
export const passthrough = async (command: PassthroughCommand): Promise<ExitStatus> => {
  let child: ChildProcess | undefined;
  // before the child starts: it may be known to the sender of a signal sooner than to us
  const release = holdSignals(() => child?.pid);
  try {
    child = spawn(command.file, command.args, {
      argv0: command.word,
      env: command.env,
      stdio: ['inherit', 'inherit', 'inherit', ...namedDescriptors(command.args)],
    });
    return await endOf(child);
  } finally {
    release();
  }
};

const endOf = (child: ChildProcess): Promise<ExitStatus> =>
  new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(exitStatusOf(code, signal)));
  });

const sent = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
const typed = ['SIGINT', 'SIGQUIT'] as const;

/** Keeps signals from ending us before the child; those it does not get by itself are handed on. */
const holdSignals = (childPid: () => number | undefined): (() => void) => {
  const handOn = (signal: NodeJS.Signals): void => send(childPid(), signal);
  // The terminal sends these to the whole foreground group: the child has them already, and twice means more than once.
  const handOnUnlessTyped = (signal: NodeJS.Signals): void => {
    if (!isForeground()) handOn(signal);
  };
  const stop = (): void => stopWith(childPid());
  for (const signal of sent) process.on(signal, handOn);
  for (const signal of typed) process.on(signal, handOnUnlessTyped);
  process.on('SIGCHLD', stop);
  return () => {
    for (const signal of sent) process.off(signal, handOn);
    for (const signal of typed) process.off(signal, handOnUnlessTyped);
    process.off('SIGCHLD', stop);
  };
};

const send = (pid: number | undefined, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // it has just ended, or it runs as another user
  }
};

/** True if our process group is the one its terminal sends keys to; where the system does not tell, we assume it. */
const isForeground = (): boolean => {
  const stat = processStat('self');
  return stat?.group === stat?.foregroundGroup;
};

/**
 * A child that stops only itself (a suspend key of its own) would leave the user's shell waiting for us, so we stop as well;
 * `fg` then wakes the whole group.
 */
const stopWith = (child: number | undefined): void => {
  if (child !== undefined && processStat(child)?.state === 'T') process.kill(process.pid, 'SIGTSTP');
};

/** A shell's `<(…)` is an open descriptor named in the arguments; Node would close it. */
const namedDescriptors = (args: readonly string[]): readonly ('inherit' | 'ignore')[] => {
  const named = args
    .flatMap((arg) => [...arg.matchAll(/\/(?:dev|proc\/self)\/fd\/(\d{1,3})\b/g)])
    .map((found) => Number(found[1]))
    .filter(isOpen);
  return Array.from({ length: Math.max(2, ...named) - 2 }, (_, i) =>
    named.includes(i + 3) ? 'inherit' : 'ignore',
  );
};

const isOpen = (descriptor: number): boolean => {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
};
