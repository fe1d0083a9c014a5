import { lstatSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { errorCode } from '../core/json.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Where the user's own configuration is, unless another file is named. */
export const userConfigPath = (env: Env, home: string): string => {
  const given = env['XDG_CONFIG_HOME'];
  const folder = given !== undefined && isAbsolute(given) ? given : join(home, '.config');
  return join(folder, 'ctxwrap', 'config.jsonc');
};

/** Where a project's is: in the folder where the agent is started, and in no folder above it. */
export const projectConfigPath = (cwd: string): string => join(cwd, '.ctxwrap.jsonc');

/** Whether there is anything of this name, also what cannot be read: only a name that is free means nothing. */
export const isThere = (path: string): boolean => {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
};
