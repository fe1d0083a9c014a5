// Installs the agents, once each, outside the project.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseRecord, getRecord, getText } from '../../src/core/json.js';
import type { LabAgent } from './agents/agent.js';

/** Where they are kept: CTXWRAP_LAB_CACHE, or the user's cache folder. */
export const cacheFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  env['CTXWRAP_LAB_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ctxwrap-lab');

/** The folder of the agent's commands. Installs the agent if it is not there. */
export const installed = (agent: LabAgent, version: string, cache: string): string => {
  const folder = join(cache, `${agent.name}-${version}`);
  if (!existsSync(commandIn(folder, agent))) install(agent, version, folder);
  return dirname(commandIn(folder, agent));
};

const commandIn = (folder: string, { name }: LabAgent): string => join(folder, 'node_modules', '.bin', name);

/** The version that npm offers today. */
export const newestVersion = ({ npmName }: LabAgent): string => {
  const { stdout, status, error } = spawnSync('npm', ['view', npmName, 'version'], { encoding: 'utf8' });
  const version = /^\d\S*$/m.exec(stdout)?.[0];
  if (status === 0 && version !== undefined) return version;
  throw new Error(
    `npm does not tell the newest version of ${npmName}: ${error?.message ?? `status ${status}`}`,
  );
};

/** Atomic: an interrupted npm install is never taken for the agent. */
const install = (agent: LabAgent, version: string, folder: string): void => {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'package.json'), JSON.stringify({ private: true }));
  try {
    add(`${agent.npmName}@${version}`, draft);
    const command = commandIn(draft, agent);
    if (!existsSync(command)) throw new Error(`npm installed no command ${agent.name}`);
    const node = ownNode(realpathSync(command));
    if (node !== undefined) add(node, draft);
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};

const add = (name: string, cwd: string): void => {
  process.stderr.write(`installing ${name} …\n`);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', name];
  const { status, error } = spawnSync('npm', args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`npm could not install ${name}: ${error?.message ?? `status ${status}`}`);
};

const SCRIPT = /^#!.*\bnode\b/;

/**
 * The npm package of a newer Node for an agent that is a script and needs one; it comes first in PATH then. A native program needs none,
 * whatever its package says.
 */
const ownNode = (command: string): string | undefined => {
  const [first = ''] = readFileSync(command).subarray(0, 100).toString('latin1').split('\n');
  if (!SCRIPT.test(first)) return undefined;
  const asked = Number(
    />=\s*(\d+)/.exec(getText(getRecord(packageOf(command), 'engines'), 'node') ?? '')?.[1],
  );
  return asked > Number.parseInt(process.versions.node, 10) ? `node@${asked}` : undefined;
};

const packageOf = (path: string): ReturnType<typeof parseRecord> => {
  const folder = dirname(path);
  const found = join(folder, 'package.json');
  if (existsSync(found)) return parseRecord(readFileSync(found, 'utf8'));
  return folder === path ? undefined : packageOf(folder);
};
