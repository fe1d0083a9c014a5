// Where the numbers of a session go: files that no other wrapper overwrites, and a collector on this machine.
import { createServer } from 'node:http';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import { noCompactions, type WindowGauges } from '../../src/core/metrics.js';
import { startSession } from '../../src/core/session.js';
import { agents } from '../../src/agents/index.js';
import { nullLog } from '../../src/storage/log-file.js';
import { sweepMetrics } from '../../src/storage/sessions.js';
import { openMetrics } from '../../src/worker/metrics.js';
import type { WrapSession } from '../../src/session/options.js';
import { successfulEnd } from '../support/ended.js';
import { sessionAfter, tokens } from '../support/sessions.js';

const WAIT = { timeout: 20_000, interval: 20 };
const MINUTE_MS = 60_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'metrics-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const warnings: string[] = [];
const sessionOf = (id: string, values: Partial<Values>): WrapSession => ({
  values: { ...defaultValues, ...values },
  isModeGiven: false,
  file: '/bin/true',
  args: [],
  env: {},
  cwd: '/secret/place',
  agent: agents.claude,
  wrapper: { id, pid: process.pid, version: '1.2.3' },
  recording: undefined,
  log: { ...nullLog, warn: (line) => void warnings.push(line) },
});
const full = sessionAfter([[1, tokens('log', 50_000, { model: 'opus' })]]);
const ended = { type: 'ended', ended: successfulEnd({ startedAt: 0, endedAt: 7_000 }) } as const;
const fileOf = (id: string): string => readFileSync(join(folder, `ctxwrap-${id}.prom`), 'utf8');

describe('the file for Prometheus', () => {
  it('is one for each session, readable for the collector, and keeps the counts after the end', async () => {
    const own = `${process.pid}-a`;
    const [one, two] = [own, `${process.pid}-b`].map((id) =>
      openMetrics(sessionOf(id, { 'metrics.textfile': folder })),
    );
    one?.onState(full);
    one?.onEffect(ended);
    two?.onState(full);
    await vi.waitFor(() => expect(fileOf(own)).toContain('used_tokens'), WAIT);
    await one?.end();
    await two?.end();
    expect(readdirSync(folder).toSorted()).toEqual([`ctxwrap-${own}.prom`, `ctxwrap-${process.pid}-b.prom`]);
    expect(fileOf(own)).toContain('ctxwrap_compactions_total');
    expect(fileOf(own)).not.toContain('used_tokens');
    expect(fileOf(own)).not.toContain('secret');
    expect(statSync(join(folder, `ctxwrap-${own}.prom`)).mode & 0o777).toBe(0o644);
  });

  it('is removed a while after its wrapper has ended, and nothing else is', async () => {
    const now = Date.now();
    const age = (name: string, minutes: number): void => {
      writeFileSync(join(folder, name), 'x');
      utimesSync(join(folder, name), (now - minutes * MINUTE_MS) / 1000, (now - minutes * MINUTE_MS) / 1000);
    };
    age('ctxwrap-4194305-a.prom', 16);
    age('ctxwrap-4194305-b.prom', 14);
    age(`ctxwrap-${process.pid}-c.prom`, 99);
    age('node.prom', 99);
    age('ctxwrap-4194305-a.prom.0123abcd.tmp', 99);
    await sweepMetrics(folder, now);
    const left = ['ctxwrap-4194305-b.prom', `ctxwrap-${process.pid}-c.prom`, 'node.prom'];
    expect(readdirSync(folder).toSorted()).toEqual(left.toSorted());
  });

  it('never goes through a link, and a folder that is not there is a warning', async () => {
    const id = `${process.pid}-a`;
    const other = join(folder, 'other');
    writeFileSync(other, 'mine');
    symlinkSync(other, join(folder, `ctxwrap-${id}.prom`));
    await openMetrics(sessionOf(id, { 'metrics.textfile': folder }))?.end();
    expect(readFileSync(other, 'utf8')).toBe('mine');
    await openMetrics(sessionOf(id, { 'metrics.textfile': join(folder, 'none') }))?.end();
    expect(warnings).toHaveLength(2);
  });
});

it('without a setting of the user there are no metrics', () => {
  expect(openMetrics(sessionOf('1-a', {}))).toBeUndefined();
});

