import { describe, expect, it } from 'vitest';
import type { PercentBasis, Reading } from '../../src/core/reading.js';
import { modelKey } from '../../src/agents/claude/window.js';
import { deriveWindow, modelWindow, windowOfModelName } from '../../src/agents/claude/window.js';

describe('the name of a model', () => {
  it.each([
    ['Opus 4.8 (1M context)', 'claude-opus-4-8'],
    ['Opus 4.8', 'claude-opus-4-8'],
    ['claude-opus-4-8[1m]', 'claude-opus-4-8'],
    ['Sonnet 5', 'claude-sonnet-5'],
    ['claude-sonnet-5', 'claude-sonnet-5'],
    ['Haiku 4.5', 'claude-haiku-4-5'],
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', 'claude-opus-4-1'],
    ['claude-opus-4-1@20250805', 'claude-opus-4-1'],
    ['Opus 4', 'claude-opus-4'],
    ['claude-opus-4-0', 'claude-opus-4'],
    ['claude-opus-4-20250514', 'claude-opus-4'],
    ['claude-3-5-sonnet-latest', 'claude-sonnet-3-5'],
    ['Sonnet 3.5', 'claude-sonnet-3-5'],
    ['my-gateway/Model', 'my-gateway/model'],
  ])('%s is %s', (name, key) => {
    expect(modelKey(name)).toBe(key);
    expect(modelKey(key)).toBe(key);
  });
});

describe('the window that a shown name tells', () => {
  it.each([
    { name: 'Opus 4.8 (1M context)', windowTokens: 1_000_000 },
    { name: 'Sonnet 4.6 (1M context)', windowTokens: 1_000_000 },
    { name: 'Sonnet 4.6', windowTokens: 200_000 },
    { name: 'Haiku 4.5', windowTokens: 200_000 },
    { name: 'Opus 4.6', windowTokens: 200_000 },
  ])('is $windowTokens for $name', ({ name, windowTokens }) => {
    expect(windowOfModelName(name, { env: {} })).toEqual({
      windowTokens,
      windowSource: 'agent',
      model: modelKey(name),
    });
  });

  // Opus 4.8 has one million tokens or not, depending on where it is served; Sonnet 5 is shown without a suffix in any case.
  it.each([
    'Opus 4.8',
    'Opus 4.7',
    'Opus 5',
    'Opus 5.5',
    'Sonnet 5',
    'Sonnet 5.5',
    'Haiku 5.5',
    'Fable 5',
    'Opus 9.9',
    'my-model',
    '',
  ])('is not told by %s', (name) => {
    expect(windowOfModelName(name, { env: {} })).toBeUndefined();
  });

  it.each([
    { env: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' }, name: 'Opus 4.8 (1M context)', windowTokens: 200_000 },
    { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, name: 'Sonnet 4.6', windowTokens: 150_000 },
    { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '5' }, name: 'Sonnet 4.6', windowTokens: 100_000 },
    {
      env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '500000' },
      name: 'Opus 4.8 (1M context)',
      windowTokens: 500_000,
    },
    { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '500000' }, name: 'Sonnet 4.6', windowTokens: 200_000 },
    {
      env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000', DISABLE_AUTO_COMPACT: '1' },
      name: 'Sonnet 4.6',
      windowTokens: 200_000,
    },
  ])('follows $env', ({ env, name, windowTokens }) => {
    expect(windowOfModelName(name, { env })).toMatchObject({ windowTokens });
  });

  it.each(['Opus 4.7', 'Opus 4.8', 'Opus 5', 'Opus 5.5', 'Sonnet 5', 'Sonnet 5.5', 'Haiku 5.5', 'Fable 5.2'])(
    'is one million for %s since 2.1.332, by name and id',
    (name) => {
      const [env, version] = [{}, '2.1.332'];
      const told = { windowTokens: 1_000_000, windowSource: 'table', model: modelKey(name) };
      expect(windowOfModelName(name, { env, version })).toEqual(told);
      expect(windowOfModelName(modelKey(name), { env, version: '2.2.0' })).toEqual(told);
      expect(windowOfModelName(name, { env, version: '2.1.331' })).toBeUndefined();
      const off = { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' };
      expect(windowOfModelName(name, { env: off, version })).toMatchObject({ windowTokens: 200_000 });
    },
  );

  it('is left open where a beta for the large window is asked for', () => {
    expect(
      windowOfModelName('Sonnet 4.6', { env: { ANTHROPIC_BETAS: 'context-1m-2025-08-07' } }),
    ).toBeUndefined();
  });
});

describe('the window of a model in the session file', () => {
  it('is certain for every model when the environment sets a smaller one', () => {
    const env = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' };
    expect(modelWindow('claude-opus-4-8', undefined, { env })).toEqual({
      windowTokens: 150_000,
      windowSource: 'table',
    });
  });
});

describe('the window that the screen and the session file prove together', () => {
  const screen = (basis: PercentBasis, usedPercent: number): Reading => ({
    basis,
    usedPercent,
    source: 'screen',
    at: 0,
  });
  const log = (usedTokens: number): Reading => ({
    usedTokens,
    source: 'log',
    at: 0,
    model: 'claude-opus-4-8',
  });
  const derived = (basis: PercentBasis, percent: number, used: number, env = {}) =>
    deriveWindow(screen(basis, percent), log(used), env)?.windowTokens;

  // Percentages and usages as the real agent showed them (docs/facts/claude.md#percentage-on-the-screen).
  it.each([
    { basis: 'auto-compact', percent: 89, used: 148_003, windowTokens: 200_000 },
    { basis: 'auto-compact', percent: 90, used: 150_003, windowTokens: 200_000 },
    { basis: 'auto-compact', percent: 98, used: 164_003, windowTokens: 200_000 },
    { basis: 'effective', percent: 82, used: 148_003, windowTokens: 200_000 },
    { basis: 'effective', percent: 94, used: 170_003, windowTokens: 200_000 },
    { basis: 'effective', percent: 99, used: 178_003, windowTokens: 200_000 },
    { basis: 'effective', percent: 97, used: 950_003, windowTokens: 1_000_000 },
    { basis: 'effective', percent: 99, used: 970_003, windowTokens: 1_000_000 },
  ] as const)(
    'is $windowTokens at $percent % $basis and $used tokens',
    ({ basis, percent, used, windowTokens }) => {
      expect(derived(basis, percent, used)).toBe(windowTokens);
    },
  );

  it.each([
    { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, percent: 84, used: 98_003, windowTokens: 150_000 },
    { env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '4096' }, percent: 90, used: 164_803, windowTokens: 200_000 },
    { env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' }, percent: 78, used: 70_003, windowTokens: 200_000 },
  ])('follows $env', ({ env, percent, used, windowTokens }) => {
    expect(derived('auto-compact', percent, used, env)).toBe(windowTokens);
  });

  it.each([
    ['nothing used', 'auto-compact', 0, 3],
    ['a full scale, which looks the same whatever is above it', 'effective', 100, 190_000],
    ['numbers that fit no window', 'auto-compact', 97, 150_023],
    ['another scale', 'window', 75, 150_000],
    ['an older number in the file', 'auto-compact', 90, 120_000],
  ] as const)('is not proven by %s', (_, basis, percent, used) => {
    expect(derived(basis, percent, used)).toBeUndefined();
  });

  it('names the model it was proven for', () => {
    expect(deriveWindow(screen('effective', 82), log(148_003), {})).toEqual({
      windowTokens: 200_000,
      windowSource: 'derived',
      model: 'claude-opus-4-8',
    });
  });
});
