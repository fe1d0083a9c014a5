import { lstatSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { errorCode } from '../core/errors.js';

// Paths of configuration files.

type Env = Readonly<Record<string, string | undefined>>;

/** Path of the user's configuration, unless another file is named. */
export const userConfigPath = (env: Env, home: string): string => {
  const given = env['XDG_CONFIG_HOME'];
  const folder = given !== undefined && isAbsolute(given) ? given : join(home, '.config');
  return join(folder, 'ctxwrap', 'config.jsonc');
};

/** Path of a project's configuration: only in the folder where the agent is started, not above it. */
export const projectConfigPath = (cwd: string): string => join(cwd, '.ctxwrap.jsonc');

const MOST_BYTES = 1024 * 1024;

/** A file that a configuration names; undefined where there is no regular file. Without its text where that is longer than 1 MB or cannot be read. */
export const readNamedFile = (path: string): { readonly text?: string } | undefined => {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return undefined;
    return stats.size <= MOST_BYTES ? { text: readFileSync(path, 'utf8') } : {};
  } catch (error) {
    return NO_FILE.has(errorCode(error)) ? undefined : {};
  }
};

const NO_FILE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Whether something has this path, even if it cannot be read. */
export const pathExists = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const code = errorCode(error);
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
};
