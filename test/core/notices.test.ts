import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noNotices, noticeDeadline, updateNotices, addNotice } from '../../src/core/messages.js';
import type { Notices } from '../../src/core/messages.js';

const wish = (text: string, priority = 1) => ({ text, priority });
const told = (...texts: readonly (readonly [string, number])[]): Notices =>
  texts.reduce((all, [text, priority]) => addNotice(all, wish(text, priority), 0), noNotices);
const textAt = (notices: Notices): string | undefined => notices.shown?.text;

describe('a notice', () => {
  it('is shown for five seconds, once', () => {
    const shown = updateNotices(told(['a', 1]), 'free', 0);
    expect(textAt(shown)).toBe('a');
    expect(noticeDeadline(shown)).toBe(5_000);
    expect(textAt(updateNotices(shown, 'free', 4_999))).toBe('a');
    expect(updateNotices(shown, 'free', 5_000)).toEqual(noNotices);
  });

  it('comes alone, the most important first, and of equal ones the older', () => {
    let notices = told(['old', 1], ['first', 9], ['young', 1]);
    const seen: (string | undefined)[] = [];
    for (let now = 0; now < 20_000; now += 5_000) {
      notices = updateNotices(notices, 'free', now);
      seen.push(textAt(notices));
    }
    expect(seen).toEqual(['first', 'old', 'young', undefined]);
  });

  it('does not push out one that is shown', () => {
    const shown = updateNotices(told(['low', 1]), 'free', 0);
    const both = addNotice(shown, wish('high', 9), 1_000);
    expect(textAt(updateNotices(both, 'free', 1_000))).toBe('low');
    expect(textAt(updateNotices(both, 'free', 5_000))).toBe('high');
  });

  it('is not said twice while it is shown or waits, and afterwards it may', () => {
    const shown = updateNotices(told(['a', 1], ['b', 1], ['b', 1]), 'free', 0);
    const again = addNotice(shown, wish('a'), 1_000);
    expect(again).toBe(shown);
    expect(again.waiting).toHaveLength(1);
    expect(
      textAt(
        updateNotices(
          addNotice(updateNotices(told(['a', 1]), 'free', 9_000), wish('b'), 9_000),
          'free',
          20_000,
        ),
      ),
    ).toBe('b');
  });

  it('that offers a key is shown for half a minute, and gives way to whatever else comes', () => {
    const offer = updateNotices(addNotice(noNotices, { ...wish('an offer'), isOffer: true }, 0), 'free', 0);
    expect(noticeDeadline(offer)).toBe(30_000);
    expect(textAt(updateNotices(offer, 'free', 29_999))).toBe('an offer');
    expect(textAt(updateNotices(addNotice(offer, wish('low'), 1_000), 'free', 1_000))).toBe('low');
    expect(textAt(updateNotices(offer, 'none', 1_000))).toBeUndefined();
  });

  it('waits while something more urgent is said, and is dropped when that takes a minute', () => {
    const waiting = updateNotices(told(['a', 1]), 'none', 0);
    expect(textAt(waiting)).toBeUndefined();
    expect(textAt(updateNotices(waiting, 'free', 59_000))).toBe('a');
    expect(updateNotices(waiting, 'free', 60_000)).toEqual(noNotices);
  });

  it('that answers a key is shown at once, over an outcome too, in place of the answer before it', () => {
    const answer = (text: string) => ({ ...wish(text, 400), isAnswer: true as const });
    const before = updateNotices(told(['news', 9], ['more', 9]), 'free', 0);
    const waiting = updateNotices(addNotice(before, answer('undo waiting'), 100), 'outcome', 100);
    expect(textAt(waiting)).toBe('undo waiting');
    const done = updateNotices(addNotice(waiting, answer('undone'), 200), 'outcome', 200);
    expect(textAt(done)).toBe('undone');
    expect(noticeDeadline(done)).toBe(5_200);
    const held = addNotice(addNotice(before, answer('undo waiting'), 300), answer('undone'), 300);
    expect(updateNotices(held, 'none', 300).waiting.map(({ text }) => text)).toEqual(['undone', 'more']);
    expect(textAt(updateNotices(done, 'free', 5_200))).toBe('more');
  });

  it('gives way at once and does not come back', () => {
    const shown = updateNotices(told(['a', 1]), 'free', 0);
    const interrupted = updateNotices(shown, 'none', 1_000);
    expect(textAt(interrupted)).toBeUndefined();
    expect(updateNotices(interrupted, 'free', 2_000)).toEqual(noNotices);
  });

  it('about the compaction that has just ended is shown over its outcome, for ten seconds', () => {
    const both = addNotice(told(['other', 9]), { ...wish('kept'), isOfOutcome: true }, 0);
    expect(textAt(updateNotices(both, 'none', 0))).toBeUndefined();
    const shown = updateNotices(both, 'outcome', 0);
    expect(textAt(shown)).toBe('kept');
    expect(textAt(updateNotices(shown, 'outcome', 9_999))).toBe('kept');
    const over = updateNotices(shown, 'outcome', 10_000);
    expect(textAt(over)).toBeUndefined();
    expect(textAt(updateNotices(over, 'free', 30_000))).toBe('other');
  });

  it('never waits among more than five, whatever comes, and goes in time', () => {
    const event = fc.record({
      text: fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      priority: fc.integer({ min: 0, max: 3 }),
      room: fc.constantFrom('free', 'outcome', 'none'),
      isOfOutcome: fc.boolean(),
      pause: fc.integer({ min: 0, max: 9_000 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let now = 0;
        let notices = noNotices;
        for (const { text, priority, room, isOfOutcome, pause } of events) {
          now += pause;
          const request = { text, priority, ...(isOfOutcome ? ({ isOfOutcome } as const) : {}) };
          notices = updateNotices(addNotice(notices, request, now), room, now);
          expect(notices.waiting.length).toBeLessThanOrEqual(5);
          expect(noticeDeadline(notices) ?? now + 1).toBeGreaterThan(now);
          expect(noticeDeadline(notices) ?? now).toBeLessThanOrEqual(now + 10_000);
          expect(room !== 'none' || textAt(notices) === undefined).toBe(true);
          expect(room !== 'outcome' || notices.shown?.isOfOutcome !== undefined || !notices.shown).toBe(true);
          expect(room === 'free' && !notices.shown ? notices.waiting : []).toEqual([]);
        }
      }),
    );
  });
});
