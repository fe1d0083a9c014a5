import { join } from 'node:path';
import { errorCode } from '../core/json.js';
import { LATE } from '../core/compaction/machine.js';
import {
  lookAtOmc,
  type OmcSeen,
  attemptRecord,
  isExpired,
  type AnswerRecord,
  type RequestRecord,
} from '../core/compaction/protocol.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { reasonOf } from '../storage/errors.js';
import { isRunning } from '../storage/processes.js';
import {
  readRequest,
  removeRequest,
  requestsFolder,
  requestsOf,
  sweepRequests,
  writeAnswer,
} from '../storage/requests.js';
import { readOwn } from '../storage/state-folder.js';
import { watchFolder, type FolderWatch } from '../storage/watch.js';
import { atMost, inTurn } from './timing.js';

const MOST_BYTES = 4 * 1024; // it has a hundred

/** Looks for a request in the session's folder each time it is called; the file is only read. */
const omcRequests = (folder: string, onRequest: (now: Millis) => void) => {
  const path = join(folder, '.omc', 'state', 'compact-requested.json');
  let seen: OmcSeen | undefined;
  return async (now: Millis): Promise<void> => {
    const look = lookAtOmc(seen, await readOwn(path, MOST_BYTES), now);
    ({ seen } = look);
    if (look.isRequest) onRequest(now);
  };
};

// Which requests of others are open, and what each of them is told.

export type RequestEvent = Extract<Event, { readonly type: 'compact-requested' | 'compact-cancelled' }>;

/** What an answer says; `waiting` and `begun` are not the last word. */
type Verdict = AnswerRecord extends infer Answer
  ? Answer extends AnswerRecord
    ? Omit<Answer, 'schema' | 'session' | 'request' | 'at'>
    : never
  : never;

interface Open {
  readonly request: RequestRecord;
  /** whoever asked knows that we know; who does not wait for more has gone by then */
  isNoticed: boolean;
}

/** A request of a process that is gone is void. */
const isThere = ({ pid, processStart }: RequestRecord): boolean =>
  pid === undefined || isRunning(pid, processStart);

const makeRequestDesk = (tell: (event: RequestEvent) => void, answers: AnswerFiles) => {
  const open = new Map<string, Open>();

  const withdraw = (id: string): void => {
    open.delete(id);
    tell({ type: 'compact-cancelled', id });
  };
  const isAwaited = ({ request, isNoticed }: Open): boolean => request.pid !== undefined || !isNoticed;
  const say = (id: string, one: Open, verdict: Verdict): void => {
    if (isAwaited(one)) answers.write(id, verdict);
    one.isNoticed = true;
  };
  const conclude = (id: string, verdict: Verdict): void => {
    const one = open.get(id);
    if (!one) return;
    open.delete(id);
    if (isAwaited(one)) answers.write(id, verdict);
    else answers.drop(id); // nobody waits to be told
  };

  return {
    /** a request that is new */
    accept: (request: RequestRecord, now: Millis): void => {
      const { request: id, force, focus } = request;
      if (!isThere(request)) return;
      if (isExpired(request, now)) return answers.write(id, { state: 'refused', reason: LATE });
      const one: Open = { request, isNoticed: false };
      open.set(id, one);
      const wish = { id, force, ...(focus === undefined ? {} : { focus }) };
      tell({ type: 'compact-requested', request: wish });
      if (open.has(id) && !one.isNoticed) say(id, one, { state: 'waiting' });
    },
    /** the requests whose files are still there; the others were withdrawn */
    keepOnly: (ids: readonly string[]): void => {
      for (const id of [...open.keys()].filter((each) => !ids.includes(each))) withdraw(id);
    },
    review: (): void => {
      for (const [id, { request }] of open) if (!isThere(request)) withdraw(id);
    },
    perform: (effect: Effect): void => {
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
    close: (): void => {
      for (const id of open.keys()) conclude(id, { state: 'refused', reason: 'the session has ended' });
    },
  };
};

// Compactions that others ask this session for, through files. What is decided about them is the core's business.

export interface RequestsOptions {
  readonly stateFolder: string;
  /** as in CTXWRAP_SESSION */
  readonly sessionId: string;
  /** the session's folder, where OMC's file counts as a request, too; absent where the user has not said so */
  readonly omcFolder?: string | undefined;
  readonly now: () => Millis;
  readonly onEvent: (event: RequestEvent) => void;
  /** called once; the session may then not hear what others ask */
  readonly onFailure: (reason: string) => void;
}

export interface Requests {
  /** each effect of the core, in their order, while the step that made it goes on or later; what it says of a request is told to whoever asked */
  readonly perform: (effect: Effect) => void;
  /** everything is closed at once; resolves when those who still wait have been told, or cannot be */
  readonly stop: () => Promise<void>;
}

const LOOK_MS = 5_000; // where the system does not tell of changes
const END_MS = 500; // for the last answers: a disk that hangs does not keep the user's shell waiting

/** Watches for requests until stopped. Never throws, never rejects and never holds the process. */
export const watchRequests = (options: RequestsOptions): Requests => {
  const { omcFolder, now, onEvent, onFailure } = options;
  let hasFailed = false;
  let isStopped = false;
  const fail = (error: unknown): void => {
    if (!hasFailed) onFailure(reasonOf(error));
    hasFailed = true;
  };
  const tell = (event: RequestEvent): void => {
    try {
      if (!isStopped) onEvent(event);
    } catch (error) {
      fail(error);
    }
  };
  const answers = answerFiles(options, fail);
  const desk = makeRequestDesk(tell, answers);
  const box = requestBox(options, desk, () => void look());
  const omc =
    omcFolder === undefined
      ? undefined
      : omcRequests(omcFolder, (at) =>
          tell({ type: 'compact-requested', request: { id: `omc-${at.toString(36)}`, force: false } }),
        );
  const look = inTurn(async () => {
    if (isStopped) return;
    desk.review();
    await box.look().catch(fail);
    await omc?.(now()).catch(fail);
  });
  void look();
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return {
    perform: desk.perform,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      box.close();
      desk.close();
      await atMost(END_MS, answers.written());
    },
  };
};

