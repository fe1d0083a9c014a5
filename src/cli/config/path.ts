import { join, resolve } from 'node:path';
import { shellWord } from '../../core/json.js';
import { userConfigPath } from '../../storage/config-paths.js';
import { homeFolder } from '../../storage/state-folder.js';
import { workingFolder } from '../print.js';
import type { Options } from '../request.js';

// Where configurations are.

/** The world as a configuration is read in it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** Where we are. */
export const surroundings = (): Surroundings => {
  const { env } = process;
  return { env, home: homeFolder(env), cwd: workingFolder() };
};

/** What the command line says of the files. */
export type Named = Pick<Options, 'config' | 'flags'>;

/** Where the user's configuration is. */
export const configPath = (
  { config }: Named,
  { env, home, cwd }: Surroundings,
): { readonly path: string; readonly isNamed: boolean } => {
  const named = config ?? env['CTXWRAP_CONFIG'];
  if (named === undefined || named === '') return { path: userConfigPath(env, home), isNamed: false };
  return { path: resolve(cwd, withHome(named, home)), isNamed: true };
};

/** A command of ours that is about the same file as this one. */
export const ownCommand = (words: string, { config }: Named): string =>
  config === undefined ? `ctxwrap ${words}` : `ctxwrap --config ${shellWord(config)} ${words}`;

/** `~/` is the user's own folder. */
export const withHome = (path: string, home: string): string =>
  path.startsWith('~/') ? join(home, path.slice(2)) : path;
