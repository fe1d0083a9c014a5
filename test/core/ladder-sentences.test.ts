// What the sentences of a ladder say, against what the ladder is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLadder } from '../../src/core/build-ladder.js';
import type { Ladder, LadderChoice } from '../../src/core/ladder.js';
import type { NativeTrigger } from '../../src/core/build-ladder.js';
import { groupDigits } from '../../src/core/ladder.js';
import { listThresholds } from '../../src/core/ladder.js';
import { runs } from '../support/runs.js';

interface Asked {
  readonly native?: NativeTrigger;
  readonly choice?: LadderChoice;
  readonly runtime?: string;
}

const ladder = (
  windowTokens: number | undefined,
  { runtime: agent = 'claude', ...asked }: Asked = {},
): Ladder => buildLadder({ agent: agent, windowTokens, ...asked });

const reasons = (windowTokens: number | undefined, asked: Asked = {}): readonly (string | undefined)[] => {
  const { warn, auto, hard } = ladder(windowTokens, asked);
  return [warn.reason, auto?.reason, hard.reason];
};

const claude = { share: 1, reserveTokens: 33_000 };
const gemini = { share: 0.5, reserveTokens: 0 };

describe('the sentences', () => {
  it('say in facts and figures why each boundary is where it is', () => {
    expect(reasons(200_000, { native: claude })).toEqual([
      'warn 142,000: 20,000 before auto 162,000',
      'auto 162,000: 5,000 before claude compacts on its own at 167,000',
      'hard 177,000: 3,000 less than the effective window of 180,000',
    ]);
    expect(reasons(32_000)).toEqual([
      'warn 19,200: 60% of the window of 32,000',
      'auto 22,400: 70% of the window of 32,000',
      'hard 22,400: 70% of the window of 32,000',
    ]);
    expect(reasons(undefined)[1]).toBe('auto 85%: the window is not known in tokens');
  });

  it('never name an auto that is not there', () => {
    const own = (value: number) => ({ auto: { value, unit: 'tokens' } }) as const;
    const choice = { hard: own(160_000).auto };
    expect(reasons(200_000, { native: claude, choice })[0]).toBe(
      'warn 142,000: 20,000 before the usual auto 162,000',
    );
    // a window in which the agent's own point moves auto, but not warn
    expect(reasons(140_000, { native: claude })[0]).toBe('warn 87,000: 20,000 before the usual auto 107,000');
    expect(reasons(50_000, { choice: own(20_000) })[2]).toBe('hard 35,000: 70% of the window of 50,000');
  });

  it('of the agent name its window', () => {
    const { effective, native } = ladder(1_048_576, { native: gemini, runtime: 'gemini' });
    expect(effective?.reason).toBe(
      'effective 1,028,576: the window of 1,048,576 less 20,000 kept free for the answer',
    );
    expect(native?.reason).toBe(
      'native 524,288: gemini compacts on its own at 50% of the window of 1,048,576',
    );
    expect(ladder(200_000, { native: claude }).native?.reason).toBe(
      'native 167,000: claude compacts on its own 33,000 below the window of 200,000',
    );
  });
});

describe('whatever is set', () => {
  const bound = fc.oneof(
    fc.record({ value: fc.integer({ min: 1, max: 100 }), unit: fc.constant('percent' as const) }),
    fc.record({ value: fc.integer({ min: 1_000, max: 10_000_000 }), unit: fc.constant('tokens' as const) }),
  );
  const choices = fc.record(
    { preset: fc.constantFrom('ladder', 'percent', 'handoff'), warn: bound, auto: bound, hard: bound },
    { requiredKeys: [] },
  );
  const windows = fc.oneof(
    fc.integer({ min: 1_000, max: 300_000 }),
    fc.integer({ min: 1_000, max: 10_000_000 }),
  );

  it('no sentence names a figure that is not there', () => {
    fc.assert(
      fc.property(windows, choices, fc.constantFrom(undefined, claude, gemini), (tokens, choice, native) => {
        const built = ladder(tokens, { choice, ...(native ? { native } : {}) });
        for (const { name, value, reason } of listThresholds(built)) {
          expect(reason.startsWith(`${name} ${groupDigits(value)}: `)).toBe(true);
          expect(value).toBeGreaterThan(0);
          expect(reason).not.toMatch(/-\d|NaN|undefined|Infinity/);
          const [, auto = groupDigits(built.auto?.value ?? 0)] = /before auto ([\d,]+)/.exec(reason) ?? [];
          expect(auto).toBe(groupDigits(built.auto?.value ?? 0));
        }
      }),
      runs(2_000),
    );
  });
});
