import type { ReadEvent } from '../../core/published-event.js';
import { ensureEventsFolder, eventsFolder, listJournals } from '../../storage/event-journal.js';
import { followJournal, type EventFollower } from '../../storage/event-follower.js';
import { listSessions, readSession } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { watchFolder } from '../../storage/watch.js';
import { eventText } from '../events-text.js';
import { sessionEndedLongAgo, unknownSession } from '../messages.js';
import { print, toAsciiIfNeeded } from '../print.js';
import type { EventsRequest } from '../request.js';
import type { Outcome } from '../session.js';
import { findSession, isThere, sessionNames } from '../session-argument.js';
import { jsonText } from '../text.js';

// `ctxwrap events`: what happens in one or all sessions, from their journals. It handles no signals: without a terminal to restore, the
// default is right, also while it waits for its reader.

const LEAST_MS = 30; // several changes are read together
const MOST_MS = 1_000; // between two looks, where the system reports no changes
const MOST_SESSIONS = 500; // each has an open file

/** Resolves when the session has ended, or nobody reads any more. */
export const events = async (request: EventsRequest): Promise<Outcome> => {
  const { env } = process;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const { target } = request;
  const sources = target === undefined ? await followAll(stateFolder) : await followOne(stateFolder, target);
  await ensureEventsFolder(stateFolder).catch(() => undefined); // only a folder that exists can be watched
  const bell = makeBell();
  const watch = watchFolder(eventsFolder(stateFolder), bell.ring);
  try {
    while (!sources.isOver()) {
      const found = await sources.next();
      if (found.length === 0) await bell.wait();
      else if (!(await print(found.map((event) => lineOf(event, request)).join('')))) break;
    }
  } finally {
    watch.close();
    await sources.close();
  }
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const lineOf = (event: ReadEvent, { ndjson }: EventsRequest): string =>
  ndjson ? jsonText(event.fields) : `${toAsciiIfNeeded(eventText(event), process.env)}\n`;

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

const followOne = async (stateFolder: string, target: string): Promise<Sources> => {
  const sessions = await listSessions(stateFolder, Date.now());
  const session = findSession(sessions, target);
  if (!session) throw unknownSession(target, sessionNames(sessions));
  const folder = eventsFolder(stateFolder);
  const { id } = session.record;
  if (!isThere(session) && !(await listJournals(folder)).includes(id)) throw sessionEndedLongAgo(id);
  const follower = followJournal(folder, id, 'now');
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
    else if (followers.size < MOST_SESSIONS) followers.set(id, followJournal(folder, id, 'now'));
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
