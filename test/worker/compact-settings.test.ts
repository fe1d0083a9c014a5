import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import { compactKeys } from '../../src/core/format.js';
import { compactSettings } from '../../src/worker/session-loop.js';

const set = (values: Partial<Values> = {}, isModeGiven = false) => ({
  values: { ...defaultValues, ...values },
  isModeGiven,
});

const claude = agents.claude.recipe?.({});
const codex = agents.codex.recipe?.({});

describe('what is allowed in a session', () => {
  it('is the careful way where nothing is said', () => {
    expect(compactSettings(set(), claude)).toMatchObject({
      mode: 'auto',
      command: '/compact',
      mayStash: false,
      mayQueue: false,
      isProactive: true,
    });
  });

  it('is a draft put aside, or a queue, only where the agent has them', () => {
    const daring = set({ draft: 'stash', whenBusy: 'queue' });
    expect(compactSettings(daring, claude)).toMatchObject({
      mayStash: true,
      mayQueue: false,
    });
    expect(compactSettings(daring, codex)).toMatchObject({
      mayStash: false,
      mayQueue: true,
    });
  });

  it('is no typing of our own with the ladder for handing over', () => {
    expect(compactSettings(set({ ladder: 'handoff' }), claude).mode).toBe('warn');
    expect(compactSettings(set({ mode: 'ask', ladder: 'handoff' }), claude).mode).toBe('ask');
  });

  it('is typing unseen only where the user has said auto, and no other mode', () => {
    expect(compactSettings(set({}, true), claude).mayTypeUnseen).toBe(true);
    expect(compactSettings(set(), claude)).not.toHaveProperty('mayTypeUnseen');
    expect(compactSettings(set({ mode: 'ask' }, true), claude)).not.toHaveProperty('mayTypeUnseen');
  });

  it('is the usual countdown, unless a tour has one of its own', () => {
    const tour = { countdownMs: 5_000, overviewAfterMs: 1, overviewMs: 1, signal: 'SIGUSR2' } as const;
    expect(compactSettings(set(), claude)).not.toHaveProperty('countdownMs');
    expect(compactSettings({ ...set(), tour }, claude).countdownMs).toBe(5_000);
  });

  it('is nothing for an agent without a command', () => {
    expect(compactSettings(set(), undefined)).not.toHaveProperty('command');
  });

  it('is requested by keys in readable form', () => {
    expect(compactKeys({ hotkey: 0x1d })).toBe('Ctrl-] c');
    expect(compactKeys({ hotkey: 0x07 })).toBe('Ctrl-G c');
    expect(compactKeys({ hotkey: 'none' })).toBeUndefined();
  });
});
