// The last compaction is taken back by the agent's control channel, which is a real server on the loopback device.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ScreenEvidence } from '../../src/agents/agent.js';
import type { ChannelUndo, ServerCall } from '../../src/agents/channel.js';
import { agents } from '../../src/agents/index.js';
import { opencodeChannel } from '../../src/agents/opencode/channel.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { WrapSession } from '../../src/session/options.js';
import { makeUndo } from '../../src/typing/undo.js';
import { actionContext } from '../support/action-context.js';
import {
  answeredMessages,
  ASKING_ID,
  aSession,
  COMPACTION_ROW,
  compactedMessages,
  givenMessage,
  openCodeShows,
  reverted,
  SESSION_ID,
} from '../support/opencode-server.js';
import { openSessionLoop, type RestingSession } from '../support/session-loop.js';
import { compacted } from '../support/sessions.js';
import { makeAgent } from '../support/typed-agent.js';

const WAIT = { timeout: 30_000, interval: 20 };
const STATE = '/session/status';
const SESSION = `/session/${SESSION_ID}`;
const MESSAGES = `${SESSION}/message?limit=8`;
const REVERT = `${SESSION}/revert`;
const NAME = "opencode's server";
const UNDONE = 'compaction undone: your messages are back';

type Reply = (response: ServerResponse) => unknown;

const json =
  (value: unknown, status = 200): Reply =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

const usual: Readonly<Record<string, Reply>> = {
  [STATE]: json({}),
  [SESSION]: json(aSession()),
  [MESSAGES]: json(compactedMessages()),
  [REVERT]: json(reverted),
};

const opencodeUndo = opencodeChannel.undo as ChannelUndo<ServerCall>;

let loop: RestingSession;
let agent: ReturnType<typeof makeAgent>;
let seen: ScreenEvidence;
let events: Event[];
let audit: unknown[];
const closers: (() => void)[] = [];
beforeEach(async () => {
  loop = openSessionLoop(SESSION_ID);
  loop.take(compacted('log'));
  agent = makeAgent({ text: 'half a thought' });
  seen = await openCodeShows(COMPACTION_ROW);
  [events, audit] = [[], []];
});
afterEach(() => {
  loop.stop();
  closers.splice(0).forEach((close) => close());
});

/** A server that answers by path, and what undoes by it. */
const serve = async (replies: Readonly<Record<string, Reply>> = {}, change: Partial<WrapSession> = {}) => {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const { url: path = '' } = request;
    const body = await text(request);
    calls.push(body === '' ? path : `${path} ${body}`);
    ({ ...usual, ...replies })[path]?.(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const channel = { via: 'server', name: NAME, port, password: 'secret' } as const;
  const end = new AbortController();
  const context = actionContext({
    session: {
      agent: agents.opencode,
      channel,
      env: { HOME: '/nowhere' },
      log: nullLog,
      values: defaultValues,
      ...change,
    },
    ended: end.signal,
    screen: { takesPastes: () => true, snapshot: () => seen },
    port: agent.port,
    flow: loop.flow,
    publisher: {
      beginAction: () => audit.push('begin'),
      endSwitch: (name, result) => audit.push([name, result]),
    },
    take: (event) => {
      events.push(event);
      loop.take(event);
    },
  });
  const switchTo = (): never => {
    throw new Error('there is no session to switch to');
  };
  const undo = makeUndo(context, { switchTo, previous: () => undefined });
  /** the reason where it is impossible, else what came of it */
  const run = async (): Promise<string> => {
    const result = await undo.byChannel({ signal: new AbortController().signal });
    return result.kind === 'impossible' ? result.reason : result.kind;
  };
  /** the child has ended */
  const stop = (): void => end.abort();
  return { calls, undo, run, stop };
};

const told = (): readonly string[] =>
  events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));

