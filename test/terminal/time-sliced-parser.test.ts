import { describe, expect, it } from 'vitest';
import { makeTimeSlicedParser, type ParserOptions } from '../../src/terminal/time-sliced-parser.js';

/** A clock that advances only by the time that the fake parser assigns to its bytes. */
const parsingAt = (msFor: (bytes: Uint8Array) => number, more: Partial<ParserOptions> = {}) => {
  let now = 0;
  const sizes: number[] = [];
  const failures: unknown[] = [];
  const parsing = makeTimeSlicedParser({
    now: () => now,
    cpu: () => now,
    parse: (bytes) => {
      sizes.push(bytes.length);
      now += msFor(bytes);
    },
    restartBytes: () => Buffer.from('anew'),
    onFailure: (error) => failures.push(error),
    ...more,
  });
  return { parsing, sizes, failures };
};

const bytes = (length: number): Uint8Array => new Uint8Array(length);

describe('parsing in turns', () => {
  it('takes larger slices of output that parses fast, and smaller ones of slow output', async () => {
    let msForByte = 0;
    const { parsing, sizes } = parsingAt((slice) => slice.length * msForByte);
    parsing.feed(bytes(10_000));
    await parsing.settled();
    expect(Math.max(...sizes)).toBe(256);
    msForByte = 1;
    parsing.feed(bytes(400));
    await parsing.settled();
    expect(sizes.at(-1)).toBeLessThanOrEqual(4);
    msForByte = 0;
    parsing.feed(bytes(10_000));
    await parsing.settled();
    expect(sizes.at(-2)).toBe(256);
  });

  it('lets the event loop run while slow output is parsed', async () => {
    const { parsing, sizes } = parsingAt(() => 5);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    parsing.feed(bytes(400));
    await parsing.settled();
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(sizes.length - 1);
  });

  it('continues after the whole process was suspended, as with a closed lid', async () => {
    const { parsing, sizes, failures } = parsingAt(() => 1_001, { cpu: () => 0 });
    parsing.feed(bytes(400));
    await parsing.settled();
    expect(failures).toEqual([]);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(400);
  });

  it('ends when a slice took longer than the limit', async () => {
    const { parsing, sizes, failures } = parsingAt(() => 1_001);
    parsing.feed(Buffer.from('\x1b[9L and more that is never parsed'.repeat(10)));
    await parsing.settled();
    expect(sizes).toHaveLength(1);
    expect(failures.map(String)).toEqual(['Error: 64 bytes took 1001 ms']);
    parsing.feed(bytes(100));
    await parsing.settled();
    expect(parsing.isBehind()).toBe(false);
    expect(sizes).toHaveLength(1);
    expect(failures).toHaveLength(1);
  });

  it('ends when the parser throws, and resolves all waiting promises', async () => {
    const { parsing, failures } = parsingAt(() => 0, {
      parse: () => {
        throw new Error('no such row');
      },
    });
    parsing.feed(bytes(100));
    await Promise.all([parsing.settled(), parsing.settled()]);
    expect(failures.map(String)).toEqual(['Error: no such row']);
    expect(parsing.isBehind()).toBe(false);
  });

  it('restarts when more bytes wait than it takes to draw a screen', async () => {
    const parsed: Uint8Array[] = [];
    const { parsing } = parsingAt(() => 0, { parse: (slice) => void parsed.push(slice) });
    parsing.feed(bytes(600_000));
    await parsing.settled();
    expect(Buffer.concat(parsed).toString()).toBe('anew');
  });
});
