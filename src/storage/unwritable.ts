import { getSystemErrorMap } from 'node:util';
import { UserError } from '../core/user-error.js';

/** A file the user asked us to write cannot be written: said before the child starts. */
export const unwritable = (what: string, path: string, reason: string): UserError =>
  new UserError(`cannot write the ${what} "${path}": ${reason}`, {
    exitCode: 2,
    hint: 'name a file in a folder that exists and that you may write',
  });

/** The folder in which we keep something cannot be read, which is not the same as that there is nothing in it. */
export const unreadableFolder = (what: string, path: string, reason: string): UserError =>
  new UserError(`cannot read the ${what} in "${path}": ${reason}`, {
    exitCode: 2,
    hint: 'make this folder readable, or name another one in XDG_STATE_HOME',
  });

/** The system's own words for a failed call: `permission denied` rather than `EACCES: permission denied, open …`. */
export const reasonOf = (error: unknown): string => {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const known = typeof number === 'number' ? getSystemErrorMap().get(number) : undefined;
  if (known !== undefined) return known[1];
  return error instanceof Error ? error.message : String(error);
};
