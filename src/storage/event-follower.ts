import { constants } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { getuid } from 'node:process';
import { getCount, getRecord, getText, type JsonRecord } from '../core/json.js';
import { present } from '../core/present.js';
import { parseEvent, readEvent, stateAfter, type ReadEvent } from '../core/report/published-event.js';
import type { Millis } from '../core/reading.js';
import type { SessionRecord } from '../core/report/records.js';
import { journalPath, readOldJournal } from './event-journal.js';
import { isRunning } from './processes.js';

// Reads a session's journal as it grows. The file is kept open, so that it is read to its end when the wrapper begins a new one, however
// late that is noticed.

const READ_BYTES = 64 * 1024;
const LONGEST_LINE = 256 * 1024; // longer is no event
const CHECK_MS = 2_000; // between two looks for the process of a wrapper that writes nothing

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export interface EventFollower {
  /** the next events in order, at most about 64 KB of them; empty where there are none yet */
  readonly next: (now: Millis) => Promise<readonly ReadEvent[]>;
  /** the session has ended, and everything was read */
  readonly isOver: () => boolean;
  readonly close: () => Promise<void>;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: number;
  offset: number;
  /** the beginning of a line that is not complete yet */
  rest: Buffer;
}

/** The session's record, for a journal whose beginning is damaged. */
export type RecordReader = () => Promise<SessionRecord | undefined>;

/** Follows one session from its `start`, or from `now`: then the first event is its state. Never rejects; what cannot be read has no events. */
export const followJournal = (
  folder: string,
  session: string,
  from: 'now' | 'start',
  readRecord: RecordReader = () => Promise.resolve(undefined),
): EventFollower => {
  const reader = makeEventReader(folder, session, from);
  const { read, known } = reader;
  let isCaughtUp = from === 'start';
  let isClosed = false;
  let checkedAt = -Infinity;

  /** Reads up to here without telling it, and returns the state. */
  const catchUp = async (): Promise<readonly ReadEvent[]> => {
    let at: Millis | undefined;
    for (let events = await read(); events.length > 0; events = await read()) at = events.at(-1)?.at ?? at;
    const { state: found, last: seq, isOver } = known();
    if (at === undefined || seq === undefined || !found) return [];
    const state = isWhole(found) ? found : { ...(await readRecord()), ...found };
    isCaughtUp = true;
    const before = isOver ? Math.max(0, seq - 1) : seq;
    const event = readEvent({ session, seq: before, at }, { type: 'state', state: state as never });
    return isOver ? [event, readEvent({ session, seq, at }, endIn(state))] : [event];
  };
  /** The end of a wrapper that was killed, which nobody has written. */
  const lostEnd = async (now: Millis): Promise<readonly ReadEvent[]> => {
    const { state, isOver } = known();
    if (isOver || !state || Math.abs(now - checkedAt) < CHECK_MS) return [];
    checkedAt = now;
    const pid = getCount(state, 'pid');
    if (pid === undefined || isRunning(pid, getText(state, 'processStart'))) return [];
    const written = await read(); // its last words
    return written.length > 0 ? written : [reader.endNow(now)];
  };
  return {
    next: async (now) => {
      if (isClosed || (known().isOver && isCaughtUp)) return [];
      const events = isCaughtUp ? await read() : await catchUp();
      return events.length > 0 ? events : lostEnd(now);
    },
    isOver: () => isClosed || (known().isOver && isCaughtUp),
    close: () => {
      isClosed = true;
      return reader.close();
    },
  };
};

/** The events of one journal, in order and each once, with what is missing between them. */
const makeEventReader = (folder: string, session: string, from: 'now' | 'start') => {
  const lines = makeLineReader(folder, session);
  let last = from === 'start' ? 0 : undefined; // number of the last event
  let state: JsonRecord | undefined;
  let isOver = false;

  const take = (line: string): readonly ReadEvent[] => {
    const event = parseEvent(line, session);
    if (!event || event.seq <= (last ?? 0)) return [];
    const count = last === undefined ? 0 : event.seq - 1 - last;
    last = event.seq;
    state = stateAfter(state ?? {}, event);
    isOver ||= event.type === 'session-end';
    if (count === 0) return [event];
    return [readEvent({ session, seq: event.seq - 1, at: event.at }, { type: 'dropped', count }), event];
  };
  return {
    known: () => ({ last, state, isOver }),
    /** empty where there are none yet */
    read: async (): Promise<readonly ReadEvent[]> => {
      for (let found = await lines.next(); found.length > 0; found = await lines.next()) {
        const events = found.flatMap(take);
        if (events.length > 0) return events;
      }
      return [];
    },
    /** the event for an end that nobody has written */
    endNow: (at: Millis): ReadEvent => {
      isOver = true;
      last = (last ?? 0) + 1;
      return readEvent({ session, seq: last, at }, { type: 'session-end' });
    },
    close: lines.close,
  };
};

/** The complete lines of a journal over all its files. Some may come twice. */
const makeLineReader = (folder: string, session: string) => {
  const path = journalPath(folder, session);
  let file: OpenFile | undefined;
  const close = async (): Promise<void> => {
    await file?.handle.close().catch(() => undefined);
    file = undefined;
  };
  return {
    close,
    /** empty where there are none yet */
    next: async (): Promise<readonly string[]> => {
      for (;;) {
        if (!file) {
          file = await openJournal(path);
          if (!file) return [];
          // another file may have come and gone since the last one was read to its end
          const old = (await readOldJournal(folder, session)) ?? '';
          if (old !== '') return old.split('\n');
        }
        const lines = await readLines(file);
        if (lines.length > 0) return lines;
        if (!(await isReplaced(file, path))) return [];
        const written = await readLines(file); // between the last read and the replacement
        if (written.length > 0) return written;
        await close();
      }
    },
  };
};

/** Not only what later events have changed. */
const isWhole = (state: JsonRecord): boolean => state['startedAt'] !== undefined;

const endIn = (state: JsonRecord) => {
  const exit = getRecord(state, 'exit');
  const [code, signal] = [getCount(exit, 'code'), getText(exit, 'signal')];
  const known = signal === undefined ? (code === undefined ? undefined : { code }) : { signal };
  return { type: 'session-end', ...present({ exit: known }) } as const;
};

/** Undefined if there is none, or it is not a regular file of this user. */
const openJournal = async (path: string): Promise<OpenFile | undefined> => {
  try {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = await handle.stat();
    if (stats.isFile() && stats.uid === getuid?.())
      return { handle, inode: stats.ino, offset: 0, rest: Buffer.alloc(0) };
    await handle.close();
  } catch {
    // there is none yet
  }
  return undefined;
};

const isReplaced = async ({ inode }: OpenFile, path: string): Promise<boolean> => {
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && stats.ino !== inode;
};

/** The next complete lines; empty at the end. */
const readLines = async (file: OpenFile): Promise<readonly string[]> => {
  for (;;) {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await file.handle
      .read(buffer, 0, READ_BYTES, file.offset)
      .catch(() => ({ bytesRead: 0 }));
    if (bytesRead === 0) return [];
    file.offset += bytesRead;
    const all = Buffer.concat([file.rest, buffer.subarray(0, bytesRead)]);
    const end = all.lastIndexOf(0x0a) + 1;
    file.rest = all.length - end > LONGEST_LINE ? Buffer.alloc(0) : Buffer.from(all.subarray(end));
    if (end > 0) return all.toString('utf8', 0, end).split('\n').slice(0, -1);
  }
};
