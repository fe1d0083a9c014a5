import { describe, expect, it } from 'vitest';
import { readOmcState } from '../../../src/core/compaction/protocol.js';
import type { OmcState } from '../../../src/core/compaction/protocol.js';

const start = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const file = (minutes: number): string =>
  JSON.stringify({
    requestedAt: new Date(start + minutes * MINUTE).toISOString(),
    contextPercent: 83,
    threshold: 80,
  });

/** The minutes at which a look at these files takes one for a request. */
const requestsIn = (looks: readonly (readonly [minute: number, text: string | undefined])[]) => {
  let seen: OmcState | undefined;
  return looks.flatMap(([minute, text]) => {
    const look = readOmcState(seen, text, start + minute * MINUTE);
    ({ seen } = look);
    return look.isRequest ? [minute] : [];
  });
};

describe('the file of OMC', () => {
  it('is a request when it comes, and not again while it lies there', () => {
    expect(
      requestsIn([
        [0, undefined],
        [1, file(1)],
        [2, file(1)],
        [9, file(1)],
        [99, file(1)],
      ]),
    ).toEqual([1]);
  });

  it('that was there before the session is none, and a new one in its place is', () => {
    expect(
      requestsIn([
        [0, file(-1)],
        [1, file(-1)],
        [2, file(2)],
      ]),
    ).toEqual([2]);
  });

  it('that is written anew with each drawing is one request in ten minutes', () => {
    const looks = Array.from({ length: 25 }, (_, minute) => [minute, file(minute)] as const);
    expect(requestsIn(looks)).toEqual([1, 12, 23]);
  });

  it('that comes with an old or an impossible time is none', () => {
    expect(
      requestsIn([
        [0, undefined],
        [30, file(1)],
        [31, file(99)],
        [32, file(20)],
      ]),
    ).toEqual([]);
  });

  it.each(['', '{', '[]', 'null', '{"requestedAt":5}', '{"requestedAt":"soon"}'])(
    'with %j in it is none',
    (text) => {
      expect(
        requestsIn([
          [0, undefined],
          [1, text],
          [2, text],
        ]),
      ).toEqual([]);
    },
  );
});
