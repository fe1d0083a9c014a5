import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLadder } from '../../src/core/build-ladder.js';
import { listThresholds, tierOf } from '../../src/core/ladder.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import type { NativeTrigger } from '../../src/core/build-ladder.js';
import type { Reading } from '../../src/core/reading.js';
import { runs } from '../support/runs.js';

const reading = (numbers: Partial<Reading>): Reading => ({ source: 'log', at: 0, ...numbers });

interface Asked {
  readonly native?: NativeTrigger;
  readonly choice?: LadderChoice;
  readonly runtime?: string;
  readonly model?: string;
}

const ladder = (windowTokens: number | undefined, { runtime: agent = 'claude', ...asked }: Asked = {}) =>
  buildLadder({ agent: agent, windowTokens, ...asked });

const values = (windowTokens: number | undefined, asked: Asked = {}) => {
  const { warn, auto, hard } = ladder(windowTokens, asked);
  return { warn: warn.value, auto: auto?.value, hard: hard.value };
};

const reasons = (windowTokens: number | undefined, asked: Asked = {}): readonly (string | undefined)[] => {
  const { warn, auto, hard } = ladder(windowTokens, asked);
  return [warn.reason, auto?.reason, hard.reason];
};

const claude = { share: 1, reserveTokens: 33_000 };
const gemini = { share: 0.5, reserveTokens: 0 };
const codex = { share: 0.9 / 0.95, reserveTokens: 0 };

describe('the ladder', () => {
  it.each([
    { window: 8_192, warn: 4_915, auto: 5_734, hard: 5_734, effective: 0 },
    { window: 10_000, warn: 6_000, auto: 7_000, hard: 7_000, effective: 0 },
    { window: 20_000, warn: 12_000, auto: 14_000, hard: 14_000, effective: 0 },
    { window: 32_000, warn: 19_200, auto: 22_400, hard: 22_400, effective: 12_000 },
    { window: 64_000, warn: 38_400, auto: 44_800, hard: 44_800, effective: 44_000 },
    { window: 128_000, warn: 76_800, auto: 95_000, hard: 105_000, effective: 108_000 },
    { window: 200_000, warn: 147_000, auto: 167_000, hard: 177_000, effective: 180_000 },
    { window: 256_000, warn: 203_000, auto: 223_000, hard: 233_000, effective: 236_000 },
    { window: 1_000_000, warn: 947_000, auto: 967_000, hard: 977_000, effective: 980_000 },
  ])('of $window tokens is $warn/$auto/$hard', ({ window, effective, ...rungs }) => {
    expect(values(window)).toEqual(rungs);
    expect(ladder(window).effective?.tokens).toBe(effective);
    const listed = listThresholds(ladder(window)).find(({ name }) => name === 'effective');
    expect(listed?.value).toBe(effective > 0 ? effective : undefined); // also where the tiers lie beyond it
  });

  it.each([undefined, 0, 999])('is 70/85/95 percent for a window of %s', (window) => {
    expect(ladder(window)).toMatchObject({
      warn: { value: 70, unit: 'percent' },
      auto: { value: 85, unit: 'percent' },
      hard: { value: 95, unit: 'percent' },
    });
    expect(ladder(window).effective).toBeUndefined();
    expect(ladder(1_000).warn).toMatchObject({ value: 600, unit: 'tokens' });
  });

  it('keeps its order and its distances for every window up to two million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 2_000_000 }), (window) => {
        const { warn, auto = NaN, hard } = values(window);
        expect(0 <= warn && warn <= auto && auto <= hard).toBe(true);
        expect(hard).toBe(window <= 76_666 ? auto : window - 23_000);
        expect(window < 66_667 || hard <= (ladder(window).effective?.tokens ?? 0)).toBe(true);
        expect(window < 110_000 || window - auto === 33_000).toBe(true);
      }),
      runs(2_000),
    );
  });
});

