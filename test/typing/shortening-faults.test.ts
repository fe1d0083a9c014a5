// Whatever goes wrong while a conversation is shortened: the session file stays byte for byte as it was, nothing is left beside it, the agent is
// told nothing, and the next try works.
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import type { Event } from '../../src/core/event.js';
import type { ActionWait } from '../../src/typing/action.js';
import { openSummariser } from '../../src/session-files/summariser.js';
import { makeSwitcher } from '../../src/typing/switcher.js';
import { openSessionLoop, type RestingSession } from '../support/session-loop.js';
import { actionContext } from '../support/action-context.js';
import {
  asked,
  OLD,
  openShortening,
  promptsIn,
  readSession,
  wait,
  type ShorteningChange,
} from '../support/shortening.js';
import { fillDisk, mayMount, mountDisk, unmountDisk } from '../support/small-disk.js';
import { makeAgent } from '../support/typed-agent.js';

const OLD_FILE = `${OLD}.jsonl`;
const LAST = ['question 27', 'question 28', 'question 29'];
const bySummary = { ...asked, strategy: 'summarize' };

let folder: string;
let loop: RestingSession;
let events: Event[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-shortening-'));
  events = [];
  loop = openSessionLoop(OLD);
});
afterEach(() => {
  loop.stop();
  rmSync(folder, { recursive: true });
});

const open = (more?: Partial<ShorteningChange>) => openShortening({ folder, loop, events }, more);

/** Nothing has happened, as far as the agent and the files go. */
const expectNothing = ({ names, isUntouched }: ReturnType<typeof open>): void => {
  expect(names).toEqual([]);
  expect(isUntouched()).toBe(true);
  expect(readdirSync(folder)).toEqual([OLD_FILE]);
  expect(events).toEqual([]);
};

const reasonIn = (told: object): unknown => ('reason' in told ? told.reason : told);

describe.skipIf(!mayMount)('on a disk that is full (skipped where nothing can be mounted)', () => {
  beforeEach(() => {
    if (!mountDisk(folder, '1m')) throw new Error('the small disk could not be mounted');
  });
  afterEach(() => unmountDisk(folder));

  it.each([0, 4, 8])('with %i kB left, and works when there is room again', async (left) => {
    const opened = open();
    const filler = join(folder, 'filler');
    fillDisk(filler);
    truncateSync(filler, statSync(filler).size - left * 1024);
    const others = readdirSync(folder);
    const told = await opened.shortener.shorten(asked, wait);
    expect(reasonIn(told)).toMatch(/ENOSPC|no space/i);
    expect(readdirSync(folder)).toEqual(others);
    expect(opened.names).toEqual([]);
    expect(opened.isUntouched()).toBe(true);
    rmSync(filler);
    expect(await opened.shortener.shorten(asked, wait)).toMatchObject({ kind: 'shortened' });
    expect(promptsIn(readSession(folder, opened.names[0] ?? ''))).toEqual(LAST);
  });
});

