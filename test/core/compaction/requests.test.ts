// A compaction that somebody asks for: by the hotkey, or from another terminal.
import { describe, expect, it } from 'vitest';
import {
  AUTO_TOKENS,
  failOnce,
  playBegun,
  playCompaction,
  playFull,
  playTyping,
} from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

const quiet = (): Play => {
  const play = playCompaction();
  play.is('ready');
  play.turn(50_000);
  return play;
};

/** A breaker that is open, and a turn after that. */
const broken = (): Play => {
  const play = playTyping();
  for (let times = 1; times <= 3; times += 1) {
    if (times > 1) play.wait(71_500);
    failOnce(play);
    play.turn();
  }
  return play;
};

const refusals = (play: Play): readonly string[] =>
  play.done.flatMap(({ effect }) =>
    effect.type === 'refused' ? [`${effect.requestId}: ${effect.reason}`] : [],
  );

describe('a request', () => {
  it('is typed at the next safe moment without a countdown, however empty the window is', () => {
    const play = quiet();
    play.ask('one');
    play.wait(1_499);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it.each(['ask', 'warn'] as const)('is typed in the mode %s, too', (mode) => {
    const play = playFull({ mode });
    play.ask('one');
    play.wait(1_500);
    expect(play.typings()).toHaveLength(1);
  });

  it.each(['busy', 'dialog', 'draft', 'unknown'] as const)(
    'waits while the agent is %s, forced or not, and for a user who types',
    (activity) => {
      const play = quiet();
      play.is(activity);
      play.ask('one', { force: true });
      play.wait(590_000);
      expect(play.typings()).toEqual([]);
      play.is('ready');
      play.wait(1_000);
      play.keys();
      play.wait(2_999);
      expect(play.typings()).toEqual([]);
      play.wait(1);
      expect(play.typings()).toHaveLength(1);
    },
  );

  it('carries its own focus, or that of the settings', () => {
    const [own, usual] = [playCompaction({ focus: 'the API' }), playCompaction({ focus: 'the API' })];
    own.ask('one', { focus: 'the tests' });
    usual.ask('one');
    for (const play of [own, usual]) {
      play.is('ready');
      play.wait(1_500);
    }
    expect(own.typings()[0]?.effect).toMatchObject({ focus: 'the tests' });
    expect(usual.typings()[0]?.effect).toMatchObject({ focus: 'the API' });
  });

  it('is answered with the outcome, once, and marked as manual', () => {
    const play = quiet();
    play.ask('one');
    play.wait(1_500);
    play.sent();
    play.boundary();
    const ended = play.done.filter(({ effect }) => effect.type === 'ended');
    expect(ended).toMatchObject([{ effect: { requestId: 'one', ended: { isManual: true } } }]);
    expect(play.state().request).toBeUndefined();
  });

  it('does not wait for the pause between attempts, nor for a turn of the agent', () => {
    const play = playTyping();
    failOnce(play);
    play.ask('one');
    play.wait(1_500);
    expect(play.typings()).toHaveLength(2);
  });

  it('is refused while the breaker is open, unless it is forced', () => {
    const play = broken();
    play.ask('one');
    expect(refusals(play)).toEqual(['one: paused after 3 failures']);
    expect(play.phase()).toMatchObject({ kind: 'blocked', block: { why: 'breaker' } });
    play.ask('two', { force: true });
    play.wait(1_500);
    expect(play.typings()).toHaveLength(4);
  });

  it('that is forced and works closes the breaker', () => {
    const play = broken();
    play.ask('one', { force: true });
    play.wait(1_500);
    play.sent();
    play.boundary();
    expect(play.state().policy.failures).toBe(0);
  });

  it('that is refused does not stop a countdown at hard', () => {
    const play = broken();
    play.turn(180_000);
    play.wait(5_000);
    const before = play.phase();
    expect(before.kind).toBe('countdown');
    play.ask('one');
    expect(refusals(play)).toHaveLength(1);
    expect(play.phase()).toEqual(before);
  });

  it('is refused while another one waits, or a compaction is under way', () => {
    const waiting = quiet();
    waiting.is('busy');
    waiting.ask('one');
    waiting.ask('two');
    expect(refusals(waiting)).toEqual(['two: another request is waiting']);
    const [typing, sent, foreign] = [playTyping(), playBegun(), playFull()];
    foreign.is('compacting');
    for (const play of [typing, sent, foreign]) {
      play.ask('one');
      expect(refusals(play)).toEqual(['one: a compaction is under way']);
    }
  });

  it('is taken where the last compaction only waits for its number', () => {
    const ours = playBegun();
    ours.boundary({ source: 'screen' });
    const foreign = playCompaction();
    foreign.is('compacting');
    foreign.boundary({ source: 'screen' });
    for (const play of [ours, foreign]) {
      play.is('ready');
      play.wait(60_000);
      play.ask('one');
      expect(refusals(play)).toEqual([]);
      expect(play.typings().length).toBe(play === ours ? 2 : 1);
    }
    expect(ours.outcomes()).toEqual(['unverified']);
  });

  it('is refused where it is not known how the agent compacts', () => {
    const play = playCompaction(
      {},
      { compact: { mode: 'auto', startMs: 0, finishMs: 0, isProactive: false } },
    );
    play.ask('one', { force: true });
    expect(refusals(play)).toEqual(['one: no compact command of this agent is known, or it is switched off']);
  });

  it('can be cancelled while it waits, by its own id', () => {
    const play = quiet();
    play.is('busy');
    play.ask('one');
    play.tell({ type: 'compact-cancelled', id: 'two' });
    expect(play.state().request).toBeDefined();
    play.tell({ type: 'compact-cancelled', id: 'one' });
    play.is('ready');
    play.wait(60_000);
    expect(play.done).toEqual([]);
  });

  it('is given up after ten minutes, for nobody knows whether it is still wanted', () => {
    const play = quiet();
    play.is('busy');
    play.ask('one');
    play.wait(599_999);
    expect(refusals(play)).toEqual([]);
    play.wait(1);
    expect(refusals(play)).toEqual(['one: no safe moment came in 10 minutes']);
    play.is('ready');
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it('is not given up while it is under way', () => {
    const play = quiet();
    play.ask('one');
    play.wait(1_500);
    play.sent(true);
    play.wait(700_000);
    expect(refusals(play)).toEqual([]);
    play.boundary();
    expect(play.outcomes()).toEqual(['verified']);
  });

  it('by a key is withdrawn by the same key, but not by another program', () => {
    const play = quiet();
    play.is('busy');
    play.ask('key-1', { isByKey: true });
    play.ask('other');
    expect(play.state().request?.id).toBe('key-1');
    play.ask('key-2', { isByKey: true });
    expect(refusals(play)).toEqual(['other: another request is waiting', 'key-1: withdrawn by the same key']);
    play.is('ready');
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
    play.ask('key-3', { isByKey: true });
    expect(play.typings()).toHaveLength(1);
  });

  it('of another program is not withdrawn by a key', () => {
    const play = quiet();
    play.is('busy');
    play.ask('other');
    play.ask('key-1', { isByKey: true });
    expect(refusals(play)).toEqual(['key-1: another request is waiting']);
  });

  it('takes the place of the countdown; cancelled, the countdown starts anew', () => {
    const play = playFull();
    play.wait(5_000);
    play.keys();
    play.ask('one');
    play.wait(2_000);
    play.tell({ type: 'compact-cancelled', id: 'one' });
    play.wait(10_999);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it('that comes to nothing before the first key is told so, and counts for nothing', () => {
    const play = quiet();
    play.ask('one');
    play.wait(1_500);
    play.typed({ kind: 'skipped', reason: 'the agent is busy', evidence: [] });
    expect(play.done.at(-1)?.effect).toMatchObject({ type: 'ended', requestId: 'one' });
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
  });

  it('that waits is refused at the end of the agent, and any that comes after it', () => {
    const play = playFull({}, AUTO_TOKENS);
    play.is('busy');
    play.ask('one');
    play.is('dead');
    play.ask('two');
    expect(refusals(play)).toEqual(['one: the agent has ended', 'two: the agent has ended']);
  });
});