describe('the own compaction point of the agent', () => {
  it.each([
    { window: 200_000, native: claude, warn: 142_000, auto: 162_000, hard: 177_000, at: 167_000 },
    { window: 1_000_000, native: claude, warn: 927_000, auto: 947_000, hard: 977_000, at: 967_000 },
    { window: 1_048_576, native: gemini, warn: 483_316, auto: 503_316, hard: 1_025_576, at: 524_288 },
    { window: 256_000, native: gemini, warn: 102_880, auto: 122_880, hard: 233_000, at: 128_000 },
    { window: 258_400, native: codex, warn: 205_400, auto: 225_400, hard: 235_400, at: 244_800 },
    // Claude with CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=60
    {
      window: 200_000,
      native: { share: 0.6, reserveTokens: 12_000 },
      warn: 83_000,
      auto: 103_000,
      hard: 177_000,
      at: 108_000,
    },
  ])('at $at of $window gives $warn/$auto/$hard', ({ window, native, at, ...rungs }) => {
    expect(values(window, { native })).toEqual(rungs);
    expect(ladder(window, { native }).native?.tokens).toBe(at);
  });

  it('changes nothing where the window is smaller than what the agent keeps free, or hardly larger', () => {
    expect(values(30_000, { native: claude })).toEqual(values(30_000));
    expect(values(36_000, { native: claude })).toEqual(values(36_000)); // 3 000 are less than a tenth
    expect(values(40_000, { native: claude })).toMatchObject({ warn: 2_500, auto: 5_000 });
  });

  it('never brings auto below a tenth of the window, and nothing out of order', () => {
    const native = fc.record({
      share: fc.double({ min: 0.01, max: 1, noNaN: true }),
      reserveTokens: fc.integer({ min: 0, max: 60_000 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 2_000_000 }), native, (window, trigger) => {
        const { warn, auto = NaN, hard } = values(window, { native: trigger });
        expect(0 <= warn && warn <= auto && auto <= hard).toBe(true);
        expect(auto).toBeGreaterThanOrEqual(Math.floor(window / 10));
        expect(auto).toBeLessThanOrEqual(values(window).auto ?? NaN);
      }),
      runs(2_000),
    );
  });

  it('lowers the presets in percent, too', () => {
    const choice = { preset: 'percent' } as const;
    expect(values(1_048_576, { native: gemini, choice })).toEqual({
      warn: 483_316,
      auto: 503_316,
      hard: 996_147,
    });
    expect(values(undefined, { native: gemini, choice })).toEqual({ warn: 38, auto: 48, hard: 95 });
    expect(values(undefined, { native: claude, choice })).toEqual({ warn: 70, auto: 85, hard: 95 });
  });
});

describe('the choice of the user', () => {
  it('percent is 70/85/95 of the window, handoff 70/85 without auto', () => {
    expect(values(8_192, { choice: { preset: 'percent' } })).toEqual({
      warn: 5_734,
      auto: 6_963,
      hard: 7_782,
    });
    expect(values(200_000, { choice: { preset: 'percent' } }).auto).toBe(170_000);
    expect(values(200_000, { native: claude, choice: { preset: 'handoff' } })).toEqual({
      warn: 140_000,
      auto: undefined,
      hard: 170_000,
    });
    expect(values(undefined, { choice: { preset: 'handoff' } })).toEqual({
      warn: 70,
      auto: undefined,
      hard: 85,
    });
  });

  it('sets single tiers, in percent or tokens', () => {
    const choice = {
      auto: { value: 80, unit: 'percent' },
      hard: { value: 190_000, unit: 'tokens' },
    } as const;
    const { warn, auto, hard } = ladder(200_000, { native: claude, choice });
    expect(auto).toEqual({
      value: 160_000,
      unit: 'tokens',
      custom: true,
      reason: 'auto 160,000: your limit, 80% of the window of 200,000',
    });
    expect(hard).toMatchObject({ value: 190_000, custom: true, reason: 'hard 190,000: custom' });
    expect(warn).toMatchObject({ value: 140_000, custom: false });
  });

  it('moves the tiers of the preset that stand in the way, and says so', () => {
    const low = { hard: { value: 100_000, unit: 'tokens' } } as const;
    expect(values(200_000, { choice: low })).toEqual({ warn: 80_000, auto: 100_000, hard: 100_000 });
    expect(reasons(200_000, { choice: low }).slice(0, 2)).toEqual([
      'warn 80,000: 20,000 before auto 100,000',
      'auto 100,000: 167,000 lowered to hard',
    ]);
    const high = { warn: { value: 95, unit: 'percent' } } as const;
    expect(values(200_000, { choice: high })).toEqual({ warn: 190_000, auto: 190_000, hard: 190_000 });
    expect(reasons(200_000, { choice: high })[2]).toBe('hard 190,000: 177,000 raised to auto');
  });

  it('that contradicts itself is put in order at the lower one, and warn stays before it', () => {
    const choice = { warn: { value: 90, unit: 'percent' }, hard: { value: 50, unit: 'percent' } } as const;
    expect(values(200_000, { choice })).toEqual({ warn: 80_000, auto: 100_000, hard: 100_000 });
    expect(reasons(200_000, { choice })[0]).toBe(
      'warn 80,000: 20,000 before auto 100,000; you asked for 180,000',
    );
    const early = { ...choice, auto: { value: 40, unit: 'percent' } } as const;
    expect(values(200_000, { choice: early })).toEqual({ warn: 60_000, auto: 80_000, hard: 100_000 });
  });

  it('keeps a warning where the usual auto or hard stands already', () => {
    const warn = { value: 85, unit: 'percent' } as const;
    for (const preset of ['percent', 'handoff'] as const)
      expect(ladder(200_000, { choice: { preset, warn } }).warn.value).toBe(170_000);
  });

  it('keeps the order for any set of bounds', () => {
    const bound = fc.oneof(
      fc.record({ value: fc.integer({ min: 1, max: 100 }), unit: fc.constant('percent' as const) }),
      fc.record({ value: fc.integer({ min: 1_000, max: 3_000_000 }), unit: fc.constant('tokens' as const) }),
    );
    const choice = fc.record(
      {
        preset: fc.constantFrom('ladder' as const, 'percent' as const, 'handoff' as const),
        warn: bound,
        auto: bound,
        hard: bound,
        limits: fc.dictionary(fc.constantFrom('*opus*', 'claude-*', 'other', '*'), bound),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 2_000_000 }), choice, (window, asked) => {
        const built = ladder(window, { native: claude, choice: asked, model: 'claude-opus-5' });
        const { warn, auto, hard } = built;
        expect(warn.value).toBeLessThanOrEqual(auto?.value ?? hard.value);
        expect(auto?.value ?? warn.value).toBeLessThanOrEqual(hard.value);
        const isAlone = [asked.warn, asked.auto, asked.hard, asked.limits].filter(Boolean).length === 1;
        for (const name of ['warn', 'hard'] as const) {
          const own = asked[name];
          if (!isAlone || !own) continue;
          const tokens = own.unit === 'tokens' ? own.value : Math.floor((window * own.value) / 100);
          expect(built[name].value).toBe(tokens);
        }
      }),
      runs(2_000),
    );
  });

  it('in tokens is asked for tokens where the window is not known', () => {
    const choice = { auto: { value: 150_000, unit: 'tokens' } } as const;
    expect(tierOf(reading({ usedTokens: 150_000 }), ladder(undefined, { choice }))).toBe('auto');
    expect(tierOf(reading({ usedTokens: 149_999 }), ladder(undefined, { choice }))).toBe('warn');
    expect(tierOf(reading({ usedTokens: 129_999 }), ladder(undefined, { choice }))).toBe('safe');
    expect(tierOf(reading({ usedTokens: 170_000 }), ladder(undefined, { choice }))).toBe('hard');
    expect(tierOf(reading({ usedTokens: 150_000 }), ladder(undefined))).toBeUndefined();
  });
});

