import { Agent, request } from 'node:http';
import type { ServerCall, ServerChannel } from '../agents/channel.js';
import { errorCode, errorText } from '../core/errors.js';
import type { Answer, ChannelCaller } from './channel.js';
import type { OpenChannel } from './options.js';

// Calls the HTTP server of an agent that ctxwrap has started with a port and a password.

type OpenServer = Extract<OpenChannel, { readonly via: 'server' }>;

const MOST_BYTES = 1024 * 1024; // of an answer

export const makeServerCaller = (
  channel: ServerChannel,
  open: OpenServer,
  signal: AbortSignal,
): ChannelCaller<ServerCall> => ({
  call: (asked, waitMs) => call({ channel, open, signal, waitMs }, asked),
  close: () => undefined,
});

interface CallOptions {
  readonly channel: ServerChannel;
  readonly open: OpenServer;
  readonly signal: AbortSignal;
  readonly waitMs: number;
}

/** One call, with its own connection: the global one may be told to use a proxy. */
const call = (
  { channel, open, signal, waitMs }: CallOptions,
  { method, path, body }: ServerCall,
): Promise<Answer> =>
  new Promise((resolve) => {
    const sent = body === undefined ? '' : JSON.stringify(body);
    const asking = request({
      agent: new Agent({ keepAlive: false }),
      host: '127.0.0.1',
      port: open.port,
      method,
      path,
      auth: `${channel.user}:${open.password}`,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(waitMs)]),
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
