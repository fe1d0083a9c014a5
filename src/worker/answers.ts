import {
  isLastAnswer,
  type AnswerContent,
  type AnswerRecord,
  type RequestRecord,
} from '../core/compaction/requests.js';
import type { Millis } from '../core/reading.js';
import { isRunning } from '../storage/processes.js';
import { ensureRequestsFolder, isRequestThere, removeRequest, writeAnswer } from '../storage/requests.js';
import { WITHDRAWN } from '../typing/action.js';
import { endsWithin } from '../storage/timing.js';

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
    /** nobody has withdrawn the request, as far as can be seen */
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
export const wantedIn = async (answers: AnswerWriter, id: string): Promise<string | undefined> =>
  (await answers.isWanted(id)) ? undefined : WITHDRAWN;

/** A request of a process that has ended is void. */
export const isAskerRunning = ({ pid, processStart }: Pick<RequestRecord, 'pid' | 'processStart'>): boolean =>
  pid === undefined || isRunning(pid, processStart);
