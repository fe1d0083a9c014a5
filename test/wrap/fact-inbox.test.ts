import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { factInbox } from '../../src/wrap/session-file.js';

const used = (usedTokens: number): Fact => ({
  type: 'reading',
  reading: { usedTokens, source: 'log', at: 0 },
});
const boundary = (at: number): Fact => ({ type: 'boundary', boundary: { at } });
const voided: Fact = { type: 'voided' };

const read = (...facts: readonly Fact[]): readonly Fact[] => {
  const inbox = factInbox(() => 1_000);
  for (const fact of facts) inbox.put(fact);
  return inbox.take();
};

describe('what a stretch of a session file says', () => {
  it('is its last number', () => {
    expect(read(used(1), used(2), used(3))).toEqual([used(3)]);
  });

  it('is every compaction and the number after the last one', () => {
    expect(read(used(1), boundary(1_001), used(2), boundary(1_002), used(3))).toEqual([
      boundary(1_001),
      boundary(1_002),
      used(3),
    ]);
  });

  it('is who wanted the compaction that has this time, and nothing where it was told before', () => {
    const initiator = { type: 'initiator', at: 1_002, initiator: 'user' } as const;
    const byUser: Fact = { type: 'boundary', boundary: { at: 1_002, initiator: 'user' } };
    expect(read(boundary(1_001), boundary(1_002), initiator)).toEqual([boundary(1_001), byUser]);
    expect(read(boundary(1_001), initiator)).toEqual([boundary(1_001)]);
  });

  it('is no number when the last one was compacted away', () => {
    expect(read(used(1), boundary(1_001))).toEqual([boundary(1_001)]);
  });

  it('counts no compaction of before the start, but its number is void all the same', () => {
    expect(read(used(1), boundary(999))).toEqual([voided]);
    expect(read(used(1), boundary(999), used(2))).toEqual([used(2)]);
  });

  it('counts a compaction once, however often it is read', () => {
    const inbox = factInbox(() => 1_000);
    inbox.put(boundary(1_001));
    expect(inbox.take()).toEqual([boundary(1_001)]);
    inbox.put(boundary(1_001));
    expect(inbox.take()).toEqual([voided]);
  });

  it('is a number and all that has grown since', () => {
    const growth = (tokens: number): Fact => ({ type: 'growth', tokens });
    expect(read(growth(1), used(1), growth(2), growth(3))).toEqual([used(1), growth(5)]);
  });

  it('is the last word on the window of each model', () => {
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

  it('is also how the last compaction without success ended, whatever is told after it', () => {
    const ended = (text: string): Fact => ({ type: 'compact-result', result: { kind: 'noop', text } });
    expect(read(used(1), ended('a'), ended('b'), used(2))).toEqual([ended('b'), used(2)]);
    expect(read(used(1), ended('a'))).toEqual([used(1), ended('a')]);
  });

  it('is said once', () => {
    const inbox = factInbox(() => 0);
    inbox.put(used(1));
    inbox.take();
    expect(inbox.take()).toEqual([]);
  });
});
