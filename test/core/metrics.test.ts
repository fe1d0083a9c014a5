// The numbers of a session for a monitoring system.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countCompaction,
  noCompactions,
  prometheusText,
  windowGauges,
  type SessionMetrics,
} from '../../src/core/metrics.js';
import { startSession } from '../../src/core/session.js';
import { successfulEnd } from '../support/ended.js';
import { sessionAfter, tokens } from '../support/sessions.js';

const ended = (seconds: number, more: Parameters<typeof successfulEnd>[0] = {}) =>
  successfulEnd({ startedAt: 1_000, endedAt: 1_000 + seconds * 1_000, ...more });

const counted = [
  ended(4),
  ended(25, { initiator: 'ctxwrap', isManual: true }),
  ended(25, { initiator: 'agent' }),
  ended(400, { initiator: 'user', outcome: { kind: 'timeout', afterMs: 1 } }),
  ended(0, { outcome: { kind: 'skipped-busy', reason: 'x' } }), // no key was typed
].reduce(countCompaction, noCompactions);

const metrics: SessionMetrics = {
  agent: 'claude',
  session: '4711-abc',
  gauges: { usedTokens: 124_000, windowTokens: 200_000, usedRatio: 0.62 },
  compactions: counted,
};

describe('the text for Prometheus', () => {
  const text = prometheusText(metrics);
  const own = 'agent="claude",session="4711-abc"';

  it('has how full the window is, how compactions have ended, and how long they took', () => {
    for (const line of [
      `ctxwrap_context_used_tokens{${own}} 124000`,
      `ctxwrap_context_window_tokens{${own}} 200000`,
      `ctxwrap_context_used_ratio{${own}} 0.62`,
      `ctxwrap_compactions_total{${own},trigger="auto",outcome="verified"} 1`,
      `ctxwrap_compactions_total{${own},trigger="request",outcome="verified"} 1`,
      `ctxwrap_compactions_total{${own},trigger="agent",outcome="verified"} 1`,
      `ctxwrap_compactions_total{${own},trigger="user",outcome="timeout"} 1`,
      `ctxwrap_compaction_duration_seconds_bucket{${own},le="5"} 1`,
      `ctxwrap_compaction_duration_seconds_bucket{${own},le="30"} 3`,
      `ctxwrap_compaction_duration_seconds_bucket{${own},le="300"} 3`,
      `ctxwrap_compaction_duration_seconds_bucket{${own},le="+Inf"} 4`,
      `ctxwrap_compaction_duration_seconds_sum{${own}} 454`,
      `ctxwrap_compaction_duration_seconds_count{${own}} 4`,
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).not.toContain('skipped');
  });

  it('leaves out what is not known, and begins every count at zero', () => {
    const start = prometheusText({ ...metrics, gauges: {}, compactions: noCompactions });
    expect(start).not.toContain('ctxwrap_context');
    expect(start).toContain(`ctxwrap_compactions_total{${own},trigger="auto",outcome="verified"} 0\n`);
    expect(start).toContain(`ctxwrap_compaction_duration_seconds_count{${own}} 0\n`);
    expect(start).not.toMatch(/ [^0]\d*$/m);
  });

  const promtool = spawnSync('promtool', ['--version']);
  it.skipIf(promtool.error !== undefined)(
    `is what promtool accepts${promtool.error ? ' (skipped: promtool is not installed, see the package prometheus)' : ''}`,
    () => {
      const texts = [
        text,
        prometheusText({ ...metrics, agent: 'my "own"\\agent\n' }),
        prometheusText({ ...metrics, gauges: {}, compactions: noCompactions }),
      ];
      for (const input of texts) {
        const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
          input,
          encoding: 'utf8',
        });
        expect(`${stdout}${stderr}`).toBe('');
        expect(status).toBe(0);
      }
    },
  );

  const seriesOf = (text: string): readonly (readonly [series: string, value: string])[] =>
    [...text.matchAll(/^(ctxwrap_.*\}) (\S+)$/gm)].map(([, series = '', value = '']) => [series, value]);

  it.skipIf(promtool.error !== undefined)(
    `answers the queries of its page${promtool.error ? ' (skipped: promtool is not installed, see the package prometheus)' : ''}`,
    () => {
      const page = readFileSync(resolve(import.meta.dirname, '../../docs/internals/metrics.md'), 'utf8');
      const queries = /```promql\n([^]*?)```/.exec(page)?.[1]?.trim().split('\n') ?? [];
      expect(queries).toHaveLength(2);
      const before = new Map(seriesOf(prometheusText({ ...metrics, compactions: noCompactions })));
      // a session with its first compactions after five minutes: a series that is not there before has only its value of then
      const series = seriesOf(text).map(([name, value]) => {
        const start = before.get(name);
        return { series: name, values: `${start === undefined ? '_x5' : `${start}x5`} ${value}x5` };
      });
      const expected = [
        { labels: '{agent="claude",outcome="timeout"}', value: 1 },
        { labels: '{agent="claude",outcome="verified"}', value: 1 },
      ];
      const test = {
        interval: '1m',
        input_series: series,
        promql_expr_test: [
          { expr: `(${queries[0]}) > bool 0.5 > 0`, eval_time: '10m', exp_samples: expected },
          { expr: queries[1], eval_time: '10m', exp_samples: [] },
        ],
      };
      const folder = mkdtempSync(join(tmpdir(), 'metrics-test-'));
      const file = join(folder, 'test.yml');
      writeFileSync(file, JSON.stringify({ rule_files: [], tests: [test] }));
      const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
      rmSync(folder, { recursive: true });
      expect(`${stdout}${stderr}`).toContain('SUCCESS');
      expect(status).toBe(0);
    },
  );

  it('only grows, whatever ends how', () => {
    const anyEnd = fc
      .record({
        seconds: fc.integer({ min: -5, max: 1_000 }),
        by: fc.constantFrom('ctxwrap', 'user', 'agent'),
      })
      .map(({ seconds, by }) => ended(seconds, { initiator: by as 'user' }));
    fc.assert(
      fc.property(fc.array(anyEnd, { maxLength: 30 }), (ends) => {
        const { counts, buckets, durations } = ends.reduce(countCompaction, noCompactions);
        expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(ends.length);
        expect(durations).toBe(ends.length);
        expect([...buckets, durations]).toEqual([...buckets, durations].toSorted((a, b) => a - b));
      }),
    );
  });
});

it.each([
  ['claude-opus-4-8', 'claude-opus-4-8'],
  ['Qwen/Qwen3-Coder', 'Qwen/Qwen3-Coder'],
  ['/home/me/secret/llama-3.gguf', 'llama-3.gguf'],
  ['~/models/mine/', 'mine'],
  ['./x/y.gguf', 'y.gguf'],
  ['C:\\Users\\me\\m.gguf', 'm.gguf'],
  ['a\u001b[31m\nb', 'a [31m b'],
  ['x'.repeat(5_000), 'x'.repeat(100)],
])('a model is told by its name and never by a path: %s', (model, told) => {
  expect(windowGauges(sessionAfter([[1, tokens('log', 50_000, { model })]])).model).toBe(told);
});

it('the gauges are those of the number that counts; without one there are none', () => {
  expect(windowGauges(startSession({ agent: 'claude' }, 0))).toEqual({});
  expect(windowGauges(sessionAfter([[1, tokens('log', 50_000, { model: 'opus' })]]))).toEqual({
    usedTokens: 50_000,
    windowTokens: 200_000,
    usedRatio: 0.25,
    model: 'opus',
  });
});
