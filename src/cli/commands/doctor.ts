import { realpathSync } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../../core/errors.js';
import type { OfficialLaunch, Agent } from '../../agents/agent.js';
import type { AgentHome } from '../../agents/home.js';
import { allAgents } from '../../agents/index.js';
import { isBlackBoxOn, ladderChoice } from '../../core/config/keys.js';
import { counted } from '../../core/format.js';
import {
  type Check,
  type CheckSection,
  type DoctorReport,
  doctorReport,
} from '../../core/report/doctor-report.js';
import { lastUseOf } from '../../core/report/model-uses.js';
import { listKept } from '../../storage/blackbox/blackbox.js';
import { findFolderObstacle } from '../../storage/errors.js';
import { findCommand, installedVersion } from '../../storage/find-command.js';
import { processesUpToShell } from '../../storage/processes.js';
import { canReadDatabases } from '../../storage/database.js';
import { listStore, otherOwners } from '../../storage/session-store.js';
import { readModelUses } from '../../storage/model-uses.js';
import { listSessions, readVerified } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { listNames, readSettings } from '../../storage/status-line.js';
import { toPlainText, wrapText } from '../../ui/text.js';
import { probeTerminal, ptyFailure, readVersionOutput } from './doctor-probes.js';
import { readWholeConfiguration } from '../config/load.js';
import { currentContext } from '../config/path.js';
import { print, toAsciiIfNeeded, version } from '../print.js';
import type { DoctorRequest } from '../define/doctor.js';
import type { Outcome } from '../session.js';
import { isSessionRunning } from '../transparency.js';
import { type Painter, widthOfOutput, painterFor } from '../text.js';
import { jsonText, type Styled, toPrintableLines } from '../../core/printable.js';
import { readOwnCompaction } from './context.js';
import { SHELL_VARIABLE } from '../shell/init.js';
import { agentSection, definedAgentSection, type AgentFacts } from './doctor-agents.js';
import { systemSection, terminalSection } from './doctor-checks.js';
import { type BlackBoxFacts, configSection, folderSection, type MetricsFacts } from './doctor-files.js';

const NAME_COLUMNS = 15;

const doctorText = (
  { version, status, problems, warnings, sections }: DoctorReport,
  { width, paint }: { readonly width: number; readonly paint: Painter },
): readonly Styled[] => [
  paint.bold(`ctxwrap ${version}`),
  ...sections.flatMap(({ title, checks }) => [
    '',
    paint.bold(toPlainText(title)),
    ...checks.flatMap((check) => checkLines(check, width, paint)),
  ]),
  '',
  paint.tier(tierOf[status], `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`),
];

const tierOf = { ok: 'safe', none: undefined, warn: 'warn', fail: 'hard' } as const;

/** Not for commands, which must stay as they are. */
const drawn = (text: string): string => toAsciiIfNeeded(text, process.env);

const LEAST_ROOM = 30; // columns beside the name; with fewer, the text goes below it
const BELOW = 4;

// Commands to copy stay on one line and paths are never cut; the terminal wraps them.
const checkLines = ({ name, status, text, fix }: Check, width: number, paint: Painter): readonly Styled[] => {
  const [sign, label] = status === 'none' ? ['–', 'run'] : [status, 'fix'];
  const head = ['  ', paint.tier(tierOf[status], drawn(sign).padEnd(4)), ' '];
  const beside = 2 + 4 + 1 + NAME_COLUMNS;
  const isBeside = width - beside >= LEAST_ROOM;
  const left = isBeside ? beside : BELOW;
  const body = [
    ...wrapText(drawn(toPlainText(text)), width - left, 'whole'),
    ...(fix === undefined ? [] : [`${label}: ${toPlainText(fix)}`]),
  ].map((line) => ' '.repeat(left) + line);
  const [first = '', ...rest] = body;
  return isBeside
    ? [[...head, name.padEnd(NAME_COLUMNS), first.trimStart()], ...rest]
    : [[...head, name], ...body];
};

const ANSWER_MS = 1_000; // for the terminal to answer a query
const VERSION_MS = 20_000; // for an agent on a busy machine to print its version

/** `ctxwrap doctor`: checks everything ctxwrap needs and prints fixes. */
export const doctor = async (request: DoctorRequest): Promise<Outcome> => {
  const report = await examine(request);
  const paint = painterFor(process.stdout.isTTY, process.env);
  const text = request.json
    ? jsonText(report, 2)
    : toPrintableLines(doctorText(report, { width: widthOfOutput(), paint }));
  await print(text);
  return { status: { kind: 'code', code: report.status === 'fail' ? 1 : 0 }, notices: [] };
};

const examine = async (request: DoctorRequest): Promise<DoctorReport> => {
  const agents = knownAgents(request).map((agent) => agentChecks(agent, request));
  const parts = [system(), terminal(request), state(request), configuration(request), ...agents];
  const sections: readonly CheckSection[] = await Promise.all(parts);
  return doctorReport(version(), sections);
};

/** All agents that can be started by name. */
const knownAgents = ({ options }: DoctorRequest): readonly Agent[] =>
  allAgents(options.configured?.runtimes).filter(({ command }) => command !== undefined);

const configuration = async ({ options }: DoctorRequest): Promise<CheckSection> => {
  const around = currentContext();
  const whole = await readWholeConfiguration(options, around);
  const obstacle = await findFolderObstacle(dirname(whole.userPath));
  const metrics = await metricsFacts(options.values['metrics.textfile']);
  return configSection({ ...whole, obstacle, home: around.home, metrics });
};

