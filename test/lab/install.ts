// The agents themselves: installed once each, outside the project.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { LabAgent } from './agents/agent.js';

/** Where they are kept: CTXWRAP_LAB_CACHE, or the user's cache folder. */
export const cacheFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  env['CTXWRAP_LAB_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'ctxwrap-lab');

/** The folder of the agent's commands. Installs the agent when it is not there. */
export const installed = (agent: LabAgent, version: string, cache: string): string => {
  const folder = join(cache, `${agent.name}-${version}`);
  const commands = join(folder, 'node_modules', '.bin');
  if (existsSync(join(commands, agent.name))) return commands;
  install(agent.packages(version), folder);
  if (!existsSync(join(commands, agent.name))) throw new Error(`npm installed no command ${agent.name}`);
  return commands;
};

/** All or nothing: what an interrupted npm leaves is never taken for the agent. */
const install = (packages: readonly string[], folder: string): void => {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'package.json'), JSON.stringify({ private: true }));
  process.stderr.write(`installing ${packages.join(' ')} …\n`);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages];
  const { status, error } = spawnSync('npm', args, { cwd: draft, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`npm could not install ${packages.join(' ')}: ${error?.message ?? `status ${status}`}`);
  }
  renameSync(draft, folder);
};