describe('with a summariser that fails', () => {
  const closers: (() => void)[] = [];
  afterEach(() => closers.splice(0).forEach((close) => close()));

  /** What writes summaries by asking this server. */
  const serverThat = async (answer: RequestListener, values: Partial<Values> = {}) => {
    const server = createServer((request, response) => {
      request.resume();
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    return summariser({ 'summariser.url': url, 'summariser.model': 'tiny', ...values });
  };

  const summariser = (values: Partial<Values>, agent: Agent = agents.claude) =>
    openSummariser({
      values: { ...defaultValues, ...values },
      agent,
      env: { HOME: folder },
      home: folder,
      waits: { retryMs: [1, 1], stallMs: 20_000 },
    });

  const said = (content: string, finish = 'stop'): RequestListener => {
    const message = { choices: [{ message: { content }, finish_reason: finish }] };
    return (_, response) => response.end(JSON.stringify(message));
  };

  const begun = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: '## Goal' } }] })}\n\n`;
  const cutOff: RequestListener = (_, response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(begun, () => response.destroy());
  };
  const stuck: RequestListener = (_, response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write(begun);
  };

  it.each<[string, RequestListener, RegExp, Partial<Values>?]>([
    ['is down', (_, response) => response.destroy(), /no connection to/],
    ['is overloaded', (_, response) => response.writeHead(503).end(), /503/],
    ['never comes to an end', stuck, /no summary within 1 s/, { 'summariser.timeout': 1 }],
    ['breaks off', cutOff, /broke off/],
    ['reaches its limit', said('## Goal', 'length'), /is longer than/],
    ['says nothing', said(' '), /empty/],
    ['says much more than it was asked for', said('so it is. '.repeat(6_000)), /longer/],
    ['answers with a web page', (_, response) => response.end('<html>Log in</html>'), /a web page/],
  ])('because it %s', async (_, answer, reason, values) => {
    const opened = open({ summarise: await serverThat(answer, values) });
    const told = await opened.shortener.shorten(bySummary, wait);
    expect(told.kind).toBe('refused');
    expect(reasonIn(told)).toMatch(reason);
    expectNothing(opened);
    expect(await opened.shortener.shorten(asked, wait)).toMatchObject({ kind: 'shortened' });
  });

  it('because the agent cannot be started', async () => {
    const opened = open({ summarise: summariser({ 'summariser.url': 'agent' }) });
    expect(reasonIn(await opened.shortener.shorten(bySummary, wait))).toMatch(/"claude" cannot be run/);
    expect(opened.names).toEqual([]);
    expect(opened.isUntouched()).toBe(true);
  });
});

describe('when something happens meanwhile', () => {
  /** Shortens it, while this happens before the summary is there. */
  const during = (happens: (opened: ReturnType<typeof open>) => void, more?: Partial<ShorteningChange>) => {
    const opened: ReturnType<typeof open> = open({
      summarise: async () => {
        happens(opened);
        return 'a summary';
      },
      ...more,
    });
    const shorten = (given: ActionWait = wait) => opened.shortener.shorten(bySummary, given);
    return { opened, shorten };
  };

  it('the agent ends while the summary is written', async () => {
    const { opened, shorten } = during(({ stop }) => stop());
    expect(await shorten()).toMatchObject({ kind: 'refused' });
    expectNothing(opened);
  });

  it('the agent ends while the command waits for a safe moment', async () => {
    const { opened, shorten } = during(() => undefined, {
      switchTo: async (_, { signal }) => {
        expect(readdirSync(folder)).toHaveLength(2);
        setImmediate(opened.stop);
        await once(signal, 'abort');
        return { kind: 'refused', reason: 'the session has ended' };
      },
    });
    expect(await shorten()).toEqual({ kind: 'refused', reason: 'the session has ended' });
    expectNothing(opened);
  });

  it('you send a message each time', async () => {
    const { opened, shorten } = during(({ shortener }) => {
      shortener.noteEvent(loop.becomes('busy'));
      loop.becomes('ready');
    });
    expect(reasonIn(await shorten())).toBe('the conversation grows faster than it can be shortened');
    expectNothing(opened);
  });

  it('you begin to type: nothing is typed into your text, and it can be withdrawn', async () => {
    const agent = makeAgent();
    const take = (event: Event): unknown => events.push(event);
    const switchTo = makeSwitcher(actionContext({ port: agent.port, flow: loop.flow, take }));
    const { opened, shorten } = during(() => loop.becomes('draft'), { switchTo });
    const withdrawal = new AbortController();
    const onHold = (words: string): void => {
      if (words.includes('unsent text')) withdrawal.abort();
    };
    expect(await shorten({ signal: withdrawal.signal, onHold })).toMatchObject({ kind: 'refused' });
    expect(agent.state.written).toEqual([]);
    expectNothing(opened);
  });
});
