// Compactions that are not ours, that wait behind a turn, or of which is heard late.
import { describe, expect, it } from 'vitest';
import type { Boundary } from '../../../src/core/event.js';
import { compacted, shows, tokens } from '../../support/sessions.js';
import { AUTO_TOKENS, playBegun, playCompaction, playFull } from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

describe('a record that comes late', () => {
  it.each([
    ['a timeout', 120_000],
    ['an interruption', 0],
  ])('after %s closes the breaker', (_, wait) => {
    const play = playBegun();
    play.wait(wait);
    play.is('ready');
    play.wait(3_000);
    expect(play.state().policy.attempts).toBe(1);
    play.boundary({ initiator: 'user' });
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
    expect(play.outcomes().at(-1)).toBe('verified');
  });
});

describe('a command in the queue', () => {
  const queued = (): Play => {
    const play = playFull({ mayQueue: true });
    play.is('busy');
    play.wait(11_500);
    play.sent(true);
    return play;
  };

  it('waits for the turn before it, and for what that asks', () => {
    const play = queued();
    play.wait(3_600_000);
    play.is('dialog');
    play.wait(3_600_000);
    play.is('busy');
    expect(play.outcomes()).toEqual([]);
    play.is('ready');
    play.is('compacting');
    play.boundary();
    expect(play.outcomes()).toEqual(['verified']);
  });

  it('has not started when nothing begins within 65 s of the end of the turn', () => {
    const play = queued();
    play.wait(60_000);
    play.is('ready');
    play.wait(64_999);
    expect(play.outcomes()).toEqual([]);
    play.wait(1);
    expect(play.outcomes()).toEqual(['not-started']);
  });
});

describe('a compaction that is not ours', () => {
  it('of ctxwrap itself counts when the next answer says less, and its own estimate never does', () => {
    const play = playCompaction();
    play.is('ready');
    play.boundary({ initiator: 'ctxwrap', at: 1_000, preTokens: 190_000, postTokens: 31_000 });
    play.tell(tokens('log', 31_000, { at: 900 })); // as ctxwrap has written it
    expect(play.words()).toBe('shortened, waiting for the new size');
    expect(play.outcomes()).toEqual([]);
    play.tell(tokens('log', 34_000, { at: 5_000 }));
    expect(play.words()).toBe('✓ compacted 190k → 34k');
  });

  it('of ctxwrap itself is not confirmed where the next answer says as much as before', () => {
    const play = playCompaction();
    play.is('ready');
    play.boundary({ initiator: 'ctxwrap', at: 1_000, preTokens: 190_000, postTokens: 31_000 });
    play.tell(tokens('log', 189_000, { at: 5_000 }));
    expect(play.last()).toMatchObject({ initiator: 'ctxwrap', outcome: { kind: 'unverified' } });
  });

  it('is told with the size that its record names, where none was seen before, as after a change of the session', () => {
    const play = playCompaction();
    play.is('ready');
    play.boundary({ initiator: 'user', preTokens: 190_000, postTokens: 31_000 });
    expect(play.words()).toBe('✓ compacted 190k → 31k');
  });

  it('is waited for, and proved by a lower number where there is no record', () => {
    const play = playFull();
    play.is('compacting');
    play.wait(600_000);
    expect(play.phase().kind).toBe('foreign');
    play.used(20_000);
    expect(play.last()).toMatchObject({
      initiator: 'agent',
      before: { usedTokens: AUTO_TOKENS },
      outcome: { kind: 'verified', after: { usedTokens: 20_000 } },
    });
  });

  it('is no longer waited for 3 s after its end, or when the agent says that it failed', () => {
    const silent = playFull();
    silent.is('compacting');
    silent.is('ready');
    silent.wait(3_000);
    const failed = playFull();
    failed.is('compacting');
    failed.failed();
    failed.is('ready');
    failed.wait(1_500);
    for (const play of [silent, failed]) {
      expect(play.phase().kind).toBe('countdown');
      expect(play.outcomes()).toEqual([]);
    }
  });

  it('that is only said to have worked is proved by the next number', () => {
    const lower = playCompaction();
    const higher = playCompaction();
    for (const play of [lower, higher]) {
      play.tell(shows(90));
      play.is('compacting');
      play.wait(5_000);
      play.tell(compacted('screen'));
      play.is('ready');
      play.wait(3_600_000);
      expect(play.outcomes()).toEqual([]);
    }
    lower.tell(shows(40));
    higher.tell(shows(91));
    expect(lower.outcomes()).toEqual(['verified']);
    expect(higher.outcomes()).toEqual([]);
    expect(higher.phase().kind).not.toBe('foreign');
  });

  it.each<Partial<Boundary>>([{ summary: 'empty' }, { preTokens: 55_000, postTokens: 102_000 }])(
    'whose record shows that it failed closes nothing: %o',
    (boundary) => {
      const play = playFull();
      play.is('compacting');
      play.boundary(boundary);
      expect(play.outcomes()).toEqual([]);
    },
  );
});
