import { realpathSync } from 'node:fs';
import { own } from '../core/printable.js';
import type { AgentLaunch, SavedSession } from '../agents/agent.js';
import { errorCode, errorStack, UserError } from '../core/errors.js';
import { configKey } from '../core/config/keys.js';
import { present } from '../core/present.js';
import { quotePosix } from '../core/text.js';
import { nullLog, openLog, type Log } from '../storage/log-file.js';
import { homeFolder, stateFolder, stateFolderRefusal } from '../storage/state-folder.js';
import { openRecording, type Recording } from '../storage/recording.js';
import { startSttyProcess, type SttyProcess } from '../terminal/stty-process.js';
import type { ExitStatus, OwnConfig, SessionEnd, Tour, LaunchSession } from '../session/options.js';
import { requestReports } from '../main-thread/launch-reports.js';
import { type PreparedTerminal, prepareTerminal, startSizes } from '../main-thread/prepared-terminal.js';
import { startChild, type UnreadChild } from '../terminal/pty.js';
import { configCommand, configPath, currentContext, shortenHome } from './config/path.js';
import { print, version, workingFolder } from './print.js';
import { type Size, terminalSize } from '../terminal/tty.js';
import type { Options } from './request.js';

// From options to a wrapped child: opens what must be open before it starts, closes it afterwards.

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agent: AgentLaunch;
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
export const runWrapped = async (
  command: ChildCommand,
  { options, log, stty }: Given & { readonly stty?: Promise<SttyProcess> | undefined },
): Promise<Outcome> => {
  if (options.control) {
    const { checkControlPlace } = await import('../storage/control-place.js');
    await checkControlPlace(options.control);
  }
  const starting = stty ?? startSttyProcess();
  try {
    return await runWith(starting, { command, options, log });
  } catch (error) {
    (await starting).disarm(); // its pipes would keep this process running
    throw error;
  }
};

/** What a session is run with, beside its command. */
interface Given {
  readonly options: Options;
  readonly log: Log;
}

interface Run extends Given {
  readonly command: ChildCommand;
}

