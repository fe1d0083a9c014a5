import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitContext } from '../../src/core/report/context-report.js';
import { contextReport } from '../../src/core/report/context-report.js';
import type { ReadingRecord } from '../../src/core/report/report.js';
import type { Threshold } from '../../src/core/ladder.js';
import { addToLargest } from '../../src/core/reading.js';

describe('the parts of a window', () => {
  it('are what a session of claude has', () => {
    const { totalTokens, parts } = splitContext({
      usedTokens: 131_003,
      windowTokens: 200_000,
      cachedTokens: 131_000,
      nativeTokens: 167_000,
    });
    expect(totalTokens).toBe(200_000);
    expect(parts).toEqual([
      { name: 'cached', tokens: 131_000, percent: 65.5 },
      { name: 'fresh', tokens: 3, percent: 0 },
      { name: 'free', tokens: 35_997, percent: 18 },
      { name: 'buffer', tokens: 33_000, percent: 16.5 },
    ]);
  });

  it('sum to the window, or to what is used where that is more, in tokens and in percent', () => {
    const tokens = fc.nat(2_000_000);
    const perhaps = fc.option(tokens, { nil: undefined });
    fc.assert(
      fc.property(
        tokens,
        tokens,
        perhaps,
        perhaps,
        (usedTokens, windowTokens, cachedTokens, nativeTokens) => {
          const { totalTokens, parts } = splitContext({
            usedTokens,
            windowTokens,
            cachedTokens,
            nativeTokens,
          });
          const sum = (numbers: readonly number[]): number =>
            numbers.reduce((total, each) => total + each, 0);
          expect(totalTokens).toBe(Math.max(usedTokens, windowTokens));
          expect(sum(parts.map((part) => part.tokens))).toBe(totalTokens);
          expect(sum(parts.map(({ percent }) => Math.round(percent * 10)))).toBe(totalTokens > 0 ? 1000 : 0);
          expect(Math.min(...parts.map((part) => part.tokens))).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});

const reading: ReadingRecord = {
  schema: 'ctxwrap.reading/1',
  at: 1,
  runtime: 'claude',
  source: 'log',
  basis: 'window',
  usedTokens: 150_000,
  windowTokens: 200_000,
  usedPercent: 75,
  exact: true,
};
const thresholds: readonly Threshold[] = (['effective', 'warn', 'auto', 'hard', 'native'] as const).map(
  (name) => ({ name, value: 1, unit: 'tokens', reason: 'why' }),
);
const facts = { runtime: 'claude', thresholds, compactions: [], toolResults: [] };

describe('the parts of an unknown window', () => {
  it('are what is used, where the session file tells what it is', () => {
    const filled = { systemTokens: 24_000, fileTokens: 0, toolTokens: 2_000 };
    expect(splitContext({ usedTokens: 30_000, filled })).toEqual({
      totalTokens: 30_000,
      parts: [
        { name: 'system', tokens: 24_000, percent: 80, estimated: true },
        { name: 'messages', tokens: 4_000, percent: 13.3, estimated: true },
        { name: 'tools', tokens: 2_000, percent: 6.7, estimated: true },
      ],
    });
  });
});

describe('a context report', () => {
  it.each([
    { tier: 'safe', current: [] },
    { tier: 'warn', current: ['warn'] },
    { tier: 'auto', current: ['auto'] },
    { tier: 'hard', current: ['hard'] },
  ] as const)('in the tier $tier marks $current', ({ tier, current }) => {
    const report = contextReport({ ...facts, reading: { ...reading, tier } });
    expect(report.thresholds.filter((each) => each.current).map(({ name }) => name)).toEqual(current);
  });

  it('before the first answer holds no numbers at all', () => {
    const ownLadder = { effective: 1, warn: 1, auto: 1, hard: 1 };
    const report = contextReport({ ...facts, note: 'waiting for the first turn', ownLadder });
    expect(JSON.stringify({ ...report, schema: '' })).not.toMatch(/\d/);
    expect(report.note).toBe('waiting for the first turn');
  });

  it('of a percentage alone has no parts', () => {
    const { usedTokens: _, ...percentOnly } = reading;
    expect(contextReport({ ...facts, reading: percentOnly }).parts).toEqual([]);
  });
});

describe('the largest tool results', () => {
  it('are the largest, in order, and no more than wanted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500)), fc.integer({ min: 1, max: 12 }), (sizes, most) => {
        const results = sizes.map((tokens) => ({ name: 't', label: '', tokens, at: 0 }));
        const largest = results.reduce<readonly (typeof results)[number][]>(
          (held, each) => addToLargest(held, each, most),
          [],
        );
        const expected = sizes.filter((size) => size > 0).toSorted((a, b) => b - a);
        expect(largest.map(({ tokens }) => tokens)).toEqual(expected.slice(0, most));
      }),
    );
  });
});
