// What starts a compaction that nobody asked for, what keeps it from starting, and what is said of that.
import { describe, expect, it } from 'vitest';
import type { InvisibleReason } from '../../../src/core/compaction/policy.js';
import type { CompactSettings, Mode } from '../../../src/core/compaction/state.js';
import { AUTO_TOKENS, failOnce, playCompaction, playFull } from '../../support/compaction-play.js';
import { grew, shows, tokens } from '../../support/sessions.js';

describe('text that came after the last number', () => {
  const played = (used: number, text: number, isProactive = true) => {
    const play = playCompaction({ isProactive });
    play.is('ready');
    play.turn(used);
    play.tell(grew(text));
    return play;
  };

  it.each([
    { used: 141_999, text: 40_000, typings: 0 },
    { used: 142_000, text: 19_999, typings: 0 },
    { used: 142_000, text: 20_000, typings: 1 },
    { used: 142_000, text: 60_000, typings: 1 },
  ])('counts from warn on, where both reach auto: $text tokens behind $used', ({ used, text, typings }) => {
    const play = played(used, text);
    play.wait(60_000);
    expect(play.typings()).toHaveLength(typings);
  });

  it('is no longer counted when the next number holds it', () => {
    const play = playCompaction({ isProactive: true });
    play.is('ready');
    play.turn(100_000);
    play.tell(grew(10 * 512 * 1024)); // all the text of a long session
    play.turn(150_000);
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
    play.tell(grew(20_000));
    play.wait(5_000);
    expect(play.phase().kind).toBe('countdown');
    play.used(155_000);
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it('is what the countdown names, and the record of the attempt; what is measured later is the number alone', () => {
    const play = played(150_000, 12_000);
    play.wait(1_500);
    expect(play.words()).toBe('compacting in 10 s (proactive) · Esc: not now');
    play.is('busy');
    expect(play.words()).toBe('waiting: the agent is busy (proactive)');
    play.is('ready');
    play.wait(11_500);
    expect(play.phase()).toMatchObject({
      kind: 'typing',
      attempt: { before: { usedTokens: 150_000 }, evidence: [expect.stringContaining('proactive')] },
    });
  });

  it('is only proposed where the user wants to be asked', () => {
    const play = playCompaction({ isProactive: true, mode: 'ask' });
    play.is('ready');
    play.turn(150_000);
    play.tell(grew(12_000));
    expect(play.words()).toBe('almost full · run ctxwrap compact');
  });

  it('counts only as long as the user wants it', () => {
    const play = played(150_000, 12_000, false);
    play.wait(60_000);
    expect(play.words()).toBe('not compacting: the size is only estimated');
    play.tell({ type: 'proactive', isProactive: true });
    expect(play.phase().kind).toBe('countdown');
    play.tell({ type: 'proactive', isProactive: false });
    expect(play.phase().kind).toBe('doubted');
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it('does not hold back what the number alone would start', () => {
    const play = played(165_000, 15_000, false);
    expect(play.words()).toBe('waiting: the agent has just stopped');
    play.wait(11_500);
    expect(play.typings()).toHaveLength(1);
  });

  it('starts nothing where the window is assumed, or where no number was counted', () => {
    const guess = { windowSource: 'default' } as const;
    const assumed = playCompaction({ isProactive: true }, { assumedWindow: 200_000 });
    assumed.is('ready');
    assumed.tell(tokens('log', 150_000, guess), grew(20_000));
    assumed.wait(60_000);
    expect(assumed.typings()).toEqual([]);
    expect(assumed.words()).toBe('not compacting: window assumed, set --window');
    const uncounted = playCompaction({ isProactive: true });
    uncounted.is('ready');
    uncounted.tell(tokens('estimate', 150_000), grew(20_000));
    uncounted.wait(60_000);
    expect(uncounted.typings()).toEqual([]);
  });

  it('is not spoilt by a broken count', () => {
    const play = played(150_000, Number.NaN);
    play.tell(grew(-1e9));
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });
});

describe('after a compaction that text alone has started', () => {
  const MINUTE = 60_000;
  /** One that has worked, and a window that is about full again by text; its turns are too many to be a refill. */
  const again = () => {
    const play = playCompaction({ isProactive: true });
    play.is('ready');
    play.turn(150_000);
    play.tell(grew(12_000));
    play.wait(11_500);
    play.sent();
    play.boundary({ postTokens: 20_000 });
    for (const used of [30_000, 40_000, 50_000, 150_000]) play.turn(used);
    play.tell(grew(12_000));
    return play;
  };

  it('the next one by text waits for ten minutes, and the footer says so', () => {
    const play = again();
    expect(play.outcomes()).toEqual(['verified']);
    play.wait(5_000);
    expect(play.words()).toBe('✓ compacted 150k → 20k');
    play.wait(MINUTE);
    expect(play.words()).toBe('next proactive try in 9 min');
    play.wait(10 * MINUTE - 16_000 - 5_000 - MINUTE - 1);
    expect(play.words()).toBe('next proactive try in 1 min');
    play.wait(1);
    expect(play.words()).toBe('compacting in 10 s (proactive) · Esc: not now');
    play.wait(9_999);
    expect(play.typings()).toHaveLength(1);
    play.wait(1);
    expect(play.typings()).toHaveLength(2);
  });

  it('one by a number at auto does not wait', () => {
    const play = again();
    play.turn(AUTO_TOKENS);
    play.wait(11_500);
    expect(play.typings()).toHaveLength(2);
  });

  it('one that somebody asks for does not wait', () => {
    const play = again();
    play.wait(5_000);
    play.ask('one');
    expect(play.typings()).toHaveLength(2);
  });

  it('that did not work, the next one by text waits as long', () => {
    const play = playCompaction({ isProactive: true });
    play.is('ready');
    play.turn(150_000);
    play.tell(grew(12_000));
    play.wait(11_500);
    failOnce(play);
    play.turn(150_001);
    play.tell(grew(12_000));
    play.wait(5 * MINUTE);
    expect(play.typings()).toHaveLength(1);
    play.wait(5 * MINUTE + 10_000);
    expect(play.typings()).toHaveLength(2);
  });
});

describe('a countdown that nobody can see', () => {
  const unseen = ['off', 'small', 'covered', 'undrawn', 'failed'] as const;
  const hidden = (why: InvisibleReason, wish: Partial<CompactSettings> = {}) => {
    const play = playCompaction(wish);
    play.tell({ type: 'visibility', unseen: why });
    play.is('ready');
    play.turn(AUTO_TOKENS);
    return play;
  };

  it.each(unseen)('does not begin: %s', (why) => {
    const play = hidden(why);
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
    expect(play.words()).toMatch(/^waiting: .*(countdown|count down|footer)/);
    play.tell({ type: 'visibility', unseen: undefined });
    expect(play.words()).toBe('compacting in 10 s · Esc: not now');
    play.wait(10_000);
    expect(play.typings()).toHaveLength(1);
  });

  it.each(unseen)('begins anew when it is seen again: %s', (why) => {
    const play = playFull();
    play.wait(11_000);
    expect(play.words()).toContain('compacting in 1 s');
    play.tell({ type: 'visibility', unseen: why });
    play.wait(2_000);
    expect(play.phase()).toMatchObject({ kind: 'held', hold: { why: 'unseen' } });
    play.tell({ type: 'visibility', unseen: undefined });
    play.wait(9_999);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it.each(unseen)('is missed by nobody who wants no footer and has said auto: %s', (why) => {
    const play = hidden(why, { mayTypeUnseen: true });
    play.wait(60_000);
    expect(play.typings()).toHaveLength(why === 'off' ? 1 : 0);
  });

  it('is no matter where somebody has asked', () => {
    const play = hidden('small');
    play.wait(2_000);
    play.ask('one');
    expect(play.typings()).toHaveLength(1);
  });

  it('keeps other settings waiting for nothing', () => {
    const play = hidden('off');
    play.wait(5_000);
    const compact = { ...play.state().settings, mayTypeUnseen: true };
    play.tell({ type: 'settings', settings: { ladder: {}, compact } });
    play.wait(10_000);
    expect(play.typings()).toHaveLength(1);
  });
});

describe('a window that looks full', () => {
  it.each([
    { words: 'not compacting: window assumed, set --window', more: { windowSource: 'default' } as const },
    { words: undefined, more: {} },
  ])('by a number that starts nothing says why: $words', ({ words, more }) => {
    const said = (mode: Mode) => {
      const play = playCompaction({ mode }, { assumedWindow: 200_000 });
      play.is('busy');
      play.tell(tokens('log', 170_000, more)); // above auto, also where nobody knows the agent's own window
      return play.words();
    };
    expect(said('auto')).toBe(words ?? 'waiting: the agent is busy');
    expect(said('ask')).toBe(words ?? 'full · run ctxwrap compact');
    expect(said('warn')).toBeUndefined();
  });

  it('by an estimate alone is one in any window: --window would not help', () => {
    const play = playCompaction({}, { assumedWindow: 200_000 });
    play.is('ready');
    play.tell(tokens('estimate', 170_000, { windowSource: 'default' }));
    expect(play.words()).toBe('not compacting: the size is only estimated');
  });

  it('because a worse source says so says that, too', () => {
    const play = playCompaction();
    play.is('ready');
    play.tell(tokens('log', 100_000), shows(95));
    expect(play.words()).toBe(undefined); // one of them is told after the other; the footer has nothing to say of that
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
    expect(play.words()).toBe(undefined); // by then the screen is not believed any more
  });

  it('because the screen is slightly above a boundary says so when that has lasted for ten seconds', () => {
    const play = playCompaction();
    play.is('ready');
    play.tell(tokens('log', 160_000), shows(84));
    expect(play.words()).toBeUndefined();
    play.wait(9_900);
    expect(play.words()).toBeUndefined();
    play.wait(200);
    expect(play.words()).toBe('not compacting: screen and session file disagree');
    play.tell(tokens('log', 160_000), shows(80));
    expect(play.words()).toBeUndefined();
    expect(play.typings()).toEqual([]);
  });
});
