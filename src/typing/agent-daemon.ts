import { once } from 'node:events';
import { realpath, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { getuid } from 'node:process';
import WebSocket from 'ws';
import type { DaemonChannel, RpcCall } from '../agents/channel.js';
import { errorCode, errorText } from '../core/errors.js';
import { getCount, getRecord, getText, parseRecord, type JsonRecord } from '../core/json.js';
import { followLink } from '../storage/trusted-link.js';
import type { OpenChannel } from '../session/options.js';
import type { Answer, ChannelCaller } from './channel-caller.js';

// Calls the background server of an agent: JSON-RPC 2.0 without its version field, over a WebSocket on a Unix socket of the same user.

export interface DaemonConnection {
  readonly channel: DaemonChannel;
  readonly open: Extract<OpenChannel, { readonly via: 'daemon' }>;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 5_000; // on a busy machine
const MOST_BYTES = 4 * 1024 * 1024; // of a message
const SILENT: Answer = { kind: 'lost', reason: 'no answer came' };
const UNSENT: Answer = { kind: 'refused', reason: 'the connection has ended' };

/** Never rejects: without a connection each call is refused. */
export const connectToDaemon = async (given: DaemonConnection): Promise<ChannelCaller<RpcCall>> => {
  const { channel, open, signal } = given;
  const refusing = (reason: string): ChannelCaller<RpcCall> => ({
    call: async () => ({ kind: 'refused', reason }),
    close: () => undefined,
  });
  const found = await findSocket(open.socket);
  if ('reason' in found) return refusing(found.reason);
  const socket = new WebSocket('ws://localhost/', {
    createConnection: () => connect(found.path),
    perMessageDeflate: false,
    handshakeTimeout: CONNECT_MS,
    maxPayload: MOST_BYTES,
    followRedirects: false,
  });
  const rpc = makeRpc(socket, signal);
  const close = (): void => socket.terminate();
  try {
    await once(socket, 'open', { signal });
    const greeted = await rpc.ask(channel.greeting, CONNECT_MS);
    if (greeted.kind !== 'answer') throw new Error(greeted.reason);
    socket.send(JSON.stringify({ method: channel.greeted }));
  } catch (error) {
    close();
    return refusing(errorText(error));
  }
  return { call: rpc.ask, close };
};

/**
 * Where the socket really is: the agent puts a link to a short path there, because a socket's path has at most 107 bytes (unix(7)). Only a
 * server of the same user may be told of conversations, so no other user may be able to put another socket there.
 */
const findSocket = async (link: string): Promise<{ readonly path: string } | { readonly reason: string }> => {
  try {
    const found = followLink(await realpath(link), 'socket');
    if (found.kind === 'untrusted') return found;
    const { path } = found;
    const { uid } = await stat(path);
    return uid === getuid?.() ? { path } : { reason: 'its socket belongs to another user' };
  } catch (error) {
    return { reason: errorCode(error) === 'ENOENT' ? 'it is not running' : errorText(error) };
  }
};

/** Sends requests and finds their answers among the messages. */
const makeRpc = (socket: WebSocket, signal: AbortSignal) => {
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  const giveUp = (): void => {
    for (const resolve of waiting.values()) resolve(SILENT);
    waiting.clear();
  };
  socket.on('message', (data) => {
    const message = parseRecord(String(data));
    const id = getCount(message, 'id');
    if (!message || id === undefined || getText(message, 'method') !== undefined) return; // a notification, or a request of the server
    waiting.get(id)?.(readAnswer(message));
    waiting.delete(id);
  });
  socket.on('error', giveUp);
  socket.on('close', giveUp);
  signal.addEventListener('abort', giveUp);
  return {
    ask: (call: RpcCall, waitMs: number): Promise<Answer> =>
      new Promise((resolve) => {
        if (socket.readyState !== WebSocket.OPEN || signal.aborted) return resolve(UNSENT);
        const id = (last += 1);
        const timer = setTimeout(() => {
          waiting.delete(id);
          resolve(SILENT);
        }, waitMs);
        waiting.set(id, (answer) => {
          clearTimeout(timer);
          resolve(answer);
        });
        socket.send(JSON.stringify({ id, ...call }));
      }),
  };
};

const readAnswer = (message: JsonRecord): Answer => {
  const error = getRecord(message, 'error');
  return error
    ? { kind: 'refused', reason: getText(error, 'message') ?? 'it refused' }
    : { kind: 'answer', answer: message['result'] };
};
