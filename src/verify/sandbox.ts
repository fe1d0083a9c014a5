import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { promisify } from 'node:util';
import type { Sandbox, VerifiableAgent } from './agents.js';

// The sandbox of a session: a new home and project, an environment without the user's settings, and a place without a network.

type Environment = Readonly<Record<string, string>>;

export const makeSandbox = (
  agent: VerifiableAgent,
  folder: string,
  more: Pick<Sandbox, 'version' | 'port' | 'isVim'>,
  first: Readonly<Record<string, string>> = {},
): Sandbox => {
  const sandbox = { ...more, home: join(folder, 'home'), project: join(folder, 'project') };
  const own = agent.files(sandbox);
  for (const [path, text] of Object.entries({ ...first, ...own }))
    write(join(sandbox.home, path), path in own ? (first[path] ?? '') + text : text);
  write(join(sandbox.project, 'README.md'), '# A project\n');
  return sandbox;
};

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** The environment without anything of the user's own; programs are searched in these folders first, then in the system's. */
export const environmentIn = (
  home: string,
  folders: readonly string[],
  programs: readonly string[] = ['/usr/local/bin', '/usr/bin', '/bin'],
): Environment => ({
  PATH: [...folders, ...programs].join(delimiter),
  HOME: home,
  TERM: 'xterm-256color',
  COLORTERM: 'truecolor',
  LANG: 'C.UTF-8',
});

/** Sends all requests to other hosts to this server, which rejects them. */
export const proxiesTo = (port: number): Environment => {
  const proxy = `http://127.0.0.1:${port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const own = '127.0.0.1,localhost';
  return { ...Object.fromEntries(names.map((name) => [name, proxy])), NO_PROXY: own, no_proxy: own };
};

const run = promisify(execFile);
const TELL_MS = 180_000; // for an agent on a busy machine

/** The output of the agent's --help, run in a home that is used for nothing else. */
export const helpOf = (agent: VerifiableAgent, env: Environment): Promise<string> =>
  printedBy(agent, '--help', env);

/** The first number with dots in the output of --version; undefined when there is none. */
export const versionOf = async (agent: VerifiableAgent, env: Environment): Promise<string | undefined> =>
  /\d+\.\d+[\w.+-]*/.exec(await printedBy(agent, '--version', env))?.[0];

const printedBy = async ({ name }: VerifiableAgent, flag: string, env: Environment): Promise<string> => {
  const aside = { ...env, HOME: `${env['HOME']}-aside` };
  mkdirSync(aside.HOME, { recursive: true }); // some agents do not start without a home
  const { stdout, stderr } = await run(name, [flag], { env: aside, timeout: TELL_MS, killSignal: 'SIGKILL' });
  return stdout + stderr;
};

// Isolation from the network: programs that are started there can reach only the loopback device.

type CommandLine = readonly [string, ...string[]];

/** How an agent is started. */
export interface Isolation {
  /** the command line that runs a command there */
  readonly commandLine: (commandLine: readonly string[]) => CommandLine;
  /** why there is network access after all; absent where there is none */
  readonly networkReason?: string;
}

// When the first process of the PID namespace ends, the kernel ends all others: no process of an agent can be left.
const WITH_PROCESSES = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const WITHOUT_NETWORK = ['--net'];
const AS_USER = ['--user', '--map-root-user'];
const UP =
  '{ ip link set lo up || ifconfig lo up; } 2>/dev/null || { echo "no ip and no ifconfig" >&2; exit 1; }; "$@"';

const commandLineWith =
  (flags: readonly string[]) =>
  (commandLine: readonly string[]): CommandLine => {
    const all = getuid?.() === 0 ? flags : [...AS_USER, ...flags];
    return ['unshare', ...all, 'sh', '-c', UP, 'sh', ...commandLine];
  };

/** The command line that runs a command with the best isolation. */
export const isolatedCommand = commandLineWith(WITH_PROCESSES);

/** Why a command cannot be run; undefined when it can. */
export const failureOf = ([file, ...args]: CommandLine): string | undefined => {
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error ? error.message : (stderr.trim().split('\n').at(-1) ?? '');
};

/** The best isolation available here: Linux lets only some users create namespaces, and few containers allow it. */
export const bestIsolation = (): Isolation => {
  let networkReason = '';
  for (const commandLine of [isolatedCommand, commandLineWith(WITHOUT_NETWORK)]) {
    const reason = failureOf(commandLine(['true']));
    if (reason === undefined) return { commandLine };
    networkReason = reason;
  }
  return { commandLine: ([file = '', ...args]) => [file, ...args], networkReason };
};
