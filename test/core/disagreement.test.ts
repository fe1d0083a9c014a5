import { describe, expect, it } from 'vitest';
import { sessionDeadline } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import { alarm, blank, claim, grew, inSession, sessionAfter, shows, tokens } from '../support/sessions.js';
import type { Timed } from '../support/sessions.js';

const claude = { share: 1, reserveTokens: 33_000 };
const after = (...events: readonly Timed[]) => sessionAfter(events, { native: claude });
const IGNORED =
  'the screen and the session file have disagreed by more than 5 points for 10 s: the screen is ignored until the model or the session changes';

const apart: readonly Timed[] = [
  [0, tokens('log', 100_000)],
  [1, shows(90)],
];

describe('a screen that says something else than the session file', () => {
  it('is not believed any more after ten seconds, which the log hears once', () => {
    const before = after(...apart);
    expect(footerView(before, 2_000)).toMatchObject({ tier: 'hard', estimated: true });
    expect(sessionDeadline(before)).toBe(11_000);
    expect(after(...apart, [10.9, shows(90)]).logged).toEqual([]);
    const found = after(...apart, [11, alarm]);
    expect(found.logged).toEqual([IGNORED]);
    expect(sessionDeadline(found)).toBeUndefined();
    expect(footerView(found, 20_000)).toMatchObject({ tier: 'safe', usedTokens: 100_000, estimated: false });
    const later = after(...apart, [11, alarm], [12, shows(91)], [30, shows(95)]);
    expect(later.logged).toEqual([]);
    expect(footerView(later, 60_000)).toMatchObject({ tier: 'safe' });
  });

  it('is believed, and the file is not, when it has moved while the file stands still', () => {
    const moved: readonly Timed[] = [
      [0, tokens('log', 100_000)],
      [8, shows(90)],
    ];
    const left = after(...moved, [18, alarm]);
    expect(left.logged).toEqual([expect.stringContaining('only the screen has moved: the file is ignored')]);
    expect(footerView(left, 20_000)).toMatchObject({ tier: 'hard', usedPercent: 90, estimated: false });
    const again = after(...moved, [18, alarm], [30, shows(90)], [31, tokens('log', 180_000)]);
    expect(footerView(again, 40_000)).toMatchObject({ usedTokens: 180_000 });
    const apartAgain = after(
      ...moved,
      [18, alarm],
      [31, tokens('log', 101_000)],
      [31, shows(90)],
      [50, alarm],
    );
    expect(apartAgain.evidence.disagreement.phase).toBe('ignored');
  });

  it('may differ by five points for ever', () => {
    const close: readonly Timed[] = [
      [0, tokens('log', 100_000)],
      [1, shows(55)],
      [60, alarm],
      [61, shows(45)],
    ];
    expect(after(...close, [100, alarm])).toMatchObject({
      logged: [],
      evidence: { disagreement: { phase: 'agreeing' } },
    });
    const below: readonly Timed[] = [
      [0, tokens('log', 100_000)],
      [1, shows(44)],
      [11, alarm],
    ];
    expect(after(...below).logged).toEqual([IGNORED]);
  });

  it('starts again when it agreed for a moment, or showed nothing', () => {
    for (const event of [shows(50), blank])
      expect(after(...apart, [8, event], [9, shows(90)], [12, alarm]).logged).toEqual([]);
  });

  it('is believed again in another session, model or window', () => {
    const log = tokens('log', 100_000, { model: 'one' });
    const ignored: readonly Timed[] = [
      [0, inSession('a')],
      [0, log],
      [1, shows(90)],
      [11, alarm],
    ];
    for (const event of [inSession('b'), claim(400_000, 'agent'), tokens('log', 1, { model: 'other' })]) {
      const seen = after(...ignored, [12, event], [13, log], [14, shows(94)]);
      expect(footerView(seen, 14_000)).toMatchObject({ tier: expect.not.stringMatching('safe') });
    }
  });

  it('is compared on its own basis', () => {
    // 150 000 of the 167 000 that Claude fills before it compacts are 90 %
    const right: readonly Timed[] = [
      [0, tokens('log', 150_000)],
      [1, shows(90, 'auto-compact')],
      [20, alarm],
    ];
    expect(after(...right).logged).toEqual([]);
    const wrong: readonly Timed[] = [
      [0, tokens('log', 150_000)],
      [1, shows(75, 'auto-compact')],
      [20, alarm],
    ];
    expect(after(...wrong).logged).toEqual([IGNORED]);
    // 60 000 tokens are 25.5 % of what lies above 12 000 in a window of 200 000
    const baseline = (percent: number): readonly Timed[] => [
      [0, tokens('log', 60_000)],
      [1, shows(percent, 'baseline', 188_000)],
      [20, alarm],
    ];
    expect(after(...baseline(26)).logged).toEqual([]);
    expect(after(...baseline(36)).logged).toEqual([IGNORED]);
  });

  it('is not judged against a window that is only assumed', () => {
    const events: readonly Timed[] = [
      [0, tokens('log', 100_000, { windowSource: 'default' })],
      [1, shows(10)],
      [20, alarm],
    ];
    expect(after(...events).logged).toEqual([]);
  });

  it('may be ahead by what came after the file’s number', () => {
    const ahead: readonly Timed[] = [
      [0, tokens('log', 100_000)],
      [1, grew(30_000)],
      [2, shows(64)],
    ];
    expect(after(...ahead, [20, alarm]).logged).toEqual([]);
    expect(after(...ahead, [2, shows(71)], [20, alarm]).logged).toEqual([IGNORED]);
  });

  it('may be one number behind', () => {
    const events: readonly Timed[] = [
      [0, tokens('log', 60_000)],
      [1, shows(30)],
      [2, tokens('log', 100_000)],
      [20, alarm],
    ];
    expect(after(...events).logged).toEqual([]);
  });
});
