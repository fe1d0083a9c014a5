import { lookup } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { makeChatAnswerReader, saysTooLong } from '../core/conversation/chat-answer.js';
import { isLoopback } from '../core/config/summariser.js';
import { errorCode, SummaryError } from '../core/errors.js';
import { MOST_SUMMARY_TOKENS } from '../core/conversation/summary-text.js';
import { toOneLine } from '../core/text.js';
import { endsWithin } from '../storage/timing.js';
import type { AskForSummary, ServerWaits, SummariserOptions } from './ask-for-summary.js';

// Has a model server write a summary: POST chat/completions, as OpenAI's API has it.

const MOST_REDIRECTS = 3;
const MOST_BYTES = 32 * 1024 * 1024; // of an answer: an event has a few hundred bytes around each token
const MOST_ERROR_BYTES = 64 * 1024;
const MOST_RETRY_AFTER_MS = 30_000;
const ERROR_MS = 2_000; // for the text of a refusal, which is read only to tell its kind
const LONGEST_MODEL = 80; // characters in a message

const usualWaits: ServerWaits = { retryMs: [1_000, 4_000], stallMs: 30_000 };

interface Server {
  /** as the user has written it, for messages */
  readonly place: string;
  readonly url: URL;
  readonly model: string;
  readonly keyName: string | undefined;
  readonly key: string | undefined;
  readonly waits: ServerWaits;
}

export const askServer: AskForSummary = async ({ instructions, text }, options, signal) => {
  const { values, waits = usualWaits } = options;
  const {
    'summariser.url': place = '',
    'summariser.model': model = '',
    'summariser.keyEnv': keyName,
  } = values;
  const server: Server = { place, url: addressOf(place), model, keyName, key: keyOf(options), waits };
  await assertOnThisMachine(server, options);
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: text },
  ];
  const response = await postPatiently(server, { model, messages, stream: true }, signal);
  return readAnswer(server, response, signal);
};

const PATH = '/chat/completions';

const addressOf = (place: string): URL => {
  const bare = place.replace(/\/+$/, '');
  return new URL(bare.endsWith(PATH) ? bare : bare + PATH);
};

const keyOf = ({ values, env }: SummariserOptions): string | undefined => {
  const name = values['summariser.keyEnv'];
  if (name === undefined) return undefined;
  const key = env[name]?.trim() ?? '';
  if (key === '') throw new SummaryError(`the environment variable ${name} (summariser.keyEnv) is not set`);
  // Node's own error would repeat it
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new SummaryError(`the environment variable ${name} holds no valid key`);
  return key;
};

// Nothing leaves the machine without the user's word, whatever the names of hosts and the variables for proxies say.

const assertOnThisMachine = async (
  { url: { hostname, protocol } }: Server,
  { values, env }: SummariserOptions,
): Promise<void> => {
  if (values['summariser.remote']) return;
  const found = hostname === 'localhost' ? await lookup(hostname, { all: true }).catch(() => []) : [];
  if (!found.every(({ address }) => isLoopback(address)))
    throw new SummaryError('localhost is another machine here: use 127.0.0.1 in summariser.url');
  if (isProxied({ hostname, protocol }, env))
    throw new SummaryError(
      `a proxy would get the conversation (NODE_USE_ENV_PROXY): add ${hostname} to NO_PROXY`,
    );
};

/** Node 24 and newer use proxies of the environment if they are told to. */
const isProxied = (
  { hostname, protocol }: Pick<URL, 'hostname' | 'protocol'>,
  env: SummariserOptions['env'],
): boolean => {
  const of = (name: string): string => env[name.toLowerCase()] || env[name] || '';
  const isOn = /^(?!0$|false$)./.test(of('NODE_USE_ENV_PROXY')) || of('NODE_OPTIONS').includes('env-proxy');
  const without = of('NO_PROXY').split(/[\s,]+/);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isExcepted = without.some((each) => each === '*' || each === host || each === hostname);
  return isOn && of(`${protocol.slice(0, -1).toUpperCase()}_PROXY`) !== '' && !isExcepted;
};

type Question = Readonly<Record<string, unknown>>;

type Attempt =
  | { readonly kind: 'answer'; readonly response: Response }
  /** the server does not take `max_tokens`, or not so many */
  | { readonly kind: 'limit' }
  /** `retryAfterMs`: it may work then; absent where it never will */
  | { readonly kind: 'failed'; readonly error: SummaryError; readonly retryAfterMs?: number };

/** Tries again after what passes: no connection, too many requests, a server's own failure. */
const postPatiently = async (server: Server, question: Question, signal: AbortSignal): Promise<Response> => {
  const { retryMs } = server.waits;
  let limit: Question = { max_tokens: MOST_SUMMARY_TOKENS };
  for (let failures = 0; ; failures += 1) {
    let attempt = await post(server, { ...question, ...limit }, signal);
    if (attempt.kind === 'limit') {
      limit = {}; // what comes is counted anyway
      attempt = await post(server, question, signal);
    }
    if (attempt.kind === 'answer') return attempt.response;
    if (attempt.kind === 'limit') throw refusal(server, 400, '');
    const waitMs = retryMs[failures];
    const { error, retryAfterMs = Infinity } = attempt;
    if (waitMs === undefined || retryAfterMs > MOST_RETRY_AFTER_MS) throw error;
    await pause(Math.max(waitMs, retryAfterMs), undefined, { signal });
  }
};

