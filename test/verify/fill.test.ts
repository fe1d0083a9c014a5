import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPercent, formatTokens } from '../../src/core/format.js';
import { verifiableAgents } from '../../src/verify/agents.js';
import { footerNumbers, fillSizes, tiersIn, footerMismatch } from '../../src/verify/numbers.js';

const window = { windowTokens: 200_000 };
const told = (input: number) => ({ input, output: 20 });
const footerOf = (used: number, windowTokens = 200_000, free = 0): string => {
  const percent = (Math.max(0, used - free) / (windowTokens - free)) * 100;
  return `claude  ▰▰▱▱ ${formatPercent(percent)}  ${formatTokens(used)}/${formatTokens(windowTokens)}  safe  compacting in 8 s`;
};

describe('the number in the footer', () => {
  it('is right when it is the model server’s number, with the answer or without', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...verifiableAgents),
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        (agent, share) => {
          const input = Math.round(agent.windowTokens * share);
          for (const used of [input, input + 20])
            expect(
              footerMismatch(footerOf(used, agent.windowTokens, agent.freeTokens), told(input), agent),
            ).toBeUndefined();
        },
      ),
    );
  });

  it('is wrong when it differs by a fiftieth of the window', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10_000, max: 190_000 }), fc.constantFrom(-4_000, 4_000), (input, off) => {
        expect(footerMismatch(footerOf(input + off), told(input), window)).toContain('says');
      }),
    );
  });

  it.each([
    ['claude  waiting for the first turn', 'has no number'],
    ['claude ▰▱ 40% safe', 'has no number'],
    ['claude ▰▱ 40%  80k/1.0M  safe', 'says a window of 1.0M'],
    ['claude ▰▱ 8%  80k/200k  safe', 'says 8%, not 40%'],
  ])('%s %s', (footer, why) => expect(footerMismatch(footer, told(80_000), window)).toBe(why));

  it('may be marked as one that is inferred', () => {
    const footer = 'gemini ▰▱ 40%  ~80k/200k?  safe';
    expect(footerMismatch(footer, told(80_000), window)).toBeUndefined();
    expect(footerNumbers(footer)).toBe('40% ~80k/200k?');
  });
});

const ps = (...thresholds: readonly object[]): string => JSON.stringify({ sessions: [{ thresholds }] });

describe('the sizes to which a window is filled', () => {
  it('lie one in each tier, whatever the tiers are', () => {
    const bounds = fc.uniqueArray(fc.integer({ min: 5, max: 99 }), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(bounds, fc.constantFrom('tokens', 'percent'), (found, unit) => {
        const percents = found.toSorted((a, b) => a - b);
        const [warn = 0, auto = 0, hard = 0] = percents.map((value) => value * 2_000);
        const values = unit === 'percent' ? percents : [warn, auto, hard];
        const names = ['warn', 'auto', 'hard'];
        const tiers = tiersIn(ps(...names.map((name, index) => ({ name, value: values[index], unit }))));
        const sizes = fillSizes(200_000, tiers);
        expect(sizes.safe).toBeLessThan(warn);
        expect(sizes.warn).toBeGreaterThanOrEqual(warn);
        expect(sizes.warn).toBeLessThan(auto);
        expect(sizes.auto).toBeGreaterThan(auto);
        expect(sizes.auto).toBeLessThan(hard);
      }),
    );
  });

  it.each(['', '{}', ps(), ps({ name: 'warn', value: 5, unit: 'tokens' })])('are not known from %s', (text) =>
    expect(() => tiersIn(text)).toThrow('does not say where'),
  );
});
