import type { ReadEvent } from '../core/report/published-event.js';
import { ensureEventsFolder, eventsFolder, listJournals } from '../storage/event-journal.js';
import { followJournal, type EventFollower } from '../storage/event-follower.js';
import { readSession } from '../storage/sessions.js';
import { watchFolder } from '../storage/watch.js';
import { isThere } from './session-argument.js';

// The events of one or all sessions, as they come: for `ctxwrap events` and for the library.

const LEAST_MS = 30; // several changes are read together
const MOST_MS = 1_000; // between two looks, where the system reports no changes
const MOST_SESSIONS = 500; // each has an open file

export interface EventsWish {
  readonly stateFolder: string;
  /** the id of one session, whose end is the end; all sessions when absent */
  readonly session?: string | undefined;
  /** aborting it ends the events */
  readonly signal?: AbortSignal | undefined;
}

/** Events in groups that are never empty. A reader that does not ask for the next group costs nothing. */
export async function* eventsOf({
  stateFolder,
  session,
  signal,
}: EventsWish): AsyncGenerator<readonly ReadEvent[]> {
  await ensureEventsFolder(stateFolder).catch(() => undefined); // only a folder that exists can be watched
  const folder = eventsFolder(stateFolder);
  const bell = makeBell();
  const watch = watchFolder(folder, bell.ring);
  signal?.addEventListener('abort', bell.ring);
  const sources = session === undefined ? await followAll(stateFolder) : followOne(stateFolder, session);
  try {
    while (!sources.isOver() && signal?.aborted !== true) {
      const found = await sources.next();
      if (found.length > 0) yield found;
      else await bell.wait();
    }
  } finally {
    watch.close();
    signal?.removeEventListener('abort', bell.ring);
    await sources.close();
  }
}

/** Wakes who waits soon after something has changed, or after a while. */
const makeBell = () => {
  let hasRung = false;
  let hurry = (): void => undefined;
  return {
    ring: (): void => {
      hasRung = true;
      hurry();
    },
    wait: (): Promise<void> =>
      new Promise((done) => {
        const finish = (): void => {
          hurry = () => undefined;
          hasRung = false;
          done();
        };
        let timer = setTimeout(finish, hasRung ? LEAST_MS : MOST_MS);
        hurry = () => {
          hurry = () => undefined;
          clearTimeout(timer);
          timer = setTimeout(finish, LEAST_MS);
        };
      }),
  };
};

interface Sources {
  /** the next events of all of them; empty where there are none yet */
  readonly next: () => Promise<readonly ReadEvent[]>;
  readonly isOver: () => boolean;
  readonly close: () => Promise<void>;
}

const followNow = (stateFolder: string, id: string): EventFollower =>
  followJournal(
    eventsFolder(stateFolder),
    id,
    'now',
    async () => (await readSession(stateFolder, id, Date.now()))?.record,
  );

const followOne = (stateFolder: string, session: string): Sources => {
  const follower = followNow(stateFolder, session);
  return { next: () => follower.next(Date.now()), isOver: follower.isOver, close: follower.close };
};

/** Sessions that run now from their state on, and those that begin later from their first event on. */
const followAll = async (stateFolder: string): Promise<Sources> => {
  const folder = eventsFolder(stateFolder);
  const followers = new Map<string, EventFollower>();
  const isRunning = async (id: string): Promise<boolean> => {
    const session = await readSession(stateFolder, id, Date.now());
    return session !== undefined && isThere(session);
  };
  // those that have ended; one without a record may be about to begin
  const left = new Map<string, 'ended' | 'unknown'>();
  for (const id of await listJournals(folder)) {
    const session = await readSession(stateFolder, id, Date.now());
    if (!session) left.set(id, 'unknown');
    else if (!isThere(session)) left.set(id, 'ended');
    else if (followers.size < MOST_SESSIONS) followers.set(id, followNow(stateFolder, id));
  }
  const findNew = async (): Promise<void> => {
    for (const id of await listJournals(folder)) {
      if (followers.has(id) || left.get(id) === 'ended' || followers.size >= MOST_SESSIONS) continue;
      if (left.get(id) === 'unknown' && !(await isRunning(id))) continue;
      followers.set(id, followJournal(folder, id, 'start'));
    }
  };
  return {
    next: async () => {
      await findNew();
      const found: ReadEvent[] = [];
      for (const [id, follower] of followers) {
        found.push(...(await follower.next(Date.now())));
        if (!follower.isOver()) continue;
        await follower.close();
        followers.delete(id);
        left.set(id, 'ended');
      }
      return found;
    },
    isOver: () => false,
    close: async () => {
      for (const follower of followers.values()) await follower.close();
    },
  };
};