/** Writes answers one after the other. A request that has got its last one is removed. */
const answerFiles = ({ stateFolder, sessionId, now }: RequestsOptions, fail: (error: unknown) => void) => {
  let written = Promise.resolve();
  const next = (write: (folder: string) => Promise<void>): void => {
    written = written.then(async () => write(await requestsFolder(stateFolder))).catch(fail);
  };
  return {
    write: (request: string, verdict: Verdict): void => {
      const key = { session: sessionId, request };
      const record: AnswerRecord = { schema: 'ctxwrap.answer/1', ...key, at: now(), ...verdict };
      const isLast = verdict.state === 'refused' || verdict.state === 'ended';
      next(async (folder) => {
        await writeAnswer(folder, record);
        if (isLast) await removeRequest(folder, key);
      });
    },
    drop: (request: string): void => next((folder) => removeRequest(folder, { session: sessionId, request })),
    written: (): Promise<void> => written,
  };
};

type AnswerFiles = ReturnType<typeof answerFiles>;

/** The folder of requests, watched. */
const requestBox = (
  { stateFolder, sessionId, now }: RequestsOptions,
  desk: ReturnType<typeof makeRequestDesk>,
  onChange: () => void,
) => {
  let watching: { readonly folder: string; readonly watch: FolderWatch } | undefined;
  let seen: ReadonlySet<string> = new Set(); // whose files were there at the last look
  let isClosed = false;

  const open = async (): Promise<string> => {
    const folder = await requestsFolder(stateFolder);
    if (isClosed || watching) return folder;
    // answers are written there, too, by us and by all others
    const isOurs = (name = ''): boolean =>
      name === '' || (name.startsWith(`${sessionId}.`) && name.endsWith('.request.json'));
    watching = { folder, watch: watchFolder(folder, (name) => isOurs(name) && onChange()) };
    await sweepRequests(folder, now());
    return folder;
  };
  const close = (): void => {
    watching?.watch.close();
    watching = undefined;
  };

  return {
    look: async (): Promise<void> => {
      const folder = watching?.folder ?? (await open());
      try {
        const ids = await requestsOf(folder, sessionId);
        if (isClosed) return;
        desk.keepOnly(ids);
        const fresh = ids.filter((id) => !seen.has(id));
        seen = new Set(ids);
        for (const id of fresh) {
          const request = await readRequest(folder, { session: sessionId, request: id });
          if (request && !isClosed) desk.accept(request, now());
        }
      } catch (error) {
        desk.keepOnly([]);
        seen = new Set();
        close(); // the folder may be another one at the next look
        if (errorCode(error) !== 'ENOENT') throw error;
      }
    },
    close: (): void => {
      isClosed = true;
      close();
    },
  };
};
