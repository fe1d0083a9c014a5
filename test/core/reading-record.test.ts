import { describe, expect, it } from 'vitest';
import { readingRecord } from '../../src/core/report/report.js';
import { sessionLadder } from '../../src/core/report/report.js';
import { compacted, claim, sessionAfter, shows, tokens } from '../support/sessions.js';
import type { Timed } from '../support/sessions.js';

const recordOf = (...events: readonly Timed[]) => readingRecord(sessionAfter(events), 9_000);

describe('the record of a reading', () => {
  it('holds what is known and leaves out what is not', () => {
    expect(recordOf([1, tokens('log', 148_003, { model: 'm', at: 77 })])).toEqual({
      schema: 'ctxwrap.reading/1',
      at: 77,
      runtime: 'claude',
      source: 'log',
      basis: 'window',
      usedTokens: 148_003,
      windowTokens: 200_000,
      windowSource: 'table',
      usedPercent: 74,
      exact: true,
      tier: 'warn',
      model: 'm',
    });
    expect(recordOf([1, shows(91.3, 'baseline')])).toEqual({
      schema: 'ctxwrap.reading/1',
      at: 1,
      runtime: 'claude',
      source: 'screen',
      basis: 'baseline',
      usedPercent: 91.3,
      exact: true,
      tier: 'auto',
    });
  });

  it.each([
    { used: 1, percent: 0.1 },
    { used: 199_999, percent: 99.9 },
    { used: 200_000, percent: 100 },
    { used: 0, percent: 0 },
  ])('of $used of 200 000 tokens is $percent %: the ends are shown only where they are reached', (each) => {
    expect(recordOf([1, tokens('log', each.used)])?.usedPercent).toBe(each.percent);
  });

  it('is not held back like the footer, and absent while there is no number', () => {
    expect(recordOf([1, tokens('log', 10_000)], [2, tokens('log', 10_001)])).toMatchObject({
      usedTokens: 10_001,
    });
    expect(recordOf()).toBeUndefined();
    expect(recordOf([1, tokens('log', 10_000)], [2, compacted()])).toBeUndefined();
  });
});

describe('the ladder of a session', () => {
  it('is the one of the window that holds now, with its sentences', () => {
    const native = { share: 1, reserveTokens: 33_000 };
    expect(sessionLadder(sessionAfter([[0, claim(200_000, 'agent')]], { native })).auto?.reason).toBe(
      'auto 162,000: 5,000 before claude compacts on its own at 167,000',
    );
    expect(sessionLadder(sessionAfter([])).auto).toMatchObject({ value: 85, unit: 'percent' });
    const ladder = { auto: { value: 150_000, unit: 'tokens' } } as const;
    expect(sessionLadder(sessionAfter([[0, tokens('log', 1)]], { ladder })).auto).toMatchObject({
      value: 150_000,
      custom: true,
    });
  });
});
