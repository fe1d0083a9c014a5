// A limit of the user's own: `auto` for every model, or `limits` for some of them.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLadder, type LadderRequest } from '../../src/core/build-ladder.js';
import { matchesModel } from '../../src/core/custom-bounds.js';
import type { Bound, Ladder, LadderChoice } from '../../src/core/ladder.js';
import { runs } from '../support/runs.js';
import { record } from '../support/boundaries.js';
import { sessionAfter, tokens } from '../support/sessions.js';

const claude = { share: 1, reserveTokens: 33_000 };
const tokenLimit = (value: number): Bound => ({ value, unit: 'tokens' });
const percentLimit = (value: number): Bound => ({ value, unit: 'percent' });

const tokensOf = ({ value, unit }: Bound, windowTokens: number): number =>
  unit === 'tokens' ? value : Math.floor((windowTokens * value) / 100);

type Rest = Omit<LadderRequest, 'agent' | 'windowTokens'>;
const ladder = (windowTokens: number | undefined, limit: Bound, rest: Rest = {}): Ladder =>
  buildLadder({ agent: 'claude', windowTokens, ...rest, choice: { auto: limit, ...rest.choice } });
const values = ({ warn, auto, hard }: Ladder) => [warn.value, auto?.value, hard.value];
const reasons = ({ warn, auto, hard }: Ladder) => [warn.reason, auto?.reason, hard.reason];

describe('a limit', () => {
  it('brings warn and hard with it, and each says why', () => {
    const built = ladder(1_000_000, tokenLimit(300_000), { native: claude });
    expect(values(built)).toEqual([270_000, 300_000, 330_000]);
    expect(reasons(built)).toEqual([
      'warn 270,000: 30,000 before auto 300,000',
      'auto 300,000: your limit',
      'hard 330,000: 30,000 beyond auto 300,000',
    ]);
    expect(values(ladder(200_000, tokenLimit(100_000), { native: claude }))).toEqual([
      80_000, 100_000, 120_000,
    ]);
    expect(values(ladder(200_000, percentLimit(50), { native: claude }))).toEqual([80_000, 100_000, 120_000]);
    expect(values(ladder(undefined, percentLimit(50)))).toEqual([40, 50, 60]);
    expect(reasons(ladder(undefined, percentLimit(90)))).toEqual([
      'warn 80%: 10 points before auto 90%',
      'auto 90%: your limit',
      'hard 95%: the window is not known in tokens',
    ]);
  });

  it('never puts hard beyond the hard of the window', () => {
    expect(values(ladder(200_000, tokenLimit(160_000), { native: claude }))).toEqual([
      140_000, 160_000, 177_000,
    ]);
    expect(values(ladder(200_000, tokenLimit(190_000)))).toEqual([170_000, 190_000, 190_000]);
  });

  it('leaves warn and hard where they are set', () => {
    const choice = { warn: tokenLimit(150_000), hard: percentLimit(90) };
    expect(values(ladder(1_000_000, tokenLimit(300_000), { choice }))).toEqual([150_000, 300_000, 900_000]);
  });

  it.each([
    {
      window: 200_000,
      native: claude,
      says: "auto 162,000: 5,000 before claude compacts on its own at 167,000; your limit of 300,000 comes too late for claude's own 167,000",
    },
    {
      window: 200_000,
      native: undefined,
      says: 'auto 167,000: 13,000 less than the effective window of 180,000; your limit of 300,000 is beyond the window',
    },
    {
      window: 1_000_000,
      native: { ...claude, mostWindowTokens: 250_000 }, // Claude's /autocompact 250000
      says: "auto 212,000: 5,000 before claude compacts on its own at 217,000; your limit of 300,000 comes too late for claude's own 217,000",
    },
  ])(
    'that $window cannot reach leaves the auto of the ladder, and says so: $says',
    ({ window, native, says }) => {
      const built = ladder(window, tokenLimit(300_000), { native });
      expect(built.auto?.reason).toBe(says);
      expect(built.auto?.custom).toBe(false);
      const { auto: usual, ...others } = buildLadder({ agent: 'claude', windowTokens: window, native });
      expect({ ...built, auto: undefined }).toEqual({ ...others, auto: undefined });
      expect(built.auto?.value).toBe(usual?.value);
    },
  );

  it('in tokens holds for tokens alone where only a percentage is known', () => {
    const built = ladder(undefined, tokenLimit(300_000), { isCounted: false });
    expect(values(built)).toEqual([70, 85, 95]);
    expect(built.auto?.reason).toContain('your limit of 300,000 cannot be compared with a percentage');
  });

  it('holds where the user has set the window, wherever the agent would compact', () => {
    const built = ladder(400_000, tokenLimit(300_000), { native: claude, byUser: { ownTokens: 200_000 } });
    expect(values(built)).toEqual([270_000, 300_000, 330_000]);
  });

  it('is hard where nothing is typed, and said to be out of reach there, too', () => {
    const choice = { preset: 'handoff' } as const;
    expect(reasons(ladder(1_000_000, tokenLimit(300_000), { choice }))).toEqual([
      'warn 270,000: 30,000 before hard 300,000',
      undefined,
      'hard 300,000: your limit',
    ]);
    expect(reasons(ladder(200_000, tokenLimit(300_000), { choice }))[2]).toBe(
      'hard 170,000: 85% of the window of 200,000, preset handoff; your limit of 300,000 is beyond the window',
    );
  });

  it('moves the tier of a session, whatever its window', () => {
    const at = (used: number, windowTokens: number) =>
      record(
        sessionAfter([[0, tokens('log', used, { windowTokens, windowSource: 'agent' })]], {
          ladder: { auto: tokenLimit(300_000) },
        }),
      ).tier;
    expect([269_999, 270_000, 300_000, 330_000].map((used) => at(used, 1_000_000))).toEqual([
      'safe',
      'warn',
      'auto',
      'hard',
    ]);
    expect([146_000, 147_000, 167_000, 177_000].map((used) => at(used, 200_000))).toEqual([
      'safe',
      'warn',
      'auto',
      'hard',
    ]);
  });
});

