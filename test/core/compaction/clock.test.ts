// A clock that is set back keeps nothing shut for hours and shortens no pause; one that jumps lets nothing through that nobody has seen.
import { describe, expect, it } from 'vitest';
import { failOnce, playBegun, playFull, playTyping } from '../../support/compaction-play.js';
import { alarm } from '../../support/sessions.js';

const HOUR = 3_600_000;

describe('a clock that is set back by an hour', () => {
  it('in the countdown: it goes on for as long as it would have, or begins again', () => {
    const play = playFull();
    play.wait(5_000);
    play.setClock(-HOUR);
    play.tell(alarm);
    play.wait(1_500 + 9_999);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it('after a key: 3 s are waited for, no more', () => {
    const play = playFull();
    play.keys();
    play.setClock(-HOUR);
    play.tell(alarm);
    play.wait(3_000 + 10_000);
    expect(play.typings()).toHaveLength(1);
  });

  it('in the pause after an attempt: the pause is 60 s from now', () => {
    const play = playTyping();
    failOnce(play);
    play.turn();
    play.setClock(-HOUR);
    play.tell(alarm);
    play.wait(60_000 + 9_999);
    expect(play.typings()).toHaveLength(1);
    play.wait(1);
    expect(play.typings()).toHaveLength(2);
  });

  it('while the breaker is open: it is half open five minutes from now', () => {
    const play = playTyping();
    for (let times = 1; times <= 3; times += 1) {
      if (times > 1) play.wait(71_500);
      failOnce(play);
      play.turn();
    }
    play.setClock(-HOUR);
    play.tell(alarm);
    play.wait(300_000 + 9_999);
    expect(play.typings()).toHaveLength(3);
    play.wait(1);
    expect(play.typings()).toHaveLength(4);
  });

  it.each([
    { phase: 'typing', ms: 15_000, outcome: 'not-delivered' },
    { phase: 'sent', ms: 65_000, outcome: 'not-started' },
    { phase: 'begun', ms: 120_000, outcome: 'timeout' },
    { phase: 'gone', ms: 3_000, outcome: 'interrupted' },
  ] as const)('in the phase $phase: it ends after $ms ms', ({ phase, ms, outcome }) => {
    const play = phase === 'typing' || phase === 'sent' ? playTyping() : playBegun();
    if (phase === 'sent') play.sent();
    if (phase === 'gone') play.is('ready');
    play.setClock(-HOUR);
    play.tell(alarm);
    play.wait(ms - 1);
    expect(play.outcomes()).toEqual([]);
    play.wait(1);
    expect(play.outcomes()).toEqual([outcome]);
  });

  it('makes no old number a new one', () => {
    const play = playBegun();
    play.boundary({ source: 'screen' });
    const voided = play.outcomes();
    play.setClock(-HOUR);
    play.tell(alarm);
    expect(play.outcomes()).toEqual(voided);
    play.used(20_000);
    expect(play.outcomes()).toEqual(['verified']);
  });

  it('shows an outcome for its half minute, and takes it away', () => {
    const play = playTyping();
    failOnce(play);
    play.setClock(-HOUR);
    play.tell(alarm);
    expect(play.words()).toBe('compaction failed: API Error: 500');
    play.wait(30_000);
    expect(play.words()).not.toBe('compaction failed: API Error: 500');
  });
});

describe('a machine that slept, or a program that was stopped', () => {
  it.each([3_001, HOUR])('%i ms in the countdown: it is counted again, for nobody has seen it', (ms) => {
    const play = playFull();
    play.wait(9_500);
    play.setClock(ms);
    play.tell(alarm);
    expect(play.typings()).toEqual([]);
    play.wait(9_999);
    expect(play.typings()).toEqual([]);
    play.wait(1);
    expect(play.typings()).toHaveLength(1);
  });

  it('for a moment only: the countdown goes on', () => {
    const play = playFull();
    play.wait(10_500);
    play.setClock(3_000);
    play.tell(alarm);
    expect(play.typings()).toHaveLength(1);
  });

  it('in the middle of an attempt: it ends as if it had been waited for', () => {
    const play = playBegun();
    play.setClock(HOUR);
    play.tell(alarm);
    expect(play.outcomes()).toEqual(['timeout']);
  });
});
