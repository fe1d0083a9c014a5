import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../core/json.js';
import type { Millis } from '../core/reading.js';
import {
  isSessionId,
  livenessOf,
  outdated,
  type Liveness,
  type SessionRecord,
  verifiedName,
  type VerifiedRecord,
} from '../core/records.js';
import { reasonOf, unreadableFolder } from './errors.js';
import { isRunning } from './processes.js';
import { ensureFolder, readSmall, writeAtomic, readOwn } from './state-folder.js';

// The records of all wrapped sessions of this user: `sessions/<id>.json` in the state folder.

const FOLDER = 'sessions';
const MOST_BYTES = 64 * 1024;
const MOST_FILES = 1_000; // looked at
const SUFFIX = '.json';
const DRAFT_MS = 60_000; // a draft is written in a moment; an older one is left of a wrapper that was killed in it

export interface ListedSession {
  readonly record: SessionRecord;
  readonly liveness: Liveness;
}

/** Where the records are; the folder is made when it is not there. */
export const sessionsFolder = (stateFolder: string): Promise<string> => ensureFolder(stateFolder, FOLDER);

export const writeSession = (folder: string, record: SessionRecord): Promise<void> =>
  writeAtomic(join(folder, record.id + SUFFIX), `${JSON.stringify(record)}\n`);

/** All records that can be read, in the order the sessions began. Nothing is made or changed. Throws a UserError for a folder that cannot be read. */
export const listSessions = async (stateFolder: string, now: Millis): Promise<readonly ListedSession[]> => {
  const folder = join(stateFolder, FOLDER);
  const names = await namesIn(folder);
  const ids = names.map((name) => name.slice(0, -SUFFIX.length));
  const own = names.filter((name, index) => name.endsWith(SUFFIX) && isSessionId(ids[index] ?? ''));
  const found: ListedSession[] = [];
  for (const name of own.slice(0, MOST_FILES)) {
    const session = await readSession(stateFolder, name.slice(0, -SUFFIX.length), now);
    if (session) found.push(session);
  }
  return found.toSorted((a, b) => a.record.startedAt - b.record.startedAt);
};

/** One session; undefined when there is no record of it that can be read. */
export const readSession = async (
  stateFolder: string,
  id: string,
  now: Millis,
): Promise<ListedSession | undefined> => {
  const path = join(stateFolder, FOLDER, id + SUFFIX);
  const text = await readSmall(path, MOST_BYTES);
  const record =
    text === undefined ? undefined : (await import('../core/read-record.js')).parseSessionRecord(text);
  if (record === undefined || record.id !== id) return undefined;
  const runs = record.endedAt === undefined && isRunning(record.pid, record.processStart);
  return { record, liveness: livenessOf(record, runs, now) };
};

/** Removes the records nobody needs any more, never one of a session that runs. */
export const cleanSessions = async (stateFolder: string, now: Millis): Promise<void> => {
  const folder = join(stateFolder, FOLDER);
  for (const { id } of outdated(await listSessions(stateFolder, now), now))
    await unlink(join(folder, id + SUFFIX)).catch(() => undefined);
  for (const name of (await namesIn(folder)).filter((each) => each.endsWith('.tmp'))) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && now - stats.mtimeMs > DRAFT_MS) await unlink(path).catch(() => undefined);
  }
};

/** None where there is no folder yet; throws what keeps the user from one that is there. */
const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw unreadableFolder('sessions', folder, reasonOf(error));
  }
};

// What the user has tried with `ctxwrap verify`: `verified/<agent>-<version>.json` in the state folder, the last try of each version.

const VERIFIED_RECORDS_FOLDER = 'verified';
const VERIFIED_RECORDS_MOST_BYTES = 64 * 1024;

/** Gives the path. Rejects for a version that can be no name of a file, and where nothing can be written. */
export const writeVerified = async (stateFolder: string, record: VerifiedRecord): Promise<string> => {
  const name = verifiedName(record.agent, record.agentVersion);
  if (name === undefined) throw new Error(`"${record.agentVersion}" is no version`);
  const path = join(await ensureFolder(stateFolder, VERIFIED_RECORDS_FOLDER), `${name}.json`);
  await writeAtomic(path, `${JSON.stringify(record, undefined, 1)}\n`);
  return path;
};

/** Undefined where this version was not tried, and for a file that is broken, foreign or of another version. Nothing is made or changed. */
export const readVerified = async (
  stateFolder: string,
  agent: string,
  agentVersion: string,
): Promise<VerifiedRecord | undefined> => {
  const name = verifiedName(agent, agentVersion);
  if (name === undefined) return undefined;
  const text = await readOwn(
    join(stateFolder, VERIFIED_RECORDS_FOLDER, `${name}.json`),
    VERIFIED_RECORDS_MOST_BYTES,
  );
  const record =
    text === undefined ? undefined : (await import('../core/read-record.js')).parseVerifiedRecord(text);
  return record?.agent === agent && record.agentVersion === agentVersion ? record : undefined;
};
