import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  getCount,
  isRecord,
  getList,
  parseJson,
  parseRecord,
  getRecord,
  getText,
} from '../../src/core/json.js';
import { runs } from '../support/runs.js';

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

  it('reads every value that other programs write, with braces and quotes in its strings and keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1_500, 2_500_000), (value, more) => {
        const text = JSON.stringify([value, `{"[\\"${'\\"{['.repeat(more / 4)}`]);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      runs(60),
    );
  });

  it.each([
    ['lists', '[', ']'],
    ['objects', '{"a":', '}'],
    ['objects in lists', '[{"\\"a":', '}]'],
  ])('lets no deeply nested %s in, of any length', (_, open, close) => {
    const nested = (times: number): string => `{"x":${open.repeat(times)}1${close.repeat(times)}}`;
    expect(parseRecord(nested(200))).toBeDefined();
    for (const times of [600, 20_000, 500_000]) expect(parseRecord(nested(times))).toBeUndefined();
  });

  it.each([['{}'], ['""'], ['[]'], ['{"a":"b"}']])('lets no millions of %s in', (each) => {
    const list = (times: number): string => `{"x":[${`${each},`.repeat(times)}1]}`;
    expect(parseRecord(list(200_000))).toBeDefined();
    expect(parseRecord(list(1_100_000))).toBeUndefined();
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
