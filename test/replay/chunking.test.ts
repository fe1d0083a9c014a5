import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/storage/recording-reader.js';
import { casts } from '../support/casts.js';
import { playReplay } from '../support/replay-play.js';

/** The output split anew: events of the same time are joined, then cut at random places, between and inside characters and sequences. */
const cutAnew =
  (seed: number) =>
  (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
    const [cuts] = fc.sample(fc.infiniteStream(fc.integer({ min: 1, max: 400 })), { numRuns: 1, seed });
    return joined(events).flatMap((event) => {
      if (event.type !== 'output') return [event];
      const pieces: RecordedEvent[] = [];
      for (let from = 0; from < event.text.length;) {
        const length = Number(cuts?.next().value);
        pieces.push({ ...event, text: event.text.slice(from, from + length) });
        from += length;
      }
      return pieces;
    });
  };

const joined = (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const result: RecordedEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (last?.type === 'output' && event.type === 'output' && last.at === event.at)
      result[result.length - 1] = { ...last, text: last.text + event.text };
    else result.push(event);
  }
  return result;
};

const recordings = casts().map(({ name }) => name);
const agentOf = (cast: string): string => cast.split('/')[0] ?? '';

describe('a replay', () => {
  it.concurrent.each(recordings)('of %s does not depend on how its output is cut', async (cast) => {
    const wish = { cast, runtime: agentOf(cast) };
    const whole = await playReplay(wish);
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        expect(await playReplay({ ...wish, edit: cutAnew(seed) })).toEqual(whole);
      }),
      { numRuns: 2 },
    );
  });
});
