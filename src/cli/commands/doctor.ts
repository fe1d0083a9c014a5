import { lstat, readdir } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { doctorReport } from '../../core/doctor-report.js';
import type { CheckSection, DoctorReport } from '../../core/doctor-report.js';
import type { OfficialLaunch } from '../../runtimes/official-source.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { findCommand } from '../../storage/find-command.js';
import { folderObstacle } from '../../storage/folder-obstacle.js';
import { homeFolder } from '../../storage/home-folder.js';
import { installedVersion } from '../../storage/installed-version.js';
import { sessionFiles } from '../../storage/session-files.js';
import { listSessions } from '../../storage/session-records.js';
import { stateFolder } from '../../storage/state-folder.js';
import { readVerified } from '../../storage/verified-records.js';
import { namesIn, settingsText } from '../../storage/status-line.js';
import { ownTerminal, ptyFailure } from '../../wrap/machine.js';
import { versionOutput } from '../../wrap/version-output.js';
import { surroundings } from '../config/path.js';
import { allRuntimes } from '../all-runtimes.js';
import { agentSection, ownAgentSection } from '../doctor/agent-checks.js';
import type { AgentFacts } from '../doctor/agent-checks.js';
import { configSection } from '../doctor/config-checks.js';
import { doctorText } from '../doctor/doctor-text.js';
import { folderSection } from '../doctor/folder-checks.js';
import { systemSection, terminalSection } from '../doctor/system-checks.js';
import { jsonText } from '../json-text.js';
import { ladderChoice } from '../ladder-choice.js';
import { widthOfOutput } from '../output-width.js';
import { paintFor } from '../paint.js';
import { print } from '../print.js';
import type { DoctorRequest } from '../request.js';
import type { Outcome } from '../session.js';
import { version } from '../version.js';
import { wholeConfiguration } from '../config/whole-configuration.js';

const ANSWER_MS = 1_000; // for the terminal
const VERSION_MS = 20_000; // for an agent on a busy machine to say its version

/** `ctxwrap doctor`: what is there, what is not, and what mends it. */
export const doctor = async (request: DoctorRequest): Promise<Outcome> => {
  const report = await examine(request);
  const paint = paintFor(process.stdout.isTTY, process.env);
  const text = request.json
    ? jsonText(report, 2)
    : `${doctorText(report, { width: widthOfOutput(), paint }).join('\n')}\n`;
  await print(text);
  return { status: { kind: 'code', code: report.status === 'fail' ? 1 : 0 }, notices: [] };
};

const examine = async (request: DoctorRequest): Promise<DoctorReport> => {
  const agents = knownAgents(request).map((runtime) => agent(runtime, request));
  const parts = [system(), terminal(), state(), configuration(request), ...agents];
  const sections: readonly CheckSection[] = await Promise.all(parts);
  return doctorReport(version(), sections);
};

/** All that somebody can start. */
const knownAgents = ({ options }: DoctorRequest): readonly Runtime[] =>
  allRuntimes(options.configured?.runtimes).filter(({ command }) => command !== undefined);

const configuration = async ({ options, given = [] }: DoctorRequest & Given): Promise<CheckSection> => {
  const around = surroundings();
  const whole = wholeConfiguration(options, given, around);
  const obstacle = await folderObstacle(dirname(whole.userPath));
  return configSection({ ...whole, obstacle, home: around.home });
};

interface Given {
  /** names of the options that were written down */
  readonly given?: readonly string[];
}

const system = async (): Promise<CheckSection> =>
  systemSection({
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    env: process.env,
    ptyFailure: await ptyFailure(),
  });

const terminal = async (): Promise<CheckSection> =>
  terminalSection(process.env, await ownTerminal(process.stdin, process.stdout, ANSWER_MS));

const state = async (): Promise<CheckSection> => {
  const home = homeFolder(process.env);
  const folder = stateFolder(process.env, home);
  const stats = await lstat(folder).catch(() => undefined);
  const sessions = await listSessions(folder, Date.now()).catch(() => []);
  return folderSection({
    folder,
    stats: stats && {
      mode: stats.mode,
      isOwn: stats.uid === process.getuid?.(),
      isFolder: stats.isDirectory(),
    },
    obstacle: await folderObstacle(folder),
    sessions,
    home,
  });
};

const agent = async (runtime: Runtime, { options }: DoctorRequest): Promise<CheckSection> => {
  const { home, command = runtime.name } = runtime;
  const { env } = process;
  const place = { env, home: homeFolder(env), cwd: process.cwd() };
  const search = { path: env['PATH'], self: realpathSync(process.argv[1] ?? '') };
  const found = findCommand(command, search);
  if (!home) return ownAgentSection(runtime, found);
  const folder = home.sessions(place);
  const said = found.kind === 'found' ? await versionOf(found.file) : ({ kind: 'silent' } as const);
  const state = stateFolder(env, place.home);
  const windowTokens = options.window ?? options.configured?.windows[runtime.name];
  return agentSection({
    runtime,
    home,
    found,
    version: said,
    verified: said.kind === 'told' ? await readVerified(state, runtime.name, said.text) : undefined,
    sessions: { folder, state: await folderState(folder) },
    setting: await home.ownSetting(sessionFiles(), place),
    official: await officialText(runtime, place, {
      isWindowSet: windowTokens !== undefined,
      version: found.kind === 'found' ? await installedVersion(found.file, runtime) : undefined,
    }),
    env,
    windowTokens,
    choice: ladderChoice(options),
  });
};

/** The first number with dots in it that `--version` prints. */
const versionOf = async (file: string): Promise<AgentFacts['version']> => {
  const stdout = await versionOutput(file, VERSION_MS);
  if (stdout === undefined) return { kind: 'silent' };
  const text = /\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  return text === undefined ? { kind: 'none' } : { kind: 'told', text };
};

const folderState = async (folder: string): Promise<AgentFacts['sessions']['state']> => {
  try {
    await readdir(folder);
    return 'readable';
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'missing' : 'unreadable';
  }
};

const officialText = async (
  { official }: Runtime,
  place: Pick<AgentFacts, 'env'> & { readonly home: string; readonly cwd: string },
  { isWindowSet, version }: Pick<OfficialLaunch, 'isWindowSet' | 'version'>,
): Promise<string | undefined> => {
  if (!official) return undefined;
  const port = { text: settingsText, names: namesIn };
  const files = { settings: '/dev/null', report: '/dev/null' };
  const launch = { ...place, args: [], wish: 'auto', isOwnProgram: true, version, files } as const;
  const chained = await official.plan(port, { ...launch, isWindowSet: true });
  if (chained.kind === 'ask') return 'yours is chained, and gives the exact numbers';
  const plan = await official.plan(port, { ...launch, isWindowSet });
  return plan.kind === 'ask'
    ? 'asked for the exact numbers, because nothing else tells the window; --window does'
    : `not used: ${plan.reason}`;
};
