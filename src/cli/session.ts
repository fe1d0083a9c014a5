import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { own } from '../core/printable.js';
import type { Agent, SavedSession } from '../agents/agent.js';
import { errorStack } from '../core/errors.js';
import { assumedWindow } from '../core/config/backends.js';
import { configKey } from '../core/config/keys.js';
import { strategyNotices } from '../core/config/strategy.js';
import { nullLog, openLog, type Log } from '../storage/log-file.js';
import { isRunning } from '../storage/processes.js';
import { openRecording, type Recording } from '../storage/recording.js';
import { startSttyProcess, type SttyProcess } from '../terminal/stty-process.js';
import type { ExitStatus, OwnConfig, SessionEnd, Tour, WrapSession } from '../session/options.js';
import type { ThreadListener, WorkerThread } from '../main-thread/worker-host.js';
import type { WorkerStart } from '../session/thread-messages.js';
import { configCommand, configPath, currentContext, shortenHome } from './config/path.js';
import { holdCommand } from './hooks.js';
import { print, version, workingFolder } from './print.js';
import type { Options } from './request.js';

// From options to a wrapped child: opens what must be open before it starts, closes it afterwards.

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agent: Agent;
  /** a text to put into the agent's prompt, as a draft */
  readonly startingDraft?: string | undefined;
  /** for a demonstration */
  readonly tour?: Tour | undefined;
}

export interface Outcome {
  readonly status: ExitStatus;
  /** messages for the user after the session has ended */
  readonly notices: readonly string[];
  /** the cursor is in the middle of a line, so that a notice needs another one */
  readonly isLineOpen?: boolean | undefined;
  /** a thread does not end, so that an ordinary exit would wait for it */
  readonly hasStuckThread?: boolean | undefined;
}

/** Opens the log of a task. If only a file or the environment names it and it cannot be written, the session starts without it. */
export const logFor = ({ values, flags, configured }: Options): Log => {
  const { log: path, 'log.level': level, 'debug.text': withText } = values;
  if (path === undefined) return nullLog;
  const open = (): Log => openLog(path, Date.now, { level, withText });
  const log = flags.log === undefined ? orNone(open) : open();
  if (configured?.settingsLine !== undefined) log.info(configured.settingsLine);
  for (const detail of configured?.details ?? []) log.warn(detail);
  return log;
};

const orNone = (open: () => Log): Log => {
  try {
    return open();
  } catch {
    return nullLog;
  }
};

/** Runs a child under a PTY. */
export const runWrapped = async (command: ChildCommand, options: Options, log: Log): Promise<Outcome> => {
  if (options.control) {
    const { checkControlPlace } = await import('../storage/control-place.js');
    await checkControlPlace(options.control);
  }
  const starting = startSttyProcess(); // it reads the terminal's settings while the wrapper loads
  try {
    return await runWith(starting, { command, options, log });
  } catch (error) {
    (await starting).disarm(); // its pipes would keep this process running
    throw error;
  }
};

interface Run {
  readonly command: ChildCommand;
  readonly options: Options;
  readonly log: Log;
}

/** The wrapper is loaded only here; a transparent run does not need it. */
const runWith = async (starting: Promise<SttyProcess>, { command, options, log }: Run): Promise<Outcome> => {
  const { wrap, childSize, askOfficially } = await import('../main-thread/session-start.js');
  const { columns = 80, rows = 24 } = process.stdout;
  const size = childSize(
    { columns, rows },
    { isFooterWanted: options.values.footer !== false, isPassthrough: options.values.mode === 'off' },
  );
  const notices: string[] = [];
  const recording = openRecordingFor(options, size, (reason) => {
    notices.push(`the recording is incomplete: ${reason}`);
    log.warn(`recording stopped: ${reason}`);
  });
  const { configured, ...plain } = options;
  const thread = { options: plain, isConfigured: configured !== undefined, agent: command.agent.name };
  const runOnce: RunOnce = async (given, sttyProcess) => {
    const { session: asked, close } = await askOfficially(given);
    try {
      const session = await withChannel(asked);
      return await wrap(session, sttyProcess, (start, listener) =>
        startThread({ ...thread, start }, listener),
      );
    } finally {
      await close();
    }
  };
  try {
    const first = sessionOf(command, { options, recording, log });
    const { status, summary, isLineOpen, hasStuckThread } = await runToEnd(first, starting, runOnce);
    const summaries = options.values.summary && summary !== undefined ? [summary] : [];
    return { status, notices: [...summaries, ...notices], isLineOpen, hasStuckThread };
  } finally {
    await recording?.close();
  }
};

