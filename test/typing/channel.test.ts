// The control channel of an agent, which is a real server on the loopback device: busy, refusing, silent, lying, gone.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { opencodeChannel } from '../../src/agents/opencode/channel.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { SessionRecord } from '../../src/core/report/records.js';
import { nullLog } from '../../src/storage/log-file.js';
import { ensureSessionsFolder, writeSession } from '../../src/storage/sessions.js';
import { stateFolder } from '../../src/storage/state-folder.js';
import { askToCompact, askToGive, isInOtherTerminal } from '../../src/typing/channel.js';
import { openChannel } from '../../src/main-thread/channel-launch.js';
import type { WrapSession } from '../../src/session/options.js';
import { givenMessage, SESSION_ID } from '../support/opencode-server.js';
import { makeAgent } from '../support/typed-agent.js';

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

type Reply = (response: ServerResponse, body: string) => unknown;

const json =
  (value: unknown, status = 200): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** A server that answers by path. */
const serve = async (replies: Readonly<Record<string, Reply>>) => {
  const calls: {
    readonly path: string;
    readonly body: string;
    readonly headers: IncomingMessage['headers'];
  }[] = [];
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    const body = await text(request);
    calls.push({ path, body, headers });
    replies[path]?.(response, body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  closers.push(close);
  return { port: (server.address() as AddressInfo).port, calls, close };
};

const STATE = '/session/status';
const COMMAND = '/tui/execute-command';
const usual = { [STATE]: json({}), [COMMAND]: json(true) };

const ask = (
  port: number,
  agent = makeAgent(),
  signal: AbortSignal = new AbortController().signal,
  childPid = process.pid,
): ReturnType<typeof askToCompact> => {
  const open = { via: 'server', name: "opencode's server", port, password: 'secret' } as const;
  const conversation = { sessionId: undefined, isElsewhereToo: async () => true }; // it is the one that is shown
  return askToCompact({
    channel: opencodeChannel,
    open,
    childPid,
    ...conversation,
    port: agent.port,
    signal,
  });
};

/** The kernel tells whose a port is. */
const hasProc = existsSync('/proc/self/net/tcp');

describe.skipIf(!hasProc)('asking by the control channel (skipped without /proc)', () => {
  it('asks first whether the agent works, then for the compaction, both with the password', async () => {
    const { port, calls } = await serve(usual);
    expect(await ask(port)).toEqual({ kind: 'sent', evidence: "asked opencode's server" });
    expect(calls.map(({ path }) => path)).toEqual([STATE, STATE, COMMAND]);
    expect(calls[2]?.body).toBe('{"command":"session_compact"}');
    const authorization = `Basic ${Buffer.from('opencode:secret').toString('base64')}`;
    for (const { headers } of calls) expect(headers).toMatchObject({ authorization });
  });

  it('types no key, and leaves the draft in the prompt', async () => {
    const agent = makeAgent({ text: 'half a thought' });
    const { port } = await serve(usual);
    expect(await ask(port, agent)).toMatchObject({ kind: 'sent' });
    expect(agent.state).toMatchObject({ text: 'half a thought', written: [], submitted: [] });
  });

  it.each([
    [
      'works by its own words',
      { replies: { [STATE]: json({ ses_1: { type: 'busy' } }) } },
      'the agent is busy',
    ],
    ['works by its screen', { activity: 'busy' as const }, 'the agent is busy'],
    ['has a dialog open', { activity: 'dialog' as const }, 'a dialog is open'],
    ['is not understood', { activity: 'unknown' as const }, 'it is not clear what the agent is doing'],
  ])('asks for nothing while the agent %s', async (_, { replies, activity }: Hindrance, reason) => {
    const { port, calls } = await serve({ ...usual, ...replies });
    expect(await ask(port, makeAgent(activity ? { activity } : {}))).toEqual({ kind: 'skipped', reason });
    expect(calls.map(({ path }) => path)).toEqual([STATE]);
  });

  it('asks for nothing when the user has typed meanwhile', async () => {
    const agent = makeAgent();
    const { port, calls } = await serve({
      ...usual,
      [STATE]: (response, body) => {
        agent.state.typedCount += 1;
        json({})(response, body);
      },
    });
    expect(await ask(port, agent)).toEqual({ kind: 'skipped', reason: 'the user types' });
    expect(calls).toHaveLength(1);
  });

  it('asks for nothing while a key is on its way that the session has not been told of', async () => {
    const agent = makeAgent();
    agent.state.hasUnreportedKeys = true;
    const { port, calls } = await serve(usual);
    expect(await ask(port, agent)).toEqual({ kind: 'skipped', reason: 'the user types' });
    expect(calls).toHaveLength(1);
  });

  it.each([
    ['does not know the password', { [STATE]: json('', 401) }, 'status 401'],
    ['has no such call any more', { [STATE]: json({ name: 'NotFound' }, 404) }, 'status 404'],
    [
      'answers with a page',
      { [STATE]: (to: ServerResponse) => to.end('<html>') },
      'an answer in an unknown format',
    ],
    ['refuses the command', { [COMMAND]: json({}, 500) }, 'status 500'],
    ['does not take the command', { [COMMAND]: json(false) }, 'an answer in an unknown format'],
  ])('is over where the server %s', async (_, replies, reason) => {
    const { port } = await serve({ ...usual, ...replies });
    expect(await ask(port)).toEqual({ kind: 'closed', reason });
  });

  it('is over where nothing listens', async () => {
    const { port, close } = await serve(usual);
    close();
    expect(await ask(port)).toEqual({ kind: 'closed', reason: 'nothing listens there' });
  });

  it('is over where the server breaks off, or answers without end, before anything was asked for', async () => {
    const endless = 'x'.repeat(2 * 1024 * 1024);
    for (const reply of [(to: ServerResponse) => to.destroy(), (to: ServerResponse) => to.end(endless)]) {
      const { port, calls } = await serve({ ...usual, [STATE]: reply });
      expect(await ask(port)).toMatchObject({ kind: 'closed' });
      expect(calls).toHaveLength(1);
    }
  });

  it('counts as asked where the server breaks off after the command, because it may have taken it', async () => {
    const { port } = await serve({ ...usual, [COMMAND]: (response) => response.destroy() });
    const result = await ask(port);
    expect(result).toMatchObject({
      kind: 'sent',
      evidence: expect.stringContaining("asked opencode's server: "),
    });
  });

  it('gives the held keys back where the server falls silent, and asks for nothing', async () => {
    const agent = makeAgent();
    let states = 0;
    const { port, calls } = await serve({
      ...usual,
      [STATE]: (response, body) => {
        states += 1;
        if (states === 1) json({})(response, body);
        else agent.state.waitingCount = 3;
      },
    });
    expect(await ask(port, agent)).toEqual({ kind: 'skipped', reason: 'no answer came' });
    expect(calls.map(({ path }) => path)).toEqual([STATE, STATE]);
    expect(agent.state).toMatchObject({ waitingCount: 0, released: ['held', 'released after 0'] });
  });

  it('counts as asked where the server takes the command and never answers; the held keys follow it', async () => {
    const agent = makeAgent();
    const { port } = await serve({
      ...usual,
      [COMMAND]: () => {
        agent.state.waitingCount = 3;
      },
    });
    const evidence = "asked opencode's server: no answer came";
    expect(await ask(port, agent)).toEqual({ kind: 'sent', evidence });
    expect(agent.state).toMatchObject({ waitingCount: 0, released: ['held', 'released after 0'] });
  });

  it('asks for nothing when it is given up while the keys are held', async () => {
    const ended = new AbortController();
    const agent = makeAgent();
    const holdKeys = async (typedBefore: number) => {
      const hold = await agent.port.holdKeys(typedBefore);
      const waitingCount = (): number => {
        ended.abort(); // at the last moment
        return 0;
      };
      return hold && { ...hold, waitingCount };
    };
    const { port, calls } = await serve(usual);
    const result = await ask(port, { ...agent, port: { ...agent.port, holdKeys } }, ended.signal);
    expect(result).toEqual({ kind: 'skipped', reason: 'it took too long' });
    expect(calls.map(({ path }) => path)).not.toContain(COMMAND);
    expect(agent.state.released).toEqual(['held', 'released after 0']);
  });

  it('ends with the session', async () => {
    const ended = new AbortController();
    const { port, calls } = await serve({ ...usual, [STATE]: () => ended.abort() });
    expect(await ask(port, makeAgent(), ended.signal)).toMatchObject({ kind: 'closed' });
    expect(calls).toHaveLength(1);
  });
});

/** Another program, which does not listen. */
const spawnOther = (file: string, ...args: readonly string[]) => {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  closers.push(() => child.kill('SIGKILL'));
  return { pid: child.pid ?? 0, stdout: child.stdout, ended: once(child, 'exit') };
};

describe.skipIf(!hasProc)('the password of the control channel (skipped without /proc)', () => {
  const FOREIGN = 'another process listens on its port';

  /** All that is sent to a port that the test has taken before the agent. */
  const takePort = async (host: string, port = 0) => {
    let received = '';
    const server = createTcpServer((socket) => {
      socket.on('data', (bytes) => (received += String(bytes))).on('error', () => undefined);
      closers.push(() => socket.destroy());
    }).listen(port, host);
    closers.push(() => server.close());
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, received: () => received };
  };

  it.each(['127.0.0.1', '0.0.0.0'])('is not sent to another process that listens on %s', async (host) => {
    const { port, received } = await takePort(host);
    const { pid } = spawnOther('sleep', '60');
    expect(await ask(port, undefined, undefined, pid)).toEqual({ kind: 'closed', reason: FOREIGN });
    expect(received()).toBe('');
  });

  it('is not sent where another process listens on the port beside the agent', async () => {
    const script = `require('http').createServer((_, to) => to.end('{}')).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
    const { pid, stdout } = spawnOther(process.execPath, '-e', script);
    const port = Number(String((await once(stdout, 'data'))[0]));
    const { received } = await takePort('127.0.0.2', port);
    expect(await ask(port, undefined, undefined, pid)).toEqual({ kind: 'closed', reason: FOREIGN });
    expect(received()).toBe('');
  });

  it('is not sent any more once another process has the port of an agent that has ended', async () => {
    const script = `require('http').createServer((_, to) => to.end('{}', () => process.exit())).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`;
    const { pid, stdout, ended } = spawnOther(process.execPath, '-e', script);
    const port = Number(String((await once(stdout, 'data'))[0]));
    const agent = makeAgent();
    let received = (): string => '';
    const holdKeys = async (typedBefore: number) => {
      await ended;
      ({ received } = await takePort('127.0.0.1', port));
      return agent.port.holdKeys(typedBefore);
    };
    const result = await ask(port, { ...agent, port: { ...agent.port, holdKeys } }, undefined, pid);
    expect(result).toEqual({ kind: 'skipped', reason: FOREIGN });
    expect(received()).toBe('');
  });

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    'is sent to a server that takes a connection only once there is something to read (skipped without Python)',
    async () => {
      const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n';
      const script = `
import socket
server = socket.create_server(('127.0.0.1', 0))
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 30)
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    text = b''
    while b'\\r\\n\\r\\n' not in text: text += connection.recv(65536)
    if b'execute-command' in text:
        while not text.endswith(b'}'): text += connection.recv(65536)
    connection.sendall(${JSON.stringify(answer)}.encode() + (b'true' if b'execute-command' in text else b'{}  '))
    connection.close()
`;
      const { pid, stdout } = spawnOther('python3', '-c', script);
      const port = Number(String((await once(stdout, 'data'))[0]));
      expect(await ask(port, undefined, undefined, pid)).toMatchObject({ kind: 'sent' });
    },
  );
});

describe('a conversation', () => {
  const T = '01a212fd-23c2-7a71-af68-a58454fb5f24';
  const me = { id: 'me', pid: process.pid, version: '1' };
  const now = Date.now();
  const record: SessionRecord = {
    schema: 'ctxwrap.session/1',
    id: 'other',
    version: '1',
    pid: process.pid,
    childPid: 2,
    runtime: 'codex',
    agentSessionId: T,
    cwd: '/proj',
    startedAt: now,
    heartbeatAt: now,
    activity: 'ready',
    compactions: 0,
    thresholds: [],
  };
  const isInOther = async (change: Partial<SessionRecord>): Promise<boolean> => {
    const home = mkdtempSync(join(tmpdir(), 'channel-'));
    closers.push(() => rmSync(home, { recursive: true }));
    const env = { HOME: home };
    await writeSession(await ensureSessionsFolder(stateFolder(env, home)), { ...record, ...change });
    return isInOtherTerminal({ agent: agents.codex, env, wrapper: me }, T);
  };

  it.each<[string, Partial<SessionRecord>, boolean]>([
    ['runs there', {}, true],
    ['is this one', { id: me.id }, false],
    ['has ended', { endedAt: now }, false],
    ['has another conversation', { agentSessionId: 'x' }, false],
    ['is of another agent', { runtime: 'claude' }, false],
  ])('is in another terminal, too, if a session %s', async (_, change, expected) => {
    expect(await isInOther(change)).toBe(expected);
  });

  it('is in no other terminal where nothing can be read', async () => {
    const session = { agent: agents.codex, env: { HOME: '/dev/null' }, wrapper: me };
    expect(await isInOtherTerminal(session, T)).toBe(false);
  });
});

interface Hindrance {
  readonly replies?: Readonly<Record<string, Reply>>;
  readonly activity?: 'busy' | 'dialog' | 'unknown';
}

const session = (change: Partial<WrapSession> = {}): WrapSession => ({
  values: { ...defaultValues, via: 'channel' },
  isModeGiven: false,
  file: '/usr/bin/opencode',
  args: ['--continue'],
  env: { HOME: '/home/me' },
  cwd: '/home/me/project',
  agent: agents.opencode,
  recording: undefined,
  log: nullLog,
  ...change,
});

describe('a launch with a control channel', () => {
  it.skipIf(!hasProc)(
    'adds a free port of this machine, and a password that is new each time (skipped without /proc)',
    async () => {
      const [first, second] = await Promise.all([openChannel(session()), openChannel(session())]);
      const opened = [first, second].map(({ channel }) => (channel?.via === 'server' ? channel : undefined));
      const { port = 0, password } = opened[0] ?? {};
      expect(first.args).toEqual(['--port', String(port), '--hostname', '127.0.0.1', '--continue']);
      expect(first.env).toEqual({ HOME: '/home/me', OPENCODE_SERVER_PASSWORD: password });
      expect(password).toMatch(/^[\w-]{32}$/);
      expect(opened[1]?.password).not.toBe(password);
      const [refusal] = (await once(connect(port, '127.0.0.1'), 'connect').catch((error: Error) => [
        error,
      ])) as [Error];
      expect(refusal).toMatchObject({ code: 'ECONNREFUSED' });
    },
  );

  const withoutProc = (...command: readonly string[]) => {
    const [file, ...args] = [
      'unshare',
      '--mount',
      'sh',
      '-c',
      'mount -t tmpfs tmpfs /proc && exec "$@"',
      'sh',
    ];
    return spawnSync(file, [...args, ...command], { encoding: 'utf8' });
  };
  it.skipIf(withoutProc('true').status !== 0)(
    'is as it would be without where nobody can tell who listens, and the footer says why (skipped without root on Linux)',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'channel-'));
      closers.push(() => rmSync(folder, { recursive: true }));
      const contents = `
        import { openChannel } from './src/main-thread/channel-launch.ts';
        import { opencodeChannel } from './src/agents/opencode/channel.ts';
        const log = { info: () => {}, warn: () => {} };
        const agent = { name: 'opencode', command: 'opencode', channel: opencodeChannel };
        const session = { agent, file: '/usr/bin/opencode', args: [], env: {}, cwd: '/', log, values: { via: 'channel' } };
        const { args, env, channel, notices } = await openChannel(session);
        console.log(JSON.stringify({ args, env, channel, notices }));
      `;
      const outfile = join(folder, 'launch.mjs');
      const resolveDir = join(import.meta.dirname, '../..');
      const common = { bundle: true, format: 'esm', platform: 'node', target: 'node20' } as const;
      await build({ ...common, stdin: { contents, resolveDir, loader: 'ts' }, outfile, logLevel: 'warning' });
      const { stdout, stderr } = withoutProc(process.execPath, outfile);
      expect(JSON.parse(stdout || stderr)).toEqual({
        args: [],
        env: {},
        notices: [
          expect.stringMatching(/^via is channel, but keys are used: ctxwrap cannot verify here who /),
        ],
      });
    },
  );

  it.each<[string, Partial<WrapSession>]>([
    ['keys are wanted', { values: { ...defaultValues, via: 'keys' } }],
    ['nobody has said anything', { values: defaultValues }],
    ['ctxwrap is off', { values: { ...defaultValues, via: 'channel', mode: 'off' } }],
    ['the agent has none', { agent: agents.claude, file: '/usr/bin/claude' }],
  ])('is as it would be without where %s', async (_, change) => {
    const given = session(change);
    expect(await openChannel(given)).toBe(given);
  });

  it.each<[string, Partial<WrapSession>, string]>([
    [
      'another program starts the agent',
      { file: '/usr/bin/npx' },
      'npx may not take the options of opencode',
    ],
    ['you have set up its server', { args: ['--port', '9000'] }, 'you have set up its server yourself'],
  ])('is as it would be without where %s, and the footer says why', async (_, change, reason) => {
    const given = session({ ...change, notices: ['another'] });
    expect(await openChannel(given)).toEqual({
      ...given,
      notices: ['another', `via is channel, but keys are used: ${reason}`],
    });
  });
});

describe.skipIf(!hasProc)('giving the model a text by the control channel (skipped without /proc)', () => {
  const MESSAGE = `/session/${SESSION_ID}/message`;
  const give = (port: number, agent = makeAgent()): ReturnType<typeof askToGive> =>
    askToGive({
      channel: opencodeChannel,
      open: { via: 'server', name: "opencode's server", port, password: 'secret' },
      childPid: process.pid,
      sessionId: SESSION_ID,
      isElsewhereToo: async () => false,
      port: agent.port,
      signal: new AbortController().signal,
      text: 'Never push to main.',
    });

  it('adds a message that is not answered and not shown, with a mark by which ctxwrap knows it again', async () => {
    const agent = makeAgent({ text: 'half a thought' });
    const { port, calls } = await serve({ ...usual, [MESSAGE]: json(givenMessage()) });
    expect(await give(port, agent)).toEqual({ kind: 'given' });
    expect(calls.map(({ path }) => path)).toEqual([STATE, STATE, MESSAGE]);
    expect(JSON.parse(calls[2]?.body ?? '')).toEqual({ noReply: true, parts: givenMessage().parts });
    expect(agent.state).toMatchObject({ text: 'half a thought', written: [], submitted: [] });
  });

  it.each([
    ['by its own words', { [STATE]: json({ ses_1: { type: 'busy' } }) }, makeAgent()],
    ['by its screen', {}, makeAgent({ activity: 'busy' })],
  ])('gives nothing while the agent works %s, because it would answer', async (_, replies, agent) => {
    const { port, calls } = await serve({ ...usual, ...replies, [MESSAGE]: json(givenMessage()) });
    expect(await give(port, agent)).toEqual({ kind: 'skipped', reason: 'the agent is busy' });
    expect(calls.map(({ path }) => path)).toEqual([STATE]);
  });

  it.each([
    ['refuses it', json({}, 404), { kind: 'closed', reason: 'status 404' }],
    ['answers in another form', json(true), { kind: 'unknown', reason: 'an answer in an unknown format' }],
  ])('does not count as given where the server %s', async (_, reply, is) => {
    const { port } = await serve({ ...usual, [MESSAGE]: reply });
    expect(await give(port)).toEqual(is);
  });
});
