import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getCount, isRecord, getList, parseRecord, getRecord, getText } from '../../src/core/json.js';

describe('the JSON door', () => {
  it.each(['', '{', '{"type":"assis', 'null', '[1]', '"text"', '5'])('lets %j not in', (text) => {
    expect(parseRecord(text)).toBeUndefined();
  });

  it('answers every question about every value without failing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, key) => {
        expect(getRecord(value, key) === undefined || isRecord(getRecord(value, key))).toBe(true);
        expect(typeof (getText(value, key) ?? '')).toBe('string');
        expect(getCount(value, key) ?? 0).toBeGreaterThanOrEqual(0);
        expect(Array.isArray(getList(value, key))).toBe(true);
      }),
    );
  });

  it('takes only numbers that can be counts', () => {
    const numbers = { good: 3, none: null, text: '3', negative: -1, huge: Number.POSITIVE_INFINITY };
    expect(Object.keys(numbers).map((key) => getCount(numbers, key))).toEqual([
      3,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
