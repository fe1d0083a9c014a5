import { describe, expect, it } from 'vitest';
import { percentUsed, validReading } from '../../src/core/reading.js';
import type { Reading } from '../../src/core/reading.js';

const reading = (numbers: Partial<Reading>): Reading => ({ source: 'log', at: 5, ...numbers });

describe('a reading', () => {
  it.each([
    { usedTokens: Number.NaN },
    { usedTokens: -1 },
    { usedTokens: Number.POSITIVE_INFINITY },
    { usedTokens: 1e300 },
    {},
  ])('of %o says nothing', (numbers) => {
    expect(validReading(reading({ windowTokens: 100, ...numbers }))).toBeUndefined();
  });

  it('loses an impossible window and keeps the rest', () => {
    for (const windowTokens of [0, -5, Number.NaN, 1e300]) {
      const seen = validReading(reading({ usedTokens: 7, windowTokens, windowSource: 'agent' }));
      expect(seen).toEqual({ usedTokens: 7, source: 'log', at: 5 });
    }
  });

  it('has a guessed window when nobody said where the window comes from', () => {
    expect(validReading(reading({ usedTokens: 7, windowTokens: 10 }))?.windowSource).toBe('default');
  });

  it('keeps nothing that was used as a number', () => {
    expect(validReading(reading({ usedTokens: 0 }))).toEqual({ usedTokens: 0, source: 'log', at: 5 });
  });

  it('prefers the percentage of the runtime to the quotient', () => {
    expect(percentUsed(reading({ usedTokens: 50, windowTokens: 100, usedPercent: 42 }))).toBe(42);
    expect(percentUsed(reading({ usedTokens: 50, windowTokens: 100 }))).toBe(50);
    expect(percentUsed(reading({ usedTokens: 50 }))).toBeUndefined();
  });

  it('is never above 100 %', () => {
    expect(percentUsed(reading({ usedTokens: 1_080_033, windowTokens: 1_048_576 }))).toBe(100);
  });
});
