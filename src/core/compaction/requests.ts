import * as v from 'valibot';
import { isRecord, parseRecord } from '../json.js';
import { count, fields, flag, line, maybe, text } from '../read-record.js';
import type { Millis } from '../reading.js';
import { SESSION_ID } from '../report/session-id.js';
import { cleanFocus } from '../text.js';
import { REQUEST_MS } from './machine.js';
import { parseAttempt, type AttemptRecord } from './protocol.js';

// What other processes of the user can ask of a running session, and what it answers. A new request is a row of this table, its action in the
// worker (`actionsOf`, which does not compile without it), and the command that asks (`askSession`).

const id = v.pipe(v.string(), v.regex(SESSION_ID));
const sentence = v.pipe(text, line(300));
const focus = v.pipe(v.string(), v.transform(cleanFocus), v.string());
const strategy = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,39}$/));
const attempt = v.pipe(
  v.unknown(),
  v.transform((found) => parseAttempt(isRecord(found) ? found : undefined)),
  v.custom<AttemptRecord>((found) => found !== undefined),
);

/** How it is over for who asks: as wished, without having waited for it, not at all, or nobody knows. */
type OutcomeKind = 'done' | 'begun' | 'refused' | 'unknown';

/** A state of an answer: what it means to the asker, and the fields that come with it. */
interface AnswerState {
  readonly means: OutcomeKind;
  readonly tells: v.ObjectEntries;
}

const state = <Means extends OutcomeKind, Tells extends v.ObjectEntries>(means: Means, tells: Tells) => ({
  means,
  tells,
});

export interface RequestRow {
  /** on disk */
  readonly schema: `ctxwrap.${string}/${number}`;
  readonly arguments: v.ObjectEntries;
  /** how it can end, besides `refused` and `unknown` */
  readonly ends: Readonly<Record<string, AnswerState>>;
}

type RequestTable = Readonly<Record<string, RequestRow>>;

const done = state('done', {});
const impossible = state('refused', { reason: sentence });

export const requests = {
  /** compact by the agent's own command; `force`: pauses and the breaker do not count */
  compact: {
    schema: 'ctxwrap.request/1',
    arguments: { force: flag, focus: maybe(focus) },
    ends: { ended: state('done', { attempt }), restarting: state('begun', { words: sentence }) },
  },
  /** have the agent go on with another session; `name` is what its command takes: an id, or the name of a checkpoint */
  switch: { schema: 'ctxwrap.switch/1', arguments: { name: id }, ends: { switched: done } },
  /**
   * give back what the last compaction has lost: as a draft in the prompt unless requested otherwise; the words say how it reaches the
   * agent
   */
  brief: {
    schema: 'ctxwrap.brief/1',
    arguments: { into: v.optional(v.picklist(['draft', 'context'])) },
    ends: { drafted: done, given: state('done', { words: sentence }) },
  },
  /** undo the last compaction by the agent's control channel, if it has one that can */
  undo: { schema: 'ctxwrap.undo/1', arguments: {}, ends: { switched: done, impossible } },
  /** shorten the conversation without the agent, which may be started again for it; the words say from what size to what */
  shorten: {
    schema: 'ctxwrap.shorten/1',
    arguments: { strategy, keepRecent: maybe(count), budgetTokens: maybe(count) },
    ends: { shortened: state('done', { words: sentence }), restarting: state('begun', { words: sentence }) },
  },
} as const satisfies RequestTable;

/** How every request can be answered. After the open states another answer follows. */
const openStates = {
  /** `reason`: what it waits for, in the words of the footer */
  waiting: state('begun', { reason: maybe(v.pipe(v.string(), line(300), v.nonEmpty())) }),
  /** it cannot be withdrawn any more: something may be typed from here on, or was sent */
  begun: state('begun', {}),
};
const lastStates = {
  /** nothing was typed, or it was taken back */
  refused: state('refused', { reason: sentence }),
  /** the keys for it may have been sent, and their effect is not known */
  unknown: state('unknown', { reason: sentence }),
};

type Content<E extends v.ObjectEntries> = Readonly<v.InferOutput<v.ObjectSchema<E, undefined>>>;
/** A state with its fields, named by the key. */
type StateOf<States extends Readonly<Record<string, AnswerState>>, Key extends string> = {
  [S in keyof States & string]: Readonly<Record<Key, S>> & Content<States[S]['tells']>;
}[keyof States & string];

