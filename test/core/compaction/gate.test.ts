// When a key of ours is typed, and when not: the agent has been ready for a while, nobody types, and the countdown has been seen.
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../../src/core/reading.js';
import { findHold } from '../../../src/core/compaction/policy.js';
import { compacted, tokens } from '../../support/sessions.js';
import {
  AUTO_TOKENS,
  HARD_TOKENS,
  NOON,
  playCompaction,
  playFull,
  settings,
} from '../../support/compaction-play.js';

describe('the gate', () => {
  it.each([
    { forMs: 1_499, hold: { why: 'settling', until: 1_500 } },
    { forMs: 1_500, hold: undefined },
  ])('is shut until the agent has been ready for 1.5 s: $forMs ms', ({ forMs, hold }) => {
    expect(findHold({ activity: 'ready', activitySince: 0 }, forMs)).toEqual(hold);
  });

  it.each([
    { agoMs: 2_999, hold: { why: 'typing', until: 13_000 } },
    { agoMs: 3_000, hold: undefined },
  ])('is shut until the user has not typed for 3 s: $agoMs ms', ({ agoMs, hold }) => {
    const view = { activity: 'ready', activitySince: 0, keyAt: 10_000 } as const;
    expect(findHold(view, 10_000 + agoMs)).toEqual(hold);
  });

  const shut: readonly Activity[] = ['busy', 'dialog', 'draft', 'compacting', 'unknown', 'dead'];
  it.each(shut)('is shut as long as the agent is %s', (activity) => {
    expect(findHold({ activity, activitySince: 0 }, 1e9)).toEqual({ why: activity });
  });

  it.each([
    { activity: 'draft', may: 'mayStash' },
    { activity: 'busy', may: 'mayQueue' },
  ] as const)('lets $activity pass only with $may', ({ activity, may }) => {
    expect(findHold({ activity, activitySince: 0, [may]: true }, 60_000)).toBeUndefined();
    const other = may === 'mayStash' ? 'mayQueue' : 'mayStash';
    expect(findHold({ activity, activitySince: 0, [other]: true }, 60_000)).toEqual({ why: activity });
  });

  it.each(['dialog', 'compacting', 'unknown', 'dead'] as const)(
    'lets %s pass with no permission at all',
    (activity) => {
      const view = { activity, activitySince: 0, mayStash: true, mayQueue: true };
      expect(findHold(view, 60_000)).toEqual({ why: activity });
    },
  );
});

