import {
  answerFor,
  requestName,
  SESSION_ENDED,
  type Actions,
  type AnswerContent,
  type ArgumentsOf,
  type RequestName,
  type RequestRecord,
  type requests,
} from '../core/compaction/requests.js';
import { errorText } from '../core/errors.js';
import type { TypingGate } from '../typing/action.js';
import { beginIn, isAskerRunning, wantedIn, type AnswerWriter } from './answers.js';

// The open requests of other processes, and what is done for them.

interface RequestWait {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly onHold: (words: string) => void;
  readonly gate: TypingGate;
}

/** Each resolves when its outcome is known, and is withdrawn by the signal. */
export type RequestActions = Actions<RequestWait>;

/** One request that is open, and its answers. */
const openRequest = (request: RequestRecord, answers: AnswerWriter) => {
  const { request: id, pid } = request;
  const abort = new AbortController();
  let isOpen = true;
  let isAcknowledged = false; // a process that does not wait for the result ends with the first answer
  let begun: Promise<string | undefined> | undefined;
  const isAwaited = (): boolean => pid !== undefined || !isAcknowledged;
  const tell = (content: AnswerContent): void => {
    if (isOpen && isAwaited()) void answers.write(id, content);
    isAcknowledged = true;
  };
  const begin = (): Promise<string | undefined> => {
    begun = isAwaited() ? beginIn(answers, id) : wantedIn(answers, id);
    isAcknowledged = true;
    return begun;
  };
  const rest = (): void => {
    if (begun) tell({ state: 'waiting' });
    begun = undefined;
  };
  return {
    request,
    begin,
    /** something may have been typed for it; resolves with why nothing may be */
    begun: () => begun,
    /** it waits, unless something was answered already */
    acknowledge: (): void => {
      if (!isAcknowledged) tell({ state: 'waiting' });
    },
    conclude: (content: AnswerContent): void => {
      if (isOpen && isAwaited()) tell(content);
      else answers.drop(id);
      isOpen = false;
    },
    withdraw: (): void => {
      isOpen = false;
      abort.abort();
    },
    wait: {
      id,
      signal: abort.signal,
      onHold: (reason: string) => tell({ state: 'waiting', reason }),
      gate: { begin, rest },
    },
  };
};

type OpenRequest = ReturnType<typeof openRequest>;

/** The open requests, and what is done for them. */
export const makeRequestQueue = (actions: Partial<RequestActions>, answers: AnswerWriter) => {
  const open = new Map<string, OpenRequest>();
  const openOf = (name: RequestName): readonly OpenRequest[] =>
    [...open.values()].filter(({ request }) => requestName(request.schema) === name);
  const conclude = (one: OpenRequest, content: AnswerContent): void => {
    open.delete(one.request.request);
    one.conclude(content);
  };
  /** it is over without a result */
  const fail = (one: OpenRequest, reason: string): void =>
    conclude(one, { state: one.begun() ? 'unknown' : 'refused', reason });
  const withdraw = (one: OpenRequest): void => {
    open.delete(one.request.request);
    one.withdraw();
  };
  const carryOut = async (one: OpenRequest): Promise<void> => {
    const name = requestName(one.request.schema);
    const performing = name && perform(actions, name, one.request, one.wait);
    one.acknowledge();
    conclude(one, answerFor((await performing) ?? NOT_FOLLOWED));
  };
  return {
    accept: (request: RequestRecord): void => {
      const one = openRequest(request, answers);
      open.set(request.request, one);
      void carryOut(one).catch((error: unknown) => fail(one, errorText(error)));
    },
    /** the open requests of this name begin */
    begin: (name: RequestName): void => openOf(name).forEach((one) => void one.begin()),
    /** resolves with why nothing may be typed for those that have begun */
    refusal: async (name: RequestName): Promise<string | undefined> =>
      (await Promise.all(openOf(name).map((one) => one.begun()))).find((reason) => reason !== undefined),
    conclude: (id: string, content: AnswerContent): void => {
      const one = open.get(id);
      if (one) conclude(one, content);
    },
    /** the ids of the requests whose files still exist; the others were withdrawn */
    keepOnly: (ids: readonly string[]): void => {
      for (const [id, one] of open) if (!ids.includes(id)) withdraw(one);
    },
    withdrawOrphans: (): void => {
      for (const one of open.values()) if (!isAskerRunning(one.request)) withdraw(one);
    },
    close: (): void => {
      for (const one of open.values()) {
        fail(one, SESSION_ENDED);
        one.withdraw();
      }
    },
  };
};

const perform = <Name extends RequestName>(
  actions: Partial<RequestActions>,
  name: Name,
  asked: ArgumentsOf<(typeof requests)[Name]>,
  wait: RequestWait,
) => actions[name]?.(asked, wait);

const NOT_FOLLOWED = { kind: 'refused', reason: 'its screen is not followed' } as const;
