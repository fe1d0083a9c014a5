import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countAt, isRecord, listAt, parseRecord, recordAt, textAt } from '../../src/core/json.js';

describe('the JSON door', () => {
  it.each(['', '{', '{"type":"assis', 'null', '[1]', '"text"', '5'])('lets %j not in', (text) => {
    expect(parseRecord(text)).toBeUndefined();
  });

  it('answers every question about every value without failing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, key) => {
        expect(recordAt(value, key) === undefined || isRecord(recordAt(value, key))).toBe(true);
        expect(typeof (textAt(value, key) ?? '')).toBe('string');
        expect(countAt(value, key) ?? 0).toBeGreaterThanOrEqual(0);
        expect(Array.isArray(listAt(value, key))).toBe(true);
      }),
    );
  });

  it('takes only numbers that can be counts', () => {
    const numbers = { good: 3, none: null, text: '3', negative: -1, huge: Number.POSITIVE_INFINITY };
    expect(Object.keys(numbers).map((key) => countAt(numbers, key))).toEqual([
      3,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
