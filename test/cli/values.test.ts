import { describe, expect, it } from 'vitest';
import { agentFromOption } from '../../src/cli/agent-option.js';
import { parseAgent } from '../../src/cli/read-launch.js';
import { readOption } from '../support/config.js';

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
    expect(readOption('window', text)).toBe(tokens);
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
    expect(() => readOption('window', text)).toThrow(
      expect.objectContaining({
        message: `--window must be a number of tokens from 1k to 10M, got "${text}"`,
        hint: `try --window ${better}`,
        exitCode: 2,
      }),
    );
  });
});

describe('the boundary of a tier', () => {
  it.each([
    ['80%', { value: 80, unit: 'percent' }],
    ['1%', { value: 1, unit: 'percent' }],
    ['100%', { value: 100, unit: 'percent' }],
    ['82.5%', { value: 82.5, unit: 'percent' }],
    ['150k', { value: 150_000, unit: 'tokens' }],
    ['150000', { value: 150_000, unit: 'tokens' }],
    ['0.9M', { value: 900_000, unit: 'tokens' }],
  ])('is read from %s', (text, bound) => {
    expect(readOption('auto', text)).toEqual(bound);
  });

  it.each([
    ['80', '80%'], // no window is this small: a percentage was meant
    ['0%', '80%'],
    ['101%', '80%'],
    ['-5%', '80%'],
    ['80 %', '80%'],
    ['%', '80%'],
    ['', '80%'],
    ['999', '80%'],
    ['11M', '80%'],
    ['hard', '80%'],
  ])('is not "%s"; %s is proposed', (text, better) => {
    expect(() => readOption('auto', text)).toThrow(
      expect.objectContaining({
        message: `--auto must be a percentage from 1% to 100% or a number of tokens from 1k to 10M, got "${text}"`,
        hint: `try --auto ${better}`,
        exitCode: 2,
      }),
    );
  });
});

describe('a choice', () => {
  it('is one of a list', () => {
    expect(readOption('ladder', 'handoff')).toBe('handoff');
    expect(readOption('mode', 'warn')).toBe('warn');
    expect(parseAgent('codex')).toEqual({ name: 'codex' });
    expect(parseAgent('./my-agent.json')).toEqual({ file: './my-agent.json' });
    expect(parseAgent('my/agent')).toEqual({ file: 'my/agent' });
  });

  it('is refused with the list and the nearest one', () => {
    expect(() => readOption('mode', 'wran')).toThrow(
      expect.objectContaining({
        message: '--mode must be one of auto, ask, warn, off, got "wran"',
        hint: 'try --mode warn',
      }),
    );
    expect(() => readOption('ladder', 'precent')).toThrow(
      expect.objectContaining({
        message: '--ladder must be one of ladder, percent, handoff, got "precent"',
        hint: 'try --ladder percent',
      }),
    );
  });

  it('is, for an agent, told with the nearest when it is looked up', async () => {
    await expect(agentFromOption(parseAgent('gemni'))).rejects.toThrow(
      expect.objectContaining({ hint: 'try --runtime gemini' }),
    );
    await expect(agentFromOption(parseAgent('toString'))).rejects.toThrow('must be one of');
  });
});

describe('--claude-status-line', () => {
  it.each(['auto', 'on', 'off'])('may be %s', (text) => {
    expect(readOption('claude.statusLine', text)).toBe(text);
  });

  it('refuses anything else, and proposes what is alike', () => {
    expect(() => readOption('claude.statusLine', 'of')).toThrow(
      '--claude-status-line must be one of auto, on, off, got "of"',
    );
  });
});
