import { join } from 'node:path';
import { errorCode } from '../core/errors.js';
import { REQUEST_EXPIRED } from '../core/compaction/machine.js';
import {
  readOmcState,
  type OmcState,
  attemptRecord,
  isExpired,
  type AnswerRecord,
  type RequestRecord,
} from '../core/compaction/protocol.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { systemReason } from '../storage/errors.js';
import { isRunning } from '../storage/processes.js';
import {
  readRequest,
  removeRequest,
  ensureRequestsFolder,
  listRequests,
  sweepRequests,
  writeAnswer,
  type ActionRecord,
  type AnyRequest,
} from '../storage/requests.js';
import { readOwnFile } from '../storage/state-folder.js';
import { watchFolder, type FolderWatch } from '../storage/watch.js';
import type { ChannelUndone } from './channel-undo.js';
import type { BriefResult } from './receipts.js';
import type { ShortenAsked, ShortenResult } from './shortener.js';
import type { SwitchResult, SwitchWait } from './switcher.js';
import { endsWithin, serialize } from './timing.js';

const MOST_BYTES = 4 * 1024; // the file is about a hundred bytes long

/** Checks OMC's request file in the session's folder on each call; the file is only read. */
const makeOmcCheck = (folder: string, onRequest: (now: Millis) => void) => {
  const path = join(folder, '.omc', 'state', 'compact-requested.json');
  let seen: OmcState | undefined;
  return async (now: Millis): Promise<void> => {
    const found = readOmcState(seen, await readOwnFile(path, MOST_BYTES), now);
    ({ seen } = found);
    if (found.isRequest) onRequest(now);
  };
};

// The open requests of other processes, and their answers.

export type RequestEvent = Extract<Event, { readonly type: 'compact-requested' | 'compact-cancelled' }>;

/** The content of an answer; after `waiting` and `begun` another answer follows. */
type AnswerContent = AnswerRecord extends infer Answer
  ? Answer extends AnswerRecord
    ? Omit<Answer, 'schema' | 'session' | 'request' | 'at'>
    : never
  : never;

interface OpenRequest {
  readonly request: RequestRecord;
  /** the asking process has had an answer; one that does not wait for the result has ended by then */
  isAcknowledged: boolean;
}

/** A request of a process that has ended is void. */
const isAskerRunning = ({ pid, processStart }: Pick<RequestRecord, 'pid' | 'processStart'>): boolean =>
  pid === undefined || isRunning(pid, processStart);

const RESTARTED = 'ctxwrap had to restart a part of itself: ask again';

/** Why a request is too old to be carried out; undefined when it is not. */
const oldReason = (request: AnyRequest, from: Millis, now: Millis): string | undefined =>
  request.askedAt < from ? RESTARTED : isExpired(request, now) ? REQUEST_EXPIRED : undefined;

/** What is done for other processes, besides compacting: each resolves when its outcome is known, and is withdrawn by the signal. */
export interface RequestActions {
  readonly switchTo: (name: string, wait: SwitchWait) => Promise<SwitchResult> | undefined;
  readonly brief: (wait: SwitchWait) => Promise<BriefResult> | undefined;
  /** by the agent's control channel */
  readonly undo: (wait: SwitchWait) => Promise<ChannelUndone> | undefined;
  readonly shorten: (asked: ShortenAsked, wait: SwitchWait) => Promise<ShortenResult> | undefined;
}

type ActionResult = ChannelUndone | BriefResult | ShortenResult;

/** The open requests for these actions, and their answers. */
const makeActionQueue = (
  actions: RequestActions | undefined,
  answers: AnswerWriter,
  from: Millis = -Infinity,
) => {
  const open = new Map<string, { readonly request: ActionRecord; readonly abort: AbortController }>();
  const withdraw = (id: string): void => {
    open.get(id)?.abort.abort();
    open.delete(id);
  };
  const perform = (request: ActionRecord, wait: SwitchWait): Promise<ActionResult> | undefined => {
    switch (request.schema) {
      case 'ctxwrap.brief/1':
        return actions?.brief(wait);
      case 'ctxwrap.undo/1':
        return actions?.undo(wait);
      case 'ctxwrap.shorten/1':
        return actions?.shorten(request, wait);
      case 'ctxwrap.switch/1':
        return actions?.switchTo(request.name, wait);
    }
  };
  const carryOut = async (request: ActionRecord, abort: AbortController): Promise<void> => {
    const { request: id } = request;
    answers.write(id, { state: 'waiting' });
    const onHold = (reason: string): void => {
      if (open.has(id)) answers.write(id, { state: 'waiting', reason });
    };
    const wait = { signal: abort.signal, onHold };
    const result = (await perform(request, wait)) ?? { kind: 'refused', reason: NOT_FOLLOWED };
    if (!open.delete(id)) return answers.drop(id);
    answers.write(id, answerTo(result));
  };
  return {
    accept: (request: ActionRecord, now: Millis): void => {
      if (!isAskerRunning(request)) return;
      const reason = oldReason(request, from, now);
      if (reason !== undefined) return answers.write(request.request, { state: 'refused', reason });
      const abort = new AbortController();
      open.set(request.request, { request, abort });
      void carryOut(request, abort);
    },
    keepOnly: (ids: readonly string[]): void => {
      for (const id of [...open.keys()].filter((each) => !ids.includes(each))) withdraw(id);
    },
    withdrawOrphans: (): void => {
      for (const [id, { request }] of open) if (!isAskerRunning(request)) withdraw(id);
    },
    close: (): void => {
      for (const id of open.keys()) {
        withdraw(id);
        answers.write(id, { state: 'refused', reason: 'the session has ended' });
      }
    },
  };
};

