import { basename, resolve } from 'node:path';
import { errorText } from '../core/errors.js';
import type { LaunchHook, OfficialLaunch, OfficialPlan } from '../agents/agent.js';
import { installedVersion } from '../storage/find-command.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { listNames, readSettings, statusLineFiles, type StatusLineFiles } from '../storage/status-line.js';
import type { LaunchSession } from '../session/options.js';

// Asks the agent at its launch to report its numbers through its status line, to take context beside the user's messages, and to ask before it
// compacts by itself, where it can.

/** A wrap session with the arguments that request reports, and the cleanup. */
export interface PreparedLaunch {
  readonly session: LaunchSession;
  /** removes the files made for it; called when the child has ended */
  readonly close: () => Promise<void>;
}

/** The session with the arguments that request reports; unchanged where there is nothing to request or that fails. Never rejects. */
export const requestReports = async (session: LaunchSession): Promise<PreparedLaunch> => {
  const untouched: PreparedLaunch = { session, close: async () => undefined };
  if (session.values.mode === 'off' || !session.agent.official) return untouched;
  try {
    return (await prepareLaunch(session)) ?? untouched;
  } catch (error) {
    session.log.warn(`${session.agent.name} is not asked for its numbers: ${errorText(error)}`);
    return untouched;
  }
};

const prepareLaunch = async (session: LaunchSession): Promise<PreparedLaunch | undefined> => {
  const { agent, env, cwd, log, holdCommand } = session;
  const home = homeFolder(env);
  const statusLine = session.values['claude.statusLine'];
  const { official } = agent;
  if (!official || env['HOME'] === undefined) return undefined;
  if (statusLine === 'off' && holdCommand === undefined) return undefined;
  const files = await statusLineFiles(stateFolder(env, home), env['CTXWRAP_SESSION'] ?? '');
  void files.sweep();
  const port = { text: (path: string) => readSettings(resolve(cwd, path)), names: listNames };
  const isWindowSet = session.values.window !== undefined;
  const launch: OfficialLaunch = {
    args: session.args,
    cwd,
    home,
    env,
    statusLine,
    isWindowSet,
    isCacheWanted: session.values.idle === 'compact',
    isOwnProgram: basename(session.file) === agent.command,
    version: await installedVersion(session.file, agent),
    files,
  };
  const numbers = await official.plan(port, launch);
  log.info(
    numbers.kind === 'ask'
      ? `${agent.name} is asked for its numbers with --settings ${files.settings}`
      : `${agent.name} is not asked for its numbers: ${numbers.reason}`,
  );
  const hooked = await addHooks(session, numbers, async (hook) => {
    return (await official.hook?.(port, launch, hook)) ?? NO_HOOKS;
  });
  const { plan: made, takesContext } = hooked;
  if (made.kind === 'leave') return undefined;
  await files.writeSettings(made.settings);
  const paths = {
    ...(numbers.kind === 'ask' ? { reportPath: files.report } : {}),
    ...(takesContext ? { contextPath: files.context } : {}),
  };
  return { session: { ...session, args: made.args, ...paths }, close: () => removeFiles(files, log) };
};

/** The plan with the hooks that this session wants and the agent can have. */
const addHooks = async (
  { agent, log, holdCommand }: LaunchSession,
  numbers: OfficialPlan,
  planHook: (hook: LaunchHook) => Promise<OfficialPlan>,
): Promise<{ readonly plan: OfficialPlan; readonly takesContext: boolean }> => {
  const settingsOf = (plan: OfficialPlan) => (plan.kind === 'ask' ? plan.settings : undefined);
  const context = await planHook({ kind: 'context', settings: settingsOf(numbers) });
  const takesContext = context.kind === 'ask';
  if (takesContext) log.info(`${agent.name} takes context beside your messages`);
  else log.info(`${agent.name} takes no context beside your messages: ${context.reason}`);
  const plan = takesContext ? context : numbers;
  if (holdCommand === undefined) return { plan, takesContext };
  const held = await planHook({ kind: 'hold', command: holdCommand, settings: settingsOf(plan) });
  if (held.kind === 'leave') log.warn(`${agent.name} compacts on its own whenever it likes: ${held.reason}`);
  else log.info(`${agent.name} asks before it compacts on its own`);
  return { plan: held.kind === 'ask' ? held : plan, takesContext };
};

const NO_HOOKS: OfficialPlan = { kind: 'leave', reason: 'it has no hooks' };

const removeFiles = async (files: StatusLineFiles, log: LaunchSession['log']): Promise<void> => {
  try {
    await files.remove();
  } catch (error) {
    log.warn(`removing ${files.settings}: ${errorText(error)}`);
  }
};
