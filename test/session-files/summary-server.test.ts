// Summaries of a model server, which is a real one on the loopback device: slow, lying, cut off, down, huge.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import { SummaryError } from '../../src/core/errors.js';
import { openSummariser } from '../../src/session-files/summariser.js';
import type { ServerWaits } from '../../src/session-files/ask-for-summary.js';

const REQUEST = { instructions: 'Summarise.', text: 'User: my secret plan is to rename parseTokens' };
const KEY = 'sk-made-up-0123456789';

interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

type Reply = (response: ServerResponse, request: IncomingMessage, body: string) => unknown;

/** A server that gives these answers, the last one again and again. */
const serve = async (...replies: readonly Reply[]) => {
  const seen: Seen[] = [];
  const listener: RequestListener = async (request, response) => {
    const body = await text(request);
    const reply = replies[Math.min(seen.length, replies.length - 1)];
    seen.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(body) });
    await reply?.(response, request, body);
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  closers.push(close);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, url: `${origin}/v1`, seen, server, close };
};

interface Asked {
  readonly values?: Partial<Values>;
  readonly env?: Readonly<Record<string, string>>;
  readonly waits?: Partial<ServerWaits>;
  readonly signal?: AbortSignal;
}

const QUICK: ServerWaits = { retryMs: [1, 1], stallMs: 20_000 };

const summaryOf = async (url: string, { values, env = {}, waits, signal }: Asked = {}): Promise<string> => {
  const summarise = openSummariser({
    values: { ...defaultValues, 'summariser.url': url, 'summariser.model': 'tiny', ...values },
    agent: agents.claude,
    env,
    home: '/nowhere',
    waits: { ...QUICK, ...waits },
  });
  return summarise?.(REQUEST, signal ?? new AbortController().signal) ?? 'no summariser';
};

/** The message of the SummaryError. */
const faultOf = (url: string, asked?: Asked): Promise<string> =>
  summaryOf(url, asked).then(
    (summary) => `no fault: ${summary}`,
    (error: unknown) => (error instanceof SummaryError ? error.message : `another error: ${String(error)}`),
  );

/** A promise, and what resolves it. */
const makeSign = () => {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give: (): void => give(), given };
};

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
const SUMMARY = '## Goal\n\nRename it';
const STREAM = delta('## Goal\n\n') + delta('Rename it') + delta('', 'stop') + 'data: [DONE]\n\n';
const DOCUMENT = JSON.stringify({ choices: [{ message: { content: SUMMARY }, finish_reason: 'stop' }] });

const streams =
  (body: string): Reply =>
  (response) =>
    response.setHeader('content-type', 'text/event-stream').end(body);
const answers =
  (status: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));