const answerTo = (result: ActionResult): AnswerContent => {
  if ('reason' in result) return { state: result.kind, reason: result.reason };
  return 'words' in result ? { state: result.kind, words: result.words } : { state: result.kind };
};

const NOT_FOLLOWED = 'its screen is not followed';

type EmitRequest = (event: RequestEvent) => void;

const makeRequestQueue = (emit: EmitRequest, answers: AnswerWriter, from: Millis = -Infinity) => {
  const open = new Map<string, OpenRequest>();

  const withdraw = (id: string): void => {
    open.delete(id);
    emit({ type: 'compact-cancelled', id });
  };
  const isAwaited = ({ request, isAcknowledged }: OpenRequest): boolean =>
    request.pid !== undefined || !isAcknowledged;
  const answer = (id: string, one: OpenRequest, content: AnswerContent): void => {
    if (isAwaited(one)) answers.write(id, content);
    one.isAcknowledged = true;
  };
  const conclude = (id: string, content: AnswerContent): void => {
    const one = open.get(id);
    if (!one) return;
    open.delete(id);
    if (isAwaited(one)) answers.write(id, content);
    else answers.drop(id); // the asking process no longer waits
  };

  return {
    /** a new request */
    accept: (request: RequestRecord, now: Millis): void => {
      const { request: id, force, focus } = request;
      if (!isAskerRunning(request)) return;
      const reason = oldReason(request, from, now);
      if (reason !== undefined) return answers.write(id, { state: 'refused', reason });
      const one: OpenRequest = { request, isAcknowledged: false };
      open.set(id, one);
      const requested = { id, force, ...(focus === undefined ? {} : { focus }) };
      emit({ type: 'compact-requested', request: requested });
      if (open.has(id) && !one.isAcknowledged) answer(id, one, { state: 'waiting' });
    },
    /** the ids of the requests whose files still exist; the others were withdrawn */
    keepOnly: (ids: readonly string[]): void => {
      for (const id of [...open.keys()].filter((each) => !ids.includes(each))) withdraw(id);
    },
    withdrawOrphans: (): void => {
      for (const [id, { request }] of open) if (!isAskerRunning(request)) withdraw(id);
    },
    applyEffect: (effect: Effect): void => {
      switch (effect.type) {
        case 'refused':
          return conclude(effect.requestId, { state: 'refused', reason: effect.reason });
        case 'ended':
          if (effect.requestId === undefined) return;
          return conclude(effect.requestId, { state: 'ended', attempt: attemptRecord(effect.ended) });
        case 'type-compact':
          // the core holds one request at a time and refuses the others, so the command is typed for the open one
          for (const [id, one] of open) answer(id, one, { state: 'begun' });
      }
    },
    close: (): void => {
      for (const id of open.keys()) conclude(id, { state: 'refused', reason: 'the session has ended' });
    },
  };
};

// Requests to compact from other processes, through files. The core decides about them.

export interface RequestsOptions {
  /** absent where the agent's screen is not followed */
  readonly actions?: RequestActions | undefined;
  readonly stateFolder: string;
  /** as in CTXWRAP_SESSION */
  readonly sessionId: string;
  /** the folder in which OMC's file counts as a request, too; absent unless the user enabled that */
  readonly omcFolder?: string | undefined;
  readonly now: () => Millis;
  /** older requests are refused; all count if absent */
  readonly from?: Millis | undefined;
  readonly onEvent: (event: RequestEvent) => void;
  /** called once; the session may then miss requests */
  readonly onFailure: (reason: string) => void;
}

