import {
  answerFor,
  isLastAnswer,
  requestName,
  SESSION_ENDED,
  type Actions,
  type AnswerContent,
  type AnswerRecord,
  type ArgumentsOf,
  type RequestName,
  type RequestRecord,
  type requests,
} from '../core/compaction/requests.js';
import { errorText } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import { isRunning } from '../storage/processes.js';
import { ensureRequestsFolder, isRequestThere, removeRequest, writeAnswer } from '../storage/requests.js';
import { endsWithin } from '../storage/timing.js';
import { WITHDRAWN, type TypingGate } from '../typing/action.js';

// The answers of a running session to the requests of other processes, and what must be answered before anything is typed for one.

export interface AnswersPlace {
  readonly stateFolder: string;
  /** as in CTXWRAP_SESSION */
  readonly sessionId: string;
  readonly now: () => Millis;
}

/** Writes answers in order. A request is removed after its last answer. */
export const makeAnswerWriter = (
  { stateFolder, sessionId, now }: AnswersPlace,
  fail: (error: unknown) => void,
) => {
  let written = Promise.resolve();
  const next = (act: (folder: string) => Promise<void>): Promise<boolean> => {
    let isDone = false;
    written = written
      .then(async () => act(await ensureRequestsFolder(stateFolder)))
      .then(() => void (isDone = true))
      .catch(fail);
    return written.then(() => isDone);
  };
  return {
    /** resolves with whether it is there */
    write: (request: string, content: AnswerContent): Promise<boolean> => {
      const key = { session: sessionId, request };
      const record: AnswerRecord = { schema: 'ctxwrap.answer/1', ...key, at: now(), ...content };
      return next(async (folder) => {
        await writeAnswer(folder, record);
        if (isLastAnswer(content)) await removeRequest(folder, key);
      });
    },
    /** nobody is known to have withdrawn the request */
    isWanted: async (request: string): Promise<boolean> => {
      const folder = await ensureRequestsFolder(stateFolder).catch(() => undefined);
      return folder !== undefined && isRequestThere(folder, { session: sessionId, request });
    },
    drop: (request: string): void =>
      void next((folder) => removeRequest(folder, { session: sessionId, request })),
    written: (): Promise<void> => written,
  };
};

export type AnswerWriter = ReturnType<typeof makeAnswerWriter>;

const BEGIN_MS = 5_000; // a disk that hangs must not keep others from typing
const UNWRITTEN = 'the answer to the request cannot be written';

/** Nothing is typed for a request before this is answered, and the request is still there. Resolves with why nothing may be typed. */
export const beginIn = async (answers: AnswerWriter, id: string): Promise<string | undefined> => {
  const writing = answers.write(id, { state: 'begun' });
  if (!(await endsWithin(BEGIN_MS, writing)) || !(await writing)) return UNWRITTEN;
  return wantedIn(answers, id);
};

/** Resolves with why nothing may be typed for a request that nobody waits for. */
const wantedIn = async (answers: AnswerWriter, id: string): Promise<string | undefined> =>
  (await answers.isWanted(id)) ? undefined : WITHDRAWN;

/** A request of a process that has ended is void. */
export const isAskerRunning = ({ pid, processStart }: Pick<RequestRecord, 'pid' | 'processStart'>): boolean =>
  pid === undefined || isRunning(pid, processStart);

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
