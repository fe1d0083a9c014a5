// An agent that works on its plan: the compaction waits for the end of a piece of the work, within bounds.
import { describe, expect, it } from 'vitest';
import type { Work } from '../../../src/core/conversation/work-progress.js';
import type { CompactSettings } from '../../../src/core/compaction/state.js';
import { AUTO_TOKENS, HARD_TOKENS, NOON, playCompaction, type Play } from '../../support/compaction-play.js';
import { inSession } from '../../support/sessions.js';

const onPlan: Work = { plan: { done: 3, total: 4 } };
const MINUTES_MS = 600_000;

/** An agent that stops in a full window after a turn that left this of its work. */
const playWork = (work: Work, used = AUTO_TOKENS, wish: Partial<CompactSettings> = {}): Play => {
  const play = playCompaction(wish);
  play.is('ready');
  play.is('busy');
  play.wait(4_000);
  play.tell({ type: 'work', work });
  play.used(used);
  play.is('ready');
  return play;
};
const typedAt = (play: Play): readonly number[] => play.typings().map(({ at }) => at);

describe('in the middle of a plan', () => {
  it('the compaction waits, and the footer says for what', () => {
    const play = playWork(onPlan);
    play.wait(1_500);
    expect(play.words()).toBe('waiting for the plan to finish (3 of 4)');
    play.wait(300_000);
    expect(play.typings()).toEqual([]);
  });

  it.each(['commit', 'item', 'plan', 'tests'] as const)('the wait is over after this end: %s', (ended) => {
    const play = playWork(onPlan);
    play.wait(60_000);
    play.is('busy');
    play.wait(20_000);
    play.tell({ type: 'work', work: { ...onPlan, ended } });
    play.used(AUTO_TOKENS + 2_000);
    play.is('ready');
    play.wait(11_500);
    expect(typedAt(play)).toEqual([play.at()]);
  });

  it('the countdown stops when the records come after the first idle second', () => {
    const play = playWork({});
    play.wait(5_000);
    expect(play.phase().kind).toBe('countdown');
    play.tell({ type: 'work', work: onPlan });
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it('the wait lasts ten minutes from auto on, however often the agent works meanwhile, and counts down then', () => {
    const play = playWork(onPlan);
    const since = play.at();
    for (let times = 0; times < 4; times += 1) {
      play.wait(60_000);
      play.turn(AUTO_TOKENS + times * 1_000);
    }
    play.wait(since + MINUTES_MS - play.at());
    expect(play.words()).toBe('compacting in 10 s · Esc: not now');
    play.wait(10_000);
    expect(typedAt(play)).toEqual([since + MINUTES_MS + 10_000]);
  });

  it('nothing waits at hard', () => {
    const play = playWork(onPlan);
    play.wait(30_000);
    play.turn(HARD_TOKENS);
    play.wait(11_500);
    expect(typedAt(play)).toEqual([play.at()]);
  });

  it('what the user asks for does not wait', () => {
    const play = playWork(onPlan);
    play.wait(30_000);
    play.ask('one');
    expect(typedAt(play)).toEqual([play.at()]);
  });

  it('a busy agent is told before the plan', () => {
    const play = playWork(onPlan);
    play.is('busy');
    expect(play.words()).toBe('waiting: the agent is busy');
  });

  it('a prompt cache that is about to go cold is not waited away', () => {
    const play = playWork(onPlan, AUTO_TOKENS, { mayCompactIdle: true });
    const expiresAt = NOON + play.at() + 300_000;
    play.tell({ type: 'cache', cache: { expiresAt, exact: true } });
    play.wait(300_000);
    expect(typedAt(play)).toEqual([expiresAt - NOON - 35_000]);
  });

  it('what is proposed in the mode ask does not wait', () => {
    const play = playWork(onPlan, AUTO_TOKENS, { mode: 'ask' });
    play.wait(2_000);
    expect(play.phase().kind).toBe('proposed');
  });
});

describe('without a plan that is being worked on', () => {
  it.each<readonly [string, (play: Play) => void]>([
    ['there is none', (play) => play.tell({ type: 'work', work: {} })],
    ['the conversation is another one', (play) => play.tell(inSession('one'), inSession('two'))],
    ['the window was compacted', (play) => play.boundary()],
  ])('the compaction begins at the first idle second: %s', (_, happens) => {
    const play = playWork(onPlan);
    play.wait(20_000);
    happens(play);
    play.turn(AUTO_TOKENS + 1_000);
    play.wait(11_500);
    expect(typedAt(play)).toEqual([play.at()]);
  });
});
