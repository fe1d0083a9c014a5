import { jsonText } from '../printable.js';
import type { Mode } from '../compaction/state.js';
import type { AttemptRecord } from '../compaction/protocol.js';
import { getCount, getRecord, getText, type JsonRecord, parseRecord } from '../json.js';
import type { Tier } from '../ladder.js';
import type { Activity, Millis } from '../reading.js';
import type { Exit, SessionRecord } from './records.js';
import type { ReadingRecord } from './report.js';

// What a wrapper reports about its session to other programs, as it happens: one JSON object a line, `ctxwrap.event/1`. docs/internals/events.md
// describes it.

export type EventContent =
  /** the first event of a session */
  | { readonly type: 'session-start'; readonly state: SessionRecord }
  /** all that is known at this moment: for readers that begin here, and after lost events */
  | { readonly type: 'state'; readonly state: SessionRecord }
  /** at most one a second, the latest; without `reading` the number is void, as after a compaction */
  | { readonly type: 'reading'; readonly reading?: ReadingRecord | undefined }
  | { readonly type: 'tier'; readonly tier?: Tier | undefined; readonly before?: Tier | undefined }
  | {
      readonly type: 'activity';
      readonly activity: Activity;
      readonly before: Activity;
      /** in a dialog: what the agent asks, if it reports that */
      readonly asks?: string | undefined;
    }
  | { readonly type: 'mode'; readonly mode: Mode; readonly before: Mode }
  /** the agent has gone on with another conversation, by its own id */
  | { readonly type: 'conversation'; readonly agentSessionId?: string | undefined }
  /** ctxwrap begins to compact */
  | {
      readonly type: 'attempt';
      /** the request that this answers */
      readonly request?: string | undefined;
      /** in place of the agent's command */
      readonly strategy?: string | undefined;
    }
  /** how a compaction ended, also one of the user or of the agent itself */
  | { readonly type: 'outcome'; readonly attempt: AttemptRecord; readonly request?: string | undefined }
  /** a handoff of the conversation was written, at this path */
  | { readonly type: 'handoff_ready'; readonly path: string }
  /** a request that was refused without an attempt */
  | { readonly type: 'refused'; readonly request: string; readonly reason: string }
  /** so many events before this one are lost; a `state` follows */
  | { readonly type: 'dropped'; readonly count: number }
  /** to a parent: what is wrong with a line that it has sent */
  | { readonly type: 'error'; readonly message: string }
  /** without `exit` ctxwrap itself was killed, and nobody knows how the agent ended */
  | { readonly type: 'session-end'; readonly exit?: Exit | undefined };

/** What every event has. */
export interface EventKey {
  readonly schema: 'ctxwrap.event/1';
  /** the wrapper's session, as in CTXWRAP_SESSION */
  readonly session: string;
  /** counts up by one in each session; the first `state` of a reader has the number of the last event before it */
  readonly seq: number;
  readonly at: Millis;
}

export type EventType = EventContent['type'];

// an object, so that the compiler reports a missing type
const types: Readonly<Record<EventType, true>> = {
  'session-start': true,
  state: true,
  reading: true,
  tier: true,
  activity: true,
  mode: true,
  conversation: true,
  attempt: true,
  outcome: true,
  handoff_ready: true,
  refused: true,
  dropped: true,
  error: true,
  'session-end': true,
};

const eventTypes = Object.keys(types) as readonly EventType[];

/** One line, with its newline. */
export const eventLine = (key: Omit<EventKey, 'schema'>, content: EventContent): string => {
  const { session, seq, at } = key;
  return jsonText({ schema: 'ctxwrap.event/1', session, seq, at, ...content });
};

/** An event as it was read: only its key is known to be right. */
export interface ReadEvent extends EventKey {
  readonly type: EventType;
  /** all of it */
  readonly fields: JsonRecord;
}

/** Undefined for half a line, for an event of another session and for a kind that this version does not know. */
export const parseEvent = (line: string, session: string): ReadEvent | undefined => {
  const fields = parseRecord(line);
  const [seq, at] = [getCount(fields, 'seq'), getCount(fields, 'at')];
  const type = eventTypes.find((each) => each === fields?.['type']);
  const isOurs = fields?.['schema'] === 'ctxwrap.event/1' && fields['session'] === session;
  if (!fields || !isOurs || !type || at === undefined || !Number.isSafeInteger(seq)) return undefined;
  return { schema: 'ctxwrap.event/1', session, seq: seq ?? 0, at, type, fields };
};

/** An event that a reader makes itself. */
export const readEvent = (key: Omit<EventKey, 'schema'>, content: EventContent): ReadEvent => ({
  schema: 'ctxwrap.event/1',
  ...key,
  type: content.type,
  fields: { schema: 'ctxwrap.event/1', ...key, ...content },
});

/** The session's record (`ctxwrap.session/1`) after an event. */
export const stateAfter = (state: JsonRecord, { type, at, fields }: ReadEvent): JsonRecord => {
  switch (type) {
    case 'session-start':
    case 'state':
      return getRecord(fields, 'state') ?? state;
    case 'reading':
      return withFields(state, { reading: fields['reading'] });
    case 'tier':
      return withFields(state, { tier: fields['tier'] });
    case 'activity':
      return withFields(state, { activity: fields['activity'], activitySince: at, asks: fields['asks'] });
    case 'conversation':
      return withFields(state, { agentSessionId: fields['agentSessionId'] });
    case 'handoff_ready':
      return withFields(state, { handoff: { state: type, path: fields['path'], at } });
    case 'mode':
      return withFields(state, { compaction: { ...getRecord(state, 'compaction'), mode: fields['mode'] } });
    case 'session-end':
      return withFields(state, { endedAt: at, exit: fields['exit'], activity: 'dead' });
    case 'outcome': {
      const isVerified = getText(getRecord(fields, 'attempt'), 'outcome') === 'verified';
      const compaction = { ...getRecord(state, 'compaction'), compactSuccessful: isVerified };
      return withFields(state, {
        compaction,
        compactions: (getCount(state, 'compactions') ?? 0) + (isVerified ? 1 : 0),
      });
    }
    default:
      return state;
  }
};

const withFields = (state: JsonRecord, fields: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries({ ...state, ...fields }).filter(([, value]) => value !== undefined));
