// Which requests of others are open, and what each of them is told.
import { attemptRecord } from '../../core/compaction/attempt-record.js';
import { isExpired } from '../../core/compaction/request-record.js';
import type { AnswerRecord, RequestRecord } from '../../core/compaction/request-record.js';
import { LATE } from '../../core/compaction/request.js';
import type { Effect } from '../../core/compaction/state.js';
import type { Event } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';

export type RequestEvent = Extract<Event, { readonly type: 'compact-requested' | 'compact-cancelled' }>;

/** What an answer says. */
export type Verdict = AnswerRecord extends infer Answer
  ? Answer extends AnswerRecord
    ? Omit<Answer, 'schema' | 'session' | 'request' | 'at'>
    : never
  : never;

export interface DeskOptions {
  readonly tell: (event: RequestEvent) => void;
  /** writes what the request is told; `waiting` and `begun` are not the last word */
  readonly answer: (id: string, verdict: Verdict) => void;
  /** the request is done, and nobody waits to be told */
  readonly drop: (id: string) => void;
  /** whether the process that waits for the answer runs */
  readonly isThere: (request: RequestRecord) => boolean;
}

export interface RequestDesk {
  /** a request that is new */
  readonly accept: (request: RequestRecord, now: Millis) => void;
  /** the requests whose files are still there; the others were withdrawn */
  readonly keepOnly: (ids: readonly string[]) => void;
  /** lets go of requests that were made by processes that are gone */
  readonly review: () => void;
  /** something that the core wants done: what it says of a request is told */
  readonly perform: (effect: Effect) => void;
  /** the session is over */
  readonly close: () => void;
}

interface Open {
  readonly request: RequestRecord;
  /** whoever asked knows that we know; who does not wait for more has gone by then */
  isNoticed: boolean;
}

export const makeRequestDesk = ({ tell, answer, drop, isThere }: DeskOptions): RequestDesk => {
  const open = new Map<string, Open>();

  const withdraw = (id: string): void => {
    open.delete(id);
    tell({ type: 'compact-cancelled', id });
  };
  const isAwaited = ({ request, isNoticed }: Open): boolean => request.pid !== undefined || !isNoticed;
  const say = (id: string, one: Open, verdict: Verdict): void => {
    if (isAwaited(one)) answer(id, verdict);
    one.isNoticed = true;
  };
  const conclude = (id: string, verdict: Verdict): void => {
    const one = open.get(id);
    if (!one) return;
    open.delete(id);
    if (isAwaited(one)) answer(id, verdict);
    else drop(id);
  };

  return {
    accept: (request, now) => {
      const { request: id, force, focus } = request;
      if (!isThere(request)) return;
      if (isExpired(request, now)) return answer(id, { state: 'refused', reason: LATE });
      const one: Open = { request, isNoticed: false };
      open.set(id, one);
      const wish = { id, force, ...(focus === undefined ? {} : { focus }) };
      tell({ type: 'compact-requested', request: wish });
      if (open.has(id) && !one.isNoticed) say(id, one, { state: 'waiting' });
    },
    keepOnly: (ids) => {
      for (const id of [...open.keys()].filter((each) => !ids.includes(each))) withdraw(id);
    },
    review: () => {
      for (const [id, { request }] of open) if (!isThere(request)) withdraw(id);
    },
    perform: (effect) => {
      switch (effect.type) {
        case 'refused':
          return conclude(effect.requestId, { state: 'refused', reason: effect.reason });
        case 'ended':
          if (effect.requestId === undefined) return;
          return conclude(effect.requestId, { state: 'ended', attempt: attemptRecord(effect.ended) });
        case 'type-compact':
          // the core has one request at a time and refuses the others: what it types now is for the one that is open
          for (const [id, one] of open) say(id, one, { state: 'begun' });
      }
    },
    close: () => {
      for (const id of open.keys()) conclude(id, { state: 'refused', reason: 'the session has ended' });
    },
  };
};
