// Compactions that others ask this session for, through files. What is decided about them is the core's business.
import type { Effect } from '../../core/compaction/state.js';
import type { AnswerRecord } from '../../core/compaction/request-record.js';
import type { Millis } from '../../core/reading.js';
import { isRunning } from '../../storage/processes.js';
import {
  readRequest,
  removeRequest,
  requestsFolder,
  requestsOf,
  sweepRequests,
  writeAnswer,
} from '../../storage/requests.js';
import { reasonOf } from '../../storage/unwritable.js';
import { watchFolder } from '../../storage/watch-folder.js';
import type { FolderWatch } from '../../storage/watch-folder.js';
import { atMost, inTurn } from '../in-turn.js';
import { omcRequests } from './omc-requests.js';
import { makeRequestDesk } from './request-desk.js';
import type { RequestDesk, RequestEvent } from './request-desk.js';

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
  const desk = makeRequestDesk({
    tell,
    answer: answers.write,
    drop: answers.drop,
    isThere: ({ pid, processStart }) => pid === undefined || isRunning(pid, processStart),
  });
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
const answerFiles = (
  { stateFolder, sessionId, now }: RequestsOptions,
  fail: (error: unknown) => void,
): {
  readonly write: Parameters<typeof makeRequestDesk>[0]['answer'];
  readonly drop: Parameters<typeof makeRequestDesk>[0]['drop'];
  readonly written: () => Promise<void>;
} => {
  let written = Promise.resolve();
  const next = (write: (folder: string) => Promise<void>): void => {
    written = written.then(async () => write(await requestsFolder(stateFolder))).catch(fail);
  };
  return {
    write: (request, verdict) => {
      const key = { session: sessionId, request };
      const record: AnswerRecord = { schema: 'ctxwrap.answer/1', ...key, at: now(), ...verdict };
      const isLast = verdict.state === 'refused' || verdict.state === 'ended';
      next(async (folder) => {
        await writeAnswer(folder, record);
        if (isLast) await removeRequest(folder, key);
      });
    },
    drop: (request) => next((folder) => removeRequest(folder, { session: sessionId, request })),
    written: () => written,
  };
};

/** The folder of requests, watched. */
const requestBox = (
  { stateFolder, sessionId, now }: RequestsOptions,
  desk: RequestDesk,
  onChange: () => void,
): { readonly look: () => Promise<void>; readonly close: () => void } => {
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
    look: async () => {
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
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      }
    },
    close: () => {
      isClosed = true;
      close();
    },
  };
};
