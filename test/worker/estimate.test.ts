import { describe, expect, it } from 'vitest';
import { makeReplayEstimate } from '../../src/replay/replay.js';

const ascii = (count: number) => ({ ascii: count, wide: 0 });

describe('the estimate in a replay', () => {
  it('comes when the wrapper would have reported it: at once, and later at the end of the second', () => {
    const estimate = makeReplayEstimate();
    expect(estimate.next(Infinity)).toBeUndefined();
    estimate.note(ascii(400), 5_000);
    expect(estimate.next(5_000)).toMatchObject({ at: 5_000, facts: [{ reading: { usedTokens: 100 } }] });
    estimate.note(ascii(800), 5_300);
    estimate.note(ascii(1_200), 5_600);
    expect(estimate.next(5_999)).toBeUndefined();
    expect(estimate.next(7_000)).toMatchObject({
      at: 6_000,
      facts: [{ reading: { usedTokens: 300, at: 6_000 } }],
    });
    expect(estimate.next(Infinity)).toBeUndefined();
  });
});
