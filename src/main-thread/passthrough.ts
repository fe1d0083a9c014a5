import { spawn, type ChildProcess } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { processStat } from '../storage/processes.js';
import { exitStatusOf } from './exit-status.js';
import type { ExitStatus } from '../session/options.js';

// Runs a command without wrapping it: no PTY and no output of the wrapper; the child inherits stdin, stdout and stderr.

export interface PassthroughCommand {
  /** a path that contains a slash */
  readonly file: string;
  /** the command name that the user typed; programs print it in their messages */
  readonly typedName: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs the command and waits for its end; rejects with the system's error if it cannot be started. */
export const passthrough = async (command: PassthroughCommand): Promise<ExitStatus> => {
  let child: ChildProcess | undefined;
  // before the child starts: the sender of a signal may know the child's pid sooner than this process
  const release = holdSignals(() => child?.pid);
  try {
    child = spawn(command.file, command.args, {
      argv0: command.typedName,
      env: command.env,
      stdio: ['inherit', 'inherit', 'inherit', ...namedDescriptors(command.args)],
    });
    return await exitOf(child);
  } finally {
    release();
  }
};

const exitOf = (child: ChildProcess): Promise<ExitStatus> =>
  new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(exitStatusOf(code, signal)));
  });

const sentSignals = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
const typedSignals = ['SIGINT', 'SIGQUIT'] as const;

/** Keeps signals from ending this process before the child, and forwards those that the child does not receive itself. */
const holdSignals = (childPid: () => number | undefined): (() => void) => {
  const forward = (signal: NodeJS.Signals): void => send(childPid(), signal);
  // The terminal sends these to the whole foreground group: the child has received them already, and must not get them twice.
  const forwardUnlessForeground = (signal: NodeJS.Signals): void => {
    if (!isForeground()) forward(signal);
  };
  const stop = (): void => stopWithChild(childPid());
  for (const signal of sentSignals) process.on(signal, forward);
  for (const signal of typedSignals) process.on(signal, forwardUnlessForeground);
  process.on('SIGCHLD', stop);
  return () => {
    for (const signal of sentSignals) process.off(signal, forward);
    for (const signal of typedSignals) process.off(signal, forwardUnlessForeground);
    process.off('SIGCHLD', stop);
  };
};

const send = (pid: number | undefined, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // the child has just ended, or runs as another user
  }
};

/** True if this process group is the terminal's foreground group; assumed where the system does not say. */
const isForeground = (): boolean => {
  const stat = processStat('self');
  return stat?.group === stat?.foregroundGroup;
};

/**
 * A child that stops only itself (with a suspend key of its own) would leave the user's shell waiting, so this process stops as well; `fg`
 * then continues the whole group.
 */
const stopWithChild = (child: number | undefined): void => {
  if (child !== undefined && processStat(child)?.state === 'T') process.kill(process.pid, 'SIGTSTP');
};

/** A shell's `<(…)` is an open descriptor whose path is among the arguments; Node would close it. */
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
