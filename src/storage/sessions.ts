import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { lstat, readdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { jsonText, type Printable } from '../core/printable.js';
import { errorCode } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import {
  isRunningAs,
  livenessOf,
  findOutdated,
  KEPT_MS,
  type Liveness,
  type SessionRecord,
  verifiedFileName,
  type VerifiedRecord,
} from '../core/report/records.js';
import { isSessionId } from '../core/report/session-id.js';
import { sweepJournals } from './event-journal.js';
import { movingAway, systemReason, unreadableFolderError } from './errors.js';
import { isRunning } from './processes.js';
import { ensureFolder, linkRefusal, readSmallFile, writeAtomic, readOwnFile } from './state-folder.js';
import { type FolderWatch, watchFolder } from './watch.js';

// The records of all wrapped sessions of this user: `sessions/<id>.json` in the state folder.

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const FOLDER = 'sessions';
const MAX_BYTES = 64 * 1024;
const MAX_FILES = 1_000; // records read at most
const SUFFIX = '.json';
const TEMPORARY_FILE_MS = 60_000; // an older temporary file was left by a wrapper that was killed while writing

export interface ListedSession {
  readonly record: SessionRecord;
  readonly liveness: Liveness;
}

/** Path of the folder with the records, which is created if missing. */
export const ensureSessionsFolder = (stateFolder: string): Promise<string> =>
  ensureFolder(stateFolder, FOLDER);

export const writeSession = (folder: string, record: SessionRecord): Promise<void> =>
  writeAtomic(join(folder, record.id + SUFFIX), jsonText(record));

/** All readable records, ordered by start time. Read-only. Throws a UserError for a folder that cannot be read. */
export const listSessions = (stateFolder: string, now: Millis): Promise<readonly ListedSession[]> =>
  makeSessionsReader(stateFolder)(now);

/** A record that was read, and the state of its file then. */
interface KnownRecord {
  readonly stamp: string;
  /** of the file, without the time of the heartbeat; undefined where it holds no record */
  readonly text: string;
  readonly record: SessionRecord | undefined;
  readonly isAlive: boolean;
  readonly checkedAt: Millis;
}

const CHECK_MS = 5_000; // between two looks for the process of a record that is not written any more
const FRESH_MS = 8_000; // a wrapper writes every 5 s

/**
 * Lists the same records again and again: a file that has not changed is not read, and one in which only the heartbeat has changed is not
 * parsed. What each call returns is as of `listSessions`, but for the end of a process that was killed, which is noticed within 8 s.
 */
export const makeSessionsReader = (
  stateFolder: string,
): ((now: Millis) => Promise<readonly ListedSession[]>) => {
  const folder = join(stateFolder, FOLDER);
  let known = new Map<string, KnownRecord>();
  return async (now) => {
    const ids = (await listNames(folder))
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter(isSessionId)
      .slice(0, MAX_FILES);
    const next = new Map<string, KnownRecord>();
    for (const id of ids) {
      const found = checked(await readRecord(folder, id, known.get(id)), now);
      if (found) next.set(id, found);
    }
    known = next;
    return [...known.values()]
      .flatMap(({ record, isAlive }) =>
        record ? [{ record, liveness: livenessOf(record, isAlive, now) }] : [],
      )
      .toSorted((a, b) => a.record.startedAt - b.record.startedAt);
  };
};

/** The record of this file now; undefined if there is no file. */
const readRecord = async (
  folder: string,
  id: string,
  before: KnownRecord | undefined,
): Promise<KnownRecord | undefined> => {
  const path = join(folder, id + SUFFIX);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  const stamp = [stats.ino, stats.size, stats.mtimeMs].join();
  if (before?.stamp === stamp) return before;
  const whole = readNow(path) ?? '';
  const { text, heartbeatAt } = withoutHeartbeat(whole);
  if (before?.record && before.text === text && heartbeatAt !== undefined)
    return { ...before, stamp, record: { ...before.record, heartbeatAt } };
  const parsed = (await import('../core/read-record.js')).parseSessionRecord(whole);
  return {
    stamp,
    text,
    record: parsed?.id === id ? parsed : undefined,
    isAlive: before?.isAlive ?? false,
    checkedAt: before?.checkedAt ?? -Infinity,
  };
};

const content = Buffer.alloc(MAX_BYTES + 1); // of the file that is being read

/** The same as `readSmallFile`, at once: for hundreds of files a second that is a fifth of the work. */
const readNow = (path: string): string | undefined => {
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const length = fstatSync(file).isFile() ? readSync(file, content) : 0;
      return length > MAX_BYTES ? undefined : content.toString('utf8', 0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
};

const HEARTBEAT = /"heartbeatAt":(\d{1,16})(?=[,}])/; // no text in JSON has this: its quotes are escaped

const withoutHeartbeat = (whole: string): { readonly text: string; readonly heartbeatAt?: Millis } => {
  const found = HEARTBEAT.exec(whole);
  if (!found) return { text: whole };
  return { text: whole.replace(HEARTBEAT, ''), heartbeatAt: Number(found[1]) };
};

const checked = (found: KnownRecord | undefined, now: Millis): KnownRecord | undefined => {
  if (!found?.record) return found;
  const { endedAt, heartbeatAt, pid, processStart } = found.record;
  // one that was found alive and goes on writing is alive
  const isFresh = found.isAlive && endedAt === undefined && Math.abs(now - heartbeatAt) < FRESH_MS;
  if (isFresh || (Math.abs(now - found.checkedAt) < CHECK_MS && endedAt === undefined)) return found;
  return { ...found, isAlive: endedAt === undefined && isRunning(pid, processStart), checkedAt: now };
};

/** One session; undefined if there is no readable record. */
export const readSession = async (
  stateFolder: string,
  id: string,
  now: Millis,
): Promise<ListedSession | undefined> => {
  const path = join(stateFolder, FOLDER, id + SUFFIX);
  const text = await readSmallFile(path, MAX_BYTES);
  const record =
    text === undefined ? undefined : (await import('../core/read-record.js')).parseSessionRecord(text);
  if (record === undefined || record.id !== id) return undefined;
  const isAlive = record.endedAt === undefined && isRunning(record.pid, record.processStart);
  return { record, liveness: livenessOf(record, isAlive, now) };
};

/** Removes outdated records, never one of a running session. */
export const cleanSessions = async (stateFolder: string, now: Millis): Promise<void> => {
  const folder = join(stateFolder, FOLDER);
  const sessions = await listSessions(stateFolder, now);
  const outdated = new Set(findOutdated(sessions, now).map(({ id }) => id));
  for (const id of outdated) await unlink(join(folder, id + SUFFIX)).catch(() => undefined);
  const kept = sessions.map(({ record }) => record.id).filter((id) => !outdated.has(id));
  await sweepHandoffs(stateFolder, { kept: new Set(kept), outdated, now });
  const running = sessions.filter(({ liveness }) => isRunningAs(liveness));
  const ids = new Set(running.map(({ record }) => record.id));
  await sweepJournals(stateFolder, (id) => ids.has(id), now);
  for (const name of (await listNames(folder)).filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && now - stats.mtimeMs > TEMPORARY_FILE_MS) await unlink(path).catch(() => undefined);
  }
};