describe('the collector', () => {
  const collect = async (answers = true) => {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(`${request.url} ${await text(request)}`);
      if (answers) response.setHeader('content-type', 'application/json').end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return {
      bodies,
      endpoint: `http://127.0.0.1:${port}`,
      close: () => server.close().closeAllConnections(),
    };
  };

  it('gets the same numbers, with the names of the conventions, and no text and no path', async () => {
    const { bodies, endpoint, close } = await collect();
    const metrics = openMetrics(sessionOf('4711-a', { 'metrics.otlp': endpoint }));
    metrics?.onState(full);
    metrics?.onEffect(ended);
    const { startOtlp } = await import('../../src/worker/otlp.js');
    const gauges = { usedTokens: 50_000, windowTokens: 200_000, usedRatio: 0.25, model: 'opus' };
    const own = startOtlp({
      endpoint: `${endpoint}/v1/metrics`,
      version: '1.2.3',
      metrics: () => ({
        agent: 'claude',
        session: '4711-b',
        gauges,
        compactions: noCompactions,
      }),
      onFailure: (reason) => expect(reason).toBe(''),
    });
    own.onEnded(ended.ended);
    await own.end();
    await metrics?.end();
    const all = bodies.join('\n');
    expect(bodies.every((body) => body.startsWith('/v1/metrics {'))).toBe(true);
    for (const word of [
      'ctxwrap.context.used_tokens',
      'ctxwrap.context.window_tokens',
      'ctxwrap.context.used_ratio',
      'ctxwrap.compactions',
      'ctxwrap.compaction.duration',
      'gen_ai.agent.name',
      'gen_ai.response.model',
      '4711-a',
      '4711-b',
      '"verified"',
    ])
      expect(all).toContain(word);
    expect(all).not.toContain('secret');
    expect(all).not.toMatch(/host\.name|process\./);
    close();
  });

  /** The gauges of a body, as `name model=value`. */
  const gaugesOf = (body: string): readonly string[] => {
    const { resourceMetrics } = JSON.parse(body.slice(body.indexOf('{'))) as {
      resourceMetrics: readonly { scopeMetrics: readonly { metrics: readonly OtlpMetric[] }[] }[];
    };
    const all = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    return all.flatMap(({ name, gauge }) =>
      (gauge?.dataPoints ?? []).map(({ attributes, asInt, asDouble }) => {
        const model = attributes.find(({ key }) => key === 'gen_ai.response.model')?.value.stringValue;
        return `${name} ${model}=${asInt ?? asDouble}`;
      }),
    );
  };
  interface OtlpMetric {
    readonly name: string;
    readonly gauge?: {
      readonly dataPoints: readonly {
        readonly attributes: readonly {
          readonly key: string;
          readonly value: { readonly stringValue: string };
        }[];
        readonly asInt?: number;
        readonly asDouble?: number;
      }[];
    };
  }

  it('never gets an old number again: not of a former model, and none where the number is unknown', async () => {
    const { bodies, endpoint, close } = await collect();
    const { startOtlp } = await import('../../src/worker/otlp.js');
    let gauges: WindowGauges = { usedTokens: 178_000, model: 'opus' };
    const { end } = startOtlp({
      endpoint,
      version: '1.2.3',
      metrics: () => ({ agent: 'claude', session: '4711-a', gauges, compactions: noCompactions }),
      onFailure: (reason) => expect(reason).toBe(''),
      everyMs: 100,
    });
    const told = (wanted: string): Promise<void> =>
      vi.waitFor(() => expect(bodies.map(gaugesOf)).toContainEqual([wanted]), WAIT);
    await told('ctxwrap.context.used_tokens opus=178000');
    const before = bodies.length;
    gauges = { usedTokens: 14_000, model: 'sonnet' };
    await told('ctxwrap.context.used_tokens sonnet=14000');
    gauges = { windowTokens: 200_000 };
    await told('ctxwrap.context.window_tokens undefined=200000');
    await end();
    expect(bodies.slice(before + 1).join()).not.toContain('opus'); // one may be on its way
    expect(gaugesOf(bodies.at(-1) ?? '{}')).toEqual(['ctxwrap.context.window_tokens undefined=200000']);
    close();
  });

  it('gets the numbers of a session that ends before they are due', async () => {
    const { bodies, endpoint, close } = await collect();
    const metrics = openMetrics(sessionOf('4711-a', { 'metrics.otlp': endpoint }));
    metrics?.onState(full);
    metrics?.onEffect(ended);
    await vi.waitFor(() => expect(bodies).toHaveLength(1), WAIT); // does not wait for the interval
    await metrics?.end();
    expect(gaugesOf(bodies.at(-1) ?? '')).toContain('ctxwrap.context.used_tokens opus=50000');
    close();
  });

  it('that is not there is told once, and holds nothing up', async () => {
    const { endpoint, close } = await collect();
    close();
    warnings.length = 0;
    const metrics = openMetrics(sessionOf('4711-a', { 'metrics.otlp': endpoint }));
    metrics?.onState(startSession({ agent: 'claude' }, 0));
    metrics?.onState(full);
    metrics?.onEffect(ended);
    await metrics?.end();
    expect(warnings).toEqual([expect.stringMatching(/^the metrics do not reach the collector: /)]);
  });

  it('that never answers is told, and the session ends all the same', async () => {
    const { bodies, endpoint, close } = await collect(false);
    warnings.length = 0;
    const metrics = openMetrics(sessionOf('4711-a', { 'metrics.otlp': endpoint }));
    metrics?.onState(full);
    await vi.waitFor(() => expect(bodies).toHaveLength(1), WAIT);
    await metrics?.end();
    expect(warnings).toEqual(['the metrics do not reach the collector: it has not answered']);
    close();
  });
});