const runWith = async (starting: Promise<SttyProcess>, { command, options, log }: Run): Promise<Outcome> => {
  const notices: string[] = [];
  const recording = openRecordingFor(
    options,
    startSizes(terminalSize(process.stdout), options).child,
    (reason) => {
      notices.push(`the recording is incomplete: ${reason}`);
      log.warn(`recording stopped: ${reason}`);
    },
  );
  const { configured, ...plain } = options;
  const thread = { options: plain, isConfigured: configured !== undefined, agent: command.agent.name };
  const runOnce: RunOnce = async (given, stty) => {
    const { session: asked, close } = await requestReports(given);
    try {
      const session = await withChannel(asked);
      const sttyProcess = await stty;
      const sizes = startSizes(terminalSize(process.stdout), session);
      const child = startAgent(session, sizes.child, sttyProcess);
      let prepared: PreparedTerminal | undefined;
      try {
        prepared = prepareTerminal(session, sizes, sttyProcess);
        const [{ wrap }, { startThread }] = await loadWrapper();
        return await wrap(session, {
          child,
          prepared,
          sttyProcess,
          startThread: (start, listener) => startThread({ ...thread, start }, listener),
        });
      } finally {
        child.abandon(); // where that has failed before it listened
        await prepared?.abandon();
      }
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

/** What is not needed before the agent runs: it loads while the agent does. */
const loadWrapper = () => Promise.all([import('../main-thread/wrap.js'), import('./session-thread.js')]);

const ADDON_HINT = 'a pseudo-terminal needs an addon of Node: take --no-addons out of NODE_OPTIONS';

/** The agent in a pseudo-terminal, as early as possible: what it writes is read later. */
const startAgent = (session: LaunchSession, size: Size, { termios }: SttyProcess): UnreadChild => {
  const { file, args, cwd, env } = session;
  try {
    return startChild({ file, args, cwd, env, size, termios });
  } catch (error) {
    const hint = errorCode(error) === 'ERR_DLOPEN_DISABLED' ? ADDON_HINT : undefined;
    const message = `can't start ${file} in a pseudo-terminal: ${String(error)}`;
    throw new UserError(message, { exitCode: 125, ...present({ hint }) });
  }
};

/** Loaded only where it is wanted. */
const withChannel = async (session: LaunchSession): Promise<LaunchSession> =>
  session.values.via === 'channel'
    ? (await import('../main-thread/channel-launch.js')).openChannel(session)
    : session;

type RunOnce = (session: LaunchSession, stty: Promise<SttyProcess>) => Promise<SessionEnd>;

/** Runs the agent, and runs it again each time it ended for a restart. Each run owns the whole terminal and restores it. */
const runToEnd = async (
  first: LaunchSession,
  starting: Promise<SttyProcess>,
  runOnce: RunOnce,
): Promise<SessionEnd> => {
  let session = first;
  let end = await runOnce(session, starting);
  for (;;) {
    const next = sessionAfter({ first, session, end });
    if (!next) return end;
    if (end.isLineOpen) await print(own`\n`).catch(() => false); // the terminal may be gone
    session = next;
    end = await runAgain(session, runOnce);
  }
};

/** Starts the next run. If a restart fails, its session is lost, and the program ends with status 125. */
const runAgain = async (session: LaunchSession, runOnce: RunOnce): Promise<SessionEnd> => {
  const starting = startSttyProcess();
  try {
    return await runOnce(session, starting);
  } catch (error) {
    (await starting).disarm();
    if (!session.restarted) throw error;
    session.log.error(`the agent cannot be started again: ${errorStack(error)}`);
    return { status: { kind: 'code', code: 125 }, hasLostRestart: true, isUnstarted: true };
  }
};

// What runs after an agent that ended for a restart: the same agent with the shortened session, or with its old session if it rejects that.

/** A run that has ended. */
export interface EndedRun {
  /** as the user has started it */
  readonly first: LaunchSession;
  readonly session: LaunchSession;
  readonly end: SessionEnd;
}

const NOT_TAKEN = 'the agent did not continue with the shorter conversation, so it has the whole one again';

/** The next run; undefined if the last one was the end. */
export const sessionAfter = ({ first, session, end }: EndedRun): LaunchSession | undefined => {
  const { restart, hasLostRestart = false, isUnstarted = false } = end;
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
    ...(isUnstarted ? { unstarted: lost } : {}),
  };
};

/** The user's options, and the session. */
const argsFor = (
  { agent, args }: Pick<LaunchSession, 'agent' | 'args'>,
  session: SavedSession,
): readonly string[] | undefined => {
  const kept = agent.restarting?.options(args);
  const resume = agent.resumeArgs?.(session);
  return kept && resume && [...kept, ...resume];
};

// What a run is given.

interface Opened extends Given {
  readonly recording: Recording | undefined;
}

const sessionOf = (command: ChildCommand, { options, recording, log }: Opened): LaunchSession => ({
  notices: noticesOf(options, log),
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

/** What the user is told in the footer. */
const noticesOf = ({ configured, values }: Options, log: Log): readonly string[] => {
  const isUnlogged = configured !== undefined && values.log !== undefined && log === nullLog;
  const { env } = process;
  const isRefused = stateFolderRefusal(stateFolder(env, homeFolder(env))) !== undefined; // the log says why
  return [
    ...(configured?.notices ?? []),
    ...(isUnlogged ? [`cannot write the log ${values.log}`] : []),
    ...(isRefused ? ['state folder refused, nothing is recorded · ctxwrap doctor'] : []),
  ];
};

/** The command an agent runs before it compacts by itself: this very program, whatever the shell finds on PATH. */
const holdCommand = (): string =>
  [process.execPath, realpathSync(process.argv[1] ?? ''), 'hold'].map(quotePosix).join(' ');

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

const definedOnly = (env: ChildCommand['env']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