describe('the tier', () => {
  it.each([
    { usedTokens: 0, tier: 'safe' },
    { usedTokens: 76_799, tier: 'safe' },
    { usedTokens: 76_800, tier: 'warn' }, // boundaries are inclusive
    { usedTokens: 94_999, tier: 'warn' },
    { usedTokens: 95_000, tier: 'auto' },
    { usedTokens: 104_999, tier: 'auto' },
    { usedTokens: 105_000, tier: 'hard' },
    { usedTokens: 250_000, tier: 'hard' },
  ])('of $usedTokens in 128 000 tokens is $tier', ({ usedTokens, tier }) => {
    expect(tierOf(reading({ usedTokens, windowTokens: 128_000 }), ladder(128_000))).toBe(tier);
  });

  it('is never hard where hard is no higher than auto, unless the user has set it there', () => {
    const tierAt = (usedTokens: number, choice?: LadderChoice) =>
      tierOf(reading({ usedTokens, windowTokens: 32_000 }), ladder(32_000, choice && { choice }));
    expect([22_399, 22_400, 32_000].map((used) => tierAt(used))).toEqual(['warn', 'auto', 'auto']);
    const raised: LadderChoice = { auto: { value: 30_000, unit: 'tokens' } };
    expect([14_999, 29_999, 30_000].map((used) => tierAt(used, raised))).toEqual(['safe', 'warn', 'auto']);
    const asked: LadderChoice = { hard: { value: 20_000, unit: 'tokens' } };
    expect([19_999, 20_000].map((used) => tierAt(used, asked))).toEqual(['warn', 'hard']);
  });

  it('goes from warn to hard where there is no auto', () => {
    const handoff = ladder(undefined, { choice: { preset: 'handoff' } });
    expect(tierOf(reading({ usedPercent: 84.9 }), handoff)).toBe('warn');
    expect(tierOf(reading({ usedPercent: 85 }), handoff)).toBe('hard');
  });

  it.each([
    { usedPercent: 69.9, tier: 'safe' },
    { usedPercent: 70, tier: 'warn' },
    { usedPercent: 85, tier: 'auto' },
    { usedPercent: 95, tier: 'hard' },
  ])('of $usedPercent % alone is $tier', ({ usedPercent, tier }) => {
    expect(tierOf(reading({ usedPercent }), ladder(undefined))).toBe(tier);
  });

  it('is not known while the window is not', () => {
    expect(tierOf(reading({ usedTokens: 150_000 }), ladder(undefined))).toBeUndefined();
  });
});
