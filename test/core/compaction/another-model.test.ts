// The agent runs another model, while a compaction is due or its command is being typed.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.js';
import { playCompaction, playFull, playTyping, type Play } from '../../support/compaction-play.js';

const another: Event = { type: 'model', model: 'claude-opus-4-8' };
const CHANGED = 'the model has changed';

const withdrawals = (play: Play): readonly unknown[] =>
  play.done.flatMap(({ effect }) => (effect.type === 'withdraw' ? [effect.reason] : []));

describe('a change of the model', () => {
  it('ends a countdown: if the window is full then, too, another one begins from its start', () => {
    const play = playFull();
    play.wait(9_500);
    expect(play.words()).toContain('compacting in 2 s');
    play.tell(another);
    play.wait(5_000);
    expect(play.typings()).toEqual([]);
  });

  it('takes back what is being typed, once, and counts no failure', () => {
    const play = playTyping();
    const { policy } = play.state();
    play.tell(another, another);
    expect(withdrawals(play)).toEqual([CHANGED]);
    expect(play.words()).toBe(`${CHANGED}: taking the command back`);
    play.typed({ kind: 'withdrawn', reason: CHANGED, evidence: ['typed /compact, Backspace 8×'] });
    expect(play.last()).toMatchObject({ outcome: { kind: 'skipped-busy', reason: CHANGED } });
    expect(play.state().policy).toEqual(policy);
  });

  it('that comes before the first key has nothing typed at all', () => {
    const play = playTyping();
    play.tell(another);
    play.typed({ kind: 'skipped', reason: CHANGED, evidence: [] });
    expect(play.outcomes()).toEqual(['skipped-busy']);
  });

  it('says so where the text may still be in the prompt', () => {
    const play = playTyping();
    play.tell(another);
    play.typed({ kind: 'withdrawn', reason: CHANGED, isLeft: true, evidence: [] });
    expect(play.last()).toMatchObject({ outcome: { kind: 'not-delivered', reason: CHANGED } });
  });

  it('cannot take back what was sent', () => {
    const typing = playTyping();
    typing.tell(another);
    typing.sent();
    expect(typing.phase().kind).toBe('sent');
    const sent = playTyping();
    sent.sent();
    sent.tell(another);
    expect([sent.phase().kind, withdrawals(sent)]).toEqual(['sent', []]);
  });

  it('leaves a request of the user’s open, which is typed at the next safe moment', () => {
    const play = playCompaction();
    play.is('ready');
    play.turn(50_000);
    play.ask('one');
    play.wait(1_500);
    play.tell(another);
    play.typed({ kind: 'withdrawn', reason: CHANGED, evidence: [] });
    expect(play.done.filter(({ effect }) => 'requestId' in effect && effect.requestId === 'one')).toEqual([]);
    play.wait(2_000);
    expect(play.typings()).toHaveLength(2);
    play.sent();
    play.boundary({ postTokens: 9_000 });
    expect(play.done.at(-1)).toMatchObject({ effect: { type: 'ended', requestId: 'one' } });
  });
});
