import { describe, expect, it } from 'vitest';
import { sessionDeadline } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import { alarm, claim, compacted, output, sessionAfter, shows, tokens } from '../support/sessions.js';
import type { Timed } from '../support/sessions.js';

const shownAt = (seconds: number, ...events: readonly Timed[]) =>
  footerView(sessionAfter(events), seconds * 1000);

describe('the shown number', () => {
  const small: readonly Timed[] = [
    [10, tokens('log', 100_000)],
    [12, tokens('log', 104_000)],
  ];

  it('holds a change of up to two points back until it has stood for five seconds', () => {
    expect(shownAt(12, ...small)).toMatchObject({ usedTokens: 100_000, usedPercent: 50 });
    expect(shownAt(14.9, ...small)).toMatchObject({ usedTokens: 100_000 });
    expect(shownAt(15, ...small)).toMatchObject({ usedTokens: 104_000, usedPercent: 52 });
    expect(sessionDeadline(sessionAfter(small))).toBe(15_000);
    expect(sessionDeadline(sessionAfter([...small, [15, alarm]]))).toBeUndefined();
    expect(shownAt(16, ...small, [15, alarm])).toMatchObject({ usedTokens: 104_000 });
  });

  it('counts the five seconds from its last change', () => {
    const later: readonly Timed[] = [...small, [15, alarm], [18, tokens('log', 105_000)]];
    expect(shownAt(18, ...later)).toMatchObject({ usedTokens: 104_000 });
    expect(sessionDeadline(sessionAfter(later))).toBe(20_000);
  });

  it('that is said again does not make the next one wait longer', () => {
    const again: readonly Timed[] = [
      [10, tokens('log', 100_000)],
      [13, tokens('log', 100_000)],
      [14, tokens('log', 104_000)],
    ];
    expect(sessionDeadline(sessionAfter(again))).toBe(15_000);
  });

  it('goes back to the held number without waiting for anything', () => {
    const back: readonly Timed[] = [...small, [13, tokens('log', 100_000)]];
    expect(sessionDeadline(sessionAfter(back))).toBeUndefined();
  });

  it('changes at once by more than two points, up or down', () => {
    expect(shownAt(12, [10, tokens('log', 100_000)], [12, tokens('log', 104_001)])).toMatchObject({
      usedTokens: 104_001,
    });
    expect(shownAt(12, [10, tokens('log', 100_000)], [12, tokens('log', 95_999)])).toMatchObject({
      usedTokens: 95_999,
    });
  });

  it('does not hold back many small changes together', () => {
    const steps: readonly Timed[] = [101, 102, 103, 104, 105].map((thousands, index) => [
      10 + index / 10,
      tokens('log', thousands * 1_000),
    ]);
    expect(shownAt(10.4, ...steps)).toMatchObject({ usedTokens: 101_000 });
    expect(shownAt(10.5, ...steps, [10.5, tokens('log', 106_000)])).toMatchObject({ usedTokens: 106_000 });
  });

  it('changes at once with the tier, the window and its source', () => {
    const before: Timed = [10, tokens('log', 146_999)];
    expect(shownAt(11, before, [11, tokens('log', 147_000)])).toMatchObject({
      tier: 'warn',
      usedTokens: 147_000,
    });
    expect(shownAt(11, before, [11, claim(201_000, 'agent')])).toMatchObject({ windowTokens: 201_000 });
    const agent: Timed = [10, claim(201_000, 'agent')];
    expect(shownAt(11, before, agent, [11, claim(202_000, 'agent')])).toMatchObject({
      windowTokens: 202_000,
    });
    expect(shownAt(11, before, [11, tokens('official', 146_000)])).toMatchObject({ usedTokens: 146_000 });
  });

  it('is void at once, and the first one after that is shown at once', () => {
    const before: Timed = [10, tokens('log', 100_000)];
    expect(shownAt(11, before, [11, compacted()])).toMatchObject({ note: 'size pending' });
    expect(shownAt(12, before, [11, compacted()], [12, tokens('log', 100_001)])).toMatchObject({
      usedTokens: 100_001,
    });
  });
});

describe('a number that does not move', () => {
  const flowing = (from: number, seconds: number, everySeconds = 1): readonly Timed[] =>
    Array.from({ length: seconds / everySeconds + 1 }, (_, index) => [from + index * everySeconds, output]);
  const log: Timed = [0, tokens('log', 100_000)];

  it('is stale after five minutes of output', () => {
    expect(shownAt(301, log, ...flowing(1, 299))).not.toHaveProperty('stale');
    expect(shownAt(301, log, ...flowing(1, 300))).toMatchObject({ stale: true, usedTokens: 100_000 });
    expect(shownAt(302, log, ...flowing(1, 300), [302, tokens('log', 100_000)])).not.toHaveProperty('stale');
    expect(shownAt(302, log, ...flowing(1, 300), [302, compacted()])).not.toHaveProperty('stale');
  });

  it('never is by idling', () => {
    expect(shownAt(90_000, log, [1, output], [80_000, output])).not.toHaveProperty('stale');
    // a sign of life now and then is no flow
    expect(shownAt(3_000, log, ...flowing(0, 2_400, 3))).not.toHaveProperty('stale');
  });

  it('is stale on the screen, too, which repeats it', () => {
    const repeated: readonly Timed[] = flowing(1, 300).flatMap(([at, event]) => [
      [at, event],
      [at, shows(90)],
    ]);
    expect(shownAt(302, [0, shows(90)], ...repeated)).toMatchObject({ stale: true });
    expect(shownAt(302, [0, shows(90)], ...repeated, [302, shows(91)])).not.toHaveProperty('stale');
  });
});
