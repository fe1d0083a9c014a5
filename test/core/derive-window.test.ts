import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import type { Reading } from '../../src/core/reading.js';
import { noPair, updatePair, pairDeadline, type ReadingPair } from '../../src/core/session-flow.js';

const screen = (usedPercent: number): Event => ({
  type: 'reading',
  reading: { source: 'screen', usedPercent, at: 0 },
});
const log = (usedTokens: number): Event => ({
  type: 'reading',
  reading: { source: 'log', usedTokens, at: 0 },
});

const after = (...events: readonly (readonly [at: number, event: Event])[]): ReadingPair =>
  events.reduce((pair, [at, event]) => updatePair(pair, event, at), noPair);

const numbers = ({ screen: shown, log: written }: ReadingPair): readonly (number | undefined)[] => [
  shown?.reading.usedPercent,
  (written?.reading as Reading | undefined)?.usedTokens,
];

describe('a number on the screen and one in the session file', () => {
  it('are a pair when both have stood still for two seconds', () => {
    const pair = after([0, screen(50)], [300, log(100_000)]);
    expect(numbers(pair)).toEqual([50, 100_000]);
    expect(pairDeadline(pair)).toBe(2_300);
  });

  it('stand still while the screen repeats its own', () => {
    expect(pairDeadline(after([0, screen(50)], [300, log(100_000)], [1_000, screen(50)]))).toBe(2_300);
  });

  it('wait again when one of them changes', () => {
    expect(pairDeadline(after([0, screen(50)], [300, log(100_000)], [2_000, screen(60)]))).toBe(4_000);
    expect(pairDeadline(after([0, screen(50)], [300, log(100_000)], [2_000, log(120_000)]))).toBe(4_000);
  });

  it('are judged once', () => {
    const pair = { ...after([0, screen(50)], [300, log(100_000)]), judged: true };
    expect(pairDeadline(pair)).toBeUndefined();
    expect(pairDeadline(updatePair(pair, screen(50), 9_000))).toBeUndefined();
    expect(pairDeadline(updatePair(pair, screen(51), 9_000))).toBe(11_000);
  });

  it.each<{ name: string; event: Event }>([
    { name: 'a compaction', event: { type: 'boundary', boundary: { at: 0 } } },
    { name: 'a conversation that was cut back', event: { type: 'voided' } },
    { name: 'another conversation', event: { type: 'session-changed', sessionId: 'b' } },
  ])('are no pair after $name, also with what the screen still shows', ({ event }) => {
    const pair = after(
      [0, screen(50)],
      [300, log(100_000)],
      [400, event],
      [500, screen(50)],
      [600, log(9_000)],
    );
    expect(numbers(pair)).toEqual([undefined, 9_000]);
    expect(pairDeadline(pair)).toBeUndefined();
    expect(pairDeadline(updatePair(pair, screen(4), 700))).toBe(2_700);
  });

  it('are no pair with a number that had gone from the screen before it became void, and comes back', () => {
    const gone: readonly (readonly [number, Event])[] = [
      [0, screen(50)],
      [100, { type: 'screen-blank' }],
    ];
    const pair = after(...gone, [200, { type: 'voided' }], [300, log(9_000)], [400, screen(50)]);
    expect(pairDeadline(pair)).toBeUndefined();
    // without that it is the same number again
    expect(pairDeadline(after(...gone, [300, log(100_000)], [400, screen(50)]))).toBe(2_400);
  });

  it('are no pair when the screen shows none any more', () => {
    expect(
      pairDeadline(after([0, screen(50)], [300, log(100_000)], [400, { type: 'screen-blank' }])),
    ).toBeUndefined();
  });
});
