import { basename, resolve } from 'node:path';
import { errorText } from '../core/errors.js';
import type { OfficialLaunch, OfficialReport } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { openSettingsFiles } from '../storage/agent-file-reader.js';
import { installedVersion } from '../storage/find-command.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import {
  listNames,
  readSettings,
  statusLineFiles,
  watchReport,
  type StatusLineFiles,
} from '../storage/status-line.js';
import type { WrapSession } from './options.js';
import type { Subscription } from './session-file.js';

// The agent's own reports: asks the agent at its launch to report its numbers through its status line, and to ask before it compacts by
// itself, where it can; then follows the reports.

const POLL_MS = 250;

/** A wrap session with the arguments that request reports, and the cleanup. */
export interface PreparedLaunch {
  readonly session: WrapSession;
  /** removes the files made for it; called when the child has ended */
  readonly close: () => Promise<void>;
}

/** The session with the arguments that request reports; unchanged where there is nothing to request or that fails. Never rejects. */
export const requestReports = async (session: WrapSession): Promise<PreparedLaunch> => {
  const untouched: PreparedLaunch = { session, close: async () => undefined };
  if (session.values.mode === 'off' || !session.agent.official) return untouched;
  try {
    return (await prepareLaunch(session)) ?? untouched;
  } catch (error) {
    session.log.warn(`${session.agent.name} is not asked for its numbers: ${errorText(error)}`);
    return untouched;
  }
};

const prepareLaunch = async (session: WrapSession): Promise<PreparedLaunch | undefined> => {
  const { agent, env, cwd, log, holdCommand } = session;
  const home = homeFolder(env);
  const wish = session.values['claude.statusLine'];
  const { official } = agent;
  if (!official || env['HOME'] === undefined) return undefined;
  if (wish === 'off' && holdCommand === undefined) return undefined;
  const files = await statusLineFiles(stateFolder(env, home), env['CTXWRAP_SESSION'] ?? '');
  void files.sweep();
  const port = { text: (path: string) => readSettings(resolve(cwd, path)), names: listNames };
  const isWindowSet = session.values.window !== undefined;
  const launch: OfficialLaunch = {
    args: session.args,
    cwd,
    home,
    env,
    wish,
    isWindowSet,
    isCacheWanted: session.values.idle === 'compact',
    isOwnProgram: basename(session.file) === agent.command,
    version: await installedVersion(session.file, agent),
    files,
  };
  const plan = await official.plan(port, launch);
  const isAsked = plan.kind === 'ask';
  if (isAsked) log.info(`${agent.name} is asked for its numbers with --settings ${files.settings}`);
  else log.info(`${agent.name} is not asked for its numbers: ${plan.reason}`);
  const settings = isAsked ? plan.settings : undefined;
  const held =
    holdCommand === undefined
      ? undefined
      : await official.hold?.(port, launch, { command: holdCommand, settings });
  if (held?.kind === 'leave') log.warn(`${agent.name} compacts by itself as it likes: ${held.reason}`);
  if (held?.kind === 'ask') log.info(`${agent.name} asks before it compacts by itself`);
  const made = held?.kind === 'ask' ? held : plan;
  if (made.kind === 'leave') return undefined;
  await files.writeSettings(made.settings);
  return {
    session: { ...session, args: made.args, ...(isAsked ? { reportPath: files.report } : {}) },
    close: () => removeFiles(files, log),
  };
};

const removeFiles = async (files: StatusLineFiles, log: WrapSession['log']): Promise<void> => {
  try {
    await files.remove();
  } catch (error) {
    log.warn(`removing ${files.settings}: ${errorText(error)}`);
  }
};

/** A running watch of the agent's reports; the session file says which conversation they must belong to. */
export interface ReportSubscription {
  /** the conversation has changed or become known: reports of other conversations are held back */
  readonly switchTo: (sessionId: string) => void;
  readonly stop: () => void;
}

export interface ReportListener {
  readonly onFact: (event: Event) => void;
  readonly now: () => Millis;
}

/** Follows the reports of a child that was asked for them; does nothing otherwise. */
export const followReports = (
  { agent, reportPath, log }: WrapSession,
  { onFact, now }: ReportListener,
): ReportSubscription => {
  let current: string | undefined;
  let last: OfficialReport | undefined;
  let wasUnknown = false;

  const readReport = (text: string): OfficialReport | undefined => {
    try {
      return agent.official?.read(text, now());
    } catch {
      return undefined; // a shape that its reader does not expect
    }
  };

  const emit = (): void => {
    if (!last || (current !== undefined && last.sessionId !== current)) return;
    for (const fact of last.facts) onFact(fact);
  };

  const take = (text: string): void => {
    const report = readReport(text);
    if (!report && !wasUnknown) log.warn(`${reportPath}: not a report that we know`);
    wasUnknown = !report;
    last = report;
    emit();
  };

  const watching = reportPath === undefined ? undefined : watchReport(reportPath, POLL_MS, take);
  return {
    switchTo: (sessionId) => {
      current = sessionId;
      emit();
    },
    stop: () => watching?.stop(),
  };
};

// The agent's own compaction threshold, from its settings: read at the start, and again when a settings file changes.

const LOOK_MS = 3_000;

/** Reports the agent's own threshold whenever it changes, until stopped. */
export const followOwnCompaction = (
  { agent, env, cwd, args, log }: WrapSession,
  take: (event: Event) => void,
): Subscription => {
  const source = agent.ownCompaction;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let files = openSettingsFiles();
  let last = JSON.stringify({ trigger: agent.nativeTrigger(env) });

  const read = async (): Promise<void> => {
    files = openSettingsFiles();
    const found = await source?.read(files, { env, cwd, args, home: homeFolder(env) });
    if (!found || isStopped) return;
    const { trigger, said } = found;
    const now = JSON.stringify({ trigger });
    if (now === last) return;
    last = now;
    log.info(
      `${agent.name}'s own compaction: ${said.map(({ name, value, place }) => `${name} = ${value} in ${place}`).join(', ') || 'as it is by itself'}`,
    );
    take({ type: 'own-compaction', trigger });
  };
  const check = async (): Promise<void> => {
    try {
      if (await files.haveChanged()) await read();
    } catch (error) {
      log.warn(`reading the agent's own settings: ${String(error)}`);
    }
    again();
  };
  const again = (): void => {
    if (!isStopped && source && !source.isReadOnce) timer = setTimeout(check, LOOK_MS).unref();
  };
  void read().then(again, (error: unknown) => {
    log.warn(`reading the agent's own settings: ${String(error)}`);
    again();
  });
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
