import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateFolder, parseIsoTime, formatIsoTime } from '../../src/core/time.js';

const MS = { min: Date.UTC(1970, 0, 1), max: Date.UTC(2200, 0, 1) };

describe('time without a clock', () => {
  it('reads and writes every timestamp as the platform does', () => {
    fc.assert(
      fc.property(fc.integer(MS), (at) => {
        expect(parseIsoTime(new Date(at).toISOString())).toBe(at);
        expect(formatIsoTime(at)).toBe(new Date(at).toISOString());
      }),
    );
  });

  it('reads timestamps without and with other fractions of a second', () => {
    expect(parseIsoTime('2026-11-21T08:37:12Z')).toBe(Date.UTC(2026, 10, 21, 8, 37, 12));
    expect(parseIsoTime('2026-11-21T08:37:12.28Z')).toBe(Date.UTC(2026, 10, 21, 8, 37, 12, 280));
    expect(parseIsoTime('2026-11-21T08:37:12.289123Z')).toBe(Date.UTC(2026, 10, 21, 8, 37, 12, 289));
  });

  it.each(['', 'yesterday', '2026-13-01T00:00:00Z', '2026-11-21', '2026-11-21T08:37:12+02:00'])(
    'does not guess what %j means',
    (text) => {
      expect(parseIsoTime(text)).toBeUndefined();
    },
  );

  it('names the date folders around a moment', () => {
    fc.assert(
      fc.property(fc.integer(MS), fc.integer({ min: -1, max: 1 }), (at, days) => {
        const expected = new Date(at + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '/');
        expect(dateFolder(at, days)).toBe(expected);
      }),
    );
  });
});
