import { describe, expect, it } from 'vitest';
import { nativeTriggerTokens, triggerRuleFor } from '../../src/core/build-ladder.js';
import { claude } from '../../src/agents/claude/agent.js';

describe('the own compaction point of claude', () => {
  it.each([
    { env: {}, window: 200_000, at: 167_000 },
    { env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '4096' }, window: 200_000, at: 182_904 },
    { env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' }, window: 200_000, at: 90_000 },
    { env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '90' }, window: 200_000, at: 162_000 },
    { env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '95' }, window: 200_000, at: 167_000 }, // it only lowers
    { env: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '500' }, window: 200_000, at: 167_000 },
    { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }, window: 1_000_000, at: 117_000 },
    { env: { DISABLE_AUTO_COMPACT: '1' }, window: 200_000, at: undefined },
    { env: { DISABLE_COMPACT: 'true' }, window: 200_000, at: undefined },
  ])('with $env is $at', ({ env, window, at }) => {
    const trigger = claude.nativeTrigger(env);
    expect(trigger && nativeTriggerTokens(window, trigger)).toBe(at);
  });

  it.each([
    { model: 'claude-sonnet-4-6', window: 200_000, at: 167_000 },
    { model: 'claude-opus-4-6', window: 200_000, at: 167_000 },
    { model: 'claude-sonnet-4-6', window: 1_000_000, at: undefined },
    { model: 'claude-haiku-4-5', window: 200_000, at: undefined },
    { model: 'claude-opus-4-8', window: 200_000, at: undefined },
    { model: 'claude-opus-4-8', window: 1_000_000, at: undefined },
    { model: 'claude-sonnet-5', window: 200_000, at: 167_000 },
    { model: 'claude-sonnet-5', window: 1_000_000, at: 934_000 },
    { model: undefined, window: 200_000, at: 167_000 },
  ])('with $model in $window is $at', ({ model, window, at }) => {
    const trigger = claude.nativeTrigger({});
    const rule = trigger && triggerRuleFor(trigger, model, window);
    expect(rule && nativeTriggerTokens(window, rule)).toBe(at);
    // with a window for compactions every model compacts early
    const set = claude.nativeTrigger({ CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' });
    const setRule = set && triggerRuleFor(set, model, window);
    expect(setRule && nativeTriggerTokens(window, setRule)).toBe(117_000);
  });
});
