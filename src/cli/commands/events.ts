import type { ReadEvent } from '../../core/published-event.js';
import { eventsFolder, listJournals } from '../../storage/event-journal.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { eventsOf } from '../event-sources.js';
import { eventText } from '../events-text.js';
import { sessionEndedLongAgo, unknownSession } from '../messages.js';
import { print, toAsciiIfNeeded } from '../print.js';
import type { EventsRequest } from '../request.js';
import type { Outcome } from '../session.js';
import { findSession, isThere, sessionNames } from '../session-argument.js';
import { jsonText } from '../text.js';

// `ctxwrap events`: what happens in one or all sessions, from their journals. It handles no signals: without a terminal to restore, the
// default is right, also while it waits for its reader.

/** Resolves when the session has ended, or nobody reads any more. */
export const events = async (request: EventsRequest): Promise<Outcome> => {
  const { env } = process;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const { target } = request;
  const session = target === undefined ? undefined : await sessionOf(stateFolder, target);
  for await (const found of eventsOf({ stateFolder, session }))
    if (!(await print(found.map((event) => lineOf(event, request)).join('')))) break;
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const lineOf = (event: ReadEvent, { ndjson }: EventsRequest): string =>
  ndjson ? jsonText(event.fields) : `${toAsciiIfNeeded(eventText(event), process.env)}\n`;

/** The id of the session that is meant. */
const sessionOf = async (stateFolder: string, target: string): Promise<string> => {
  const sessions = await listSessions(stateFolder, Date.now());
  const session = findSession(sessions, target);
  if (!session) throw unknownSession(target, sessionNames(sessions));
  const { id } = session.record;
  const isKept = isThere(session) || (await listJournals(eventsFolder(stateFolder))).includes(id);
  if (!isKept) throw sessionEndedLongAgo(id);
  return id;
};