describe('in a full window', () => {
  it('the command is typed after 1.5 s of rest and a countdown of 10 s', () => {
    const play = playFull();
    play.wait(11_499);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toEqual([
      { at: 4_000 + 11_500, effect: { type: 'type-compact', isQueued: false } },
    ]);
  });

  it('the countdown of a demonstration is as long as it says', () => {
    const play = playFull({ countdownMs: 5_000 });
    play.wait(6_499);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it.each([
    { afterMs: 4_500, leftMs: 7_000 },
    { afterMs: 11_400, leftMs: 3_000 },
  ])(
    'a key after $afterMs ms pauses the countdown for 3 s, and it goes on with $leftMs ms',
    ({ afterMs, leftMs }) => {
      const play = playFull();
      play.wait(afterMs);
      play.keys();
      expect(play.phase()).toMatchObject({ kind: 'held', hold: { why: 'typing' } });
      play.wait(3_000 + leftMs - 1);
      expect(play.typings()).toEqual([]);
      play.wait(1);
      expect(play.typings()).toHaveLength(1);
    },
  );

  it.each([
    ['auto', AUTO_TOKENS],
    ['hard', 180_000],
  ])('at %s nothing is typed before the next turn when the user has said no', (_, count) => {
    const play = playFull({}, count);
    play.wait(5_000);
    play.tell({ type: 'postpone' });
    expect(play.words()).toBe('postponed until your next turn');
    play.wait(3_600_000);
    expect(play.typings()).toEqual([]);
    play.is('busy');
    play.wait(1_000);
    play.is('ready');
    play.wait(11_499);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it('a compaction that the agent has taken back is no longer told, and waits for the next turn', () => {
    const play = playFull();
    play.wait(11_500);
    play.sent();
    play.boundary({ postTokens: 20_000 });
    play.wait(5_000);
    expect(play.words()).toContain('✓ compacted');
    play.tell({ type: 'undone' });
    play.tell({ type: 'voided' });
    play.wait(20_000);
    expect(play.words() ?? '').not.toContain('compacted');
    play.tell({ type: 'reading', reading: { usedTokens: AUTO_TOKENS, source: 'log', at: NOON + play.at() } });
    play.wait(3_600_000);
    expect(play.typings()).toHaveLength(1);
  });

  it('a turn too short to be seen, which only the session file tells of, is a next turn, too', () => {
    const play = playFull();
    play.wait(5_000);
    play.tell({ type: 'postpone' });
    const tellAnswer = (): void => {
      const at = NOON + play.at();
      play.tell({ type: 'reading', reading: { usedTokens: AUTO_TOKENS + 100, source: 'log', at } });
    };
    tellAnswer();
    expect(play.words()).toBe('postponed until your next turn');
    play.wait(1_000);
    tellAnswer();
    expect(play.words()).toContain('compacting in');
  });

  it('a user who has put it off can ask for it all the same', () => {
    const play = playFull();
    play.tell({ type: 'postpone' });
    play.ask('one');
    play.wait(1_500);
    expect(play.typings()).toHaveLength(1);
  });

  it('a user who types again and again is never interrupted', () => {
    const play = playFull();
    for (let second = 0; second < 600; second += 5) {
      play.wait(5_000);
      play.keys();
    }
    expect(play.typings()).toEqual([]);
  });

  it.each(['busy', 'dialog', 'draft', 'compacting', 'unknown'] as const)(
    'nothing is typed while the agent is %s, however long',
    (activity) => {
      const play = playFull();
      play.wait(11_000);
      play.is(activity);
      play.wait(3_600_000);
      expect(play.typings()).toEqual([]);
    },
  );

  it.each([
    ['busy', 'starts anew', 10_000],
    ['dialog', 'starts anew', 10_000],
    ['draft', 'goes on', 3_000],
    ['unknown', 'starts anew', 10_000],
  ] as const)('after %s the countdown %s, without any other event', (activity, _how, leftMs) => {
    const play = playFull();
    play.wait(11_000);
    play.is(activity);
    play.wait(20);
    play.is('ready');
    play.wait(1_500 + leftMs - 1);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it('a number that comes long after the agent came to rest is acted upon then', () => {
    const play = playCompaction();
    play.is('ready');
    play.turn();
    play.wait(60_000);
    play.used(AUTO_TOKENS);
    expect(play.phase()).toMatchObject({ kind: 'countdown' });
    play.wait(10_000);
    expect(play.typings()).toHaveLength(1);
  });

  it('the window must be full up to the end of the countdown', () => {
    const play = playFull();
    play.wait(11_000);
    play.used(150_000);
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it.each([
    { used: 141_999, phase: 'rest' },
    { used: 161_999, phase: 'rest' },
    { used: 162_000, phase: 'held' },
    { used: HARD_TOKENS, phase: 'held' },
  ])('$used of 200 000 tokens: $phase', ({ used, phase }) => {
    expect(playFull({}, used).phase().kind).toBe(phase);
  });

  it('a draft that may be put aside, and a turn behind which may be queued, are no hindrance', () => {
    const stashing = playFull({ mayStash: true });
    stashing.is('draft');
    stashing.wait(11_500);
    expect(stashing.typings().map(({ effect }) => effect)).toEqual([
      { type: 'type-compact', isQueued: false, stashes: true },
    ]);
    const queueing = playFull({ mayQueue: true });
    queueing.is('busy');
    queueing.wait(11_500);
    expect(queueing.typings().map(({ effect }) => effect)).toEqual([
      { type: 'type-compact', isQueued: true },
    ]);
  });

  it('a draft is not disturbed where putting aside is not allowed, but queueing is', () => {
    const play = playFull({ mayQueue: true });
    play.is('draft');
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });
});

describe('nothing is typed', () => {
  it('by an estimate, nor in a window that is only assumed', () => {
    const estimated = playCompaction();
    estimated.tell(tokens('estimate', HARD_TOKENS));
    const assumed = playCompaction();
    assumed.tell(tokens('log', HARD_TOKENS, { windowSource: 'default' }));
    for (const play of [estimated, assumed]) {
      play.is('ready');
      play.wait(60_000);
      expect(play.typings()).toEqual([]);
    }
  });

  it.each(['ask', 'warn'] as const)('in the mode %s', (mode) => {
    const play = playFull({ mode }, HARD_TOKENS);
    play.wait(3_600_000);
    expect(play.done).toEqual([]);
    expect(play.phase().kind).toBe(mode === 'ask' ? 'proposed' : 'rest');
  });

  it('into an agent whose command is not known', () => {
    const { command: _, ...compact } = settings;
    const play = playCompaction({}, { compact });
    play.is('ready');
    play.used(HARD_TOKENS);
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it('after the mode was changed to warn in the middle of the countdown, and again after it is auto', () => {
    const play = playFull();
    play.wait(11_000);
    play.tell({ type: 'mode', mode: 'warn' });
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
    play.tell({ type: 'mode', mode: 'auto' });
    play.wait(9_999);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it('for a number that has become void', () => {
    const play = playFull();
    play.wait(11_000);
    play.tell({ type: 'voided' });
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it('while the agent compacts by itself, nor after it has', () => {
    const play = playFull();
    play.wait(11_000);
    play.is('compacting');
    play.wait(20_000);
    play.tell(compacted());
    play.is('ready');
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
    expect(play.last()).toMatchObject({ initiator: 'agent', outcome: { kind: 'verified' } });
  });
});
