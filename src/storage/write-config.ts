import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomic } from './state-folder.js';

const FOLDER_MODE = 0o700;
const OTHERS_MAY_WRITE = 0o022;

/**
 * Puts a configuration in its place, as a whole, and what was there before into FILE.bak. Rejects when something that is no regular
 * file is in the way, or the folder may not be written.
 */
export const writeConfig = async (path: string, text: string, before: string | undefined): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const stats = await lstat(path).catch(() => undefined);
  if (stats && !stats.isFile()) throw new Error(`${path} is not a regular file`); // nor may there be anything beside it
  const mode = stats && stats.mode & 0o777 & ~OTHERS_MAY_WRITE;
  if (before !== undefined) await writeAtomic(`${path}.bak`, before, mode);
  await writeAtomic(path, text, mode);
};