// The handoffs that sessions have written: `handoff/<id>.md` in the state folder, one a session.

const HANDOFF_FOLDER = 'handoff';
const HANDOFF_SUFFIX = '.md';

/** Takes the place of an earlier one of the session; returns the path. Rejects if writing fails. */
export const writeHandoff = async (stateFolder: string, id: string, text: Printable): Promise<string> => {
  const path = join(await ensureFolder(stateFolder, HANDOFF_FOLDER), id + HANDOFF_SUFFIX);
  await writeAtomic(path, text);
  return path;
};

interface SweptSessions {
  readonly kept: ReadonlySet<string>;
  readonly outdated: ReadonlySet<string>;
  readonly now: Millis;
}

/** Removes those of outdated sessions, and old ones that no record belongs to. */
const sweepHandoffs = async (stateFolder: string, { kept, outdated, now }: SweptSessions): Promise<void> => {
  const folder = join(stateFolder, HANDOFF_FOLDER);
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const id = name.slice(0, -HANDOFF_SUFFIX.length);
    if (kept.has(id)) continue;
    const stats = await lstat(path).catch(() => undefined);
    const isOld = stats !== undefined && now - stats.mtimeMs > KEPT_MS;
    if (outdated.has(id) || isOld) await unlink(path).catch(() => undefined);
  }
};

