import { lstat, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonText } from '../core/printable.js';
import {
  isLastAnswer,
  parseAnswer,
  parseRequest,
  type AnswerRecord,
  type RequestKey,
  type RequestRecord,
} from '../core/compaction/requests.js';
import { errorCode } from '../core/errors.js';
import type { Millis } from '../core/reading.js';
import { isSessionId } from '../core/report/session-id.js';
import { ensureFolder, readOwnFile, writeAtomic } from './state-folder.js';

// Requests to running wrappers and their answers: `requests/<session>.<request>.{request,answer}.json` in the state folder.
// The requester withdraws a request by removing its file.
//
// What cannot be withdrawn begins so: the wrapper writes the answer `begun`, and then looks whether the request is still there. Who withdraws
// removes the request, and then looks for that answer. Whatever the order, and whoever is stopped or killed in between, one of the two sees the
// other: a request that is gone without `begun` is never carried out.

const FOLDER = 'requests';
const REQUEST_BYTES = 8 * 1024; // a request has a few hundred, most of it focus text
const ANSWER_BYTES = 256 * 1024;
const NAME = /^([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})\.(?:request|answer)\.json(?:\.[0-9a-f]+\.tmp)?$/;
const REQUEST = '.request.json';
const ANSWER = '.answer.json';
const MAX_REQUESTS = 100; // per session; more cannot come from normal use
const MAX_SWEPT = 1_000; // files examined per clean-up
const MAX_AGE_MS = 3_600_000; // nobody will fetch an older answer

/** Path of the folder, which is created for the user only if missing. Rejects if the folder cannot be trusted. */
export const ensureRequestsFolder = (stateFolder: string): Promise<string> =>
  ensureFolder(stateFolder, FOLDER);

export const writeRequest = (folder: string, request: RequestRecord): Promise<void> =>
  writeAtomic(pathOf(folder, request, REQUEST), jsonText(request));

/** Undefined if there is none, it is another user's, or its content does not match its name. */
export const readRequest = async (folder: string, key: RequestKey): Promise<RequestRecord | undefined> => {
  const request = parseRequest((await readOwnFile(pathOf(folder, key, REQUEST), REQUEST_BYTES)) ?? '');
  return request && hasSameKey(request, key) ? request : undefined;
};

/** The ids of the pending requests to a session; rejects if the folder cannot be read. */
export const listRequests = async (folder: string, session: string): Promise<readonly string[]> => {
  const names = await readdir(folder);
  const prefix = `${session}.`;
  return names
    .filter((name) => name.startsWith(prefix) && name.endsWith(REQUEST))
    .map((name) => name.slice(prefix.length, -REQUEST.length))
    .filter(isSessionId)
    .slice(0, MAX_REQUESTS);
};

/** False also where that cannot be seen. */
export const isRequestThere = (folder: string, key: RequestKey): Promise<boolean> =>
  lstat(pathOf(folder, key, REQUEST)).then(
    () => true,
    () => false,
  );

/** What was made of a request by the time it was withdrawn. */
export type Withdrawal =
  /** nothing, and nothing will be */
  | { readonly kind: 'unbegun' }
  /** the last answer had come already */
  | { readonly kind: 'answered'; readonly answer: AnswerRecord }
  /** it has begun, or that cannot be seen */
  | { readonly kind: 'unknown' };

/** Withdraws a request. Never rejects. */
export const withdrawRequest = async (folder: string, key: RequestKey): Promise<Withdrawal> => {
  const removal = await unlink(pathOf(folder, key, REQUEST)).then(
    () => 'removed' as const,
    (error: unknown) => (errorCode(error) === 'ENOENT' ? ('gone' as const) : ('failed' as const)),
  );
  const answer = await readAnswer(folder, key);
  if (answer && isLastAnswer(answer)) return { kind: 'answered', answer };
  // where the request is gone without an answer, the folder may have been emptied, with an answer in it
  const isSeen = removal === 'removed' || (removal === 'gone' && answer !== undefined);
  return { kind: isSeen && !(await mayHaveBegun(folder, key, answer)) ? 'unbegun' : 'unknown' };
};

/** Whether something may have been typed for the request, by its answer; undefined if no answer could be read. */
export const mayHaveBegun = async (
  folder: string,
  key: RequestKey,
  answer: AnswerRecord | undefined,
): Promise<boolean> =>
  answer ? answer.state !== 'waiting' : !(await isMissing(pathOf(folder, key, ANSWER)));

const isMissing = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );

export const removeRequest = (folder: string, key: RequestKey): Promise<void> =>
  unlink(pathOf(folder, key, REQUEST)).catch(() => undefined);

export const writeAnswer = (folder: string, answer: AnswerRecord): Promise<void> =>
  writeAtomic(pathOf(folder, answer, ANSWER), jsonText(answer));

export const readAnswer = async (folder: string, key: RequestKey): Promise<AnswerRecord | undefined> => {
  const answer = parseAnswer((await readOwnFile(pathOf(folder, key, ANSWER), ANSWER_BYTES)) ?? '');
  return answer && hasSameKey(answer, key) ? answer : undefined;
};

export const removeAnswer = (folder: string, key: RequestKey): Promise<void> =>
  unlink(pathOf(folder, key, ANSWER)).catch(() => undefined);

/** Removes old files that ended processes have left. */
export const sweepRequests = async (folder: string, now: Millis): Promise<void> => {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => NAME.test(each)).slice(0, MAX_SWEPT)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && now - stats.mtimeMs > MAX_AGE_MS) await unlink(path).catch(() => undefined);
  }
};

const pathOf = (folder: string, { session, request }: RequestKey, suffix: string): string => {
  if (!isSessionId(session) || !isSessionId(request))
    throw new Error(`"${session}.${request}" names no request`);
  return join(folder, `${session}.${request}${suffix}`);
};

const hasSameKey = (found: RequestKey, { session, request }: RequestKey): boolean =>
  found.session === session && found.request === request;
