import { watch } from 'node:fs';

/** Tells of changes in a folder until closed. It does not keep the process alive. */
export interface FolderWatch {
  readonly close: () => void;
}

/**
 * `onChange` gets the name of what has changed, where the system tells. Never throws: some file systems tell of nothing, and there is
 * a limit to how many folders a user may watch. So whoever calls this has to look by himself, too.
 */
export const watchFolder = (folder: string, onChange: (name: string | undefined) => void): FolderWatch => {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => onChange(name ?? undefined));
    watcher.on('error', () => watcher.close());
    return { close: () => watcher.close() };
  } catch {
    return { close: () => undefined };
  }
};
