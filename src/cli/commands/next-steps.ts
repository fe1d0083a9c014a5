import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Agent } from '../../agents/agent.js';
import { agents } from '../../agents/index.js';
import { quotePosix } from '../../core/text.js';
import { wrapText } from '../../ui/text.js';
import { findCommand } from '../../storage/find-command.js';
import { shells } from '../request.js';

// What somebody can type who has just seen the demo: commands that work in their folder, however ctxwrap came to them.

export interface Standpoint {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** real path of ctxwrap's own bin */
  readonly self: string;
  /** undefined where there is none */
  readonly hotkey: string | undefined;
  /** whether this user can write to a folder that exists */
  readonly isWritable: (folder: string) => boolean;
}

/** How ctxwrap is started where the user stands, and what makes it a command of its own there; undefined if it is one. */
interface OwnName {
  readonly words: string;
  readonly install: string | undefined;
}

/** A command or key, and what it is for. */
type Step = readonly [what: string, why: string];

export const stepsAfterDemo = (at: Standpoint): readonly Step[] => {
  const { words, install } = ownName(at);
  const agent = installedAgent(at);
  const shell = shells.find((each) => each === basename(at.env['SHELL'] ?? '')) ?? 'bash';
  const start: Step =
    agent === undefined
      ? [`${words} demo --interactive`, 'type to the built-in agent yourself']
      : [`${words} ${agent}`, 'your own agent, with the same row below it'];
  const overview: Step = [at.hotkey ?? `${words} context`, 'shows the overview'];
  if (install !== undefined) return [start, overview, [install, 'makes ctxwrap a command in every folder']];
  const last: Step =
    agent === undefined
      ? [`${words} doctor`, 'lists the agents that it knows, and checks your setup']
      : [`${words} init ${shell}`, `lets you type ${agent} as before`];
  return [start, overview, last];
};

/** npm and npx put folders of their own before PATH, which the user's shell does not have. */
const userPath = (path: string): string =>
  path
    .split(':')
    .filter((folder) => !/\/node_modules\/\.bin\/?$|\/node-gyp-bin\/?$/.test(folder))
    .join(':');

/** Finds it as a command: what starts ctxwrap counts, and is what `findCommand` calls a shim. */
const isOnPath = (path: string | undefined, self: string): boolean => {
  const found = findCommand('ctxwrap', { path, self });
  return found.kind === 'found' || (found.kind === 'missing' && found.shims.length > 0);
};

/** Node from a distribution or an installer keeps the global packages in a folder of root's. npm tells its scripts where that is. */
const forEveryFolder = (command: string, { env, isWritable }: Standpoint): string => {
  const prefix = env['npm_config_global_prefix'];
  return prefix === undefined || isWritable(join(prefix, 'lib/node_modules')) ? command : `sudo ${command}`;
};

const ownName = (at: Standpoint): OwnName => {
  const { env, cwd, self } = at;
  const { PATH: path } = env;
  if (isOnPath(path === undefined ? undefined : userPath(path), self))
    return { words: 'ctxwrap', install: undefined };
  const here = env['INIT_CWD'] ?? cwd; // npm runs scripts in the folder of package.json
  if (env['npm_command'] === 'exec') {
    const source = quotePosix(npxSource(self, here) ?? 'ctxwrap');
    return { words: `npx ${source}`, install: forEveryFolder(`npm install -g ${source}`, at) };
  }
  const folder = dirname(dirname(self));
  const way = relative(here, self);
  return {
    words: `node ${quotePosix(way.startsWith('..') ? self : way)}`,
    install: forEveryFolder(here === folder ? 'npm link' : `npm install -g ${quotePosix(folder)}`, at),
  };
};

/** What npx was asked for: it installs into a folder whose package.json says so. Undefined for a package of the project itself. */
const npxSource = (self: string, here: string): string | undefined => {
  try {
    const folder = join(self, '../../../..');
    const { _npx: npx, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const source: unknown = npx?.packages[0] ?? packedFile(dependencies.ctxwrap, folder, here);
    return typeof source === 'string' ? source : undefined;
  } catch {
    return undefined;
  }
};

/** npm 10 notes only the dependency, a file as `file:` and its path from that folder. */
const packedFile = (dependency: string, folder: string, here: string): string | undefined => {
  if (!dependency.startsWith('file:')) return undefined;
  const file = join(folder, dependency.slice('file:'.length));
  const way = relative(here, file);
  return way.startsWith('..') ? file : `./${way}`;
};

/** The name of the first agent that this machine has. */
const installedAgent = ({ env, self }: Standpoint): string | undefined =>
  Object.values<Agent>(agents).find(
    ({ command }) =>
      command !== undefined && findCommand(command, { path: env['PATH'], self }).kind === 'found',
  )?.name;

const WIDEST = 80; // columns: a longer line would be a table that nobody reads at a glance
const NARROW = 60; // here a deep indent leaves no room for the reasons

/**
 * The last lines of the demo: a table, or in `columns` too few for one each reason below its command. A command that is copied is never
 * broken.
 */
export const afterDemo = (steps: readonly Step[], columns = WIDEST): string => {
  const room = Math.min(columns, WIDEST);
  const width = Math.max(18, ...steps.map(([what]) => what.length)) + 2;
  const lines = steps.map(
    ([what, why], index) => [(index === 0 ? 'Next:' : '').padEnd(7) + what, why] as const,
  );
  const table = lines.map(([what, why]) => what.padEnd(7 + width) + why);
  const indent = room < NARROW ? 2 : 9;
  const below = lines.flatMap(([what, why]) => [
    what,
    ...wrapText(why, room - indent).map((line) => ' '.repeat(indent) + line),
  ]);
  return (table.every((line) => line.length <= room) ? table : below).join('\n');
};