const metricsFacts = async (folder: string | undefined): Promise<MetricsFacts | undefined> => {
  if (folder === undefined) return undefined;
  const isThere = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  return { folder, isThere, obstacle: await findFolderObstacle(folder) };
};

const system = async (): Promise<CheckSection> =>
  systemSection({
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    env: process.env,
    ptyFailure: await ptyFailure(),
    isInitActive: processesUpToShell(process.pid).includes(Number(process.env[SHELL_VARIABLE])),
    isInside: isSessionRunning(process.env['CTXWRAP_SESSION']),
  });

const terminal = async ({ options: { values } }: DoctorRequest): Promise<CheckSection> =>
  terminalSection({
    env: process.env,
    terminal: await probeTerminal(process.stdin, process.stdout, ANSWER_MS),
    footer: values.footer !== false && values.mode !== 'off',
    theme: values.theme,
  });

const state = async (request: DoctorRequest): Promise<CheckSection> => {
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
    obstacle: await findFolderObstacle(folder),
    sessions,
    blackBox: await blackBoxFacts(folder, request),
    home,
  });
};

const blackBoxFacts = async (
  folder: string,
  { options: { values } }: DoctorRequest,
): Promise<BlackBoxFacts | undefined> => {
  const kept = await listKept(folder).catch(() => undefined);
  return (
    kept && {
      isOn: isBlackBoxOn(values),
      sessions: kept.length,
      usedBytes: kept.reduce((sum, each) => sum + each.usedBytes, 0),
      limitBytes: values['blackbox.limit'],
      damaged: kept.reduce((sum, each) => sum + each.damaged, 0),
    }
  );
};

const agentChecks = async (agent: Agent, { options }: DoctorRequest): Promise<CheckSection> => {
  const { home, command = agent.name } = agent;
  const { env } = process;
  const place = { env, home: homeFolder(env), cwd: process.cwd() };
  const search = { path: env['PATH'], self: realpathSync(process.argv[1] ?? '') };
  const found = findCommand(command, search);
  if (!home) return definedAgentSection(agent, found);
  const folder = home.sessions(place);
  const answer = found.kind === 'found' ? await versionOf(found.file) : ({ kind: 'silent' } as const);
  const state = stateFolder(env, place.home);
  const windowTokens = options.values.window ?? options.configured?.windows[agent.name];
  const launch: OfficialLaunch = {
    ...place,
    args: [],
    statusLine: options.values['claude.statusLine'],
    isWindowSet: windowTokens !== undefined,
    isOwnProgram: true,
    version: found.kind === 'found' ? await installedVersion(found.file, agent) : undefined,
    files: { settings: '/dev/null', report: '/dev/null', context: '/dev/null' },
  };
  return agentSection({
    agent: agent,
    home,
    found,
    version: answer,
    verified: answer.kind === 'told' ? await readVerified(state, agent.name, answer.text) : undefined,
    sessions: {
      folder,
      state: await sessionsState(agent, folder),
      otherOwners: isBlackBoxOn(options.values) ? await ownersOfSessions(home, folder) : [],
    },
    own: await readOwnCompaction(agent, place),
    userHome: place.home,
    retention: await home.retention?.(settingsPort, { ...place, args: [] }),
    official: await officialUse(agent, launch),
    context: await contextUse(agent, launch),
    windowTokens,
    lastUse: lastUseOf(await readModelUses(state), agent.name),
    choice: ladderChoice(options.values),
  });
};

/** The first dotted number in the output of `--version`. */
const versionOf = async (file: string): Promise<AgentFacts['version']> => {
  const stdout = await readVersionOutput(file, VERSION_MS);
  if (stdout === undefined) return { kind: 'silent' };
  const text = /\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];
  return text === undefined ? { kind: 'none' } : { kind: 'told', text };
};

const sessionsState = async ({ log }: Agent, folder: string): Promise<AgentFacts['sessions']['state']> => {
  const state = await folderState(folder);
  return state === 'readable' && log?.database && !canReadDatabases() ? 'no-sqlite' : state;
};

const ownersOfSessions = async ({ sessionFile }: AgentHome, folder: string): Promise<readonly number[]> => {
  if (!sessionFile) return [];
  const { files } = await listStore(folder, (path) => sessionFile(path) !== undefined);
  return otherOwners(files);
};

const folderState = async (folder: string): Promise<AgentFacts['sessions']['state']> => {
  try {
    await readdir(folder);
    return 'readable';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'missing' : 'unreadable';
  }
};

/** What planning may read: the agent's settings. */
const settingsPort = { text: readSettings, names: listNames };

const officialUse = async ({ official }: Agent, launch: OfficialLaunch): Promise<AgentFacts['official']> => {
  if (!official) return undefined;
  const plan = await official.plan(settingsPort, launch);
  if (plan.kind === 'leave') return { isUsed: false, text: plan.reason };
  // with the window set, only a status line of the user's own is worth it
  const chained = await official.plan(settingsPort, { ...launch, statusLine: 'auto', isWindowSet: true });
  const text =
    chained.kind === 'ask'
      ? 'ctxwrap gets exact numbers through yours, which looks the same'
      : `ctxwrap adds one to get exact numbers${launch.statusLine === 'auto' ? '; with --window N it does not need to' : ''}`;
  return { isUsed: true, text };
};

const contextUse = async ({ official }: Agent, launch: OfficialLaunch): Promise<AgentFacts['context']> => {
  if (!official?.hook) return undefined;
  const plan = await official.hook(settingsPort, launch, { kind: 'context' });
  return plan.kind === 'ask'
    ? { isUsed: true, text: 'context that you give back is sent with your next message' }
    : { isUsed: false, text: `${plan.reason}; context is given back as a draft` };
};
