// The other half of a request: leaving it, and waiting for what the wrapper writes about it.
import { setTimeout as wait } from 'node:timers/promises';
import type { AttemptRecord } from '../core/compaction/attempt-record.js';
import type { RequestRecord } from '../core/compaction/request-record.js';
import { REQUEST_MS } from '../core/compaction/request.js';
import {
  readAnswer,
  removeAnswer,
  removeRequest,
  requestsFolder,
  writeRequest,
} from '../storage/requests.js';
import { readSession } from '../storage/session-records.js';
import { cannotAsk, notNoticed } from './compact-messages.js';
import { reasonOf } from '../storage/unwritable.js';

export interface Question {
  readonly stateFolder: string;
  readonly request: RequestRecord;
  /** for the outcome, and not only until the wrapper has noticed */
  readonly waits: boolean;
  /** withdraws the request */
  readonly signal: AbortSignal;
  /** what the session does meanwhile, when it does something else */
  readonly onWords: (words: string) => void;
}

export type Reply =
  | { readonly kind: 'ended'; readonly attempt: AttemptRecord }
  | { readonly kind: 'refused'; readonly reason: string }
  /** the wrapper knows of it, and we do not wait */
  | { readonly kind: 'asked' }
  /** the command was typed, and then nothing more was heard */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'cancelled' };

const POLL_MS = 200;
const NOTICE_MS = 20_000; // a wrapper looks every 5 s where the system does not tell it of files
const LONGEST_MS = 2 * REQUEST_MS; // its safe moment comes within the first half, or it refuses

/** Resolves with what became of the request. Rejects with a UserError when it cannot be left. */
export const askSession = async (question: Question): Promise<Reply> => {
  const { stateFolder, request } = question;
  const folder = await requestsFolder(stateFolder)
    .then(async (path) => {
      await writeRequest(path, request);
      return path;
    })
    .catch((error: unknown) => {
      throw cannotAsk(reasonOf(error));
    });
  const reply = await replyIn(folder, question);
  // one that nobody waits for stays until the wrapper has done it
  if (reply.kind !== 'asked') await removeRequest(folder, request);
  await removeAnswer(folder, request);
  return reply;
};

const replyIn = async (folder: string, question: Question): Promise<Reply> => {
  const { stateFolder, request, waits, signal, onWords } = question;
  let isNoticed = false;
  let isBegun = false;
  let isGone = false;
  const lost = (reason: string): Reply => ({ kind: isBegun ? 'unknown' : 'refused', reason });
  let said: string | undefined;
  while (!signal.aborted) {
    const answer = await readAnswer(folder, request);
    if (answer?.state === 'ended') return { kind: 'ended', attempt: answer.attempt };
    if (answer?.state === 'refused') return { kind: 'refused', reason: answer.reason };
    isNoticed ||= answer !== undefined;
    isBegun ||= answer?.state === 'begun';
    if (isNoticed && !waits) return { kind: 'asked' };
    // its answer may have come between the two looks
    if (isGone) return lost('the session has ended');
    const waited = Date.now() - request.askedAt;
    if (!isNoticed && waited > NOTICE_MS) return { kind: 'refused', reason: notNoticed };
    if (waited > LONGEST_MS) return lost('it does not answer');
    const session = await readSession(stateFolder, request.session, Date.now());
    isGone = session === undefined || session.liveness === 'ended' || session.liveness === 'dead';
    const words = session?.record.compaction?.words;
    if (words !== undefined && words !== said) onWords(words);
    said = words;
    if (!isGone) await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return { kind: 'cancelled' };
};