describe('a model server', () => {
  it('is asked for a stream of at most 20 000 tokens, with the instructions apart from the conversation', async () => {
    const { url, seen } = await serve(streams(STREAM));
    expect(await summaryOf(url)).toBe(SUMMARY);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: {
        model: 'tiny',
        stream: true,
        max_tokens: 20_000,
        messages: [
          { role: 'system', content: REQUEST.instructions },
          { role: 'user', content: REQUEST.text },
        ],
      },
    });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each(['/v1/', '/v1/chat/completions', '/v1/chat/completions/'])(
    'may be configured as %s',
    async (path) => {
      const { origin, seen } = await serve(streams(STREAM));
      expect(await summaryOf(origin + path)).toBe(SUMMARY);
      expect(seen[0]?.path).toBe('/v1/chat/completions');
    },
  );

  it('gets the key from the variable that is named', async () => {
    const { url, seen } = await serve(streams(STREAM));
    const values = { 'summariser.keyEnv': 'MY_KEY' };
    expect(await summaryOf(url, { values, env: { MY_KEY: ` ${KEY}\n` } })).toBe(SUMMARY);
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it.each([
    ['unset', {}, 'the environment variable MY_KEY (summariser.keyEnv) is not set'],
    ['empty', { MY_KEY: ' ' }, 'the environment variable MY_KEY (summariser.keyEnv) is not set'],
    ['not a key', { MY_KEY: `${KEY}\nx-other: 1` }, 'the environment variable MY_KEY holds no valid key'],
    ['not ASCII', { MY_KEY: 'schlüssel' }, 'the environment variable MY_KEY holds no valid key'],
  ])('is not asked when that variable is %s', async (_, env, fault) => {
    const { url, seen } = await serve(streams(STREAM));
    expect(await faultOf(url, { values: { 'summariser.keyEnv': 'MY_KEY' }, env })).toBe(fault);
    expect(seen).toEqual([]);
  });

  it('may answer with a document, compressed, and with a wrong content type', async () => {
    const { url } = await serve(
      answers(200, DOCUMENT, { 'content-type': 'application/json' }),
      answers(200, STREAM, { 'content-type': 'text/html' }),
      (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.from(STREAM))),
    );
    expect([await summaryOf(url), await summaryOf(url), await summaryOf(url)]).toEqual([
      SUMMARY,
      SUMMARY,
      SUMMARY,
    ]);
  });

  it('may keep the connection open behind its answer', async () => {
    const { url } = await serve((response) => response.write(STREAM));
    expect(await summaryOf(url)).toBe(SUMMARY);
  });

  it('that thinks aloud is not quoted', async () => {
    const { url } = await serve(streams(delta('<think>Hm.</think>\n') + STREAM));
    expect(await summaryOf(url)).toBe(SUMMARY);
  });
});

describe('an answer that is no summary is an error:', () => {
  const MIDDLE = 'the answer of the model server broke off';
  it.each<readonly [string, Reply, string | RegExp]>([
    ['nothing', answers(200), MIDDLE],
    ['a stream that ends early', streams(delta('## Goal')), MIDDLE],
    ['an empty summary', streams(delta('<think>all of it</think>', 'stop')), 'the summary is empty'],
    ['a web page', answers(200, '<html>', { 'content-type': 'text/event-stream' }), /web page/],
    ['the limit', streams(delta('## Goal', 'length')), 'the summary is longer than 20000 tokens'],
    [
      'an error in the stream',
      streams(delta('## Goal') + event({ error: { message: 'x' } })),
      /reported an error/,
    ],
    ['an error as a document', answers(200, { error: 'model crashed' }), /reported an error/],
    [
      'broken compression',
      answers(200, 'no gzip', { 'content-encoding': 'gzip' }),
      /broke off in the middle/,
    ],
    ['no content', answers(204), /empty|broke off/],
  ])('%s', async (_, reply, fault) => {
    const { url } = await serve(reply);
    expect(await faultOf(url)).toMatch(fault);
  });

  it('a connection that breaks', async () => {
    const { url } = await serve((response) => response.write(delta('## Goal'), () => response.destroy()));
    expect(await faultOf(url)).toBe(`the connection to ${url} broke off in the middle of the answer`);
  });

  it.each([
    ['words', delta('word '.repeat(1_000))],
    ['a line', 'x'.repeat(64 * 1024)],
    ['comments', `: ${'x'.repeat(64 * 1024)}\n`],
  ])('an endless stream of %s, which is left', async (_, piece) => {
    const left = makeSign();
    const { url } = await serve((response) => {
      response.on('close', left.give);
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    expect(await faultOf(url)).toMatch(/longer than 20000 tokens|cannot be read|is too large/);
    await left.given;
  });
});

describe('a server that is not well', () => {
  it.each<readonly [string, Reply]>([
    ['503', answers(503)],
    ['500', answers(500, '<html>')],
    ['408', answers(408)],
    ['429', answers(429, '', { 'retry-after': '0' })],
    ['429 until a moment that has passed', answers(429, '', { 'retry-after': new Date(0).toUTCString() })],
    ['a connection that breaks before the answer', (response) => response.destroy()],
  ])('is asked again after %s', async (_, reply) => {
    const { url, seen } = await serve(reply, reply, streams(STREAM));
    expect(await summaryOf(url)).toBe(SUMMARY);
    expect(seen).toHaveLength(3);
  });

  it('is asked three times at most', async () => {
    const { url, seen } = await serve(answers(502));
    expect(await faultOf(url)).toBe(`${url} answered with status 502`);
    expect(seen).toHaveLength(3);
  });

  it.each([
    ['half a minute and more', '31'],
    ['a day', new Date(Date.now() + 86_400_000).toUTCString()],
  ])('is not waited for if it wants %s', async (_, wish) => {
    const { url, seen } = await serve(answers(429, '', { 'retry-after': wish }));
    expect(await faultOf(url)).toBe(`${url} answered with status 429`);
    expect(seen).toHaveLength(1);
  });

  it.each<readonly [number, unknown, string]>([
    [400, '', ' answered with status 400'],
    [401, '', ': it requires a key; name its variable with: ctxwrap config set summariser.keyEnv NAME'],
    [
      404,
      { error: { message: 'model "tiny" not found' } },
      ': there is no model tiny, or no chat/completions',
    ],
    [400, { error: { code: 'context_length_exceeded' } }, 'the text is too long for the model tiny'],
    [413, '', 'the text is too long for the model tiny'],
  ])('is not asked again after %i', async (status, body, fault) => {
    const { url, seen } = await serve(answers(status, body));
    expect(await faultOf(url)).toContain(fault);
    expect(seen).toHaveLength(1);
  });

  it('that does not take max_tokens is asked without it', async () => {
    const refused = { error: { message: "Unsupported parameter: 'max_tokens'" } };
    const { url, seen } = await serve(answers(400, refused), streams(STREAM));
    expect(await summaryOf(url)).toBe(SUMMARY);
    expect(seen.map(({ body }) => body['max_tokens'])).toEqual([20_000, undefined]);
  });

  it('that is down is an error', async () => {
    const { url, close } = await serve(streams(STREAM));
    close();
    expect(await faultOf(url)).toBe(`no connection to ${url}: nothing answers there`);
  });

  it('that does not finish the text of its refusal is not waited for', async () => {
    const { url } = await serve((response) => response.writeHead(404).write('not'));
    expect(await faultOf(url)).toContain('there is no model tiny');
  });
});

describe('time', () => {
  it('ends a request that is not answered', async () => {
    const { url } = await serve(() => undefined);
    const values = { 'summariser.timeout': 0.2 };
    expect(await faultOf(url, { values })).toBe('no summary within 0.2 s (summariser.timeout)');
  });

  it('ends an answer that never comes to its end', async () => {
    const { url } = await serve((response) => response.write(': working\n\n'));
    expect(await faultOf(url, { values: { 'summariser.timeout': 0.2 } })).toContain(
      'no summary within 0.2 s',
    );
  });

  it('ends an answer that stalls', async () => {
    const { url } = await serve((response) => response.write(delta('## Goal')));
    expect(await faultOf(url, { waits: { stallMs: 20 } })).toBe(`${url} sent nothing for 0.02 s`);
  });

  it('does not count as a stall while the model reads what it is to summarise', async () => {
    const { url } = await serve(async (response) => {
      response.write(': working\n\n');
      await pause(50);
      response.end(STREAM);
    });
    expect(await summaryOf(url, { waits: { stallMs: 1 } })).toBe(SUMMARY);
  });

  it.each<readonly [string, Reply]>([
    ['before the answer', () => undefined],
    ['within the answer', (response) => response.write(delta('## Goal'))],
    ['within a refusal', (response) => response.writeHead(503).write('x')],
  ])('a withdrawn summary ends at once, %s, and the server is left', async (_, reply) => {
    const [reached, left] = [makeSign(), makeSign()];
    const { url } = await serve((response, request, body) => {
      response.on('close', left.give);
      reply(response, request, body);
      reached.give();
    });
    const withdrawal = new AbortController();
    const fault = faultOf(url, { signal: withdrawal.signal });
    await reached.given;
    withdrawal.abort();
    expect(await fault).toBe('the summary was withdrawn');
    await left.given;
  });

  it('a summary that was withdrawn before is not asked for', async () => {
    const { url, seen } = await serve(streams(STREAM));
    expect(await faultOf(url, { signal: AbortSignal.abort() })).toBe('the summary was withdrawn');
    expect(seen).toEqual([]);
  });
});

describe('a conversation stays where the user wants it:', () => {
  it.each([
    'https://api.example/v1',
    'http://192.0.2.1:11434/v1',
    'http://127.0.0.1.example/v1',
    'http://0.0.0.0/v1',
  ])('%s is refused, with the command that allows it', async (url) => {
    const fault = await faultOf(url);
    expect(fault).toContain('not on this machine: the conversation would leave it');
    expect(fault).toContain('ctxwrap config set summariser.remote true');
  });

  it.each(['localhost', '127.0.0.1', '127.1'])('%s is this machine', async (host) => {
    const { origin } = await serve(streams(STREAM));
    const url = `${origin.replace('127.0.0.1', host)}/v1`;
    expect(await summaryOf(url)).toBe(SUMMARY);
  });

  it('a proxy gets nothing unless the user allows other machines', async () => {
    const { url, seen } = await serve(streams(STREAM));
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://proxy.example:3128', NO_PROXY: 'other' };
    expect(await faultOf(url, { env })).toContain('a proxy would get the conversation');
    expect(seen).toEqual([]);
    expect(await summaryOf(url, { env: { ...env, NO_PROXY: 'localhost, 127.0.0.1' } })).toBe(SUMMARY);
    expect(await summaryOf(url, { env: { ...env, NODE_USE_ENV_PROXY: '0' } })).toBe(SUMMARY);
    expect(await summaryOf(url, { env, values: { 'summariser.remote': true } })).toBe(SUMMARY);
  });

  const elsewhere = (location: string, status = 307): Reply => answers(status, '', { location });

  it('a redirect on the same server is followed', async () => {
    const { url, seen } = await serve(elsewhere('/v2/chat/completions', 308), streams(STREAM));
    const asked = { values: { 'summariser.keyEnv': 'MY_KEY' }, env: { MY_KEY: KEY } };
    expect(await summaryOf(url, asked)).toBe(SUMMARY);
    expect(seen.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v2/chat/completions']);
    expect(seen[1]?.body).toEqual(seen[0]?.body);
    expect(seen[1]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it.each([301, 302, 303, 307, 308])('a redirect (%i) to another server is not followed', async (status) => {
    const other = await serve(streams(STREAM));
    const { url } = await serve(elsewhere(`${other.url}/chat/completions`, status));
    const fault = await faultOf(url, { values: { 'summariser.remote': true } });
    expect(fault).toBe(
      `${url} answered with status ${status}: it redirects requests; use the new address in summariser.url`,
    );
    expect(other.seen).toEqual([]);
  });

  it('a redirect in a circle ends', async () => {
    const { url, seen } = await serve(elsewhere('/v1/chat/completions'));
    expect(await faultOf(url)).toContain('redirects requests');
    expect(seen).toHaveLength(4);
  });

  it.each<readonly [string, (said: string) => Reply]>([
    ...[400, 401, 404, 413, 429, 500].map(
      (status) =>
        [
          `status ${status}`,
          (said: string) => answers(status, { error: { message: said, code: said } }),
        ] as const,
    ),
    ['the stream', (said) => streams(event({ error: { message: said, type: said } }))],
    ['a document', (said) => answers(200, { error: said })],
    ['a redirect', () => elsewhere(`http://${KEY}.example/${encodeURIComponent(REQUEST.text)}`)],
    ['a web page', (said) => answers(200, `<p>${said}</p>`)],
    ['no JSON', (said) => streams(`data: ${said}\n\n`)],
    ['a header', (said) => (response) => response.socket?.end(`HTTP/1.1 ${said}\r\n\r\n`)],
  ])('an error tells neither it nor the key, which the server repeats in %s', async (_, reply) => {
    const { url } = await serve(reply(`${REQUEST.text} Bearer ${KEY}`));
    const fault = await faultOf(url, { values: { 'summariser.keyEnv': 'MY_KEY' }, env: { MY_KEY: KEY } });
    expect(fault).not.toMatch(/secret|parseTokens|sk-made|another error|no fault/);
    expect(fault).not.toMatch(/\.$/);
  });
});

it('without a model the error says how to name one', async () => {
  const { 'summariser.model': _, ...values } = {
    ...defaultValues,
    'summariser.url': 'http://127.0.0.1:9/v1',
  };
  const summarise = openSummariser({ values, agent: agents.claude, env: {}, home: '/nowhere' });
  await expect(summarise?.(REQUEST, new AbortController().signal)).rejects.toThrow(
    'summariser.url needs a model; fix it with: ctxwrap config set summariser.model NAME',
  );
});

it('nothing is asked where the user has named nobody', () => {
  const options = { values: defaultValues, agent: agents.claude, env: {}, home: '/nowhere' };
  expect(openSummariser(options)).toBeUndefined();
});
