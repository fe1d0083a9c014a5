// Settings files of an agent, read for what they say and looked at again for whether they say something else.
import { stat } from 'node:fs/promises';
import { namesIn, settingsText } from './status-line.js';

/** Files and folders as they were when they were read. */
export interface SettingsFiles {
  readonly text: (path: string) => Promise<string | undefined>;
  readonly names: (folder: string) => Promise<readonly string[]>;
  /** whether one of those that were read is another one now */
  readonly haveChanged: () => Promise<boolean>;
}

/** Links are followed: the files are the user's own, who may keep them elsewhere. */
export const settingsFiles = (): SettingsFiles => {
  const stamps = new Map<string, string>();
  const stamped = async (path: string): Promise<string> => {
    stamps.set(path, await stampOf(path)); // before it is read: a change meanwhile is seen the next time
    return path;
  };
  return {
    text: async (path) => settingsText(await stamped(path)),
    names: async (folder) => namesIn(await stamped(folder)),
    haveChanged: async () => {
      const now = await Promise.all([...stamps.keys()].map(stampOf));
      return [...stamps.values()].some((stamp, index) => stamp !== now[index]);
    },
  };
};

const stampOf = async (path: string): Promise<string> => {
  const stats = await stat(path).catch(() => undefined);
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeMs].join() : '';
};
