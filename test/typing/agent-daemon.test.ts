// A background server of an agent, which is a real WebSocket server on a Unix socket: chatty, busy, refusing, silent, lying, gone.
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { codexChannel } from '../../src/agents/codex/channel.js';
import { askToCompact, askToGive } from '../../src/typing/channel.js';
import { makeAgent } from '../support/typed-agent.js';

const STRANGER = 12_345;
const T = '01a212fd-23c2-7a71-af68-a58454fb5f24';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: object;
}

type Reply = (message: Message, socket: WebSocket) => unknown;

const result =
  (value: unknown): Reply =>
  ({ id }, socket) =>
    socket.send(JSON.stringify({ id, result: value }));

const resting = result({ thread: { id: T, ephemeral: false, status: { type: 'idle' } } });
const usual: Readonly<Record<string, Reply>> = {
  initialize: result({ userAgent: 'codex-tui/0.169.0' }),
  'thread/read': resting,
  'thread/compact/start': result({}),
};

let folder: string;
let link: string; // as Codex makes one: a path that is too long for a socket
const closers: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'daemon-'));
  mkdirSync(join(folder, 'a-folder-with-a-long-name'.repeat(8)));
  link = join(folder, 'a-folder-with-a-long-name'.repeat(8), 'control.sock');
});
afterEach(() => {
  closers.splice(0).forEach((close) => close());
  rmSync(folder, { recursive: true });
});

/** A server that answers by method; the path of a link to its socket, as Codex makes one. */
const serve = async (replies: Readonly<Record<string, Reply>> = usual) => {
  const seen: Message[] = [];
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message;
      seen.push(message);
      replies[message.method]?.(message, socket);
    });
  });
  http.listen(join(folder, 'real.sock'));
  await once(http, 'listening');
  symlinkSync(join(folder, 'real.sock'), link);
  const close = (): void => {
    for (const client of server.clients) client.terminate();
    http.close();
  };
  closers.push(close);
  return { seen, close, methods: () => seen.map(({ method }) => method) };
};

const ask = (
  agent = makeAgent(),
  signal: AbortSignal = new AbortController().signal,
  isElsewhereToo = async (): Promise<boolean> => false,
): ReturnType<typeof askToCompact> => {
  const open = { via: 'daemon', name: codexChannel.name, needsSession: true, socket: link } as const;
  const conversation = { sessionId: T, isElsewhereToo };
  return askToCompact({
    channel: codexChannel,
    open,
    childPid: process.pid,
    ...conversation,
    port: agent.port,
    signal,
  });
};

const SENT = { kind: 'sent', evidence: "asked Codex's background server" };
const ALL = ['initialize', 'initialized', 'thread/read', 'thread/read', 'thread/compact/start'];

