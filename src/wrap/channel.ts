import { Agent, request } from 'node:http';
import type { ServerCall, ServerChannel } from '../agents/channel.js';
import { errorCode, errorText } from '../core/errors.js';
import type { OpenChannel } from './options.js';
import { observeAfterPause, startAwakeClock, type TypistPort } from './typing-steps.js';
import { refusals, USER_TYPES } from './typist.js';

// Asks an agent to compact by its control channel. No key is typed, so text in the prompt stays; a turn and a dialog are waited for as ever.

export interface ChannelRequest {
  readonly channel: ServerChannel;
  readonly open: OpenChannel;
  readonly port: Pick<TypistPort, 'observe' | 'refresh' | 'typedCount' | 'hasUntoldKeys'>;
  readonly signal: AbortSignal;
}

export type ChannelResult =
  /** the agent has taken the request, or may have */
  | { readonly kind: 'sent'; readonly evidence: string }
  /** it was not asked */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** it has not taken the request, and would not do so later */
  | { readonly kind: 'closed'; readonly reason: string };

const UNKNOWN_FORM = 'an answer of an unknown form';

/** Resolves as soon as the agent has taken the request, which is before it compacts. Never rejects. */
export const askToCompact = async (given: ChannelRequest): Promise<ChannelResult> => {
  const { channel, port } = given;
  const typedBefore = port.typedCount();
  const state = await call(given, channel.state);
  if (state.kind !== 'answer') return { kind: 'closed', reason: state.reason };
  const isBusy = channel.isBusy(state.answer);
  if (isBusy === undefined) return { kind: 'closed', reason: UNKNOWN_FORM };
  const reason = isBusy ? refusals.busy : await refusalOf(given, typedBefore);
  if (reason !== undefined) return { kind: 'skipped', reason };
  const asked = await call(given, channel.compact);
  switch (asked.kind) {
    case 'answer':
      return channel.isTaken(asked.answer)
        ? { kind: 'sent', evidence: `asked ${channel.name}` }
        : { kind: 'closed', reason: UNKNOWN_FORM };
    case 'refused':
      return { kind: 'closed', reason: asked.reason };
    case 'lost':
      return { kind: 'sent', evidence: `asked ${channel.name}: ${asked.reason}` };
  }
};

/** Why it must not be asked now, by the screen and the user's keys; undefined where it may. */
const refusalOf = async (
  { port, signal }: ChannelRequest,
  typedBefore: number,
): Promise<string | undefined> => {
  await port.refresh();
  const observed = await observeAfterPause(port, signal, startAwakeClock());
  if (port.hasUntoldKeys() || port.typedCount() !== typedBefore) return USER_TYPES;
  if (!observed) return 'the screen is being drawn';
  const { activity } = observed;
  return activity === 'ready' || activity === 'draft' ? undefined : refusals[activity];
};

type Answer =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** it was not reached, or has said no */
  | { readonly kind: 'refused'; readonly reason: string }
  /** it was reached, and what it has done is not known */
  | { readonly kind: 'lost'; readonly reason: string };

const ANSWER_MS = 5_000; // on a busy machine; it answers in milliseconds
const MOST_BYTES = 1024 * 1024;

/** One call, with its own connection: the global one may be told to use a proxy. */
const call = (given: ChannelRequest, { method, path, body }: ServerCall): Promise<Answer> =>
  new Promise((resolve) => {
    const { channel, open, signal } = given;
    const sent = body === undefined ? '' : JSON.stringify(body);
    const asking = request({
      agent: new Agent({ keepAlive: false }),
      host: '127.0.0.1',
      port: open.port,
      method,
      path,
      auth: `${channel.user}:${open.password}`,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    let text = '';
    asking.on('response', (response) => {
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        if (text.length > MOST_BYTES) asking.destroy(new Error('a very long answer'));
      });
      response.on('error', (error) => resolve({ kind: 'lost', reason: errorText(error) }));
      response.on('end', () => resolve(readAnswer(response.statusCode ?? 0, text)));
    });
    asking.on('error', (error) => resolve(failed(error)));
    asking.end(sent);
  });

const readAnswer = (status: number, text: string): Answer => {
  if (status !== 200) return { kind: 'refused', reason: `status ${status}` };
  try {
    return { kind: 'answer', answer: JSON.parse(text) as unknown };
  } catch {
    return { kind: 'answer', answer: undefined };
  }
};

const failed = (error: Error): Answer => {
  if (errorCode(error) === 'ECONNREFUSED') return { kind: 'refused', reason: 'nothing listens there' };
  const isLate = error.name === 'TimeoutError' || error.name === 'AbortError';
  return { kind: 'lost', reason: isLate ? 'no answer came' : errorText(error) };
};
