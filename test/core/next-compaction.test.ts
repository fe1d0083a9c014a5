import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLadder, type LadderRequest } from '../../src/core/build-ladder.js';
import type { Mode } from '../../src/core/compaction/state.js';
import { footerView } from '../../src/core/footer-view.js';
import { approachOf, nextPoint } from '../../src/core/next-compaction.js';
import type { Reading } from '../../src/core/reading.js';
import { runs } from '../support/runs.js';
import { sessionAfter, shows, tokens, type Timed } from '../support/sessions.js';

const MILLION = 1_000_000;
const claude = { share: 1, reserveTokens: 33_000 };
/** Claude after `/autocompact 350000`: it compacts at 317 000. */
const early = { ...claude, mostWindowTokens: 350_000 };
/** The agent takes its window for this one, whatever the user has set. */
const OWN_WINDOW = { ownTokens: 200_000 };
const limit = (value: number) => ({ auto: { value, unit: 'tokens' } }) as const;

const ladder = (windowTokens: number | undefined, more: Partial<LadderRequest> = {}) =>
  buildLadder({ agent: 'claude', windowTokens, native: claude, ...more });
const used = (usedTokens: number, more: Partial<Reading> = {}) => ({
  reading: { usedTokens, source: 'log', at: 0, ...more } as const,
  tokens: usedTokens,
});

describe('what comes next', () => {
  it.each([
    { where: 'by default', on: ladder(200_000), next: { kind: 'auto', value: 162_000 } },
    {
      where: 'with a limit of the user',
      on: ladder(MILLION, { choice: limit(300_000) }),
      next: { kind: 'limit', value: 300_000 },
    },
    {
      where: 'where the agent compacts before that limit, in a window that the user has set',
      on: ladder(MILLION, { byUser: OWN_WINDOW, choice: limit(400_000) }),
      next: { kind: 'own', value: 167_000 },
    },
    {
      where: 'where the agent compacts at that very limit',
      on: ladder(MILLION, { byUser: OWN_WINDOW, choice: limit(167_000) }),
      next: { kind: 'own', value: 167_000 },
    },
    {
      where: 'where that limit comes too late for the agent',
      on: ladder(MILLION, { native: early, choice: limit(400_000) }),
      next: { kind: 'auto', value: 310_000 },
    },
    {
      where: 'with the preset handoff',
      on: ladder(200_000, { choice: { preset: 'handoff' } }),
      next: { kind: 'own', value: 167_000 },
    },
    {
      where: 'where nothing compacts',
      on: ladder(200_000, { native: undefined, choice: { preset: 'handoff' } }),
      next: { kind: 'hard', value: 170_000 },
    },
    {
      where: 'without a window',
      on: ladder(undefined, { native: undefined }),
      next: { kind: 'auto', value: 85, unit: 'percent' },
    },
  ])('$where is $next.kind at $next.value', ({ on, next }) => {
    for (const mode of ['auto', 'ask'] as const)
      expect(nextPoint(on, mode)).toEqual({ unit: 'tokens', ...next });
  });

  it.each(['warn', 'off'] as const)(
    'is the point of the agent in the mode %s, in which ctxwrap does not compact, else auto',
    (mode) => {
      const choice = limit(300_000);
      expect(nextPoint(ladder(MILLION, { choice }), mode)).toMatchObject({ kind: 'own', value: 967_000 });
      expect(nextPoint(ladder(MILLION, { native: undefined, choice }), mode)).toMatchObject({
        kind: 'limit',
      });
      expect(nextPoint(ladder(undefined), mode)).toMatchObject({ kind: 'auto', unit: 'percent' });
    },
  );
});

