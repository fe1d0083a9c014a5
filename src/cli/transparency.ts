/** What decides whether a wrapper would be in the way. */
export interface Circumstances {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** whether the wrapper named by CTXWRAP_SESSION still runs */
  readonly insideIsAlive: boolean;
  /** whether the agent, with these arguments, opens a conversation */
  readonly interactive: boolean;
}

/** Why the command runs without a PTY and without a word of ours, for the log; undefined when it is wrapped. */
export const transparentReason = ({
  stdinIsTty,
  stdoutIsTty,
  env,
  insideIsAlive,
  interactive,
}: Circumstances) => {
  if (isOn(env['CTXWRAP_DISABLE'])) return 'CTXWRAP_DISABLE is set';
  if (env['CTXWRAP_SESSION'] && insideIsAlive) return 'already inside ctxwrap';
  if (!stdinIsTty) return 'stdin is not a terminal';
  if (!stdoutIsTty) return 'stdout is not a terminal';
  if (env['TERM'] === 'dumb') return 'the terminal is dumb';
  if (!interactive) return 'the arguments open no conversation';
  return undefined;
};

const off: ReadonlySet<string> = new Set(['', '0', 'false', 'no']);

/** Whether a variable of ours, such as CTXWRAP_DISABLE, switches something on. */
export const isOn = (value: string | undefined): boolean =>
  value !== undefined && !off.has(value.toLowerCase());
