import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { lstat, open, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';
import { constants } from 'node:fs';
import { errorCode } from '../core/errors.js';
import { getCount, getText, parseRecord } from '../core/json.js';
import { FILE_MODE } from './file-modes.js';
import { isRunning, processStart } from './processes.js';
import { readOwnFile } from './state-folder.js';

// An advisory lock: the file `lock` in a folder, with the process that holds it. A lock of a process that was killed is removed.

const NAME = 'lock';
const BREAK_NAME = 'lock.break';
const MAX_BYTES = 1024;
const UNWRITTEN_MS = 5_000; // a lock without its contents: the process was killed between two system calls; others wait for longer than that
const ELSEWHERE_MS = 300_000; // a process on another machine, or in another container, cannot be looked up
const LEAST_PAUSE_MS = 20;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

export interface LockOptions {
  /** makes the folder if it is missing */
  readonly ensure: () => Promise<unknown>;
  /** how long another process may hold it, in milliseconds */
  readonly waitMs?: number;
  /** the work makes room: on a full disk, where no lock can be written, it is done without one */
  readonly makesRoom?: boolean;
}

/** Runs the work while no other process holds the lock of this folder. Rejects if another one holds it for too long. */
export const withLock = async <T>(
  folder: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> => {
  const token = randomUUID();
  try {
    await acquireInTime(folder, token, options);
  } catch (error) {
    if (options.makesRoom && isDiskFull(error)) return work(); // nor can anyone else get a lock
    throw error;
  }
  try {
    return await work();
  } finally {
    await release(join(folder, NAME), token);
  }
};

const isDiskFull = (error: unknown): boolean => {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
};

const acquireInTime = async (
  folder: string,
  token: string,
  { ensure, waitMs = 10_000 }: LockOptions,
): Promise<void> => {
  const until = performance.now() + waitMs;
  for (let pause = LEAST_PAUSE_MS; !(await acquire(folder, token, ensure)); pause *= 1.5) {
    if (performance.now() >= until) throw new Error('another ctxwrap is writing there');
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, 200)));
  }
};

const acquire = async (folder: string, token: string, ensure: LockOptions['ensure']): Promise<boolean> => {
  try {
    await create(join(folder, NAME), token);
    return true;
  } catch (error) {
    switch (errorCode(error)) {
      case 'EEXIST':
        await breakStale(folder);
        return false;
      case 'ENOENT': // the folder was removed meanwhile
        await ensure();
        return false;
      default:
        throw error;
    }
  }
};

const create = async (path: string, token: string): Promise<void> => {
  const text = JSON.stringify({ pid, start: processStart(pid), place: place(), token });
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
  try {
    await file.writeFile(text);
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
};

const release = async (path: string, token: string): Promise<void> => {
  const text = await readOwnFile(path, MAX_BYTES);
  if (getText(parseRecord(text ?? ''), 'token') === token) await unlink(path).catch(() => undefined);
};

/** Where a pid means what it means here. */
const place = (): string => {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
};

/** Removes the lock of a process that is gone. Only one process does so at a time: the next lock may already be another one's. */
const breakStale = async (folder: string): Promise<void> => {
  if (!(await isStale(join(folder, NAME)))) return;
  const breaking = join(folder, BREAK_NAME);
  try {
    await create(breaking, '');
  } catch {
    if (await isOlder(breaking, UNWRITTEN_MS)) await unlink(breaking).catch(() => undefined);
    return;
  }
  try {
    if (await isStale(join(folder, NAME))) await unlink(join(folder, NAME));
  } catch {
    // removed meanwhile
  } finally {
    await unlink(breaking).catch(() => undefined);
  }
};

const isStale = async (path: string): Promise<boolean> => {
  const holder = parseRecord((await readOwnFile(path, MAX_BYTES)) ?? '');
  const holderPid = getCount(holder, 'pid');
  if (holderPid === undefined) return isOlder(path, UNWRITTEN_MS);
  if (getText(holder, 'place') !== place()) return isOlder(path, ELSEWHERE_MS);
  return !isRunning(holderPid, getText(holder, 'start'));
};

const isOlder = async (path: string, ms: number): Promise<boolean> => {
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ms;
};
