import { formatFill, formatOwnPercent, formatTokens } from '../../core/format.js';
import { getCount, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { ReadEvent } from '../../core/report/published-event.js';
import { FAILED_WORDS } from '../../core/report/records.js';
import { toOneLine } from '../../core/text.js';
import { eventsFolder, listJournals } from '../../storage/event-journal.js';
import { type ListedSession, listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { eventsOf } from '../event-sources.js';
import { sessionEndedLongAgo, unknownSession } from '../messages.js';
import { linesToPrint, print } from '../print.js';
import type { EventsRequest } from '../define/events.js';
import type { Outcome } from '../session.js';
import { findSession, isThere, sessionNames } from '../session-argument.js';
import { jsonText, joinPrintable, type Printable } from '../../core/printable.js';

// `ctxwrap events`: what happens in one or all sessions, from their journals. It handles no signals: without a terminal to restore, the
// default is right, also while it waits for its reader.

/** Resolves when the session has ended, or nobody reads any more. */
export const events = async (request: EventsRequest): Promise<Outcome> => {
  const { env } = process;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const { target } = request;
  const sessions = await listSessions(stateFolder, Date.now()); // a folder that cannot be read is said before waiting for nothing
  const session = target === undefined ? undefined : await sessionOf(stateFolder, sessions, target);
  for await (const found of eventsOf({ stateFolder, session }))
    if (!(await print(joinPrintable(found.map((event) => lineOf(event, request)))))) break;
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const lineOf = (event: ReadEvent, { ndjson }: EventsRequest): Printable =>
  ndjson ? jsonText(event.fields) : linesToPrint([eventText(event)]);

/** The id of the session that is meant. */
const sessionOf = async (
  stateFolder: string,
  sessions: readonly ListedSession[],
  target: string,
): Promise<string> => {
  const session = findSession(sessions, target);
  if (!session) throw unknownSession(target, sessionNames(sessions));
  const { id } = session.record;
  const isKept = isThere(session) || (await listJournals(eventsFolder(stateFolder))).includes(id);
  if (!isKept) throw sessionEndedLongAgo(id);
  return id;
};

// An event as a line for people: `14:03:07  4711-x2  tier warn → auto`.

const LONGEST = 300; // characters

const eventText = (event: ReadEvent): string =>
  toOneLine(`${timeOf(event.at)} ${event.session} ${wordsOf(event)}`, LONGEST);

const timeOf = (at: number): string => {
  const time = new Date(at);
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
};

const wordsOf = ({ type, fields }: ReadEvent): string => {
  const text = (key: string): string => getText(fields, key) ?? 'unknown';
  switch (type) {
    case 'session-start':
      return `begins: ${stateWords(getRecord(fields, 'state'))}`;
    case 'state':
      return stateWords(getRecord(fields, 'state'));
    case 'reading':
      return readingWords(getRecord(fields, 'reading'));
    case 'tier':
      return `tier ${text('before')} → ${text('tier')}`;
    case 'activity':
      return `activity ${text('before')} → ${[text('activity'), getText(fields, 'asks')].filter(Boolean).join(': ')}`;
    case 'mode':
      return `mode ${text('before')} → ${text('mode')}`;
    case 'conversation':
      return `conversation ${text('agentSessionId')}`;
    case 'attempt':
      return 'compacting';
    case 'outcome':
      return getText(getRecord(fields, 'attempt'), 'words') ?? 'a compaction has ended';
    case 'handoff_ready':
      return `handoff ready: ${text('path')}`;
    case 'refused':
      return `request refused: ${text('reason')}`;
    case 'dropped':
      return `${getCount(fields, 'count') ?? 'some'} events are lost`;
    case 'error':
      return text('message');
    case 'session-end':
      return endWords(getRecord(fields, 'exit'));
  }
};

const stateWords = (state: JsonRecord | undefined): string =>
  [
    getText(state, 'runtime'),
    getText(state, 'cwd'),
    readingWords(getRecord(state, 'reading')),
    getText(state, 'tier'),
    state?.['failedAt'] === undefined ? getText(state, 'activity') : FAILED_WORDS,
  ]
    .filter((part) => part !== undefined)
    .join(' ');

const otherBases = ['effective', 'auto-compact', 'baseline'] as const;

const readingWords = (reading: JsonRecord | undefined): string => {
  const [percent, used, window] = ['usedPercent', 'usedTokens', 'windowTokens'].map((key) =>
    getCount(reading, key),
  );
  const mark = getText(reading, 'source') === 'estimate' ? '~' : '';
  const basis = otherBases.find((each) => each === getText(reading, 'basis'));
  const own = basis && formatOwnPercent({ basis, ...present({ usedPercent: percent }) });
  const fill =
    percent === undefined ? undefined : (own ?? formatFill(percent, reading?.['over'] === true, mark));
  const tokens = used === undefined ? undefined : `${mark}${formatTokens(used)}`;
  const whole = tokens === undefined || window === undefined ? tokens : `${tokens}/${formatTokens(window)}`;
  return [fill, whole].filter((part) => part !== undefined).join(' ') || 'size unknown';
};

const endWords = (exit: JsonRecord | undefined): string => {
  if (!exit) return 'ended: ctxwrap was killed';
  return `ended: ${getText(exit, 'signal') ?? getCount(exit, 'code') ?? 'unknown'}`;
};
