import { describe, expect, it } from 'vitest';
import { paintDelay, type PaintTiming } from '../../src/terminal/footer-sequences.js';

const quiet: PaintTiming = {
  now: 10_000,
  dueSince: 10_000,
  lastOutput: 9_000,
  lastPaint: 9_000,
  isGround: true,
  hindrance: undefined,
  isErased: false,
};

describe('a paint of the footer', () => {
  it.each<{ when: string; moment: Partial<PaintTiming>; delay: number }>([
    { when: 'comes at once when the child is quiet', moment: {}, delay: 0 },
    { when: 'waits for 50 ms of quiet', moment: { lastOutput: 9_990 }, delay: 40 },
    {
      when: 'comes after 500 ms although the child never pauses',
      moment: { lastOutput: 10_000, dueSince: 9_500 },
      delay: 0,
    },
    { when: 'keeps 250 ms between two', moment: { lastPaint: 9_900 }, delay: 150 },
    {
      when: 'comes again with the next picture of the screen when the child has erased it',
      moment: { lastPaint: 9_984, isErased: true, lastOutput: 10_000 },
      delay: 0,
    },
    { when: 'never comes inside a string', moment: { isGround: false, dueSince: 0 }, delay: 25 },
    {
      when: 'never comes between side margins',
      moment: { hindrance: 'side margins', dueSince: 0 },
      delay: 25,
    },
    { when: 'never comes in VT52 mode', moment: { hindrance: 'VT52 mode', dueSince: 0 }, delay: 25 },
    { when: 'waits for a pending wrap to end', moment: { hindrance: 'pending wrap' }, delay: 25 },
    {
      when: 'does not wait for it for ever',
      moment: { hindrance: 'pending wrap', dueSince: 9_500 },
      delay: 0,
    },
    {
      when: 'waits for the end of a frame',
      moment: { hindrance: 'synchronized output', dueSince: 9_500 },
      delay: 25,
    },
    {
      when: 'does not wait for a frame that is never closed',
      moment: { hindrance: 'synchronized output', dueSince: 9_350 },
      delay: 0,
    },
  ])('$when', ({ moment, delay }) => {
    expect(paintDelay({ ...quiet, ...moment })).toBe(delay);
  });
});