type Requests = typeof requests;
export type RequestName = keyof Requests;
export type ArgumentsOf<Row extends RequestRow> = Content<Row['arguments']>;
/** What carrying out a request comes to. */
type ResultOf<Row extends RequestRow> = StateOf<Row['ends'] & typeof lastStates, 'kind'>;

/** How the agent is given back what it has forgotten: in the prompt, or without it where the agent has a way for that. */
export type WayBack = NonNullable<ArgumentsOf<Requests['brief']>['into']>;

/** What this request comes to. */
export type Result<Name extends RequestName> = ResultOf<Requests[Name]>;

/** What carries out each request; undefined where it cannot, because nothing is followed. */
export type Actions<Wait, Table extends RequestTable = Requests> = {
  readonly [Name in keyof Table]: (
    asked: ArgumentsOf<Table[Name]>,
    wait: Wait,
  ) => Promise<ResultOf<Table[Name]>> | undefined;
};

/** What is asked for, without what every request has. */
export type Asked<Name extends RequestName = RequestName> = {
  [N in Name]: { readonly schema: Requests[N]['schema'] } & ArgumentsOf<Requests[N]>;
}[Name];

const key = { session: id, request: id };
const ofEveryRequest = {
  ...key,
  askedAt: count,
  /** the process that waits for the answer; absent if none waits, so that its end does not withdraw the request */
  pid: maybe(count),
  /** start time of that process, in the system's own unit */
  processStart: maybe(v.string()),
};
const ofEveryAnswer = { ...key, schema: v.literal('ctxwrap.answer/1'), at: count };

/** Identifies a request of a session. */
export type RequestKey = Content<typeof key>;

export type RequestRecord<Name extends RequestName = RequestName> = Asked<Name> &
  Content<typeof ofEveryRequest>;

/** The content of an answer. */
export type AnswerContent =
  | StateOf<typeof openStates & typeof lastStates, 'state'>
  | { [N in RequestName]: StateOf<Requests[N]['ends'], 'state'> }[RequestName];

export type AnswerRecord = Content<typeof ofEveryAnswer> & AnswerContent;

/** The reason of an answer after which no other can come. */
export const SESSION_ENDED = 'the session has ended';

/** True if the request has expired, or its time lies in the future. */
export const isExpired = ({ askedAt }: Pick<RequestRecord, 'askedAt'>, now: Millis): boolean =>
  Math.abs(now - askedAt) > REQUEST_MS;

const rows = (): readonly (readonly [string, RequestRow])[] => Object.entries(requests);

/** The name of what is asked for. */
export const requestName = (schema: unknown): RequestName | undefined =>
  rows().find(([, row]) => row.schema === schema)?.[0] as RequestName | undefined;

const statesOf = (): ReadonlyMap<unknown, AnswerState> =>
  new Map(
    [openStates, lastStates, ...rows().map(([, { ends }]) => ends)].flatMap((states) =>
      Object.entries(states),
    ),
  );

/** What who asks knows by an answer. */
export const meaningOf = (answer: AnswerContent): OutcomeKind =>
  statesOf().get(answer.state)?.means ?? 'unknown';

/** After any other answer another one follows. */
export const isLastAnswer = (answer: AnswerContent): boolean => !Object.hasOwn(openStates, answer.state);

const read = (entries: v.ObjectEntries, found: unknown): object | undefined => {
  const { success, output } = v.safeParse(fields(entries), found);
  return success ? output : undefined;
};

export const parseRequest = (from: string): RequestRecord | undefined => {
  const found = parseRecord(from);
  const name = requestName(found?.['schema']);
  if (name === undefined) return undefined;
  const { schema, arguments: asked } = requests[name];
  return read({ schema: v.literal(schema), ...ofEveryRequest, ...asked }, found) as RequestRecord | undefined;
};

export const parseAnswer = (from: string): AnswerRecord | undefined => {
  const found = parseRecord(from);
  const known = statesOf().get(found?.['state']);
  if (!known) return undefined;
  return read({ ...ofEveryAnswer, state: v.string(), ...known.tells }, found) as AnswerRecord | undefined;
};

/** The answer for an action's result: its state and the fields that belong to it. */
export const answerFor = ({ kind, ...details }: { readonly kind: string }): AnswerContent =>
  read({ state: v.string(), ...statesOf().get(kind)?.tells }, { state: kind, ...details }) as AnswerContent;
