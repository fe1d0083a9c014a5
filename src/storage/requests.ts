import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  parseAnswer,
  parseRequest,
  type AnswerRecord,
  type RequestKey,
  type RequestRecord,
} from '../core/compaction/protocol.js';
import type { Millis } from '../core/reading.js';
import { ensureFolder, readOwn, writeAtomic } from './state-folder.js';

// Requests to running wrappers and the answers to them: `requests/<session>.<request>.{request,answer}.json` in the state folder.
// Whoever asked withdraws a request by removing it.

const FOLDER = 'requests';
const REQUEST_BYTES = 8 * 1024; // a request has a few hundred, most of them focus text
const ANSWER_BYTES = 256 * 1024;
const NAME = /^([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})\.(?:request|answer)\.json(?:\.[0-9a-f]+\.tmp)?$/;
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const REQUEST = '.request.json';
const ANSWER = '.answer.json';
const MOST_REQUESTS = 100; // of one session; whoever leaves more is no user of ours
const MOST_SWEPT = 1_000; // files looked at in one clean-up
const KEPT_MS = 3_600_000; // an answer that nobody has fetched by then is fetched by nobody

/** Where they are; the folder is made for the user alone when it is not there. Rejects when it cannot be trusted. */
export const requestsFolder = (stateFolder: string): Promise<string> => ensureFolder(stateFolder, FOLDER);

export const writeRequest = (folder: string, request: RequestRecord): Promise<void> =>
  writeAtomic(pathOf(folder, request, REQUEST), `${JSON.stringify(request)}\n`);

/** Undefined for one that is not there, is not this user's, or is not what its name says. */
export const readRequest = async (folder: string, key: RequestKey): Promise<RequestRecord | undefined> => {
  const request = parseRequest((await readOwn(pathOf(folder, key, REQUEST), REQUEST_BYTES)) ?? '');
  return request && isSame(request, key) ? request : undefined;
};

/** The ids of the requests to a session that lie there; rejects when nobody can know. */
export const requestsOf = async (folder: string, session: string): Promise<readonly string[]> => {
  const names = await readdir(folder);
  const prefix = `${session}.`;
  return names
    .filter((name) => name.startsWith(prefix) && name.endsWith(REQUEST))
    .map((name) => name.slice(prefix.length, -REQUEST.length))
    .filter((id) => ID.test(id))
    .slice(0, MOST_REQUESTS);
};

export const removeRequest = (folder: string, key: RequestKey): Promise<void> =>
  unlink(pathOf(folder, key, REQUEST)).catch(() => undefined);

export const writeAnswer = (folder: string, answer: AnswerRecord): Promise<void> =>
  writeAtomic(pathOf(folder, answer, ANSWER), `${JSON.stringify(answer)}\n`);

export const readAnswer = async (folder: string, key: RequestKey): Promise<AnswerRecord | undefined> => {
  const answer = parseAnswer((await readOwn(pathOf(folder, key, ANSWER), ANSWER_BYTES)) ?? '');
  return answer && isSame(answer, key) ? answer : undefined;
};

export const removeAnswer = (folder: string, key: RequestKey): Promise<void> =>
  unlink(pathOf(folder, key, ANSWER)).catch(() => undefined);

/** Removes what was left by processes that are gone. */
export const sweepRequests = async (folder: string, now: Millis): Promise<void> => {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => NAME.test(each)).slice(0, MOST_SWEPT)) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats && now - stats.mtimeMs > KEPT_MS) await unlink(path).catch(() => undefined);
  }
};

const pathOf = (folder: string, { session, request }: RequestKey, suffix: string): string => {
  if (!ID.test(session) || !ID.test(request)) throw new Error(`"${session}.${request}" names no request`);
  return join(folder, `${session}.${request}${suffix}`);
};

const isSame = (found: RequestKey, { session, request }: RequestKey): boolean =>
  found.session === session && found.request === request;
