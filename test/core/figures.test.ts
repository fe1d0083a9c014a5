import { describe, expect, it } from 'vitest';
import { filledCells, formatPercent, formatTokens } from '../../src/core/format.js';

it.each([
  [0, '0'],
  [999, '999'],
  [999.6, '1.0k'],
  [9_449, '9.4k'],
  [9_960, '10k'],
  [124_000, '124k'],
  [999_499, '999k'],
  [999_500, '1.0M'], // not 1000k
  [1_048_576, '1.0M'],
  [12_000_000, '12M'],
])('%d tokens read %s', (tokens, text) => {
  expect(formatTokens(tokens)).toBe(text);
});

it.each([
  [0, '0%'],
  [0.2, '<1%'],
  [0.5, '1%'],
  [61.5, '62%'],
  [99.7, '99%'], // not full yet
  [100, '100%'],
  [115.5, '>100%'],
])('%d percent read %s', (percent, text) => {
  expect(formatPercent(percent)).toBe(text);
});

describe('the bar', () => {
  it.each([
    [0, 0],
    [0.1, 1], // something is in it
    [50, 5],
    [99.9, 9], // something is left
    [100, 10],
    [130, 10],
  ])('at %d percent fills %i of 10 cells', (percent, cells) => {
    expect(filledCells(percent, 10)).toBe(cells);
  });
});
