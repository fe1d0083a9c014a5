import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as pass } from 'node:timers/promises';
import type { ServerCall, ServerChannel } from '../agents/channel.js';
import { errorCode, errorText } from '../core/errors.js';
import { parseJson } from '../core/json.js';
import { portOwner } from '../storage/port-owner.js';
import type { OpenChannel } from '../session/options.js';
import { withLimit } from '../storage/timing.js';
import type { Answer, ChannelCaller } from './channel-caller.js';

// Calls the HTTP server of an agent that ctxwrap has started with a port and a password. The port was free a moment before the agent listened
// there, so each connection is first proven to have reached the agent.

export interface ServerConnection {
  readonly channel: ServerChannel;
  readonly open: Extract<OpenChannel, { readonly via: 'server' }>;
  /** the agent's process: only it and its descendants are told the password */
  readonly childPid: number;
  readonly signal: AbortSignal;
}

const HOST = '127.0.0.1';
const MOST_BYTES = 1024 * 1024; // of an answer

export const makeServerCaller = (given: ServerConnection): ChannelCaller<ServerCall> => ({
  call: (asked, waitMs) => call({ ...given, signal: withLimit(given.signal, waitMs) }, asked),
  close: () => undefined,
});

/** One call, with its own connection: the global one may be told to use a proxy. */
const call = (given: ServerConnection, { method, path, body }: ServerCall): Promise<Answer> =>
  new Promise((resolve) => {
    const { channel, open, signal } = given;
    const sent = body === undefined ? '' : JSON.stringify(body);
    const { stream, isProven } = connectToChild(given);
    const end = (answer: Answer): void => {
      stream.destroy();
      resolve(answer);
    };
    const asking = request({
      createConnection: () => stream,
      host: HOST,
      port: open.port,
      method,
      path,
      auth: `${channel.user}:${open.password}`,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) },
      signal,
    });
    let text = '';
    asking.on('response', (response) => {
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        if (text.length > MOST_BYTES) asking.destroy(new Error('a very long answer'));
      });
      response.on('error', (error) => end({ kind: 'lost', reason: errorText(error) }));
      response.on('end', () => end(readAnswer(response.statusCode ?? 0, text)));
    });
    asking.on('error', (error) => end({ kind: isProven() ? 'lost' : 'refused', reason: reasonOf(error) }));
    asking.end(sent);
  });

const readAnswer = (status: number, text: string): Answer => {
  if (status !== 200) return { kind: 'refused', reason: `status ${status}` };
  return { kind: 'answer', answer: parseJson(text) };
};

const reasonOf = (error: Error): string => {
  if (errorCode(error) === 'ECONNREFUSED') return 'nothing listens there';
  const isLate = error.name === 'TimeoutError' || error.name === 'AbortError';
  return isLate ? 'no answer came' : errorText(error);
};

// The connection.

interface ChildConnection {
  readonly stream: Duplex;
  /** the other end is the child's, and more than the first byte may have been sent */
  readonly isProven: () => boolean;
}

/**
 * Sends the first byte, and what follows it once the other end is known to be the child's: a server may leave a connection waiting until
 * there is something to read (TCP_DEFER_ACCEPT, tcp(7)), as opencode's does.
 */
const connectToChild = ({ open: { port }, childPid }: ServerConnection): ChildConnection => {
  const socket = connect({ host: HOST, port, noDelay: true });
  let isProven = false;
  const send = async (bytes: Buffer): Promise<void> => {
    if (isProven) return void socket.write(bytes);
    if (socket.connecting) await once(socket, 'connect');
    await prove(socket, { childPid, port, first: bytes.subarray(0, 1) });
    isProven = true;
    socket.write(bytes.subarray(1));
  };
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (bytes: Buffer, _, done) => void send(bytes).then(() => done(), done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (bytes) => {
    if (!stream.push(bytes)) socket.pause();
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', (error) => stream.destroy(error));
  return { stream, isProven: () => isProven };
};

interface Proof {
  readonly childPid: number;
  readonly port: number;
  /** what may be sent to anyone */
  readonly first: Buffer;
}

const ACCEPT_MS = 1_000; // opencode takes it within milliseconds; a busy machine takes longer
const LONGEST_PAUSE_MS = 50;

/** Rejects, with the reason, unless the connection has reached the child. */
const prove = async (socket: Socket, { childPid, port, first }: Proof): Promise<void> => {
  const isWaiting = (): boolean => {
    const owner = portOwner(childPid, port, socket.localPort);
    if (owner === 'foreign') throw new Error('another process listens on its port');
    if (owner === 'hidden') throw new Error(UNVERIFIED);
    return owner === 'waiting';
  };
  isWaiting();
  socket.write(first);
  const until = performance.now() + ACCEPT_MS;
  for (let pauseMs = 1; isWaiting(); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (socket.destroyed || performance.now() >= until) throw new Error(UNVERIFIED);
    await pass(pauseMs);
  }
};

const UNVERIFIED = 'ctxwrap cannot verify who listens on its port';
