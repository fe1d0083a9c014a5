import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { FileEntry, FilePort } from '../../src/agents/agent.js';
import type { ChildPlace } from '../../src/agents/agent.js';
import type { JsonRecord } from '../../src/core/json.js';

/** A file of the fake machine: its modification time and content. */
export interface FakeFile {
  readonly modifiedAt: number;
  readonly text?: string;
}

/** A machine as data: its files, the processes below the child, and their open files. */
export interface FakeMachine {
  readonly files: Readonly<Record<string, FakeFile>>;
  readonly family?: readonly number[];
  /** a missing process cannot be read */
  readonly open?: Readonly<Record<number, readonly string[]>>;
  /** rows of its databases, by path, whatever is asked; a missing one cannot be read */
  readonly rows?: Readonly<Record<string, readonly JsonRecord[]>>;
}

export const fakePort = ({ files, family = [100], open = {}, rows = {} }: FakeMachine): FilePort => {
  const entryOf = (path: string): FileEntry | undefined => {
    const file = files[path];
    return file && { path, name: posix.basename(path), modifiedAt: file.modifiedAt };
  };
  const textOf = (path: string): string | undefined => files[path] && (files[path].text ?? '');
  return {
    list: async (folder, wanted) =>
      Object.keys(files)
        .filter((path) => posix.dirname(path) === folder && wanted(posix.basename(path)))
        .map(entryOf)
        .filter((entry) => entry !== undefined),
    folders: async (folder) => {
      const below = Object.keys(files).filter((path) => path.startsWith(`${folder}/`));
      const rests = below.map((path) => path.slice(folder.length + 1).split('/'));
      return [...new Set(rests.filter(({ length }) => length > 1).map(([name = '']) => name))];
    },
    entry: async (path) => entryOf(path),
    exists: async (path) => path in files,
    firstLine: async (path) => textOf(path)?.split('\n')[0],
    lastPart: async (path) => textOf(path),
    smallText: async (path) => textOf(path),
    family: async () => family,
    openFiles: async (pid) => open[pid],
    rows: async (path) => rows[path],
    sha256: async (text) => createHash('sha256').update(text).digest('hex'),
  };
};

/** A child with pid 100, started at 10:00 in /proj/app by the user with home /home/me; ten seconds ago. */
export const fakePlace = (more: Partial<ChildPlace> = {}): ChildPlace => {
  const startedAt = Date.UTC(2026, 10, 21, 10, 0, 0);
  return {
    childPid: 100,
    cwd: '/proj/app',
    home: '/home/me',
    env: {},
    args: [],
    startedAt,
    now: startedAt + 10_000,
    ...more,
  };
};
