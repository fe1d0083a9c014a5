// How long a shortened conversation may be, by what is known of the window.
import { describe, expect, it } from 'vitest';
import { budgetFor } from '../../../src/core/strategies/budget.js';
import { conversationOf } from '../../support/generated-conversation.js';

/** A conversation of about 100,000 estimated tokens. */
const long = conversationOf(
  Array.from({ length: 100 }, () => ({
    prompt: 'go on',
    actions: [{ does: 'answers' as const, text: 'a word '.repeat(571) }],
  })),
);

describe('the budget of a shortened conversation', () => {
  it('is half of what lies below warn, without the instructions and tools that the agent counts, too', () => {
    const { budgetTokens, toWindow } = budgetFor(long, { warnTokens: 140_000, usedTokens: 120_000 });
    expect(budgetTokens).toBeGreaterThan(45_000);
    expect(budgetTokens).toBeLessThan(55_000);
    expect(toWindow(budgetTokens)).toBeCloseTo(70_000, -3);
  });

  it('is smaller where the agent counts more tokens for the same text', () => {
    const [usual, dense] = [120_000, 180_000].map(
      (usedTokens) => budgetFor(long, { warnTokens: 140_000, usedTokens }).budgetTokens,
    );
    expect(dense).toBeLessThan(usual ?? 0);
  });

  it('does not lose everything to a number that the text cannot explain, such as that of a refusal', () => {
    const { budgetTokens } = budgetFor(long, { warnTokens: 140_000, usedTokens: 2_000_000 });
    expect(budgetTokens).toBeGreaterThan(10_000);
  });

  it('is that of a window of 200k where nothing is known', () => {
    expect(budgetFor(long, {}).budgetTokens).toBe(70_000);
  });
});
