import { join } from 'node:path';
import { errorCode } from '../core/errors.js';
import { REQUEST_EXPIRED } from '../core/compaction/machine.js';
import { readOmcState, type OmcState, attemptRecord } from '../core/compaction/protocol.js';
import { isExpired, type AnswerContent, type RequestRecord } from '../core/compaction/requests.js';
import type { Effect } from '../core/compaction/state.js';
import type { Event } from '../core/event.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import { systemReason } from '../storage/errors.js';
import {
  readAnswer,
  readRequest,
  ensureRequestsFolder,
  mayHaveBegun,
  listRequests,
  sweepRequests,
} from '../storage/requests.js';
import { readOwnFile } from '../storage/state-folder.js';
import { watchFolder, type FolderWatch } from '../storage/watch.js';
import {
  isAskerRunning,
  makeAnswerWriter,
  makeRequestQueue,
  type AnswersPlace,
  type AnswerWriter,
  type RequestActions,
} from './request-queue.js';
import { endsWithin, serialize } from '../storage/timing.js';

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

// The requests of other processes, through files.

export type RequestEvent = Extract<Event, { readonly type: 'compact-requested' | 'compact-cancelled' }>;

const RESTARTED = 'ctxwrap had to restart a part of itself';

/** The answer to a request that is too old to be carried out; undefined when it is not. */
const answerToOld = async (
  folder: string,
  request: RequestRecord,
  { from = -Infinity, now }: Pick<RequestsOptions, 'from' | 'now'>,
): Promise<AnswerContent | undefined> => {
  if (request.askedAt >= from)
    return isExpired(request, now()) ? { state: 'refused', reason: REQUEST_EXPIRED } : undefined;
  // it belonged to the part that has failed
  return (await mayHaveBegun(folder, request, await readAnswer(folder, request)))
    ? { state: 'unknown', reason: RESTARTED }
    : { state: 'refused', reason: `${RESTARTED}: ask again` };
};

export interface RequestsOptions extends AnswersPlace {
  /** absent where the agent's screen is not followed */
  readonly actions?: Omit<RequestActions, 'compact'> | undefined;
  /** the folder in which OMC's file counts as a request, too; absent unless the user enabled that */
  readonly omcFolder?: string | undefined;
  /** older requests are refused; all count if absent */
  readonly from?: Millis | undefined;
  readonly onEvent: (event: RequestEvent) => void;
  /** called once; the session may then miss requests */
  readonly onFailure: (reason: string) => void;
}

export interface Requests {
  /** called with each effect of the core, in order; answers the request that the effect is about */
  readonly applyEffect: (effect: Effect) => void;
  /** called before a compact command is typed; resolves with why it must not be: who has asked for it has withdrawn that */
  readonly begin: () => Promise<string | undefined>;
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
  const queue = makeRequestQueue({ ...options.actions, compact: askCore(emit) }, answers);
  const requestFolder = openRequestFolder(options, { queue, answers, onChange: () => void check() });
  const omc =
    omcFolder === undefined
      ? undefined
      : makeOmcCheck(omcFolder, (at) =>
          emit({ type: 'compact-requested', request: { id: `omc-${at.toString(36)}`, force: false } }),
        );
  const check = serialize(async () => {
    if (isStopped) return;
    queue.withdrawOrphans();
    await requestFolder.check().catch(fail);
    await omc?.(now()).catch(fail);
  });
  void check();
  const timer = setInterval(() => void check(), LOOK_MS).unref();
  return {
    applyEffect: (effect) => {
      switch (effect.type) {
        case 'refused':
          return queue.conclude(effect.requestId, { state: 'refused', reason: effect.reason });
        case 'restarting':
          return queue.conclude(effect.requestId, {
            state: 'restarting',
            words: `the agent is started again with a shorter conversation${effect.strategy === undefined ? '' : ` (${effect.strategy})`}; its footer says when it has it`,
          });
        case 'ended':
          if (effect.requestId === undefined) return;
          return queue.conclude(effect.requestId, { state: 'ended', attempt: attemptRecord(effect.ended) });
        case 'type-compact':
          return queue.begin('compact'); // the core holds one request at a time and refuses the others
      }
    },
    begin: () => queue.refusal('compact'),
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      requestFolder.close();
      queue.close();
      await endsWithin(END_MS, answers.written());
    },
  };
};

/** The core decides about a request to compact, and tells by an effect what comes of it. */
const askCore =
  (emit: (event: RequestEvent) => void): RequestActions['compact'] =>
  ({ force, focus }, { id, signal }) => {
    signal.addEventListener('abort', () => emit({ type: 'compact-cancelled', id }));
    emit({ type: 'compact-requested', request: { id, force, ...present({ focus }) } });
    return new Promise(() => undefined);
  };

interface FolderReaders {
  readonly queue: ReturnType<typeof makeRequestQueue>;
  readonly answers: AnswerWriter;
  readonly onChange: () => void;
}

/** Watches the folder of requests. */
const openRequestFolder = (options: RequestsOptions, { queue, answers, onChange }: FolderReaders) => {
  const { stateFolder, sessionId, now } = options;
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
        const fresh = ids.filter((id) => !seen.has(id));
        seen = new Set(ids);
        for (const id of fresh) {
          const request = await readRequest(folder, { session: sessionId, request: id });
          if (!request || isClosed || !isAskerRunning(request)) continue;
          const old = await answerToOld(folder, request, options);
          if (old) void answers.write(id, old);
          else if (isClosed) return;
          else queue.accept(request);
        }
      } catch (error) {
        queue.keepOnly([]);
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