describe('asking by a background server', () => {
  it('greets it, reads the thread twice, and asks for the compaction of that thread, while the user’s keys are held', async () => {
    const agent = makeAgent({ text: 'half a thought' });
    const { seen, methods } = await serve();
    expect(await ask(agent)).toEqual(SENT);
    expect(methods()).toEqual(ALL);
    expect(seen.at(-1)?.params).toEqual({ threadId: T });
    expect(agent.state).toMatchObject({
      text: 'half a thought',
      written: [],
      released: ['held', 'released after 0'],
    });
  });

  it('finds the answers among notifications, requests of the server, and messages that are none', async () => {
    const chatty: Reply = (message, socket) => {
      socket.send('not JSON');
      socket.send(JSON.stringify({ method: 'thread/status/changed', params: { threadId: 'x' } }));
      socket.send(
        JSON.stringify({ id: message.id, method: 'item/commandExecution/requestApproval', params: {} }),
      );
      socket.send(JSON.stringify({ id: 999, result: {} }));
      usual[message.method]?.(message, socket);
    };
    const { methods } = await serve(Object.fromEntries(Object.keys(usual).map((method) => [method, chatty])));
    expect(await ask()).toEqual(SENT);
    expect(methods()).toEqual(ALL);
  });

  it('asks for nothing when a key of the user comes between the two readings of the thread', async () => {
    const agent = makeAgent();
    let reads = 0;
    const { methods } = await serve({
      ...usual,
      'thread/read': (message, socket) => {
        reads += 1;
        if (reads === 2) agent.state.waitingCount = 1;
        resting(message, socket);
      },
    });
    expect(await ask(agent)).toEqual({ kind: 'skipped', reason: 'the user types' });
    expect(methods()).not.toContain('thread/compact/start');
    expect(agent.state).toMatchObject({ waitingCount: 0, released: ['held', 'released after 0'] });
  });

  it('asks for nothing when a turn has begun between the two readings', async () => {
    let reads = 0;
    const { methods } = await serve({
      ...usual,
      'thread/read': (message, socket) => {
        reads += 1;
        const type = reads === 2 ? 'active' : 'idle';
        result({ thread: { id: T, ephemeral: false, status: { type } } })(message, socket);
      },
    });
    expect(await ask()).toEqual({ kind: 'skipped', reason: 'the agent is busy' });
    expect(methods()).not.toContain('thread/compact/start');
  });

  it.each<[string, Readonly<Record<string, Reply>>, string]>([
    ['has no such thread', { 'thread/read': refuse('thread not loaded: x') }, 'thread not loaded: x'],
    [
      'knows the thread of another process',
      { 'thread/read': result({ thread: { id: T, ephemeral: false, status: { type: 'notLoaded' } } }) },
      'it does not have this conversation',
    ],
    ['answers in another form', { 'thread/read': result('idle') }, 'an answer in an unknown format'],
    ['refuses to compact', { 'thread/compact/start': refuse('thread not found: x') }, 'thread not found: x'],
    ['refuses the greeting', { initialize: refuse('unsupported client') }, 'unsupported client'],
    ['breaks off at the greeting', { initialize: (_, socket) => socket.terminate() }, 'no answer came'],
    [
      'breaks off before anything was asked for',
      { 'thread/read': (_, socket) => socket.terminate() },
      'no answer came',
    ],
  ])('is over where the server %s', async (_, replies, reason) => {
    await serve({ ...usual, ...replies });
    expect(await ask()).toEqual({ kind: 'closed', reason });
  });

  it('is not used where another terminal has the same conversation: it would compact in that one', async () => {
    const { seen } = await serve();
    const reason = 'another terminal has this conversation, too';
    const result = await ask(makeAgent(), undefined, async () => true);
    expect(result).toEqual({ kind: 'closed', reason });
    expect(seen).toEqual([]);
  });

  it.each<[string, () => void]>([
    ['a file', () => writeFileSync(link, '')],
    ['a folder', () => mkdirSync(link)],
    ['a link to itself', () => symlinkSync(link, link)],
    ['a named pipe', () => execFileSync('mkfifo', [link])],
  ])('is over where %s is in place of the socket', async (_, replace) => {
    replace();
    expect(await ask()).toMatchObject({ kind: 'closed' });
  });

  it('is over where no server runs, or its socket is left behind', async () => {
    expect(await ask()).toEqual({ kind: 'closed', reason: 'it is not running' });
    symlinkSync(join(folder, 'gone.sock'), link);
    expect(await ask()).toEqual({ kind: 'closed', reason: 'it is not running' });
  });

  it('is not told anything where other users could put another socket in its place', async () => {
    const { seen } = await serve();
    chmodSync(folder, 0o777);
    const reason = `other users can write to ${realpathSync(folder)}`;
    expect(await ask()).toEqual({ kind: 'closed', reason });
    chmodSync(folder, 0o1777); // as /tmp: nobody can replace what is another's
    expect(await ask()).toEqual(SENT);
    expect(seen.map(({ method }) => method)).toEqual(ALL);
  });

  it.skipIf(getuid?.() !== 0)(
    'is not told anything where its socket or its folder belongs to another user (skipped where no other user can be made)',
    async () => {
      const { seen } = await serve();
      for (const path of [folder, join(folder, 'real.sock')]) {
        chownSync(path, STRANGER, STRANGER);
        expect(await ask()).toMatchObject({
          kind: 'closed',
          reason: expect.stringContaining('another user'),
        });
        chownSync(path, 0, 0);
      }
      expect(seen).toEqual([]);
    },
  );

  it('is told where others may connect to its socket, too: that changes nothing of whose it is', async () => {
    await serve();
    chmodSync(join(folder, 'real.sock'), 0o777);
    expect(await ask()).toEqual(SENT);
  });

  it('counts as asked where the server breaks off after the request, because it may have taken it', async () => {
    await serve({ ...usual, 'thread/compact/start': (_, socket) => socket.terminate() });
    expect(await ask()).toEqual({ ...SENT, evidence: `${SENT.evidence}: no answer came` });
  });

  it('takes no message of any size', async () => {
    const huge = result('x'.repeat(8 * 1024 * 1024));
    await serve({ ...usual, 'thread/read': huge });
    expect(await ask()).toEqual({ kind: 'closed', reason: 'no answer came' });
  });

  it('ends with the session, and leaves no connection', async () => {
    const ended = new AbortController();
    const closed: Promise<unknown>[] = [];
    await serve({
      ...usual,
      'thread/read': (_, socket) => {
        closed.push(once(socket, 'close'));
        ended.abort();
      },
    });
    expect(await ask(makeAgent(), ended.signal)).toEqual({ kind: 'closed', reason: 'no answer came' });
    await Promise.all(closed);
    expect(closed).toHaveLength(1);
  });
});

function refuse(message: string): Reply {
  return ({ id }, socket) => socket.send(JSON.stringify({ id, error: { code: -32600, message } }));
}

describe('giving the model a text by a background server', () => {
  const give = (): ReturnType<typeof askToGive> =>
    askToGive({
      channel: codexChannel,
      open: { via: 'daemon', name: codexChannel.name, needsSession: true, socket: link },
      childPid: process.pid,
      sessionId: T,
      isElsewhereToo: async () => false,
      port: makeAgent().port,
      signal: new AbortController().signal,
      text: 'Never push to main.',
    });
  const INJECT = 'thread/inject_items';

  it('adds it to that thread, not in the name of the user', async () => {
    const { seen, methods } = await serve({ ...usual, [INJECT]: result({}) });
    expect(await give()).toEqual({ kind: 'given' });
    expect(methods()).toEqual([...ALL.slice(0, -1), INJECT]);
    const content = [{ type: 'input_text', text: 'Never push to main.' }];
    expect(seen.at(-1)?.params).toEqual({
      threadId: T,
      items: [{ type: 'message', role: 'developer', content }],
    });
  });

  it('gives nothing during a turn, because the model would be asked again', async () => {
    const busy = result({ thread: { id: T, ephemeral: false, status: { type: 'active' } } });
    const { methods } = await serve({ ...usual, 'thread/read': busy, [INJECT]: result({}) });
    expect(await give()).toEqual({ kind: 'skipped', reason: 'the agent is busy' });
    expect(methods()).not.toContain(INJECT);
  });
});
