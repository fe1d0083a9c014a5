import { constants } from 'node:fs';
import { lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { eventLine, parseEvent, type EventContent } from '../core/report/published-event.js';
import { isSessionId } from '../core/report/session-id.js';
import type { Millis } from '../core/reading.js';
import { systemReason } from './errors.js';
import { FILE_MODE } from './file-modes.js';
import { ensureFolder, readOwnFile } from './state-folder.js';

// The events of each session: `events/<id>.jsonl` in the state folder, which only the session's wrapper appends to, and `<id>.1.jsonl` with
// those before. Each file begins with the state at its beginning, so that a reader needs no other file.

const FOLDER = 'events';
const SUFFIX = '.jsonl';
const OLD_SUFFIX = '.1.jsonl';
const MAX_BYTES = 256 * 1024; // of one file: ten minutes with a new number every second
const MAX_READ_BYTES = 4 * MAX_BYTES;
const MAX_WAITING = 1_000; // events that the disk has not taken; more are dropped
const KEPT_MS = 3_600_000; // after the end of a session, so that a reader that was stopped can catch up
const MOST_SWEPT = 1_000;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;

/** Path of the folder, which may not exist yet. */
export const eventsFolder = (stateFolder: string): string => join(stateFolder, FOLDER);

/** Creates the folder if missing; returns its path. */
export const ensureEventsFolder = (stateFolder: string): Promise<string> => ensureFolder(stateFolder, FOLDER);

export const journalPath = (folder: string, session: string): string => join(folder, session + SUFFIX);

/** The text of the file before the current one; undefined if there is none, or it cannot be read. */
export const readOldJournal = (folder: string, session: string): Promise<string | undefined> =>
  readOwnFile(join(folder, session + OLD_SUFFIX), MAX_READ_BYTES);

/** The ids of the sessions with a journal; empty if the folder cannot be read. */
export const listJournals = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => name.slice(0, -SUFFIX.length))
    .filter(isSessionId);
};

export interface EventJournal {
  /** never blocks and never throws; events that the disk does not take in time are dropped, and counted in `seq` */
  readonly append: (content: EventContent, at: Millis) => void;
  /** resolves when all appended events are written or have failed */
  readonly flushed: () => Promise<void>;
  /** the same, and closes the file */
  readonly close: () => Promise<void>;
}

export interface EventJournalOptions {
  readonly stateFolder: string;
  readonly session: string;
  /** another wrapper's thread has written before, and may have lost events */
  readonly isContinued?: boolean;
  /** the state now, for the beginning of a file and after dropped events */
  readonly snapshot: () => EventContent;
  /** called at most once */
  readonly onFailure: (reason: string) => void;
  /** size at which a new file begins */
  readonly maxBytes?: number;
}

type Step =
  | { readonly kind: 'event'; readonly content: EventContent; readonly at: Millis }
  /** dropped events, which have their numbers */
  | { readonly kind: 'skip'; readonly count: number }
  | { readonly kind: 'rotate' };

/** Opens a session's journal. One of the same session that is there is continued. */
export const openEventJournal = (options: EventJournalOptions): EventJournal => {
  const { snapshot, isContinued = false, maxBytes = MAX_BYTES } = options;
  const writer = makeJournalWriter(options);
  let waiting: Step[] = [];
  let written = Promise.resolve();
  let bytes = 0; // of the current file, about
  let isGap = false;
  let isFirst = true;

  const push = (step: Step): void => {
    if (waiting.length === 0)
      written = written.then(() => {
        const steps = waiting;
        waiting = [];
        return writer.write(steps);
      });
    waiting.push(step);
  };
  const skip = (): void => {
    isGap = true;
    const last = waiting.at(-1);
    if (last?.kind === 'skip') waiting[waiting.length - 1] = { kind: 'skip', count: last.count + 1 };
    else push({ kind: 'skip', count: 1 });
  };
  if (isContinued) push({ kind: 'skip', count: 1 });
  const add = (content: EventContent, at: Millis): void => {
    bytes += eventLine({ session: options.session, seq: 0, at }, content).length;
    push({ kind: 'event', content, at });
  };
  return {
    append: (content, at) => {
      if (waiting.length >= MAX_WAITING) return skip();
      const isFull = bytes > maxBytes;
      if (isFull) {
        push({ kind: 'rotate' });
        bytes = 0;
      }
      if ((isFull || isGap) && !isFirst) add(snapshot(), at);
      [isGap, isFirst] = [false, false];
      add(content, at);
    },
    flushed: () => written,
    close: async () => {
      await written;
      await writer.close();
    },
  };
};

