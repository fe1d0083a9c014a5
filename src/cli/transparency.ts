import { isRunning } from '../storage/processes.js';

// Whether a command runs unwrapped, as if ctxwrap were not there.

/** What decides whether to wrap at all. */
export interface TransparencyContext {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** whether the wrapper named by CTXWRAP_SESSION is still running */
  readonly insideIsAlive: boolean;
  /** whether the agent opens a conversation with these arguments */
  readonly interactive: boolean;
}

/** Why the command runs unwrapped, for the log; undefined when it is wrapped. */
export const transparentReason = ({
  stdinIsTty,
  stdoutIsTty,
  env,
  insideIsAlive,
  interactive,
}: TransparencyContext) => {
  if (isSwitchedOn(env['CTXWRAP_DISABLE'])) return 'CTXWRAP_DISABLE is set';
  if (env['CTXWRAP_SESSION'] && insideIsAlive) return 'already inside ctxwrap';
  if (!stdinIsTty) return 'stdin is not a terminal';
  if (!stdoutIsTty) return 'stdout is not a terminal';
  if (env['TERM'] === 'dumb') return 'TERM is dumb';
  if (!interactive) return 'the arguments start no conversation';
  return undefined;
};

const off: ReadonlySet<string> = new Set(['', '0', 'false', 'no']);

/** Whether an environment variable such as CTXWRAP_DISABLE is set to something that means "on". */
export const isSwitchedOn = (value: string | undefined): boolean =>
  value !== undefined && !off.has(value.toLowerCase());

/**
 * Whether the wrapper of a session still runs, by its id, which begins with the wrapper's pid. A shell or a tmux server may still have the
 * variable of one that is gone.
 */
export const isSessionRunning = (session: string | undefined): boolean => {
  const pid = Number.parseInt(session ?? '', 10);
  return pid > 0 && isRunning(pid);
};
