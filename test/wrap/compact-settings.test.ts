import { describe, expect, it } from 'vitest';
import { runtimes } from '../../src/agents/index.js';
import { compactKeys, compactSettings } from '../../src/wrap/compactor.js';

const claude = runtimes.claude.recipe?.({});
const codex = runtimes.codex.recipe?.({});

describe('what is allowed in a session', () => {
  it('is the careful way where nothing is said', () => {
    expect(compactSettings({ mode: 'auto' }, claude)).toMatchObject({
      mode: 'auto',
      command: '/compact',
      mayStash: false,
      mayQueue: false,
      isProactive: true,
    });
  });

  it('is a draft put aside, or a queue, only where the agent has them', () => {
    const compact = { draft: 'stash', whenBusy: 'queue' } as const;
    expect(compactSettings({ mode: 'auto', compact }, claude)).toMatchObject({
      mayStash: true,
      mayQueue: false,
    });
    expect(compactSettings({ mode: 'auto', compact }, codex)).toMatchObject({
      mayStash: false,
      mayQueue: true,
    });
  });

  it('is no typing of our own with the ladder for handing over', () => {
    expect(compactSettings({ mode: 'auto', ladder: { preset: 'handoff' } }, claude).mode).toBe('warn');
    expect(compactSettings({ mode: 'ask', ladder: { preset: 'handoff' } }, claude).mode).toBe('ask');
  });

  it('is typing unseen only where the user has said auto, and no other mode', () => {
    const compact = { isModeGiven: true };
    expect(compactSettings({ mode: 'auto', compact }, claude).mayTypeUnseen).toBe(true);
    expect(compactSettings({ mode: 'auto' }, claude)).not.toHaveProperty('mayTypeUnseen');
    expect(compactSettings({ mode: 'ask', compact }, claude)).not.toHaveProperty('mayTypeUnseen');
  });

  it('is nothing for an agent without a command', () => {
    expect(compactSettings({ mode: 'auto' }, undefined)).not.toHaveProperty('command');
  });

  it('is asked for by keys that are written as people write them', () => {
    expect(compactKeys({ hotkey: 0x1d })).toBe('Ctrl-] c');
    expect(compactKeys({ hotkey: 0x07 })).toBe('Ctrl-G c');
    expect(compactKeys({ hotkey: undefined })).toBeUndefined();
  });
});
