// A clock that jumps lets nothing through that nobody has seen.
import { describe, expect, it } from 'vitest';
import { playBegun, playFull } from '../../support/compaction-play.js';
import { alarm } from '../../support/sessions.js';

const HOUR = 3_600_000;

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
