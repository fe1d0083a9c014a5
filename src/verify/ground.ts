import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { promisify } from 'node:util';
import type { Ground, TriedAgent } from './agents.js';

// Where a session takes place: a home and a project that were never there before.

type Environment = Readonly<Record<string, string>>;

export const makeGround = (
  agent: TriedAgent,
  folder: string,
  more: Pick<Ground, 'version' | 'port' | 'isVim'>,
  first: Readonly<Record<string, string>> = {},
): Ground => {
  const ground = { ...more, home: join(folder, 'home'), project: join(folder, 'project') };
  const own = agent.files(ground);
  for (const [path, text] of Object.entries({ ...first, ...own }))
    write(join(ground.home, path), path in own ? (first[path] ?? '') + text : text);
  write(join(ground.project, 'README.md'), '# A project\n');
  return ground;
};

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

/** Nothing of the user's own: programs are looked for in these folders first, and in the system's. */
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

/** Whoever asks for another machine asks this server, which lets nobody through. */
export const proxiesTo = (port: number): Environment => {
  const proxy = `http://127.0.0.1:${port}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const own = '127.0.0.1,localhost';
  return { ...Object.fromEntries(names.map((name) => [name, proxy])), NO_PROXY: own, no_proxy: own };
};

const run = promisify(execFile);
const TELL_MS = 30_000; // for an agent on a busy machine

/** What the agent prints with --help, asked in a home that is used for nothing else. */
export const helpOf = (agent: TriedAgent, env: Environment): Promise<string> => tell(agent, '--help', env);

/** The first number with dots in it that it prints with --version; undefined when there is none. */
export const versionOf = async (agent: TriedAgent, env: Environment): Promise<string | undefined> =>
  /\d+\.\d+[\w.+-]*/.exec(await tell(agent, '--version', env))?.[0];

const tell = async ({ name }: TriedAgent, flag: string, env: Environment): Promise<string> => {
  const aside = { ...env, HOME: `${env['HOME']}-aside` };
  mkdirSync(aside.HOME, { recursive: true }); // some do not start without a home
  const { stdout, stderr } = await run(name, [flag], { env: aside, timeout: TELL_MS, killSignal: 'SIGKILL' });
  return stdout + stderr;
};

// A place without a network: agents that are started there can reach nothing but the loopback device.

type Words = readonly [string, ...string[]];

/** Where an agent is started. */
export interface Place {
  /** the words that run a command there */
  readonly words: (words: readonly string[]) => Words;
  /** why it has a network all the same; absent where it has none */
  readonly openFor?: string;
}

// When the first process of the place ends, the kernel ends all others: nothing of an agent can be left.
const WITH_PROCESSES = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const WITHOUT_NETWORK = ['--net'];
const AS_USER = ['--user', '--map-root-user'];
const UP =
  '{ ip link set lo up || ifconfig lo up; } 2>/dev/null || { echo "no ip and no ifconfig" >&2; exit 1; }; "$@"';

const wordsWith =
  (flags: readonly string[]) =>
  (words: readonly string[]): Words => {
    const all = getuid?.() === 0 ? flags : [...AS_USER, ...flags];
    return ['unshare', ...all, 'sh', '-c', UP, 'sh', ...words];
  };

/** The words that run a command in the best of such places. */
export const isolated = wordsWith(WITH_PROCESSES);

/** Why a command cannot be run; undefined when it can. */
export const obstacleTo = ([file, ...args]: Words): string | undefined => {
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error ? error.message : (stderr.trim().split('\n').at(-1) ?? '');
};

/** The best place that can be had here: Linux lets some users make one, and its containers few. */
export const bestPlace = (): Place => {
  let openFor = '';
  for (const words of [isolated, wordsWith(WITHOUT_NETWORK)]) {
    const reason = obstacleTo(words(['true']));
    if (reason === undefined) return { words };
    openFor = reason;
  }
  return { words: ([file = '', ...args]) => [file, ...args], openFor };
};
