import { stat } from 'node:fs/promises';
import type { SessionDatabase } from '../agents/database.js';
import { errorText } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import { readRows } from '../storage/database.js';
import { pollPause } from '../storage/watch.js';

// Follows a session in a database as `tail` follows a file: rows that are new or have changed become lines.

export interface FollowDatabaseOptions {
  readonly path: string;
  readonly sessionId: string;
  readonly database: SessionDatabase;
  readonly intervalMs: number;
  readonly onLine: (line: string) => void;
  /** rows were removed: earlier lines are void, and all others are read again */
  readonly onRestart: () => void;
  readonly onCaughtUp: () => void;
  /** called once for a problem until reading works again */
  readonly onProblem: (reason: string) => void;
}

/** What the database looked like at the last read. */
interface Position {
  /** size and time of the database and of its write-ahead log */
  readonly stamp: string;
  readonly since: Millis;
  readonly rows: number;
}

const UNREAD: Position = { stamp: '', since: 0, rows: 0 };

const stampOf = async (path: string): Promise<string> => {
  const stats = await Promise.all([path, `${path}-wal`].map((each) => stat(each).catch(() => undefined)));
  return stats.map((each) => `${each?.ino}:${each?.size}:${each?.mtimeMs}`).join(' ');
};

/** Reads the session's rows and then every change, until stopped. */
export const followDatabase = (options: FollowDatabaseOptions): { readonly stop: () => void } => {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let position = UNREAD;
  let problem: string | undefined;
  let changedAt = performance.now();

  const readNew = (stamp: string): void => {
    const { path, sessionId, database } = options;
    const [[count] = [], changed = []] = readRows(path, [
      database.counted(sessionId),
      database.changed(sessionId, position.since),
    ]);
    const rows = Number(count?.['rows']);
    if (rows < position.rows) {
      position = UNREAD;
      options.onRestart();
      return readNew(stamp);
    }
    const since = changed.reduce((last, { at }) => Math.max(last, Number(at)), position.since);
    position = { stamp, since, rows };
    for (const { line } of changed) if (typeof line === 'string') options.onLine(line);
    changedAt = performance.now();
    options.onCaughtUp();
  };

  const poll = async (): Promise<void> => {
    try {
      const stamp = await stampOf(options.path); // before reading, so that a change in between is noticed
      if (!isStopped && stamp !== position.stamp) readNew(stamp);
      problem = undefined;
    } catch (error) {
      const reason = `${options.path}: ${errorText(error)}`;
      if (!isStopped && reason !== problem) options.onProblem(reason);
      problem = reason;
    }
    if (!isStopped) timer = setTimeout(poll, pollPause(options.intervalMs, changedAt)).unref();
  };

  void poll();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
