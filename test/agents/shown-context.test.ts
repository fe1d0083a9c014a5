// Numbers in the usual words, and what a defined agent makes of them in a window of a million.
import { describe, expect, it } from 'vitest';
import { parseDisplayedAmount } from '../../src/core/format.js';
import { percentUsed } from '../../src/core/reading.js';
import { parseShownContext } from '../../src/agents/shown-text.js';
import { define, least } from '../support/defined.js';
import { seenAfter } from '../support/drawn-screen.js';

it.each([
  ['53.4', { value: 53.4, step: 0.1 }],
  ['12,345', { value: 12_345, step: 1 }],
  ['12_345', { value: 12_345, step: 1 }],
  ['1.2k', { value: 1_200, step: 100 }],
  ['500K', { value: 500_000, step: 1_000 }],
  ['0.5 M', { value: 500_000, step: 100_000 }],
  ['1B', { value: 1_000_000_000, step: 1_000_000_000 }],
  ['1,23', undefined],
  ['1.2.3', undefined],
  ['12kb', undefined],
  ['-5', undefined],
  ['', undefined],
  [undefined, undefined],
])('the amount in %j is %o', (text, amount) => expect(parseDisplayedAmount(text)).toEqual(amount));

it.each([
  ['42% context', 42, 'percent', undefined],
  ['context: 42%', 42, 'percent', undefined],
  ['42% ctx', 42, 'percent', undefined],
  ['ctx 42% left', 42, 'percent', 'left'],
  ['Context left: 42.5%', 42.5, 'percent', 'left'],
  ['(98% context left)', 98, 'percent', 'left'],
  ['gpt · 54% left', 54, 'percent', 'left'],
  ['131.1k Context 53.4% used', 53.4, 'percent', 'used'],
  ['Context 54% left · Context 46% used', 54, 'percent', 'left'],
  ['7% of context window remaining', 7, 'percent', 'left'],
  ['1M context left)', 1_000_000, 'tokens', 'left'],
  ['500K left', 500_000, 'tokens', 'left'],
  ['12,345 tokens left', 12_345, 'tokens', 'left'],
  ['2B tokens context left', 2_000_000_000, 'tokens', 'left'],
])('%j says %d %s, %s', (row, value, unit, polarity) => {
  const { step: _, ...said } = parseShownContext(row) ?? { step: 0 };
  expect(said).toEqual({ value, unit, ...(polarity ? { polarity } : {}) });
});

it.each([
  ['3 left'],
  ['3 tries left'],
  ['12,345 files changed'],
  ['context: 142%'],
  ['context: 42% · ctx 43%'],
  ['v1.42% contextual'],
  ['memory 42%'],
  ['500Kb left'],
  [''],
])('%j says nothing of a window', (row) => expect(parseShownContext(row)).toBeUndefined());

describe('a defined agent that names only the place', () => {
  const readingOf = async (text: string, more: object = {}) => {
    const screen = [{ region: 'below-cursor', ...more }];
    const agent = define({ ...least, window: 1_000_000, screen });
    const step = agent.screen?.reader({})(await seenAfter(`97% context left\r\n> \r\n${text}\x1b[2;3H`), 7);
    const [fact] = step?.facts ?? [];
    return fact?.type === 'reading' ? fact.reading : undefined;
  };

  it.each([
    ['500K context left', 50],
    ['200K context left', 80],
    ['100K context left', 90],
    ['50K context left', 95],
    ['1M context left', 0],
    ['0.5M context left', 50],
    ['150K tokens context left', 85],
    ['300K context remaining', 70],
    ['42% ctx', 42],
    ['context: 42%', 42],
    ['42% left', 58],
  ])('reads %j as %d %% used', async (text, percent) => {
    const reading = await readingOf(text);
    expect(reading && percentUsed(reading)).toBe(percent);
  });

  it('says which side a number without a word is of', async () => {
    expect((await readingOf('context: 42%', { polarity: 'left' }))?.usedPercent).toBe(58);
    expect((await readingOf('context: 42% used', { polarity: 'left' }))?.usedPercent).toBe(42);
  });

  it('tells by how much a rounded number may be off', async () => {
    expect(await readingOf('150K left')).toMatchObject({ usedTokens: 850_000, roundingTokens: 500 });
    expect(await readingOf('150,000 tokens left')).not.toHaveProperty('roundingTokens');
  });

  it('reads nothing elsewhere, and nothing where rows differ', async () => {
    expect(await readingOf('hello')).toBeUndefined();
    expect(await readingOf('42% ctx\r\n43% ctx')).toBeUndefined();
  });
});