describe('the documentation', () => {
  const text = readFileSync(new URL('../../docs/compacting.md', import.meta.url), 'utf8');
  const k = (tokens: number | undefined): string => `${(tokens ?? NaN) / 1_000}k`;

  it.each([
    [200_000, '200k'],
    [400_000, '400k'],
    [1_000_000, '1M'],
  ])('has the boundaries of a window of %i', (windowTokens, name) => {
    const row = text.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';
    const figures = (choice: LadderChoice) =>
      values(buildLadder({ agent: 'claude', windowTokens, native: claude, choice }))
        .map(k)
        .join(', ');
    const usual = figures({});
    const cell = (limit: Bound) => {
      const own = figures({ auto: limit });
      return own === usual ? 'the same: ' : own;
    };
    const cells = [usual, cell(tokenLimit(300_000)), cell(percentLimit(85))];
    expect(row.split('|').slice(2, -1)).toEqual(cells.map((each) => expect.stringContaining(each)));
  });
});

describe('a limit for a model', () => {
  const limits = { '*opus*': tokenLimit(300_000), 'claude-*': percentLimit(50) };
  const auto = (model: string | undefined, choice: LadderChoice = { limits }) =>
    buildLadder({ agent: 'claude', windowTokens: 1_000_000, model, choice }).auto;

  it('is that of the first pattern that matches, else the one for all, else the ladder has its own', () => {
    expect(auto('claude-opus-4-8')).toMatchObject({
      value: 300_000,
      reason: 'auto 300,000: your limit for *opus*',
    });
    expect(auto('claude-sonnet-5')?.value).toBe(500_000);
    expect(auto('gpt-5')?.value).toBe(967_000);
    expect(auto(undefined)?.value).toBe(967_000);
    expect(auto('gpt-5', { limits, auto: tokenLimit(200_000) })?.value).toBe(200_000);
    expect(auto('claude-opus-4-8', { limits, auto: tokenLimit(200_000) })?.value).toBe(300_000);
  });

  it.each([
    ['*opus*', 'claude-opus-4-8', true],
    ['*OPUS*', 'Claude-Opus-4-8[1m]', true],
    ['opus', 'claude-opus-4-8', false],
    ['claude-opus-4-8', 'claude-opus-4-8', true],
    ['claude-*-4-*', 'claude-opus-4-8', true],
    ['*-4', 'claude-opus-4-8', false],
    ['*-8', 'claude-opus-4-8', true],
    ['ab*ba', 'aba', false], // a character counts once
    ['a**b', 'ab', true],
    ['*', '', true],
    ['gpt.5', 'gpt-5', false],
  ])('%s and %s: %s', (pattern, model, matches) => {
    expect(matchesModel(pattern, model)).toBe(matches);
  });

  it('matches as a regular expression of the same meaning does', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 12 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 });
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        const source = pattern
          .split('*')
          .map((part) => part.replaceAll('.', String.raw`\.`))
          .join('.*');
        expect(matchesModel(pattern, name)).toBe(new RegExp(`^${source}$`).test(name));
      }),
      runs(2_000),
    );
  });
});

