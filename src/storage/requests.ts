import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonText } from '../core/printable.js';
import {
  parseAnswer,
  parsePlainRequest,
  parseRequest,
  parseShorten,
  parseSwitch,
  type AnswerRecord,
  type BriefRecord,
  type RequestKey,
  type RequestRecord,
  type ShortenRecord,
  type SwitchRecord,
  type UndoRecord,
} from '../core/compaction/protocol.js';
import type { Millis } from '../core/reading.js';
import { ensureFolder, readOwnFile, writeAtomic } from './state-folder.js';

// Requests to running wrappers and their answers: `requests/<session>.<request>.{request,answer}.json` in the state folder.
// The requester withdraws a request by removing its file.

const FOLDER = 'requests';
const REQUEST_BYTES = 8 * 1024; // a request has a few hundred, most of it focus text
const ANSWER_BYTES = 256 * 1024;
const NAME = /^([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})\.(?:request|answer)\.json(?:\.[0-9a-f]+\.tmp)?$/;
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const REQUEST = '.request.json';
const ANSWER = '.answer.json';
const MAX_REQUESTS = 100; // per session; more cannot come from normal use
const MAX_SWEPT = 1_000; // files examined per clean-up
const MAX_AGE_MS = 3_600_000; // nobody will fetch an older answer

/** Path of the folder, which is created for the user only if missing. Rejects if the folder cannot be trusted. */
export const ensureRequestsFolder = (stateFolder: string): Promise<string> =>
  ensureFolder(stateFolder, FOLDER);

/** What can be asked of a running wrapper. */
export type AnyRequest = RequestRecord | ActionRecord;

/** Requests other than to compact by the agent's own command. */
export type ActionRecord = SwitchRecord | BriefRecord | UndoRecord | ShortenRecord;

export const writeRequest = (folder: string, request: AnyRequest): Promise<void> =>
  writeAtomic(pathOf(folder, request, REQUEST), jsonText(request));

/** Undefined if there is none, it is another user's, or its content does not match its name. */
export const readRequest = async (folder: string, key: RequestKey): Promise<AnyRequest | undefined> => {
  const text = (await readOwnFile(pathOf(folder, key, REQUEST), REQUEST_BYTES)) ?? '';
  const request = parseRequest(text) ?? parseSwitch(text) ?? parsePlainRequest(text) ?? parseShorten(text);
  return request && hasSameKey(request, key) ? request : undefined;
};

/** The ids of the pending requests to a session; rejects if the folder cannot be read. */
export const listRequests = async (folder: string, session: string): Promise<readonly string[]> => {
  const names = await readdir(folder);
  const prefix = `${session}.`;
  return names
    .filter((name) => name.startsWith(prefix) && name.endsWith(REQUEST))
    .map((name) => name.slice(prefix.length, -REQUEST.length))
    .filter((id) => ID.test(id))
    .slice(0, MAX_REQUESTS);
};

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
  if (!ID.test(session) || !ID.test(request)) throw new Error(`"${session}.${request}" names no request`);
  return join(folder, `${session}.${request}${suffix}`);
};

const hasSameKey = (found: RequestKey, { session, request }: RequestKey): boolean =>
  found.session === session && found.request === request;
