import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/** The user's own folder: what HOME says, unless that is nothing or would mean another folder wherever we are started. */
export const homeFolder = (env: Readonly<Record<string, string | undefined>>): string => {
  const given = env['HOME'];
  return given !== undefined && isAbsolute(given) ? given : registeredHome();
};

/** As the system knows the user; a container may run as one that it does not know. */
const registeredHome = (): string => {
  try {
    return userInfo().homedir;
  } catch {
    return '/';
  }
};