/** Names in the folder; empty if it does not exist; throws if it cannot be read, or sessions may not use it. */
const listNames = async (folder: string): Promise<readonly string[]> => {
  const above = dirname(folder);
  const refusal = linkRefusal(above);
  if (refusal !== undefined) throw unreadableFolderError('sessions', folder, refusal, movingAway(above));
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw unreadableFolderError('sessions', folder, systemReason(error));
  }
};

/** Calls `onChange` when a record may have changed. The system may report nothing, also where there was no session yet. */
export const watchSessionsFolder = (stateFolder: string, onChange: () => void): FolderWatch =>
  watchFolder(join(stateFolder, FOLDER), onChange);

// The file of a session for node_exporter's textfile collector: `ctxwrap-<session>.prom` in a folder of the user's. One file for each
// session, so that no wrapper ever writes what another one has counted.

const METRICS_FILE = /^ctxwrap-((\d+)-[A-Za-z0-9_-]+)\.prom(?:\.[0-9a-f]+\.tmp)?$/;
const METRICS_FILE_MODE = 0o644; // the collector runs as another user
const METRICS_KEPT_MS = 15 * 60_000; // after the end of a session, so that its last counts are collected
const MOST_SWEPT = 1_000; // files examined

export interface MetricsFile {
  /** rejects where the folder does not exist or cannot be written */
  readonly write: (text: string) => Promise<void>;
}

/** The session's id begins with the wrapper's pid. */
export const metricsFile = (folder: string, id: string): MetricsFile => {
  if (!isSessionId(id)) throw new Error(`"${id}" is no id of a session`);
  return {
    write: (text) => writeAtomic(join(folder, `ctxwrap-${id}.prom`), text, { mode: METRICS_FILE_MODE }),
  };
};

/** Removes the files of wrappers that ended a while ago, also those that were killed. Never rejects. */
export const sweepMetrics = async (folder: string, now: Millis): Promise<void> => {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => METRICS_FILE.test(each)).slice(0, MOST_SWEPT)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    const isOld = stats !== undefined && now - stats.mtimeMs > METRICS_KEPT_MS;
    if (isOld && !isRunning(Number(METRICS_FILE.exec(name)?.[2]))) await unlink(path).catch(() => undefined);
  }
};

// Results of `ctxwrap verify`: `verified/<agent>-<version>.json` in the state folder, the latest run for each version.

const VERIFIED_RECORDS_FOLDER = 'verified';
const VERIFIED_RECORDS_MAX_BYTES = 64 * 1024;

/** Returns the path. Rejects for a version that cannot be part of a file name, and if writing fails. */
export const writeVerified = async (stateFolder: string, record: VerifiedRecord): Promise<string> => {
  const name = verifiedFileName(record.agent, record.agentVersion);
  if (name === undefined) throw new Error(`"${record.agentVersion}" is no version`);
  const path = join(await ensureFolder(stateFolder, VERIFIED_RECORDS_FOLDER), `${name}.json`);
  await writeAtomic(path, jsonText(record, 1));
  return path;
};

/** Undefined if this version was not verified, or the file is broken, another user's or of another version. Read-only. */
export const readVerified = async (
  stateFolder: string,
  agent: string,
  agentVersion: string,
): Promise<VerifiedRecord | undefined> => {
  const name = verifiedFileName(agent, agentVersion);
  if (name === undefined) return undefined;
  const text = await readOwnFile(
    join(stateFolder, VERIFIED_RECORDS_FOLDER, `${name}.json`),
    VERIFIED_RECORDS_MAX_BYTES,
  );
  const record =
    text === undefined ? undefined : (await import('../core/read-record.js')).parseVerifiedRecord(text);
  return record?.agent === agent && record.agentVersion === agentVersion ? record : undefined;
};