/** Writes steps in order; an event gets its number here. */
const makeJournalWriter = ({ stateFolder, session, snapshot, onFailure }: EventJournalOptions) => {
  const file = makeJournalFile(stateFolder, session);
  let isLost = false; // events are missing, so that the next one is the state
  let seq: number | undefined; // of the last event
  let hasFailed = false;

  const run = async (given: readonly Step[]): Promise<void> => {
    if (await file.leaveDamaged()) isLost = true;
    const before = await file.open();
    seq ??= lastSeq(before, session);
    const first = given.find((step) => step.kind === 'event');
    const steps: readonly Step[] =
      isLost && first ? [{ kind: 'event', content: snapshot(), at: first.at }, ...given] : given;
    if (first) isLost = false;
    const { texts, last } = textsOf(steps, { session, seq });
    seq = last; // before the first one can fail
    for (const [index, text] of texts.entries()) {
      if (index > 0) await file.rotate();
      await file.put(text);
    }
  };
  return {
    /** never rejects */
    write: async (steps: readonly Step[]): Promise<void> => {
      try {
        await run(steps);
      } catch (error) {
        if (!hasFailed) onFailure(systemReason(error));
        [hasFailed, isLost] = [true, true];
      }
    },
    close: file.close,
  };
};

/** The current file of a journal. */
const makeJournalFile = (stateFolder: string, session: string) => {
  const path = journalPath(eventsFolder(stateFolder), session);
  let file: FileHandle | undefined;
  let before: string | undefined; // what was in the file when it was first opened
  let size = 0; // at least
  let isTorn = false; // the file may end with half a line

  const openFile = async (): Promise<FileHandle> => {
    await ensureEventsFolder(stateFolder);
    const opened = await openOwn(path);
    if (before === undefined) {
      before = (await readOwnFile(path, MAX_READ_BYTES)) ?? '';
      isTorn = before !== '' && !before.endsWith('\n');
    }
    size = (await opened.stat()).size;
    return opened;
  };
  const close = async (): Promise<void> => {
    await file?.close().catch(() => undefined);
    file = undefined;
  };
  return {
    close,
    open: async (): Promise<string> => {
      file ??= await openFile();
      return before ?? '';
    },
    put: async (text: string): Promise<void> => {
      if (text === '') return;
      file ??= await openFile();
      const whole = Buffer.from(isTorn ? `\n${text}` : text);
      isTorn = true;
      const { bytesWritten } = await file.write(whole);
      size += bytesWritten;
      if (bytesWritten < whole.length) throw new Error('the disk is full');
      isTorn = false;
    },
    rotate: async (): Promise<void> => {
      await close();
      const folder = await ensureEventsFolder(stateFolder);
      await rename(path, join(folder, session + OLD_SUFFIX));
      isTorn = false;
    },
    /** Leaves a file that somebody has removed, replaced or cut, so that another one begins: nobody could read on in it. */
    leaveDamaged: async (): Promise<boolean> => {
      if (!file || (await isStillAt(file, path, size))) return false;
      await close();
      await unlink(path).catch(() => undefined);
      isTorn = false;
      return true;
    },
  };
};

/** Whether the path leads to this file, and nothing was cut off. */
const isStillAt = async (file: FileHandle, path: string, size: number): Promise<boolean> => {
  const [ours, there] = await Promise.all([file.stat(), lstat(path).catch(() => undefined)]);
  return there?.ino === ours.ino && there.dev === ours.dev && ours.size >= size;
};

/** The texts of the files that the steps are written to, and the number of the last event. */
const textsOf = (
  steps: readonly Step[],
  { session, seq }: { readonly session: string; readonly seq: number },
): { readonly texts: readonly string[]; readonly last: number } => {
  const texts = [''];
  let last = seq;
  for (const step of steps) {
    if (step.kind === 'rotate') texts.push('');
    else last += step.kind === 'skip' ? step.count : 1;
    if (step.kind === 'event')
      texts.push(`${texts.pop() ?? ''}${eventLine({ session, seq: last, at: step.at }, step.content)}`);
  }
  return { texts, last };
};

const openOwn = async (path: string): Promise<FileHandle> => {
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, FILE_MODE);
  const stats = await file.stat();
  if (stats.isFile() && stats.uid === getuid?.()) return file;
  await file.close();
  throw new Error(`${path} is not a regular file of this user`);
};

/** The number of the last event in the text; 0 if there is none. */
const lastSeq = (text: string, session: string): number =>
  text
    .split('\n')
    .reduce((last, line) => Math.max(last, line === '' ? 0 : (parseEvent(line, session)?.seq ?? 0)), 0);

/** Removes the journals of sessions that ended a while ago; `isThere` says which still run. Never rejects. */
export const sweepJournals = async (
  stateFolder: string,
  isThere: (session: string) => boolean,
  now: Millis,
): Promise<void> => {
  const folder = eventsFolder(stateFolder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(SUFFIX)).slice(0, MOST_SWEPT)) {
    const id = name.slice(0, name.endsWith(OLD_SUFFIX) ? -OLD_SUFFIX.length : -SUFFIX.length);
    if (isThere(id)) continue;
    const stats = await lstat(join(folder, name)).catch(() => undefined);
    if (stats && now - stats.mtimeMs > KEPT_MS) await unlink(join(folder, name)).catch(() => undefined);
  }
};