describe.sequential('the undo by the control channel', () => {
  it('asks what was said last, has it taken back while the keys are held, and leaves the draft', async () => {
    loop.becomes('draft');
    const { calls, run } = await serve();
    expect(await run()).toBe('switched');
    expect(calls).toEqual([STATE, STATE, SESSION, MESSAGES, `${REVERT} {"messageID":"${ASKING_ID}"}`]);
    expect(told()).toEqual(['undo: waiting for a safe moment', UNDONE]);
    expect(events).toContainEqual({ type: 'undone' }); // the window is full again
    expect(audit).toEqual(['begin', [SESSION_ID, { kind: 'switched', via: 'server' }]]);
    expect(agent.state).toMatchObject({
      text: 'half a thought',
      written: [],
      released: ['held', 'released after 0'],
    });
  });

  it('finds the compaction behind what ctxwrap has given since, which goes with it', async () => {
    const messages = [...answeredMessages, ...compactedMessages(), givenMessage(), givenMessage()];
    const { calls, run } = await serve({ [MESSAGES]: json(messages) });
    expect(await run()).toBe('switched');
    expect(calls.at(-1)).toBe(`${REVERT} {"messageID":"${ASKING_ID}"}`);
  });

  it.each<[string, Readonly<Record<string, Reply>>, string]>([
    [
      'a text of opencode’s own came since',
      { [MESSAGES]: json([...compactedMessages(), givenMessage({ metadata: undefined })]) },
      'something was said since',
    ],
    [
      'something was said before what ctxwrap has given since',
      { [MESSAGES]: json([...compactedMessages(), ...answeredMessages, givenMessage()]) },
      'something was said since',
    ],
    ['something was said since', { [MESSAGES]: json(answeredMessages) }, 'something was said since'],
    ['messages are taken back already', { [SESSION]: json(reverted) }, 'messages were already taken back'],
    ['there is no such session', { [SESSION]: json({}, 404) }, `${NAME} cannot be asked: status 404`],
    ['the messages do not come', { [MESSAGES]: (to) => to.destroy() }, `${NAME} cannot be asked: `],
    [
      'an answer has another form',
      { [MESSAGES]: json('x') },
      `${NAME} cannot be asked: an answer in an unknown`,
    ],
    ['the server does not answer', { [STATE]: (to) => to.destroy() }, `${NAME} cannot be asked: `],
  ])('takes nothing back where %s, and says so', async (_, replies, reason) => {
    const { calls, run } = await serve(replies);
    expect(await run()).toContain(reason);
    expect(calls.join()).not.toContain(REVERT);
    expect(events).not.toContainEqual({ type: 'undone' });
    expect(audit.at(-1)).toMatchObject([SESSION_ID, { kind: 'refused', via: 'server' }]);
  });

  it('takes nothing back in a session that the screen does not show', async () => {
    seen = await openCodeShows('     ▣  Build · Lab Model · 866ms');
    const { calls, run } = await serve();
    expect(await run()).toBe('the compaction is not the last that the screen shows');
    expect(calls.join()).not.toContain(REVERT);
  });

  it('is not told as done where the server says no', async () => {
    const { run } = await serve({ [REVERT]: json({}, 500) });
    const reason = await run();
    expect(reason).toContain(' ');
    expect(told()).toEqual(['undo: waiting for a safe moment', `not undone: ${reason}`]);
  });

  it.each<[string, Reply]>([
    ['breaks off', (response) => response.destroy()],
    ['answers without saying so', json(aSession())],
    ['answers something else', json('x')],
  ])('is told as not confirmed where the server %s, because it may have been done', async (_, reply) => {
    const { run } = await serve({ [REVERT]: reply });
    expect(await run()).toBe('unknown');
    expect(told().at(-1)).toMatch(/^undo not confirmed: /);
    expect(audit.at(-1)).toMatchObject([SESSION_ID, { kind: 'unknown' }]);
  });

  it('waits for the end of a turn, and can be withdrawn', async () => {
    loop.becomes('busy');
    const { calls, undo } = await serve();
    const withdrawal = new AbortController();
    const held: string[] = [];
    const undoing = undo.byChannel({ signal: withdrawal.signal, onHold: (words) => held.push(words) });
    await vi.waitFor(() => expect(told()).toContain('undo waiting: the agent is busy'), WAIT);
    expect(held).toEqual(['waiting: the agent is busy']);
    const other = await undo.byChannel({ signal: withdrawal.signal });
    expect(other).toEqual({ kind: 'refused', reason: 'another undo is already waiting' });
    withdrawal.abort();
    expect(await undoing).toEqual({ kind: 'refused', reason: 'withdrawn' });
    expect(told().at(-1)).toBe('not undone: withdrawn');
    expect([calls, audit]).toEqual([[], []]);
  });

  it('tries again when the user has typed in between, or the agent works by its own word', async () => {
    const hindrances = [
      () => (agent.state.typedCount += 1),
      () => (agent.state.waitingCount = 1),
      () => undefined,
    ];
    const states: object[] = [{ ses_1: { type: 'busy' } }];
    const { calls, run } = await serve({
      [STATE]: (response) => {
        hindrances.shift()?.();
        json(states.length > 0 && hindrances.length === 0 ? states.shift() : {})(response);
      },
    });
    expect(await run()).toBe('switched');
    expect(calls.filter((path) => path.startsWith(REVERT))).toHaveLength(1);
    expect(told().at(-1)).toBe(UNDONE);
  });

  it('knows when a compaction that was asked for ended, and of none that was part of a turn', async () => {
    const told: unknown[] = [];
    const find: typeof opencodeUndo.find = (evidence) => {
      told.push(evidence.compactedAt);
      return { refusal: 'no' };
    };
    const asking = { ...agents.opencode, channel: { ...opencodeChannel, undo: { ...opencodeUndo, find } } };
    const { undo, run } = await serve({}, { agent: asking });
    for (const boundary of [
      { initiator: 'user', at: 5 },
      { initiator: 'user', at: 6, source: 'screen' },
      { initiator: 'agent', at: 7 },
    ] as const) {
      undo.noteEvent({ type: 'boundary', boundary });
      expect(await run()).toBe('no');
    }
    expect(told).toEqual([5, 5, undefined]);
  });

  it('ends with the session', async () => {
    const { stop, calls, run } = await serve({ [STATE]: () => stop() });
    expect(await run()).toContain('cannot be asked');
    expect(calls).toEqual([STATE]);
  });
});

describe('the undo by a control channel that is not there', () => {
  it('names the setting', async () => {
    const { run, calls } = await serve({}, { channel: undefined });
    expect(await run()).toBe(`it takes ${NAME}: ctxwrap config set via channel, then start opencode again`);
    const set = await serve({}, { channel: undefined, values: { ...defaultValues, via: 'channel' } });
    expect(await set.run()).toBe(`${NAME} is not open to ctxwrap in this session`);
    expect([calls, events]).toEqual([[], []]);
  });

  it('says that nothing was compacted, and that the session is not known', async () => {
    loop.stop();
    loop = openSessionLoop(SESSION_ID);
    expect(await (await serve()).run()).toBe('nothing was compacted in this session');
    const { session, ...rest } = loop.flow();
    const unnamed = { ...session, conversation: { kind: 'none', since: 0 } } as const;
    loop = { ...loop, flow: () => ({ ...rest, session: unnamed }) };
    expect(await (await serve()).run()).toMatch(/^the session is not known yet$|^this Node has no SQLite/);
  });
});
