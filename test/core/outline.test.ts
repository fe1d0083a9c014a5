import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeOutlineReader, type Decode } from '../../src/core/conversation/outline.js';

const decode: Decode = (bytes, start, end) => Buffer.from(bytes).toString('utf8', start, end);
const read = makeOutlineReader(
  { fields: ['type', 'payload.type', 'payload.item.type', 'n'], bulky: ['payload.output', 'big'] },
  decode,
);
const outlineOf = (line: string) => read(Buffer.from(line));

/** Long enough to be searched, with quotation marks and backslashes in any number and at any place. */
const longTexts = fc
  .array(fc.constantFrom('"', '\\\\', 'x', 'é', 'x'.repeat(127)), { minLength: 5, maxLength: 25 })
  .map((parts) => parts.join(''));
const scalars = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  longTexts,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const anything = fc.oneof(scalars, fc.array(fc.jsonValue(), { maxLength: 3 }), fc.jsonValue());
const records = fc.record(
  {
    type: anything,
    n: anything,
    big: anything,
    other: anything,
    payload: fc.oneof(
      scalars,
      fc.record({ type: anything, output: anything, item: fc.oneof(scalars, fc.record({ type: scalars })) }),
    ),
  },
  { requiredKeys: [] },
);

const textOf = (value: unknown): string | undefined =>
  value === undefined || (typeof value === 'object' && value !== null) ? undefined : String(value);
const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object(value)[key] : undefined;

describe('the outline of a line', () => {
  it('has the wanted fields of any record, written in any way', () => {
    fc.assert(
      fc.property(records, fc.constantFrom(0, 1, 2), (record, indent) => {
        const outline = outlineOf(JSON.stringify(record, undefined, indent));
        const { payload } = record;
        expect(outline?.get('type')).toBe(textOf(record.type));
        expect(outline?.get('n')).toBe(textOf(record.n));
        expect(outline?.get('payload.type')).toBe(textOf(at(payload, 'type')));
        expect(outline?.get('payload.item.type')).toBe(textOf(at(at(payload, 'item'), 'type')));
        expect(outline?.has('type')).toBe('type' in record);
      }),
    );
  });

  it('gives the record without its bulky values', () => {
    fc.assert(
      fc.property(records, (record) => {
        const line = JSON.stringify(record);
        const reduced: unknown = JSON.parse(outlineOf(line)?.reduced() ?? '');
        const whole = JSON.parse(line) as { big?: unknown; payload?: { output?: unknown } };
        if ('big' in whole) whole.big = null;
        if (at(whole.payload, 'output') !== undefined && whole.payload) whole.payload.output = null;
        expect(reduced).toEqual(whole);
      }),
    );
  });

  it('is undefined for each part of a line, and for two lines that have run into each other', () => {
    fc.assert(
      fc.property(records, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (record, share) => {
        const line = Buffer.from(JSON.stringify(record));
        const cut = line.subarray(0, Math.floor(share * line.length));
        expect(read(cut)).toBeUndefined();
        expect(read(Buffer.concat([line, line]))).toBeUndefined();
        expect(read(Buffer.concat([cut, line]))?.get('type')).toBe(
          cut.length === 0 ? textOf(record.type) : undefined,
        );
      }),
    );
  });

  it.each(['', ' ', 'null', '[]', '"a"', '{', '{"a"}', '{"a":}', '{"a":1,}', '{"a":1}}', '\0\0\0'])(
    'is undefined for %j',
    (line) => {
      expect(outlineOf(line)).toBeUndefined();
    },
  );

  it('says nothing of a value that is longer than any name or path', () => {
    expect(outlineOf(JSON.stringify({ type: 'a'.repeat(5_000) }))?.get('type')).toBeUndefined();
  });
});