describe('the distance to it', () => {
  const distance = (on: ReturnType<typeof ladder>, count: number, mode: Mode = 'auto') =>
    approachOf(on, mode, used(count)).distance;

  it('is that to the point of the agent itself where auto only precedes it', () => {
    const on = ladder(MILLION, { native: early });
    expect(nextPoint(on, 'auto')).toMatchObject({ kind: 'auto', value: 310_000 });
    expect(distance(on, 259_000)).toEqual({ to: 'own', tokens: 58_000 });
  });

  it('is that to the limit of the user where it comes first', () => {
    const on = ladder(MILLION, { native: early, choice: limit(300_000) });
    expect(distance(on, 259_000)).toEqual({ to: 'limit', tokens: 41_000 });
    expect(distance(on, 259_000, 'warn')).toEqual({ to: 'own', tokens: 58_000 });
  });

  it('is told without a window, too, because no percentage tells anything', () => {
    const on = ladder(undefined, { native: undefined, choice: limit(300_000) });
    expect(distance(on, 259_000)).toEqual({ to: 'limit', tokens: 41_000 });
  });

  it('is not told where the percentage of the window does: above three quarters of it', () => {
    expect(distance(ladder(200_000), 100_000)).toBeUndefined();
    expect(distance(ladder(MILLION), 100_000)).toBeUndefined();
    expect(distance(ladder(400_000, { choice: limit(300_000) }), 100_000)).toBeDefined();
    expect(distance(ladder(400_000, { choice: limit(300_001) }), 100_000)).toBeUndefined();
  });

  it('ends where the point is reached', () => {
    const on = ladder(MILLION, { choice: limit(300_000) });
    expect(distance(on, 299_999)).toEqual({ to: 'limit', tokens: 1 });
    for (const count of [300_000, 300_001, 2_000_000]) expect(distance(on, count)).toBeUndefined();
  });

  it('is never negative, and the way is empty and full only where it is so, on any ladder', () => {
    const any = fc.record({
      window: fc.option(fc.integer({ min: 1_000, max: 2_000_000 }), { nil: undefined }),
      share: fc.double({ min: 0.05, max: 1, noNaN: true }),
      auto: fc.option(fc.integer({ min: 1_000, max: 2_000_000 }), { nil: undefined }),
      preset: fc.constantFrom('ladder', 'percent', 'handoff'),
      mode: fc.constantFrom<Mode>('auto', 'ask', 'warn', 'off'),
      count: fc.nat(2_500_000),
    });
    fc.assert(
      fc.property(any, ({ window, share, auto, preset, mode, count }) => {
        const on = ladder(window, {
          native: { share, reserveTokens: 0 },
          choice: { preset, ...(auto === undefined ? {} : limit(auto)) },
        });
        const number = used(count, window === undefined ? {} : { windowTokens: window });
        const { point, left, wayPercent, distance: told } = approachOf(on, mode, number);
        const whole = Math.min(point.value, window ?? Infinity);
        expect(told?.tokens ?? 1).toBeGreaterThan(0);
        expect(left ?? 0).toBeGreaterThanOrEqual(0);
        if (point.unit === 'percent') return;
        expect(wayPercent === 100).toBe(count >= whole);
        expect(wayPercent === 0).toBe(count === 0);
        expect(left).toBe(Math.max(0, point.value - count));
      }),
      runs(300),
    );
  });
});

describe('the way to it', () => {
  const way = (on: ReturnType<typeof ladder>, mode: Mode, ...number: Parameters<typeof used>) =>
    approachOf(on, mode, used(...number)).wayPercent;

  it('ends with the window where the point lies beyond it', () => {
    const on = ladder(100_000, { byUser: OWN_WINDOW });
    expect(nextPoint(on, 'warn')).toMatchObject({ kind: 'own', value: 167_000 });
    expect(way(on, 'warn', 50_000)).toBe(50);
    expect(way(on, 'warn', 99_999)).toBeLessThan(100);
    expect(way(on, 'warn', 100_000)).toBe(100);
  });

  it('is all used where the agent itself says that more is used than the window holds', () => {
    expect(way(ladder(200_000), 'auto', 150_000, { windowTokens: 200_000, usedPercent: 104 })).toBe(100);
  });
});

