import { describe, expect, it } from 'vitest';
import { parseMode, parseRuntime, parseWindow } from '../../src/cli/values.js';

describe('--window', () => {
  it.each([
    ['200000', 200_000],
    ['200_000', 200_000],
    ['200k', 200_000],
    ['200K', 200_000],
    ['1M', 1_000_000],
    ['1.05m', 1_050_000],
    ['1000', 1_000],
    ['10M', 10_000_000],
  ])('reads %s', (text, tokens) => {
    expect(parseWindow(text)).toBe(tokens);
  });

  it.each([
    ['999', '1k'],
    ['0', '1k'],
    ['10000001', '10M'],
    ['1000M', '10M'],
    ['', '200k'],
    ['200kb', '200k'],
    ['-5', '200k'],
    ['1e6', '200k'],
    ['abc', '200k'],
    ['k', '200k'],
  ])('refuses "%s" and proposes %s', (text, better) => {
    expect(() => parseWindow(text)).toThrow(
      expect.objectContaining({
        message: `--window must be a number of tokens from 1k to 10M, got "${text}"`,
        hint: `try --window ${better}`,
        exitCode: 2,
      }),
    );
  });
});

describe('a choice', () => {
  it('is one of a list', () => {
    expect(parseMode('warn')).toBe('warn');
    expect(parseRuntime('codex')).toBe('codex');
  });

  it('is refused with the list and the nearest one', () => {
    expect(() => parseMode('wran')).toThrow(
      expect.objectContaining({
        message: '--mode must be one of auto, ask, warn, off, got "wran"',
        hint: 'try --mode warn',
      }),
    );
    expect(() => parseRuntime('gemni')).toThrow(expect.objectContaining({ hint: 'try --runtime gemini' }));
    expect(() => parseRuntime('toString')).toThrow('must be one of');
  });
});
