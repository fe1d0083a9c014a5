import { basename, resolve } from 'node:path';
import { errorText } from '../core/json.js';
import type { OfficialLaunch, OfficialReport } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { settingsFiles } from '../storage/agent-files.js';
import { installedVersion } from '../storage/find-command.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import {
  namesIn,
  settingsText,
  statusLineFiles,
  watchReport,
  type StatusLineFiles,
} from '../storage/status-line.js';
import type { WrapSession } from './options.js';
import type { Following } from './session-file.js';

// Asks the agent at its launch to tell its numbers, and to ask before it compacts by itself, where it can; follows what it tells.

const POLL_MS = 250;

/** A wrap session whose agent was asked, and the end of the asking. */
export interface OfficialLaunched {
  readonly session: WrapSession;
  /** removes what was made for it; called when the child has ended */
  readonly close: () => Promise<void>;
}

/** The session with what asks its agent; without it where there is nothing to ask or the asking fails. Never rejects. */
export const askOfficially = async (session: WrapSession): Promise<OfficialLaunched> => {
  const untouched: OfficialLaunched = { session, close: async () => undefined };
  if (session.mode === 'off' || !session.runtime.official) return untouched;
  try {
    return (await ask(session)) ?? untouched;
  } catch (error) {
    session.log.warn(`${session.runtime.name} is not asked for its numbers: ${errorText(error)}`);
    return untouched;
  }
};

const ask = async (session: WrapSession): Promise<OfficialLaunched | undefined> => {
  const { runtime, env, cwd, log, holdCommand } = session;
  const home = homeFolder(env);
  const wish = session.statusLine ?? 'off';
  const { official } = runtime;
  if (!official || env['HOME'] === undefined) return undefined;
  if (wish === 'off' && holdCommand === undefined) return undefined;
  const files = await statusLineFiles(stateFolder(env, home), env['CTXWRAP_SESSION'] ?? '');
  void files.sweep();
  const port = { text: (path: string) => settingsText(resolve(cwd, path)), names: namesIn };
  const isWindowSet = session.window !== undefined;
  const launch: OfficialLaunch = {
    args: session.args,
    cwd,
    home,
    env,
    wish,
    isWindowSet,
    isOwnProgram: basename(session.file) === runtime.command,
    version: await installedVersion(session.file, runtime),
    files,
  };
  const plan = await official.plan(port, launch);
  const isAsked = plan.kind === 'ask';
  if (isAsked) log.info(`${runtime.name} is asked for its numbers with --settings ${files.settings}`);
  else log.info(`${runtime.name} is not asked for its numbers: ${plan.reason}`);
  const settings = isAsked ? plan.settings : undefined;
  const held =
    holdCommand === undefined
      ? undefined
      : await official.hold?.(port, launch, { command: holdCommand, settings });
  if (held?.kind === 'leave') log.warn(`${runtime.name} compacts by itself as it likes: ${held.reason}`);
  if (held?.kind === 'ask') log.info(`${runtime.name} asks before it compacts by itself`);
  const made = held?.kind === 'ask' ? held : plan;
  if (made.kind === 'leave') return undefined;
  await files.writeSettings(made.settings);
  return {
    session: { ...session, args: made.args, ...(isAsked ? { reportPath: files.report } : {}) },
    close: () => removed(files, log),
  };
};

const removed = async (files: StatusLineFiles, log: WrapSession['log']): Promise<void> => {
  try {
    await files.remove();
  } catch (error) {
    log.warn(`removing ${files.settings}: ${errorText(error)}`);
  }
};

/** What the agent tells, while the session file says which conversation it is in. */
export interface OfficialFollowing {
  /** the conversation has changed, or is known now: numbers of another one are kept back */
  readonly goTo: (sessionId: string) => void;
  readonly stop: () => void;
}

export interface OfficialListener {
  readonly onFact: (event: Event) => void;
  readonly now: () => Millis;
}

/** Follows the reports of the child that was asked; does nothing where it was not. */
export const followOfficial = (
  { runtime, reportPath, log }: WrapSession,
  { onFact, now }: OfficialListener,
): OfficialFollowing => {
  let current: string | undefined;
  let last: OfficialReport | undefined;
  let wasOdd = false;

  const readReport = (text: string): OfficialReport | undefined => {
    try {
      return runtime.official?.read(text, now());
    } catch {
      return undefined; // of a shape that even its reader did not think of
    }
  };

  const tell = (): void => {
    if (!last || (current !== undefined && last.sessionId !== current)) return;
    for (const fact of last.facts) onFact(fact);
  };

  const take = (text: string): void => {
    const report = readReport(text);
    if (!report && !wasOdd) log.warn(`${reportPath}: not a report that we know`);
    wasOdd = !report;
    last = report;
    tell();
  };

  const watching = reportPath === undefined ? undefined : watchReport(reportPath, POLL_MS, take);
  return {
    goTo: (sessionId) => {
      current = sessionId;
      tell();
    },
    stop: () => watching?.stop(),
  };
};

// Where the agent compacts by itself, as its own settings have it: read at the start, and again when one of them changes.

const LOOK_MS = 1_000;

/** Tells where the agent compacts whenever that is another place, until stopped. */
export const followOwnCompaction = (
  { runtime, env, cwd, args, log }: WrapSession,
  take: (event: Event) => void,
): Following => {
  const source = runtime.ownCompaction;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let files = settingsFiles();
  let last = JSON.stringify({ trigger: runtime.nativeTrigger(env) });

  const read = async (): Promise<void> => {
    files = settingsFiles();
    const found = await source?.read(files, { env, cwd, args, home: homeFolder(env) });
    if (!found || isStopped) return;
    const { trigger, said } = found;
    const now = JSON.stringify({ trigger });
    if (now === last) return;
    last = now;
    log.info(
      `${runtime.name}'s own compaction: ${said.map(({ name, value, place }) => `${name} = ${value} in ${place}`).join(', ') || 'as it is by itself'}`,
    );
    take({ type: 'own-compaction', trigger });
  };
  const look = async (): Promise<void> => {
    try {
      if (await files.haveChanged()) await read();
    } catch (error) {
      log.warn(`reading the agent's own settings: ${String(error)}`);
    }
    again();
  };
  const again = (): void => {
    if (!isStopped && source && !source.isReadOnce) timer = setTimeout(look, LOOK_MS).unref();
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