const post = async (server: Server, question: Question, signal: AbortSignal): Promise<Attempt> => {
  const { key } = server;
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const body = JSON.stringify(question);
  let { url } = server;
  for (let redirects = 0; ; redirects += 1) {
    let response: Response;
    try {
      response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    } catch (error) {
      signal.throwIfAborted();
      return noConnection(server, error);
    }
    if (response.ok) return { kind: 'answer', response };
    const answer = await readSome(response);
    const next = redirects < MOST_REDIRECTS ? redirectOf(response, url) : undefined;
    if (!next) return failureOf(server, response, answer);
    url = next;
  }
};

/** Where the same request is to be sent, on the same server only: the key and the conversation go nowhere else. */
const redirectOf = ({ status, headers }: Response, from: URL): URL | undefined => {
  const location = headers.get('location') ?? '';
  if ((status !== 307 && status !== 308) || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from);
  return to.origin === from.origin ? to : undefined;
};

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  UND_ERR_HEADERS_TIMEOUT: 'it did not begin to answer within 300 s', // a limit of Node's fetch
};

const noConnection = ({ place }: Server, error: unknown): Attempt => {
  const code = String(errorCode(error instanceof Error ? error.cause : undefined) ?? 'no code');
  const failed = new SummaryError(`no connection to ${place}: ${REASONS[code] ?? code}`);
  const isLate = code === 'UND_ERR_HEADERS_TIMEOUT';
  return { kind: 'failed', error: failed, ...(isLate ? {} : { retryAfterMs: 0 }) };
};

/** Statuses that pass. */
const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

const failureOf = (server: Server, { status, headers }: Response, body: string): Attempt => {
  const isLimit = (status === 400 || status === 422) && /max_tokens|maximum context length/i.test(body);
  if (isLimit) return { kind: 'limit' };
  const error = refusal(server, status, body);
  return isPassing(status)
    ? { kind: 'failed', error, retryAfterMs: retryAfterMs(headers.get('retry-after') ?? '') }
    : { kind: 'failed', error };
};

/** Seconds, or a date; 0 for anything else. */
const retryAfterMs = (value: string): number => {
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
};

/** In ctxwrap's own words: those of the server can repeat the conversation, or the key. */
const refusal = ({ place, model, keyName }: Server, status: number, body: string): SummaryError => {
  const shown = toOneLine(model, LONGEST_MODEL);
  const answered = `${place} answered with status ${status}`;
  if (status === 413 || (status < 500 && saysTooLong(body)))
    return new SummaryError(`the text is too long for the model ${shown}`);
  if (status === 401 || status === 403)
    return new SummaryError(
      keyName === undefined
        ? `${answered}: it requires a key; name its variable with: ctxwrap config set summariser.keyEnv NAME`
        : `${answered}: it does not accept the key in ${keyName}`,
    );
  if (status === 404)
    return new SummaryError(`${answered}: there is no model ${shown}, or no chat/completions`);
  if (status >= 300 && status < 400)
    return new SummaryError(`${answered}: it redirects requests; use the new address in summariser.url`);
  return new SummaryError(answered);
};

/** The beginning of a text: what comes soon. */
const readSome = async ({ body }: Response): Promise<string> => {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const collect = async (): Promise<void> => {
    while (text.length < MOST_ERROR_BYTES) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
    }
  };
  await endsWithin(ERROR_MS, collect());
  void reader.cancel().catch(() => undefined);
  return text;
};

const readAnswer = async (
  { place, waits: { stallMs } }: Server,
  { body }: Response,
  signal: AbortSignal,
): Promise<string> => {
  if (!body) throw new SummaryError(`the answer of ${place} is empty`);
  const [reader, decoder, answer] = [body.getReader(), new TextDecoder(), makeChatAnswerReader()];
  let bytes = 0;
  let isStalled = false;
  const stall = (): void => {
    isStalled = true;
    void reader.cancel().catch(() => undefined); // ends the read
  };
  try {
    while (!answer.isComplete()) {
      const timer = answer.hasBegun() ? setTimeout(stall, stallMs) : undefined;
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (isStalled) throw new SummaryError(`${place} sent nothing for ${stallMs / 1_000} s`);
      if (done) break;
      bytes += value.length;
      if (bytes > MOST_BYTES) throw new SummaryError(`the answer of ${place} is too large`);
      answer.push(decoder.decode(value, { stream: true }));
    }
    answer.push(decoder.decode());
    return answer.end();
  } catch (error) {
    if (error instanceof SummaryError || signal.aborted) throw error;
    throw new SummaryError(`the connection to ${place} broke off in the middle of the answer`);
  } finally {
    void reader.cancel().catch(() => undefined);
  }
};
