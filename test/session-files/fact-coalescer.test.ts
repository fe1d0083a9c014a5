import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { makeFactCoalescer } from '../../src/session-files/session-facts.js';

const used = (usedTokens: number): Fact => ({
  type: 'reading',
  reading: { usedTokens, source: 'log', at: 0 },
});
const boundary = (at: number): Fact => ({ type: 'boundary', boundary: { at } });
const voided: Fact = { type: 'voided' };

const read = (...facts: readonly Fact[]): readonly Fact[] => {
  const coalescer = makeFactCoalescer(() => 1_000);
  for (const fact of facts) coalescer.add(fact);
  return coalescer.flush();
};

describe('the facts of a stretch of a session file', () => {
  it('are only its last number', () => {
    expect(read(used(1), used(2), used(3))).toEqual([used(3)]);
  });

  it('are every compaction and the number after the last one', () => {
    expect(read(used(1), boundary(1_001), used(2), boundary(1_002), used(3))).toEqual([
      boundary(1_001),
      boundary(1_002),
      used(3),
    ]);
  });

  it('contain the initiator of the compaction with its time, and nothing where that was reported before', () => {
    const initiator = { type: 'initiator', at: 1_002, initiator: 'user' } as const;
    const byUser: Fact = { type: 'boundary', boundary: { at: 1_002, initiator: 'user' } };
    expect(read(boundary(1_001), boundary(1_002), initiator)).toEqual([boundary(1_001), byUser]);
    expect(read(boundary(1_001), initiator)).toEqual([boundary(1_001)]);
  });

  it('contain no number when a compaction followed the last one', () => {
    expect(read(used(1), boundary(1_001))).toEqual([boundary(1_001)]);
  });

  it('contain no compaction from before the start, but its number is void all the same', () => {
    expect(read(used(1), boundary(999))).toEqual([voided]);
    expect(read(used(1), boundary(999), used(2))).toEqual([used(2)]);
  });

  it('contain a compaction once, however often it is read', () => {
    const coalescer = makeFactCoalescer(() => 1_000);
    coalescer.add(boundary(1_001));
    expect(coalescer.flush()).toEqual([boundary(1_001)]);
    coalescer.add(boundary(1_001));
    expect(coalescer.flush()).toEqual([voided]);
  });

  it('are a number and the growth since then', () => {
    const growth = (tokens: number): Fact => ({ type: 'growth', tokens });
    expect(read(growth(1), used(1), growth(2), growth(3))).toEqual([used(1), growth(5)]);
  });

  it('contain the last window of each model', () => {
    const claim = (windowTokens: number, model: string): Fact => ({
      type: 'window',
      claim: { windowTokens, windowSource: 'agent', model },
    });
    expect(read(claim(1, 'a'), used(1), claim(2, 'b'), used(2), boundary(1_001), claim(3, 'a'))).toEqual([
      claim(2, 'b'),
      boundary(1_001),
      claim(3, 'a'),
    ]);
  });

  it('contain the end of the last unsuccessful compaction, whatever follows', () => {
    const ended = (text: string): Fact => ({ type: 'compact-result', result: { kind: 'noop', text } });
    expect(read(used(1), ended('a'), ended('b'), used(2))).toEqual([ended('b'), used(2)]);
    expect(read(used(1), ended('a'))).toEqual([used(1), ended('a')]);
  });

  it('are given once', () => {
    const coalescer = makeFactCoalescer(() => 0);
    coalescer.add(used(1));
    coalescer.flush();
    expect(coalescer.flush()).toEqual([]);
  });
});
