import { stat } from 'node:fs/promises';
import type { SessionDatabase } from '../agents/database.js';
import type { Millis } from '../core/reading.js';
import { readRows } from '../storage/database.js';
import { followByPolling, type FollowOptions } from '../storage/watch.js';

// Follows a session in a database as `tail` follows a file: rows that are new or have changed become lines.

export interface FollowDatabaseOptions extends Pick<
  FollowOptions,
  'path' | 'intervalMs' | 'onCaughtUp' | 'onProblem' | 'rest'
> {
  readonly sessionId: string;
  readonly database: SessionDatabase;
  readonly onLine: (line: string) => void;
  /** earlier lines are void, and all rows are read again: some were removed, or there was a problem */
  readonly onRestart: () => void;
}

/** What the database looked like at the last read. */
interface Position {
  /** size and time of the database and of its write-ahead log */
  readonly stamp: string;
  readonly since: Millis;
  readonly rows: number;
}

const UNREAD: Position = { stamp: '', since: 0, rows: 0 };

/** The database and its write-ahead log. */
const filesOf = (path: string): readonly string[] => [path, `${path}-wal`];

const stampOf = async (path: string): Promise<string> => {
  const stats = await Promise.all(filesOf(path).map((each) => stat(each).catch(() => undefined)));
  return stats.map((each) => `${each?.ino}:${each?.size}:${each?.mtimeMs}`).join(' ');
};

/** Reads the session's rows and then every change, until stopped. */
export const followDatabase = (options: FollowDatabaseOptions): { readonly stop: () => void } => {
  const rows = makeRowReader(options);
  const following = followByPolling({ ...options, ...rows, watched: filesOf(options.path) });
  return {
    stop: () => {
      following.stop();
      rows.stop();
    },
  };
};

const makeRowReader = ({ path, sessionId, database, onLine, onRestart }: FollowDatabaseOptions) => {
  let position = UNREAD;
  let wasRead = false;
  let isStopped = false;

  const readSince = async (stamp: string): Promise<void> => {
    const [[count] = [], changed = []] = await readRows(path, [
      database.counted(sessionId, position.since),
      database.changed(sessionId, position.since),
    ]);
    if (isStopped) return;
    const rows = Number(count?.['rows']);
    // all that were there have been read, so they are not newer than the last of them: fewer of those means that some were removed
    if (Number(count?.['older']) < position.rows) {
      position = UNREAD;
      return readSince(stamp);
    }
    if (position === UNREAD && wasRead) onRestart();
    wasRead = true;
    const since = changed.reduce((last, { at }) => Math.max(last, Number(at)), position.since);
    position = { stamp, since, rows };
    for (const { line } of changed) if (typeof line === 'string') onLine(line);
  };

  return {
    readNew: async (): Promise<boolean> => {
      const stamp = await stampOf(path); // before reading, so that a change in between is noticed
      if (isStopped || stamp === position.stamp) return false;
      await readSince(stamp);
      return !isStopped;
    },
    reset: (): void => {
      position = UNREAD;
    },
    stop: (): void => {
      isStopped = true;
    },
  };
};