describe('the footer', () => {
  const started = { native: early, ladder: limit(300_000) };
  const far = tokens('log', 259_000, { windowTokens: MILLION });

  it('shows the way to it and the distance, in the mode of the session', () => {
    const state = sessionAfter([[1, far]], started);
    const own = { wayPercent: 25_900_000 / 317_000, distance: { to: 'own', tokens: 58_000 } };
    expect(footerView(state, 60_000)).toMatchObject({
      usedPercent: 25.9,
      wayPercent: 25_900_000 / 300_000,
      distance: { to: 'limit', tokens: 41_000 },
    });
    expect(footerView(state, 60_000, { mode: 'warn', isKnown: true })).toMatchObject(own);
  });

  it.each([
    ['auto', true, 150_000, 'compacts at 162k'],
    ['auto', true, 170_000, 'compacts when idle'],
    ['auto', true, 179_000, 'compacts when idle'],
    ['ask', true, 150_000, 'asks at 162k'],
    ['ask', true, 170_000, 'Ctrl-] c compacts'],
    ['warn', true, 100_000, 'claude compacts at 167k'],
    ['warn', true, 179_000, 'Ctrl-] c compacts'],
    ['auto', false, 100_000, 'compacts at 162k'],
  ] as const)('says in mode %s what follows from the tier', (mode, isExact, used, note) => {
    const native = { share: 1, reserveTokens: 33_000 };
    const reading = tokens('log', used, isExact ? {} : { windowSource: 'agent' });
    const state = sessionAfter([[1, reading]], { agent: 'claude', native });
    const view = footerView(state, 60_000, { mode, isKnown: true, key: 'Ctrl-] c' });
    expect(view.tierNote).toBe(note);
  });

  it('promises nothing on a guess, nor where no compact command is known', () => {
    const native = { share: 1, reserveTokens: 33_000 };
    const noteOf = (event: Timed[1], isKnown: boolean) =>
      footerView(sessionAfter([[1, event]], { agent: 'claude', native }), 60_000, { mode: 'auto', isKnown })
        .tierNote;
    expect(noteOf(tokens('estimate', 170_000), true)).toBe('almost full');
    expect(noteOf(tokens('log', 179_000), false)).toBe('window full');
    expect(noteOf(tokens('log', 100_000, { windowSource: 'remembered' }), true)).toBe('room left');
  });

  it('promises nothing while the sources disagree, also before that has lasted', () => {
    const events: readonly Timed[] = [
      [0, tokens('log', 100_000)],
      [1, shows(90)],
    ];
    const state = sessionAfter(events, { agent: 'claude', native: claude });
    expect(footerView(state, 2_000, { mode: 'auto', isKnown: true })).toMatchObject({
      tier: 'hard',
      tierNote: 'window full',
    });
  });

  it.each([
    ['auto', 100_000, 'room left'],
    ['auto', 170_000, 'Ctrl-] c compacts'],
    ['ask', 150_000, 'filling up'],
    ['warn', 100_000, 'claude compacts at 167k'],
  ] as const)(
    'in mode %s at %i tokens promises nothing that ctxwrap would do by itself while it is paused',
    (mode, count, note) => {
      const state = sessionAfter([[1, tokens('log', count)]], { agent: 'claude', native: claude });
      const view = footerView(state, 60_000, { mode, isKnown: true, isPaused: true, key: 'Ctrl-] c' });
      expect(view.tierNote).toBe(note);
    },
  );

  it('shows neither without a number', () => {
    const view = footerView(sessionAfter([], started), 60_000);
    expect(view.wayPercent).toBeUndefined();
    expect(view.distance).toBeUndefined();
  });

  it('shows the way in percent where no tokens are known, but not of what is no part of the window', () => {
    expect(footerView(sessionAfter([[1, shows(42.5)]]), 60_000)).toMatchObject({ wayPercent: 50 });
    const own = footerView(sessionAfter([[1, shows(99, 'auto-compact')]]), 60_000);
    expect(own.wayPercent).toBeUndefined();
  });

  it('belongs to the number that it shows, not to a small change that it still holds back', () => {
    const later = tokens('log', 263_000, { windowTokens: MILLION });
    const state = sessionAfter(
      [
        [10, far],
        [12, later],
      ],
      started,
    );
    expect(footerView(state, 12_000)).toMatchObject({ usedTokens: 259_000, distance: { tokens: 41_000 } });
    expect(footerView(state, 15_000)).toMatchObject({ usedTokens: 263_000, distance: { tokens: 37_000 } });
  });

  it('is full where more is used than the window holds', () => {
    const over = tokens('log', 231_000);
    expect(footerView(sessionAfter([[1, over]]), 60_000, { mode: 'warn', isKnown: true })).toMatchObject({
      isOver: true,
      wayPercent: 100,
    });
  });
});
