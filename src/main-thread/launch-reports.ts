import { basename, resolve } from 'node:path';
import { errorText } from '../core/errors.js';
import type { OfficialLaunch } from '../agents/agent.js';
import { installedVersion } from '../storage/find-command.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { listNames, readSettings, statusLineFiles, type StatusLineFiles } from '../storage/status-line.js';
import type { WrapSession } from '../session/options.js';

// Asks the agent at its launch to report its numbers through its status line, and to ask before it compacts by itself, where it can.

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