describe('in any window, with any limit, whatever the agent does by itself', () => {
  const windows = fc.oneof(
    fc.integer({ min: 1_000, max: 400_000 }),
    fc.integer({ min: 1_000, max: 10_000_000 }),
    fc.constantFrom(32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000, 10_000_000),
  );
  const limits = fc.oneof(
    fc.integer({ min: 1_000, max: 10_000_000 }).map(tokenLimit),
    fc.constantFrom(1_000, 20_000, 100_000, 200_000, 300_000, 500_000).map(tokenLimit),
    fc.integer({ min: 1, max: 100 }).map(percentLimit),
  );
  const natives = fc.option(
    fc.record(
      {
        share: fc.double({ min: 0.05, max: 1, noNaN: true }),
        reserveTokens: fc.integer({ min: 0, max: 60_000 }),
        mostWindowTokens: fc.integer({ min: 100_000, max: 1_000_000 }),
      },
      { requiredKeys: ['share', 'reserveTokens'] },
    ),
    { nil: undefined },
  );
  const presets = fc.constantFrom('ladder', 'percent', 'handoff');

  it('warn < auto ≤ hard, and auto is the limit or comes before it', () => {
    fc.assert(
      fc.property(windows, limits, natives, presets, (windowTokens, limit, native, preset) => {
        const built = ladder(windowTokens, limit, { native, choice: { preset } });
        const usual = buildLadder({ agent: 'claude', windowTokens, native, choice: { preset } });
        const { warn, auto, hard } = built;
        const wanted = tokensOf(limit, windowTokens);
        const point = usual.native?.tokens ?? Infinity;
        const last = usual.auto ?? usual.hard; // `handoff` types nothing: there the limit is hard
        const isReached = wanted <= last.value || (wanted < point && wanted < windowTokens);
        const margin = Math.max(20_000, Math.floor(wanted / 10));
        const following = [
          wanted - Math.min(margin, Math.floor(wanted / 2)),
          ...(usual.auto ? [wanted] : [undefined]),
          usual.auto ? Math.max(wanted, Math.min(wanted + margin, usual.hard.value)) : wanted,
        ];
        expect(values(built)).toEqual(isReached ? following : values(usual));
        const { value, custom, reason } = auto ?? hard;
        expect([custom, reason.includes('your limit of')]).toEqual([isReached, !isReached]);
        expect(value).toBeLessThanOrEqual(wanted);
        expect(warn.value).toBeLessThan(value);
        expect(value).toBeLessThanOrEqual(hard.value);
      }),
      runs(5_000),
    );
  });

  it('without a known window the same holds in the unit of the limit', () => {
    fc.assert(
      fc.property(limits, natives, presets, (limit, native, preset) => {
        const { warn, auto, hard } = ladder(undefined, limit, { native, choice: { preset } });
        const last = auto ?? hard;
        expect(warn.value).toBeLessThan(last.value);
        expect(hard.unit !== last.unit || last.value <= hard.value).toBe(true);
        expect(last.unit !== limit.unit || last.value <= limit.value).toBe(true);
      }),
      runs(2_000),
    );
  });
});
