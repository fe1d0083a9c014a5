import { join, resolve } from 'node:path';
import { quoteForCopying } from '../../core/text.js';
import { userConfigPath } from '../../storage/config-paths.js';
import { homeFolder } from '../../storage/state-folder.js';
import { workingFolder } from '../print.js';
import type { Options } from '../request.js';

// Where configuration files are.

/** Everything outside the process that decides how a configuration is read. */
export interface ConfigContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** The context of this process. */
export const currentContext = (): ConfigContext => {
  const { env } = process;
  return { env, home: homeFolder(env), cwd: workingFolder() };
};

/** The options that choose configuration files. */
export type ConfigOptions = Pick<Options, 'config' | 'flags'>;

/** The path of the user's configuration. */
export const configPath = (
  { config }: ConfigOptions,
  { env, home, cwd }: ConfigContext,
): { readonly path: string; readonly isNamed: boolean } => {
  const named = config ?? env['CTXWRAP_CONFIG'];
  if (named === undefined || named === '') return { path: userConfigPath(env, home), isNamed: false };
  return { path: resolve(cwd, expandHome(named, home)), isNamed: true };
};

/** A ctxwrap command about the same configuration file. */
export const configCommand = (words: string, { config }: ConfigOptions): string =>
  config === undefined ? `ctxwrap ${words}` : `ctxwrap --config ${quoteForCopying(config)} ${words}`;

/** A path as it is written in a sentence: with `~/` for the home folder. */
export const shortenHome = (path: string, home: string): string =>
  path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;

/** Expands `~/` to the home folder. */
export const expandHome = (path: string, home: string): string =>
  path.startsWith('~/') ? join(home, path.slice(2)) : path;
