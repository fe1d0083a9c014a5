// A resting agent whose prompt cache is about to go cold: when it is compacted, and when it is left alone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompactSettings } from '../../../src/core/compaction/state.js';
import type { Event } from '../../../src/core/event.js';
import type { Activity } from '../../../src/core/reading.js';
import { NOON, playCompaction, type Play } from '../../support/compaction-play.js';
import { shows } from '../../support/sessions.js';
import { runs } from '../../support/runs.js';

const HOUR_MS = 3_600_000;
const warmUntil = (ms: number, exact = true): Event => ({
  type: 'cache',
  cache: { expiresAt: NOON + ms, exact },
});

/** An agent at rest after a turn, with a cache that goes cold an hour after the start. */
const playRest = (wish: Partial<CompactSettings> = {}, used = 130_000): Play => {
  const play = playCompaction({ mayCompactIdle: true, ...wish });
  play.is('ready');
  play.keys();
  play.turn(used);
  play.tell(warmUntil(HOUR_MS));
  return play;
};
const typedAt = (play: Play): readonly number[] => play.typings().map(({ at }) => at);

describe('a resting agent with a warm cache', () => {
  it('is compacted at the last warm moment, after a countdown that says why', () => {
    const play = playRest();
    play.wait(HOUR_MS - 45_000 - play.at() - 1);
    expect(play.words()).toBeUndefined();
    play.wait(1);
    expect(play.words()).toBe('compacting in 10 s (cache goes cold) · Esc: not now');
    play.wait(12_000);
    expect(typedAt(play)).toEqual([HOUR_MS - 35_000]);
    expect(play.phase()).toMatchObject({ attempt: { isIdle: true, isHard: false } });
  });

  it('is compacted once in a rest, however that ends, and again in the next one', () => {
    const play = playRest();
    play.wait(HOUR_MS - 30_000 - play.at());
    play.sent();
    play.is('compacting');
    play.failed();
    play.is('ready');
    play.tell(warmUntil(2 * HOUR_MS));
    play.wait(3 * HOUR_MS);
    expect(play.typings()).toHaveLength(1);
    play.keys();
    play.turn(131_000);
    play.tell(warmUntil(play.at() + HOUR_MS));
    play.wait(2 * HOUR_MS);
    expect(play.typings()).toHaveLength(2);
  });

  it('is not compacted again when it takes a turn by itself, which is none of the user', () => {
    const play = playRest();
    play.wait(HOUR_MS - 30_000 - play.at());
    play.sent();
    play.is('compacting');
    play.failed();
    play.is('ready');
    for (let times = 0; times < 3; times += 1) {
      play.turn(132_000 + times * 1_000);
      play.tell(warmUntil(play.at() + HOUR_MS));
      play.wait(HOUR_MS);
    }
    expect(play.typings()).toHaveLength(1);
  });

  it('is compacted at most once in a turn of the user, at rest, from 60 % on and while the cache is warm, whatever happens', () => {
    const action = fc.oneof(
      fc
        .constantFrom('ready', 'busy', 'draft', 'dialog', 'unknown', 'compacting')
        .map((activity) => ({ activity })),
      fc.integer({ min: 1, max: 400_000 }).map((wait) => ({ wait })),
      fc.integer({ min: 80_000, max: 160_000 }).map((used) => ({ used })),
      fc.tuple(fc.integer({ min: -60_000, max: 600_000 }), fc.boolean()).map((cache) => ({ cache })),
      fc.constantFrom('keys', 'postpone', 'sent', 'failed', 'rest', 'rest').map((happens) => ({ happens })),
    );
    /** The agent takes a turn, and then rests until its cache is nearly cold. */
    const rest = (play: Play): void => {
      play.turn(130_000);
      play.tell(warmUntil(play.at() + 70_000));
      play.wait(60_000);
      if (play.phase().kind !== 'typing') return;
      play.sent();
      play.is('compacting');
      play.failed();
      play.is('ready');
    };
    let typed = 0;
    fc.assert(
      fc.property(fc.array(action, { minLength: 5, maxLength: 60 }), (actions) => {
        const seen: string[] = [];
        let [turns, perTurn] = [0, 0];
        const play = playCompaction({ mayCompactIdle: true }, {}, ({ after, now }) => {
          const { session, compaction } = after;
          if (session.turns !== turns) [turns, perTurn] = [session.turns, 0];
          const { phase, effects } = compaction;
          if (phase.kind !== 'typing' || !phase.attempt.isIdle) return;
          if (!effects.some(({ type }) => type === 'type-compact')) return;
          perTurn += 1;
          typed += 1;
          const { cache, activity } = session;
          if (perTurn > 1) seen.push('twice in a turn');
          if (activity !== 'ready') seen.push(activity);
          if (!cache?.exact || cache.expiresAt <= now) seen.push('cold');
          if ((phase.attempt.before?.usedPercent ?? 0) < 60) seen.push('below 60 %');
        });
        play.is('ready');
        play.keys();
        play.turn(130_000);
        for (const each of actions) {
          if ('activity' in each) play.is(each.activity as Activity);
          else if ('wait' in each) play.wait(each.wait);
          else if ('used' in each) play.used(each.used);
          else if ('cache' in each) play.tell(warmUntil(play.at() + each.cache[0], each.cache[1]));
          else if (each.happens === 'keys') play.keys();
          else if (each.happens === 'rest') rest(play);
          else if (each.happens === 'postpone') play.tell({ type: 'postpone' });
          else if (play.phase().kind === 'typing') play.sent();
          else if (each.happens === 'failed' && play.phase().kind === 'sent') play.failed();
        }
        expect(seen).toEqual([]);
      }),
      runs(500),
    );
    expect(typed).toBeGreaterThan(20); // it has been tried at all
  });

  it('is left alone until its next turn when the user says "not now"', () => {
    const play = playRest();
    play.wait(HOUR_MS - 40_000 - play.at());
    play.tell({ type: 'postpone' });
    play.wait(HOUR_MS);
    expect(play.typings()).toEqual([]);
  });

  it('is compacted below 60 % of the window by nobody', () => {
    const below = playRest({}, 119_999);
    below.wait(2 * HOUR_MS);
    expect(below.typings()).toEqual([]);
    const at = playRest({}, 120_000);
    at.wait(2 * HOUR_MS);
    expect(at.typings()).toHaveLength(1);
  });

  it.each<[why: string, wish: Partial<CompactSettings>]>([
    ['the user has not switched it on', { mayCompactIdle: false }],
    ['the user wants to be asked', { mode: 'ask' }],
    ['the user only wants to see', { mode: 'warn' }],
  ])('is left alone where %s', (_, wish) => {
    const play = playRest(wish);
    play.wait(2 * HOUR_MS);
    expect(play.typings()).toEqual([]);
  });

  it('is left alone where the end of the cache is only computed', () => {
    const play = playCompaction({ mayCompactIdle: true });
    play.is('ready');
    play.turn(130_000);
    play.tell(warmUntil(HOUR_MS, false));
    play.wait(2 * HOUR_MS);
    expect(play.typings()).toEqual([]);
  });

  it('is left alone where the window is not known for certain', () => {
    const play = playCompaction({ mayCompactIdle: true });
    play.is('ready');
    play.turn();
    play.tell({ type: 'assumed-window', windowTokens: 200_000 }, shows(75), warmUntil(HOUR_MS));
    play.tell({ type: 'reading', reading: { usedTokens: 150_000, source: 'log', at: 1 } });
    play.wait(2 * HOUR_MS);
    expect(play.typings()).toEqual([]);
  });

  it('is left alone while the user types, works or reads a dialog, and once the cache is cold', () => {
    for (const activity of ['draft', 'busy', 'dialog', 'unknown'] as const) {
      const play = playRest();
      play.wait(HOUR_MS - 50_000 - play.at());
      play.is(activity);
      play.wait(50_000);
      play.is('ready');
      play.wait(HOUR_MS);
      expect(play.typings()).toEqual([]);
    }
  });

  it('waits for a pause in the typing of the user, who may change their mind', () => {
    const play = playRest();
    play.wait(HOUR_MS - 40_000 - play.at());
    play.keys();
    expect(play.words()).toBe('waiting: you just typed');
    play.wait(20_000);
    expect(play.typings()).toHaveLength(1);
  });

  it('is compacted as ever where the window is full', () => {
    const play = playRest({}, 165_000);
    play.wait(11_500);
    expect(play.phase()).not.toMatchObject({ attempt: { isIdle: true } });
    expect(play.typings()).toHaveLength(1);
  });

  it('has no cache after a compaction until the next answer', () => {
    const play = playRest();
    play.boundary();
    play.used(130_000);
    play.wait(2 * HOUR_MS);
    expect(play.typings()).toEqual([]);
  });
});
