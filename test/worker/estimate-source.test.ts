import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { makeScreenModel } from '../../src/terminal/screen-model.js';
import { estimateStep, makeEstimateSource, noEstimate } from '../../src/worker/estimate.js';

const usedOf = (facts: readonly Fact[]): readonly (number | undefined)[] =>
  facts.map((fact) => (fact.type === 'reading' ? fact.reading.usedTokens : undefined));

const ascii = (count: number) => ({ ascii: count, wide: 0 });

describe('the estimate', () => {
  it('reports nothing while nothing was written', () => {
    expect(estimateStep(noEstimate, ascii(0), 5_000).facts).toEqual([]);
  });

  it('counts four ASCII characters as a token, and others as one and a half, marked as an estimate', () => {
    expect(estimateStep(noEstimate, { ascii: 4_000, wide: 100 }, 5_000).facts).toEqual([
      { type: 'reading', reading: { usedTokens: 1_150, characters: 4_100, source: 'estimate', at: 5_000 } },
    ]);
  });

  it.each([
    { characters: 40_000, now: 9_000, told: false, why: 'it is the same' },
    { characters: 40_396, now: 9_000, told: false, why: 'it has grown by less than 1 %' },
    { characters: 40_400, now: 9_000, told: true, why: 'it has grown by 1 %' },
    { characters: 39_600, now: 9_000, told: true, why: 'it has shrunk by 1 %' },
    { characters: 80_000, now: 5_999, told: false, why: 'a second has not passed' },
    { characters: 80_000, now: 6_000, told: true, why: 'a second has passed' },
  ])('of 10 000 tokens is told anew: $told, because $why', ({ characters, now, told }) => {
    const { facts } = estimateStep({ usedTokens: 10_000, at: 5_000 }, ascii(characters), now);
    expect(facts).toHaveLength(told ? 1 : 0);
  });

  it('is reported at most once a second, and is never wrong by more than 1 % when it could be reported', () => {
    const step = fc.record({ count: fc.nat(1_000_000), wait: fc.integer({ min: 1, max: 3_000 }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let now = 0;
        let estimate = noEstimate;
        let spokenAt = -Infinity;
        for (const { count, wait } of steps) {
          now += wait;
          const next = estimateStep(estimate, ascii(count), now);
          const spoke = next.facts.length > 0;
          const couldSpeak = now - spokenAt >= 1_000;
          expect(spoke && !couldSpeak).toBe(false);
          if (spoke) spokenAt = now;
          ({ estimate } = next);
          const error = Math.abs(Math.ceil(count / 4) - estimate.usedTokens);
          expect(couldSpeak ? error : 0).toBeLessThanOrEqual(estimate.usedTokens / 100);
        }
      }),
    );
  });
});

describe('the estimate of a running program', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  const run = () => {
    const screen = makeScreenModel({ columns: 80, rows: 10 }, () => '');
    const facts: Fact[] = [];
    const source = makeEstimateSource({ screen, now: Date.now, onFact: (fact) => facts.push(fact) });
    return { screen, facts, source };
  };

  it('is reported once for a burst of output, with all of it', async () => {
    const { screen, facts, source } = run();
    for (let line = 0; line < 100; line += 1) {
      screen.feed(Buffer.from(`line ${String(line).padStart(3, '0')}\r\n`));
      source.noteOutput();
    }
    await vi.advanceTimersByTimeAsync(300);
    await screen.settled();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(usedOf(facts)).toEqual([200]);
    source.stop();
  });

  it('reports nothing after its end, and nothing for output that is not text', async () => {
    const { screen, facts, source } = run();
    screen.feed(Buffer.from('\x1b[2J\x1b[H\x1b]0;title\x07'));
    source.noteOutput();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(facts).toEqual([]);
    screen.feed(Buffer.from('text'));
    source.noteOutput();
    source.stop();
    source.noteOutput();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(facts).toEqual([]);
  });
});