/** Loaded only where it is wanted, because each module delays the agent. */
const withChannel = async (session: WrapSession): Promise<WrapSession> =>
  session.values.via === 'channel'
    ? (await import('../main-thread/channel-launch.js')).openChannel(session)
    : session;

type RunOnce = (session: WrapSession, sttyProcess: SttyProcess) => Promise<SessionEnd>;

/** Runs the agent, and runs it again each time it ended for a restart. Each run owns the whole terminal and restores it. */
const runToEnd = async (
  first: WrapSession,
  starting: Promise<SttyProcess>,
  runOnce: RunOnce,
): Promise<SessionEnd> => {
  let session = first;
  let end = await runOnce(session, await starting);
  for (;;) {
    const next = sessionAfter({ first, session, end });
    if (!next) return end;
    if (end.isLineOpen) await print(own`\n`).catch(() => false); // the terminal may be gone
    session = next;
    end = await runAgain(session, runOnce);
  }
};

/** Starts the next run. If a restart fails, its session is lost, and the program ends with status 125. */
const runAgain = async (session: WrapSession, runOnce: RunOnce): Promise<SessionEnd> => {
  const sttyProcess = await startSttyProcess();
  try {
    return await runOnce(session, sttyProcess);
  } catch (error) {
    sttyProcess.disarm();
    if (!session.restarted) throw error;
    session.log.error(`the agent cannot be started again: ${errorStack(error)}`);
    return { status: { kind: 'code', code: 125 }, hasLostRestart: true };
  }
};

// What runs after an agent that ended for a restart: the same agent with the shortened session, or with its old session if it rejects that.

/** A run that has ended. */
export interface EndedRun {
  /** as the user has started it */
  readonly first: WrapSession;
  readonly session: WrapSession;
  readonly end: SessionEnd;
}

const NOT_TAKEN = 'the agent did not go on with the shorter conversation, and has the whole one again';

/** The next run; undefined if the last one was the end. */
export const sessionAfter = ({ first, session, end }: EndedRun): WrapSession | undefined => {
  const { restart, hasLostRestart = false } = end;
  const lost = hasLostRestart ? session.restarted : undefined;
  const plan = restart ?? lost;
  const args = plan && argsFor(first, restart ? plan.session : plan.before);
  if (!plan || !args) return undefined;
  const { startingDraft: _, tour: __, notices: ___, ...rest } = first;
  return {
    ...rest,
    args,
    values: { ...first.values, mode: plan.mode },
    limit: plan.limit,
    shortenedAt: plan.times,
    ...(restart ? { restarted: restart } : { notices: [NOT_TAKEN] }),
  };
};

/** The user's options, and the session. */
const argsFor = (
  { agent, args }: Pick<WrapSession, 'agent' | 'args'>,
  session: SavedSession,
): readonly string[] | undefined => {
  const kept = agent.restarting?.options(args);
  const resume = agent.newSessions?.resumeArgs(session);
  return kept && resume && [...kept, ...resume];
};

// What a run is given.

interface Given {
  readonly options: Options;
  readonly recording: Recording | undefined;
  readonly log: Log;
}

const sessionOf = (command: ChildCommand, { options, recording, log }: Given): WrapSession => ({
  ...configuredSession(options, command.agent, log),
  values: options.values,
  ownConfig: options.configured && ownConfig(options),
  isModeGiven: options.isModeGiven,
  file: command.file,
  args: command.args,
  env: { ...definedOnly(command.env), CTXWRAP_SESSION: sessionId() },
  wrapper: { id: sessionId(), pid: process.pid, version: version() },
  cwd: workingFolder(),
  agent: command.agent,
  tour: command.tour,
  ...(options.control ? { control: options.control } : {}),
  startingDraft: command.startingDraft,
  ...(options.values['hold.native'] ? { holdCommand: holdCommand() } : {}),
  recording,
  log,
});

const ownConfig = (options: Options): OwnConfig => {
  const around = currentContext();
  const { path } = configPath(options, around);
  const flag = options.flags.auto === undefined ? undefined : configKey('auto').option?.flag;
  return {
    path,
    name: shortenHome(path, around.home),
    command: configCommand('config', options),
    autoFrom: options.configured?.autoFrom ?? flag,
  };
};

