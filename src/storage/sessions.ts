import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import {
  isSessionId,
  livenessOf,
  findOutdated,
  type Liveness,
  type SessionRecord,
  verifiedFileName,
  type VerifiedRecord,
} from '../core/records.js';
import { systemReason, unreadableFolderError } from './errors.js';
import { isRunning } from './processes.js';
import { ensureFolder, readSmallFile, writeAtomic, readOwnFile } from './state-folder.js';
import { type FolderWatch, watchFolder } from './watch.js';

// The records of all wrapped sessions of this user: `sessions/<id>.json` in the state folder.

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
  writeAtomic(join(folder, record.id + SUFFIX), `${JSON.stringify(record)}\n`);

/** All readable records, ordered by start time. Read-only. Throws a UserError for a folder that cannot be read. */
export const listSessions = async (stateFolder: string, now: Millis): Promise<readonly ListedSession[]> => {
  const folder = join(stateFolder, FOLDER);
  const names = await listNames(folder);
  const ids = names.map((name) => name.slice(0, -SUFFIX.length));
  const own = names.filter((name, index) => name.endsWith(SUFFIX) && isSessionId(ids[index] ?? ''));
  const found: ListedSession[] = [];
  for (const name of own.slice(0, MAX_FILES)) {
    const session = await readSession(stateFolder, name.slice(0, -SUFFIX.length), now);
    if (session) found.push(session);
  }
  return found.toSorted((a, b) => a.record.startedAt - b.record.startedAt);
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
  for (const { id } of findOutdated(await listSessions(stateFolder, now), now))
    await unlink(join(folder, id + SUFFIX)).catch(() => undefined);
  for (const name of (await listNames(folder)).filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && now - stats.mtimeMs > TEMPORARY_FILE_MS) await unlink(path).catch(() => undefined);
  }
};

/** Names in the folder; empty if it does not exist; throws if it cannot be read. */
const listNames = async (folder: string): Promise<readonly string[]> => {
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

// Results of `ctxwrap verify`: `verified/<agent>-<version>.json` in the state folder, the latest run for each version.

const VERIFIED_RECORDS_FOLDER = 'verified';
const VERIFIED_RECORDS_MAX_BYTES = 64 * 1024;

/** Returns the path. Rejects for a version that cannot be part of a file name, and if writing fails. */
export const writeVerified = async (stateFolder: string, record: VerifiedRecord): Promise<string> => {
  const name = verifiedFileName(record.agent, record.agentVersion);
  if (name === undefined) throw new Error(`"${record.agentVersion}" is no version`);
  const path = join(await ensureFolder(stateFolder, VERIFIED_RECORDS_FOLDER), `${name}.json`);
  await writeAtomic(path, `${JSON.stringify(record, undefined, 1)}\n`);
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
