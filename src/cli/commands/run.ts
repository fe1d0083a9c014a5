import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { isatty } from 'node:tty';
import { errorCode } from '../../core/errors.js';
import type { Agent, AgentLaunch } from '../../agents/agent.js';
import { agentWords, genericLaunch, launches } from '../../agents/launches.js';
import { systemReason } from '../../storage/errors.js';
import { findCommand, isShellScript, obstacleReasons } from '../../storage/find-command.js';
import { passthrough } from '../../main-thread/passthrough.js';
import type { SttyProcess } from '../../terminal/stty-process.js';
import * as messages from '../messages.js';
import { print } from '../print.js';
import type { AgentOption, Options, RunRequest, Task } from '../request.js';
import { logFor, runWrapped, type Outcome } from '../session.js';
import { isSessionRunning, transparentReason } from '../transparency.js';

/** `ctxwrap claude …` and `ctxwrap -- command …`. */
const run = async (
  { word, args, anyCommand, startingDraft, options }: RunRequest,
  stty?: Promise<SttyProcess>,
): Promise<Outcome> => {
  const own = options.configured?.runtimes ?? [];
  const asked = options.runtime && (await agentLaunchOf(options.runtime, own));
  const all: readonly AgentLaunch[] = [...own, ...launches, ...(asked ? [asked] : [])];
  // after `--` the word is a program, even if an agent has the same name
  const named = anyCommand
    ? undefined
    : all.find(({ name, command }) => name === word && command !== undefined);
  const known = named ?? all.find(({ command }) => command === basename(word));
  if (known === undefined && isOurs(word)) throw messages.wrapsItself(args);
  if (known === undefined && !anyCommand)
    throw messages.unknownWord(word, {
      agents: [...agentWords, ...own.map(({ name }) => name)],
      commands: (await import('../commands.js')).listedCommands,
    });
  const agent = asked ?? known ?? genericLaunch;
  const log = logFor(options);
  const file = find(named?.command ?? word, known);
  const env = deeper(process.env, file);
  // the descriptors are tested directly, because process.stdin would open a stream and take the child's input
  const plain = transparentReason({
    stdinIsTty: isatty(0),
    stdoutIsTty: isatty(1),
    env: process.env,
    insideIsAlive: isSessionRunning(process.env['CTXWRAP_SESSION']),
    interactive: agent.isInteractive(args),
  });
  if (plain === undefined) {
    process.title = [basename(word), ...args].join(' '); // what tmux and process lists show, in place of `node`
    const command = { file, args, env, agent, startingDraft };
    return runWrapped(command, { options: windowed(options, agent), log, stty });
  }

  if (startingDraft !== undefined) throw messages.noDraft(plain);
  void stty?.then(({ disarm }) => disarm());
  log.info(`not wrapped: ${plain}${options.record === undefined ? '' : '; not recorded'}`);
  try {
    return { status: await passthrough({ file, typedName: word, args, env }), notices: [] };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw messages.noInterpreter(file);
    throw messages.notAProgram(file, systemReason(error));
  }
};

/** The agent of `--runtime`. */
const agentLaunchOf = async (
  option: AgentOption,
  own: readonly Agent[],
): Promise<AgentLaunch | undefined> => {
  const all: readonly AgentLaunch[] = [...own, ...launches];
  const named = 'name' in option ? all.find(({ name }) => name === option.name) : undefined;
  return named ?? (await import('../agent-option.js')).agentFromOption(option, own);
};

const MAX_LEVEL = 8; // nested starts of ctxwrap; an agent inside an agent is two

/** The environment with the nesting level raised by one for a shell script: an unrecognised shim could start ctxwrap again without end. */
const deeper = (env: NodeJS.ProcessEnv, file: string): NodeJS.ProcessEnv => {
  if (!isShellScript(file)) return env;
  const level = Number.parseInt(env[LEVEL] ?? '0', 10) || 0;
  if (level >= MAX_LEVEL) throw messages.startsItself(file);
  return { ...env, [LEVEL]: `${level + 1}` };
};

const LEVEL = 'CTXWRAP_LEVEL';

/** The window set for this agent, unless one is set for all agents. */
const windowed = (options: Options, { name }: AgentLaunch): Options => {
  const { values, configured } = options;
  const window = values.window ?? configured?.windows[name];
  return window === undefined ? options : { ...options, values: { ...values, window } };
};

/** PATH finds only ctxwrap itself under this name. */
const isOurs = (word: string): boolean => {
  if (word !== 'ctxwrap') return false;
  const found = findCommand(word, { path: process.env['PATH'], self: realpathSync(process.argv[1] ?? '') });
  return found.kind === 'missing';
};

const find = (word: string, known: AgentLaunch | undefined): string => {
  const self = realpathSync(process.argv[1] ?? '');
  const found = findCommand(word, { path: process.env['PATH'], self });
  if (found.kind === 'found') return found.file;
  if (found.kind === 'missing') throw messages.notInstalled(word, known?.npmPackage, found.shims);
  throw messages.notAProgram(found.file, obstacleReasons[found.reason]);
};

/** Does what was asked for, and prints what a command answers. `stty` reads the terminal's settings for a session. */
export const perform = async (task: Task, stty?: Promise<SttyProcess>): Promise<Outcome> => {
  if (task.kind === 'run') return run(task, stty);
  const done = await task.perform(task.options, run);
  if (typeof done !== 'string') return done;
  await print(done);
  return { status: { kind: 'code', code: 0 }, notices: [] };
};