/** Settings that only a configuration can hold. */
export const configuredSession = (
  { configured, values, isModeGiven }: Options,
  { name, home, newSessions }: Agent,
  log: Log,
): Pick<WrapSession, 'notices' | 'assumedWindow' | 'watchSettings'> => {
  if (!configured) return {};
  const { notices, windows, watch } = configured;
  const assumed =
    values.window === undefined
      ? assumedWindow(values.backend, {
          isKnown: home !== undefined,
          ownTokens: values['claude.million'] ? home?.largeWindowTokens : undefined,
        })
      : undefined;
  const unlogged = values.log !== undefined && log === nullLog ? [`cannot write the log ${values.log}`] : [];
  const changes = strategyNotices(values, {
    isModeGiven,
    assumedTokens: assumed,
    agent: { name, canSwitch: newSessions?.switching !== undefined },
  });
  return {
    notices: [...notices, ...changes, ...unlogged],
    ...(assumed === undefined ? {} : { assumedWindow: assumed }),
    watchSettings: ({ onChange, onNotice }) =>
      watch({
        onNotice,
        onChange: ({ values: { window = windows[name], ...others }, ...given }, line) => {
          log.info(line);
          onChange({ ...given, values: { ...others, ...(window === undefined ? {} : { window }) } });
        },
        onTrouble: (detail) => log.warn(`${detail}; what held before goes on`),
      }),
  };
};

const openRecordingFor = (
  { record, recordInput }: Options,
  size: { readonly columns: number; readonly rows: number },
  onFailure: (reason: string) => void,
): Recording | undefined => {
  if (record === undefined) return undefined;
  return openRecording(record, {
    ...size,
    env: process.env,
    now: () => performance.timeOrigin + performance.now(),
    withInput: recordInput ?? false,
    onFailure,
  });
};

// A nested ctxwrap sees this id and steps aside. One id per start.
const sessionId = (): string => `${process.pid}-${Math.round(performance.timeOrigin).toString(36)}`;

/**
 * Whether the wrapper of a session still runs, by its id, which begins with the wrapper's pid. A shell or a tmux server may still have the
 * variable of one that is gone.
 */
export const isSessionRunning = (session: string | undefined): boolean => {
  const pid = Number.parseInt(session ?? '', 10);
  return pid > 0 && isRunning(pid);
};

const definedOnly = (env: ChildCommand['env']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** What the thread of a session gets. */
export interface ThreadData {
  readonly start: WorkerStart;
  readonly options: Omit<Options, 'configured'>;
  /** files and environment apply */
  readonly isConfigured: boolean;
  /** name of the agent */
  readonly agent: string;
}

const MOST_MEGABYTES = 512; // of its heap: a thread that needs more has a fault, and is ended
const YOUNG_MEGABYTES = 8; // of new objects: more would only take memory

/** The program's files as they are now: another version must not continue this session. */
const programStamp = (program: string): string =>
  [program, join(dirname(program), '..', 'dist', 'launcher.cjs')]
    .map((path) => {
      const { ino = 0, size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
      return [ino, size, mtimeMs].join();
    })
    .join(' ');

/** Where the program is, and its stamp at the first start of a thread. */
let started: { readonly program: string; readonly stamp: string } | undefined;

const findProgram = (): string => {
  const program = started?.program ?? realpathSync(process.argv[1] ?? '');
  const stamp = programStamp(program);
  started ??= { program, stamp };
  if (started.stamp !== stamp) throw new Error('ctxwrap was updated meanwhile');
  return program;
};

/** Starts the thread of a session: the same program again (worker-thread.ts). Its output does not reach the terminal. */
const startThread = (data: ThreadData, { onMessage, onEnd }: ThreadListener): WorkerThread => {
  const worker = new Worker(findProgram(), {
    workerData: data,
    name: 'session',
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  worker.on('message', onMessage);
  worker.on('error', (error) => onEnd(errorStack(error)));
  worker.on('exit', (code) => onEnd(`it ended with ${code}`));
  worker.unref(); // the session ends without it
  return {
    post: (message, transfer) => worker.postMessage(message, [...transfer]),
    terminate: () => worker.terminate(),
  };
};

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
  if (!interactive) return 'the arguments open no conversation';
  return undefined;
};

const off: ReadonlySet<string> = new Set(['', '0', 'false', 'no']);

/** Whether an environment variable such as CTXWRAP_DISABLE is set to something that means "on". */
export const isSwitchedOn = (value: string | undefined): boolean =>
  value !== undefined && !off.has(value.toLowerCase());
