// What the screens say of the boundaries, put against each other in any window, with any settings, for every agent.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLadder } from '../../src/core/build-ladder.js';
import type { LadderChoice } from '../../src/core/ladder.js';
import { nativeTriggerNotice } from '../../src/core/build-ladder.js';
import { sessionLadder } from '../../src/core/report/report.js';
import { groupDigits, shortReason } from '../../src/core/ladder.js';
import type { Threshold } from '../../src/core/ladder.js';
import { contextOf, doctorOf, names, overviewOf, ownOf, record } from '../support/boundaries.js';
import { sessionAfter, tokens } from '../support/sessions.js';

const valueOf = (all: readonly Threshold[], name: Threshold['name']): number | undefined =>
  all.find((each) => each.name === name)?.value;

/** No figure is negative or nothing, and each sentence names its own number first. */
const expectSound = (all: readonly Threshold[]): void => {
  for (const { name, value, unit, reason } of all) {
    expect(value).toBeGreaterThan(0);
    expect(reason).toMatch(new RegExp(`^${name} ${unit === 'percent' ? `${value}%` : groupDigits(value)}: `));
    expect(reason).not.toMatch(/-\d|\b0\b(?!\.)|NaN|Infinity|undefined/);
    const [, lead, agentAt] = /([\d,]+) before \w+ compacts on its own at ([\d,]+)/.exec(reason) ?? [];
    if (lead !== undefined && agentAt !== undefined) {
      expect(number(agentAt) - number(lead)).toBe(value);
      expect(number(agentAt)).toBe(valueOf(all, 'native'));
    }
  }
  const [warn = 0, hard = 0] = [valueOf(all, 'warn'), valueOf(all, 'hard')];
  const auto = valueOf(all, 'auto') ?? hard;
  expect(warn <= auto && auto <= hard).toBe(true);
};

const number = (text: string): number => Number(text.replaceAll(',', ''));

const windowSizes = fc.oneof(
  fc.integer({ min: 1_000, max: 100_000 }),
  fc.integer({ min: 1_000, max: 10_000_000 }),
  fc.constantFrom(8_192, 32_000, 64_000, 128_000, 200_000, 258_400, 1_000_000, 1_048_576),
);
const percent = fc.integer({ min: 50, max: 99 });
const choices: fc.Arbitrary<LadderChoice> = fc.oneof(
  fc.constant({}),
  percent.map((value) => ({ auto: { value, unit: 'percent', yields: true } as const })),
  percent.map((value) => ({ auto: { value, unit: 'percent' } as const })),
  fc.integer({ min: 1_000, max: 10_000_000 }).map((value) => ({ auto: { value, unit: 'tokens' } as const })),
  fc.constant({ preset: 'percent' as const }),
  fc.constant({ preset: 'handoff' as const }),
);
const setups = fc.record({
  name: fc.constantFrom(...names),
  window: windowSizes,
  userWindow: fc.option(windowSizes, { nil: undefined }),
  share: fc.option(fc.double({ min: 0.01, max: 1, noNaN: true }), { nil: undefined }),
  choice: choices,
  fill: fc.double({ min: 0, max: 1.2, noNaN: true }),
  answer: fc.integer({ min: 1, max: 60_000 }),
  model: fc.constantFrom('claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-sonnet-5', 'other'),
});

describe('in any window, with any settings, for every agent', () => {
  it('no screen names a number that another contradicts', async () => {
    await fc.assert(
      fc.asyncProperty(setups, async (setup) => {
        const { name, window, userWindow, share, choice, fill, answer, model } = setup;
        const own = await ownOf(name, share);
        const used = Math.max(1, Math.round((userWindow ?? window) * fill));
        const state = sessionAfter(
          [
            [
              0,
              tokens('log', used, {
                windowTokens: window,
                windowSource: 'agent',
                model,
                answerTokens: answer,
              }),
            ],
            ...(userWindow === undefined
              ? []
              : [[1, { type: 'user-window', windowTokens: userWindow }] as const]),
            [2, { type: 'own-compaction', trigger: own.trigger }],
          ],
          { agent: name, ladder: choice },
        );
        const { thresholds, tier } = record(state);
        expectSound(thresholds);
        const value = (which: Threshold['name']): number => valueOf(thresholds, which) ?? Infinity;

        // the tier is that of what the agent counts, its last answer included
        const counted = used + answer;
        const isOwnHard = value('hard') > value('auto') || !Number.isFinite(value('auto'));
        const expected =
          isOwnHard && counted >= value('hard')
            ? 'hard'
            : counted >= value('auto')
              ? 'auto'
              : counted >= value('warn')
                ? 'warn'
                : 'safe';
        expect(tier).toBe(expected);

        // the screens agree
        const shown = contextOf(state);
        for (const { name: each, value: at } of thresholds)
          expect(
            shown.some((row) => row.includes(` ${groupDigits(at)}  `)),
            `${each} ${at}\n${shown.join('\n')}`,
          ).toBe(true);
        expect(shown.join('\n')).not.toMatch(/(?<![\w,.])-\d|NaN|Infinity|undefined/);
        const overview = overviewOf(state).sections.find(({ title }) => title === 'Thresholds')?.rows ?? [];
        // in ascending order; what the agent's own compaction comes before says so in place of its reason
        const isAfterOwn = (text = ''): boolean => text === 'not reached: the agent compacts first';
        const texts = overview.filter(({ values }) => values).map(({ text }) => text);
        const reasons = thresholds
          .filter(({ name: each }) => each !== 'hard' || isOwnHard)
          .toSorted((a, b) => (a.unit === b.unit ? a.value - b.value : a.unit === 'percent' ? -1 : 1))
          .map(shortReason);
        expect(texts.map((text, index) => (isAfterOwn(text) ? reasons[index] : text))).toEqual(reasons);

        // auto comes before the agent, or it is said that it does not
        const ladder = sessionLadder(state);
        const notice = nativeTriggerNotice(ladder, name);
        const { auto, native } = ladder;
        const { asked = Infinity } = auto ?? {}; // beyond the window a limit is meant for others
        const isLate =
          asked < (ladder.windowTokens ?? 0) ||
          (asked === Infinity && auto && native && auto.value >= native.tokens);
        const isTold = auto && native && isLate;
        expect(notice !== undefined).toBe(isTold === true);
        for (const figure of notice?.match(/\d[\d,]*/g) ?? []) expect(number(figure)).toBeGreaterThan(0);
        const isPlain = userWindow !== undefined && userWindow !== window && !choice.auto?.yields;
        const plain = buildLadder({ agent: name, windowTokens: userWindow, choice });
        expect(isPlain ? auto?.value : undefined).toBe(isPlain ? plain.auto?.value : undefined);

        // doctor, for the same settings
        const checks = doctorOf(name, own, { windowTokens: userWindow, choice });
        expect(checks.map(({ text }) => text).join('\n')).not.toMatch(
          /(?<![\w,.])-\d|\b0 (?:tokens|before)|NaN|Infinity/,
        );
      }),
      { numRuns: 1_500 },
    );
  });
});
