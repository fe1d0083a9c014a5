import { join, resolve } from 'node:path';
import { quoteForCopying } from '../../core/text.js';
import { userConfigPath } from '../../storage/config-paths.js';
import { homeFolder } from '../../storage/state-folder.js';
import { workingFolder } from '../print.js';
import type { Options } from '../request.js';

// Where configurations are.

/** The world as a configuration is read in it. */
export interface ConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** Where we are. */
export const currentContext = (): ConfigContext => {
  const { env } = process;
  return { env, home: homeFolder(env), cwd: workingFolder() };
};

/** What the command line says of the files. */
export type ConfigOptions = Pick<Options, 'config' | 'flags'>;

/** Where the user's configuration is. */
export const configPath = (
  { config }: ConfigOptions,
  { env, home, cwd }: ConfigContext,
): { readonly path: string; readonly isNamed: boolean } => {
  const named = config ?? env['CTXWRAP_CONFIG'];
  if (named === undefined || named === '') return { path: userConfigPath(env, home), isNamed: false };
  return { path: resolve(cwd, expandHome(named, home)), isNamed: true };
};

/** A command of ours that is about the same file as this one. */
export const configCommand = (words: string, { config }: ConfigOptions): string =>
  config === undefined ? `ctxwrap ${words}` : `ctxwrap --config ${quoteForCopying(config)} ${words}`;

/** `~/` is the user's own folder. */
export const expandHome = (path: string, home: string): string =>
  path.startsWith('~/') ? join(home, path.slice(2)) : path;
