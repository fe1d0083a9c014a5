// When an episode is over, and what ends the trying for good.
import { describe, expect, it } from 'vitest';
import { inSession } from '../../support/sessions.js';
import { AUTO_TOKENS, failOnce, HARD_TOKENS, playFull, playTyping } from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

const MINUTE = 60_000;

describe('an episode', () => {
  it('goes on when the window is a little emptier, and three attempts are all there are in it', () => {
    const play = playTyping();
    const interrupt = (): void => {
      play.sent();
      play.is('compacting');
      play.result({ kind: 'interrupted', by: 'the user' });
      play.is('ready');
    };
    for (let times = 0; times < 10; times += 1) {
      if (play.phase().kind === 'typing') interrupt();
      play.turn(155_000); // a file was dropped
      play.turn(AUTO_TOKENS);
      play.wait(2 * MINUTE);
    }
    expect(play.typings()).toHaveLength(3);
    expect(play.phase()).toEqual({ kind: 'blocked', block: { why: 'attempts', attempts: 3 } });
  });

  it('is over when the window is a tenth emptier', () => {
    const play = playTyping();
    failOnce(play);
    expect(play.state().policy.attempts).toBe(1);
    play.turn(AUTO_TOKENS * 0.9);
    expect(play.state().episodeSince).toBeUndefined();
    expect(play.state().policy.attempts).toBe(0);
  });

  it('is over in another conversation: /clear in the middle of the countdown', () => {
    const play = playFull();
    play.tell(inSession('one'));
    play.wait(5_000);
    play.tell(inSession('two'));
    play.wait(60 * MINUTE);
    expect(play.typings()).toEqual([]);
    expect(play.state().episodeSince).toBeUndefined();
  });
});

describe('a window that is full again at once', () => {
  const compactAndRefill = (play: Play, turns: number): void => {
    play.sent();
    play.boundary();
    play.is('ready');
    for (let turn = 1; turn < turns; turn += 1) play.turn(30_000);
    play.turn(HARD_TOKENS);
    play.wait(11_500);
  };

  it('three times within three turns is left to the user, at hard, too', () => {
    const play = playTyping({}, HARD_TOKENS);
    for (let times = 0; times < 3; times += 1) compactAndRefill(play, 3);
    expect(play.typings()).toHaveLength(3);
    expect(play.phase()).toEqual({ kind: 'blocked', block: { why: 'refills', refills: 3 } });
    play.turn();
    play.wait(60 * MINUTE);
    expect(play.typings()).toHaveLength(3);
  });

  it('within four turns it is work', () => {
    const play = playTyping({}, HARD_TOKENS);
    for (let times = 0; times < 10; times += 1) compactAndRefill(play, 4);
    expect(play.typings()).toHaveLength(11);
  });

  it('is counted once after each compaction, however often the number goes up and down', () => {
    const play = playTyping();
    play.sent();
    play.boundary();
    play.is('ready');
    for (let times = 0; times < 5; times += 1) {
      play.used(AUTO_TOKENS);
      play.used(100_000);
    }
    expect(play.state().policy.refills).toBe(1);
  });

  it('is tried again after a compaction by the user that lasted', () => {
    const play = playTyping({}, HARD_TOKENS);
    for (let times = 0; times < 3; times += 1) compactAndRefill(play, 1);
    play.boundary({ initiator: 'user' });
    for (let turn = 0; turn < 4; turn += 1) play.turn(30_000);
    play.turn(HARD_TOKENS);
    play.wait(11_500);
    expect(play.typings()).toHaveLength(4);
  });
});

describe('after a compaction that worked', () => {
  it('the window is compacted again when it is full again, also after turns that were too short to be seen', () => {
    const play = playFull();
    play.wait(12_000);
    play.sent();
    play.boundary({ preTokens: AUTO_TOKENS, postTokens: 9_000 });
    expect(play.outcomes()).toEqual(['verified']);
    play.wait(30_000);
    play.used(20_000);
    play.wait(30_000);
    play.used(AUTO_TOKENS);
    play.wait(30_000);
    expect(play.typings()).toHaveLength(2);
  });

  it('a first number that is no smaller starts nothing by itself', () => {
    const play = playFull();
    play.wait(12_000);
    play.sent();
    play.boundary({ preTokens: AUTO_TOKENS, postTokens: 9_000 });
    play.wait(30_000);
    play.used(AUTO_TOKENS);
    play.wait(30_000);
    expect(play.typings()).toHaveLength(1);
  });
});
