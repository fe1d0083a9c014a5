import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Millis } from '../core/reading.js';
import { isSessionId } from '../core/records.js';
import { isRunning } from './processes.js';
import { writeAtomic } from './state-folder.js';

// The file of a session for node_exporter's textfile collector: `ctxwrap-<session>.prom` in a folder of the user's. One file for each
// session, so that no wrapper ever writes what another one has counted.

const FILE = /^ctxwrap-((\d+)-[A-Za-z0-9_-]+)\.prom(?:\.[0-9a-f]+\.tmp)?$/;
const FILE_MODE = 0o644; // the collector runs as another user
const KEPT_MS = 15 * 60_000; // after the end of a session, so that its last counts are collected
const MOST_SWEPT = 1_000; // files examined

export interface MetricsFile {
  /** rejects where the folder does not exist or cannot be written */
  readonly write: (text: string) => Promise<void>;
}

/** The session's id begins with the wrapper's pid. */
export const metricsFile = (folder: string, id: string): MetricsFile => {
  if (!isSessionId(id)) throw new Error(`"${id}" is no id of a session`);
  return { write: (text) => writeAtomic(join(folder, `ctxwrap-${id}.prom`), text, { mode: FILE_MODE }) };
};

/** Removes the files of wrappers that ended a while ago, also those that were killed. Never rejects. */
export const sweepMetrics = async (folder: string, now: Millis): Promise<void> => {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => FILE.test(each)).slice(0, MOST_SWEPT)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    const isOld = stats !== undefined && now - stats.mtimeMs > KEPT_MS;
    if (isOld && !isRunning(Number(FILE.exec(name)?.[2]))) await unlink(path).catch(() => undefined);
  }
};
