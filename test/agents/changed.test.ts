import { describe, expect, it } from 'vitest';
import { changeAgent } from '../../src/agents/defined/agent.js';
import { claude } from '../../src/agents/claude/agent.js';
import { codex } from '../../src/agents/codex/agent.js';

const changed = (value: unknown, agent = claude) => {
  const found = changeAgent(agent, value);
  if ('problems' in found) throw new Error(JSON.stringify(found.problems));
  return found;
};

describe('a runtime of ours that a user changes', () => {
  it('runs another program, with a window of the user’s', () => {
    const { agent, windowTokens } = changed({ command: 'claude-nightly', window: 1_000_000 });
    expect(agent).toEqual({ ...claude, command: 'claude-nightly' });
    expect(windowTokens).toBe(1_000_000);
    expect(changed({ window: '1M' }).windowTokens).toBe(1_000_000);
  });

  it('is as it was where nothing is said', () => {
    expect(changed({})).toEqual({ agent: claude });
  });

  it('is waited for as long as the user says, and is never typed to faster', () => {
    const env = {};
    const known = codex.recipe?.(env);
    const pauseMs = (known?.pauseMs ?? 0) + 100;
    const { agent } = changed({ recipe: { pauseMs, startMs: 9_000, finishMs: 300_000 } }, codex);
    expect(agent.recipe?.(env)).toEqual({ ...known, pauseMs, startMs: 9_000, finishMs: 300_000 });
    const hasty = changed({ recipe: { pauseMs: 20 } }, codex).agent.recipe?.(env);
    expect(hasty).toEqual(known);
  });

  it('has no recipe where it had none', () => {
    const off = { DISABLE_COMPACT: '1' };
    expect(claude.recipe?.(off)).toBeUndefined();
    expect(changed({ recipe: { startMs: 9_000 } }).agent.recipe?.(off)).toBeUndefined();
  });

  it('compacts by itself where the user says', () => {
    const nativeTrigger = { share: 0.7, reserveTokens: 0 };
    expect(changed({ nativeTrigger }).agent.nativeTrigger({})).toEqual(nativeTrigger);
  });

  it.each([
    [{ recipe: { command: '/clear' } }, 'recipe.command'],
    [{ prompt: '^> (.*)$' }, 'prompt'],
    [{ screen: [] }, 'screen'],
    [{ name: 'other' }, 'name'],
    [{ command: '/bin/sh' }, 'command'],
    [{ window: 999 }, 'window'],
    [{ window: '1T' }, 'window'],
    [{ window: 1_000.5 }, 'window'],
    [{ window: Infinity }, 'window'],
    [{ recipe: { finishMs: 1 } }, 'recipe.finishMs'],
  ])('cannot be changed by %j', (value, path) => {
    expect(changeAgent(claude, value)).toMatchObject({ problems: [{ path }] });
  });
});
