// Opens the files that are to hold what a session shows, where the user has named them.
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, lstatSync, openSync } from 'node:fs';
import { getuid } from 'node:process';

const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_WRONLY } = constants;
const FILE_MODE = 0o600;
const OTHERS = 0o077;

/**
 * Opens a file for writing, for the user alone from before the first byte; throws why that cannot be. A file that is there is taken when
 * it is the user's own; of what is no file only devices, which nobody but the system can have put there. Nothing is waited for: what
 * writes into a device must reckon with EAGAIN.
 */
export const openPrivateFile = (path: string, how: 'append' | 'empty'): number => {
  demandHonestName(path);
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, FILE_MODE);
  try {
    const stats = fstatSync(file);
    if (stats.isCharacterDevice()) return file;
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.uid !== getuid?.()) throw new Error('it belongs to another user');
    if ((stats.mode & OTHERS) !== 0) fchmodSync(file, FILE_MODE);
    if (how === 'empty') ftruncateSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
};

/** A link of another user's, in a folder for all, would lead into a file of this user's that they have not named. */
const demandHonestName = (path: string): void => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const isOwn = stats?.uid === 0 || stats?.uid === getuid?.();
  if (stats?.isSymbolicLink() === true && !isOwn) throw new Error('it is a link of another user');
  if (stats?.isFIFO() === true) throw new Error('it is not a regular file');
};
