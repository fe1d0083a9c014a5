// Which requests of others are open, and what each of them is told.
import { attemptRecord } from '../core/compaction/attempt-record.js';
import { isExpired, REQUEST_MS } from '../core/compaction/request-record.js';
import type { AnswerRecord, RequestRecord } from '../core/compaction/request-record.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';

export type RequestEvent = Extract<Event, { readonly type: 'compact-requested' | 'compact-cancelled' }>;

/** What an answer says. */
export type Verdict = AnswerRecord extends infer Answer
  ? Answer extends AnswerRecord
    ? Omit<Answer, 'schema' | 'session' | 'request' | 'at'>
    : never
  : never;

export interface DeskOptions {
  readonly tell: (event: RequestEvent) => void;
  /** writes what the request is told; `waiting` is not the last word */
  readonly answer: (id: string, verdict: Verdict) => void;
  /** whether the process that waits for the answer runs */
  readonly isThere: (request: RequestRecord) => boolean;
}

export interface RequestDesk {
  /** a request that is new */
  readonly accept: (request: RequestRecord, now: Millis) => void;
  /** the requests whose files are still there; the others were withdrawn */
  readonly keepOnly: (ids: readonly string[]) => void;
  /** lets go of requests that were made by processes that are gone, or too long ago */
  readonly review: (now: Millis) => void;
  /** something that the core wants done: what it says of a request is told */
  readonly perform: (effect: Effect) => void;
  /** the session is over */
  readonly close: () => void;
}

const LATE = { state: 'refused', reason: `no safe moment came in ${REQUEST_MS / 60_000} minutes` } as const;

interface Open {
  readonly request: RequestRecord;
  /** the command is being typed, or was sent: what follows is told, and nothing ends it */
  readonly isUnderWay: boolean;
}

export const makeRequestDesk = ({ tell, answer, isThere }: DeskOptions): RequestDesk => {
  const open = new Map<string, Open>();

  const withdraw = (id: string): void => {
    open.delete(id);
    tell({ type: 'compact-cancelled', id });
  };
  const conclude = (id: string, verdict: Verdict): void => {
    if (open.delete(id)) answer(id, verdict);
  };
  const review = (now: Millis): void => {
    for (const [id, { request, isUnderWay }] of open) {
      if (!isThere(request)) withdraw(id);
      else if (isExpired(request, now) && !isUnderWay) {
        tell({ type: 'compact-cancelled', id });
        conclude(id, LATE);
      }
    }
  };

  return {
    accept: (request, now) => {
      const { request: id, force, focus } = request;
      if (!isThere(request)) return;
      if (isExpired(request, now)) return answer(id, LATE);
      open.set(id, { request, isUnderWay: false });
      const wish = { id, force, ...(focus === undefined ? {} : { focus }) };
      tell({ type: 'compact-requested', request: wish });
      if (open.has(id)) answer(id, { state: 'waiting' });
    },
    keepOnly: (ids) => {
      for (const id of [...open.keys()].filter((each) => !ids.includes(each))) withdraw(id);
    },
    review,
    perform: (effect) => {
      switch (effect.type) {
        case 'refused':
          return conclude(effect.requestId, { state: 'refused', reason: effect.reason });
        case 'ended':
          if (effect.requestId === undefined) return;
          return conclude(effect.requestId, { state: 'ended', attempt: attemptRecord(effect.ended) });
        case 'type-compact':
          // the core has one request at a time and refuses the others: what it types now is for the one that is open
          for (const [id, each] of open) open.set(id, { ...each, isUnderWay: true });
      }
    },
    close: () => {
      for (const id of open.keys()) conclude(id, { state: 'refused', reason: 'the session has ended' });
    },
  };
};
