import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveTokens, ladderFor, percentLadder, tierOf, tokenLadder } from '../../src/core/ladder.js';
import type { Reading } from '../../src/core/reading.js';

const reading = (numbers: Partial<Reading>): Reading => ({ source: 'log', at: 0, ...numbers });

describe('the ladder', () => {
  it.each([
    { window: 32_000, warn: 19_200, auto: 22_400, hard: 22_400, effective: 12_000 },
    { window: 64_000, warn: 38_400, auto: 44_800, hard: 44_800, effective: 44_000 },
    { window: 128_000, warn: 76_800, auto: 95_000, hard: 105_000, effective: 108_000 },
    { window: 200_000, warn: 147_000, auto: 167_000, hard: 177_000, effective: 180_000 },
    { window: 1_000_000, warn: 947_000, auto: 967_000, hard: 977_000, effective: 980_000 },
  ])('of $window tokens is $warn/$auto/$hard', ({ window, warn, auto, hard, effective }) => {
    expect(tokenLadder(window)).toEqual({ unit: 'tokens', warn, auto, hard });
    expect(effectiveTokens(window)).toBe(effective);
  });

  it('acts before the agent would: 200 000 tokens of Claude are 142 000/162 000/177 000', () => {
    const claude = { share: 1, reserveTokens: 33_000 };
    expect(tokenLadder(200_000, claude)).toEqual({
      unit: 'tokens',
      warn: 142_000,
      auto: 162_000,
      hard: 177_000,
    });
  });

  it('is lowered to half the window for an agent that compacts at half', () => {
    const gemini = { share: 0.5, reserveTokens: 0 };
    const { warn, auto } = tokenLadder(1_048_576, gemini);
    expect({ warn, auto }).toEqual({ warn: 483_317, auto: 503_317 });
  });

  it('is not raised by an agent that compacts later than we would', () => {
    expect(tokenLadder(258_400, { share: 0.9 / 0.95, reserveTokens: 0 })).toEqual(tokenLadder(258_400));
  });

  it('stays as it is when the window is smaller than what the agent keeps free', () => {
    expect(tokenLadder(30_000, { share: 1, reserveTokens: 33_000 })).toEqual(tokenLadder(30_000));
  });

  it('never has its boundaries out of order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000_000 }), fc.constantFrom(0.5, 0.9, 1), (window, share) => {
        const { warn, auto, hard } = tokenLadder(window, { share, reserveTokens: 33_000 });
        expect(warn).toBeGreaterThanOrEqual(0);
        expect(auto).toBeGreaterThanOrEqual(warn);
        expect(hard).toBeGreaterThanOrEqual(auto);
      }),
    );
  });
});

describe('the tier', () => {
  it.each([
    { usedTokens: 0, tier: 'safe' },
    { usedTokens: 146_999, tier: 'safe' },
    { usedTokens: 147_000, tier: 'warn' }, // boundaries are inclusive
    { usedTokens: 166_999, tier: 'warn' },
    { usedTokens: 167_000, tier: 'auto' },
    { usedTokens: 176_999, tier: 'auto' },
    { usedTokens: 177_000, tier: 'hard' },
    { usedTokens: 250_000, tier: 'hard' },
  ])('of $usedTokens in 200 000 tokens is $tier', ({ usedTokens, tier }) => {
    const seen = reading({ usedTokens, windowTokens: 200_000 });
    expect(tierOf(seen, ladderFor(seen))).toBe(tier);
  });

  it.each([
    { usedPercent: 69.9, tier: 'safe' },
    { usedPercent: 70, tier: 'warn' },
    { usedPercent: 85, tier: 'auto' },
    { usedPercent: 95, tier: 'hard' },
  ])('of $usedPercent % alone is $tier', ({ usedPercent, tier }) => {
    const seen = reading({ usedPercent });
    expect(ladderFor(seen)).toBe(percentLadder);
    expect(tierOf(seen, ladderFor(seen))).toBe(tier);
  });

  it('is not known while the window is not', () => {
    const seen = reading({ usedTokens: 150_000 });
    expect(tierOf(seen, ladderFor(seen))).toBeUndefined();
  });
});
