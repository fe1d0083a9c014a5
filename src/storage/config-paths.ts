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

/** Undefined where there is no regular file of at most 1 MB that can be read. */
export const readText = (path: string): string | undefined => {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MOST_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
};

/** Whether something has this path, even if it cannot be read. */
export const pathExists = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const code = errorCode(error);
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
};