export interface Requests {
  /** called with each effect of the core, in order; answers the request that the effect is about */
  readonly applyEffect: (effect: Effect) => void;
  /** stops at once; resolves when the last answers are written or have failed */
  readonly stop: () => Promise<void>;
}

const LOOK_MS = 5_000; // where the system does not report changes of files
const END_MS = 500; // for the last answers; a disk that hangs must not keep the user's shell waiting

/** Watches for requests until stopped. Never throws, never rejects and never keeps the process running. */
export const watchRequests = (options: RequestsOptions): Requests => {
  const { omcFolder, now, onEvent, onFailure } = options;
  let hasFailed = false;
  let isStopped = false;
  const fail = (error: unknown): void => {
    if (!hasFailed) onFailure(systemReason(error));
    hasFailed = true;
  };
  const emit = (event: RequestEvent): void => {
    try {
      if (!isStopped) onEvent(event);
    } catch (error) {
      fail(error);
    }
  };
  const answers = makeAnswerWriter(options, fail);
  const queue = makeRequestQueue(emit, answers, options.from);
  const actions = makeActionQueue(options.actions, answers, options.from);
  const requestFolder = openRequestFolder(options, { queue, actions }, () => void check());
  const omc =
    omcFolder === undefined
      ? undefined
      : makeOmcCheck(omcFolder, (at) =>
          emit({ type: 'compact-requested', request: { id: `omc-${at.toString(36)}`, force: false } }),
        );
  const check = serialize(async () => {
    if (isStopped) return;
    queue.withdrawOrphans();
    actions.withdrawOrphans();
    await requestFolder.check().catch(fail);
    await omc?.(now()).catch(fail);
  });
  void check();
  const timer = setInterval(() => void check(), LOOK_MS).unref();
  return {
    applyEffect: queue.applyEffect,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      requestFolder.close();
      queue.close();
      actions.close();
      await endsWithin(END_MS, answers.written());
    },
  };
};

/** Writes answers in order. A request is removed after its last answer. */
const makeAnswerWriter = (
  { stateFolder, sessionId, now }: RequestsOptions,
  fail: (error: unknown) => void,
) => {
  let written = Promise.resolve();
  const next = (write: (folder: string) => Promise<void>): void => {
    written = written.then(async () => write(await ensureRequestsFolder(stateFolder))).catch(fail);
  };
  return {
    write: (request: string, content: AnswerContent): void => {
      const key = { session: sessionId, request };
      const record: AnswerRecord = { schema: 'ctxwrap.answer/1', ...key, at: now(), ...content };
      const isLast = content.state !== 'waiting' && content.state !== 'begun';
      next(async (folder) => {
        await writeAnswer(folder, record);
        if (isLast) await removeRequest(folder, key);
      });
    },
    drop: (request: string): void => next((folder) => removeRequest(folder, { session: sessionId, request })),
    written: (): Promise<void> => written,
  };
};

type AnswerWriter = ReturnType<typeof makeAnswerWriter>;

interface Queues {
  readonly queue: ReturnType<typeof makeRequestQueue>;
  readonly actions: ReturnType<typeof makeActionQueue>;
}

/** Watches the folder of requests. */
const openRequestFolder = (
  { stateFolder, sessionId, now }: RequestsOptions,
  { queue, actions }: Queues,
  onChange: () => void,
) => {
  let watching: { readonly folder: string; readonly watch: FolderWatch } | undefined;
  let seen: ReadonlySet<string> = new Set(); // the requests found by the last check
  let isClosed = false;

  const open = async (): Promise<string> => {
    const folder = await ensureRequestsFolder(stateFolder);
    if (isClosed || watching) return folder;
    // answers are written to the same folder, by this and all other sessions
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
    check: async (): Promise<void> => {
      const folder = watching?.folder ?? (await open());
      try {
        const ids = await listRequests(folder, sessionId);
        if (isClosed) return;
        queue.keepOnly(ids);
        actions.keepOnly(ids);
        const fresh = ids.filter((id) => !seen.has(id));
        seen = new Set(ids);
        for (const id of fresh) {
          const request = await readRequest(folder, { session: sessionId, request: id });
          if (!request || isClosed) continue;
          if (request.schema === 'ctxwrap.request/1') queue.accept(request, now());
          else actions.accept(request, now());
        }
      } catch (error) {
        queue.keepOnly([]);
        actions.keepOnly([]);
        seen = new Set();
        close(); // the folder may be replaced before the next check
        if (errorCode(error) !== 'ENOENT') throw error;
      }
    },
    close: (): void => {
      isClosed = true;
      close();
    },
  };
};
