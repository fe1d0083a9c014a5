// A compaction that the agent is asked for by its control channel: the same gate but for a draft, and the same outcomes.
import { describe, expect, it } from 'vitest';
import { attemptRecord } from '../../../src/core/compaction/protocol.js';
import { parseAnswer } from '../../../src/core/compaction/requests.js';
import type { CompactSettings } from '../../../src/core/compaction/state.js';
import type { Activity } from '../../../src/core/reading.js';
import { AUTO_TOKENS, NOON, playFull, playTyping, type Play } from '../../support/compaction-play.js';

const channel = { via: 'server', name: "opencode's server" } as const;
const wish: Partial<CompactSettings> = { channel };

const asked = (play: Play): void =>
  play.typed({ kind: 'sent', isQueued: false, evidence: ["asked opencode's server"] });

const close = (play: Play): void => {
  play.tell({ type: 'channel-closed' });
  play.typed({ kind: 'skipped', reason: "opencode's server cannot be asked: status 401", evidence: [] });
};

describe('a compaction by the control channel', () => {
  it('is asked for by the effect that would type the command, and says so while it is', () => {
    const play = playTyping(wish);
    expect(play.typings()).toMatchObject([{ effect: { channel } }]);
    expect(play.words()).toBe("asking opencode's server to compact");
  });

  it('leaves a draft in the prompt, and does not wait for its end', () => {
    const play = playFull(wish);
    play.keys();
    play.is('draft');
    play.wait(30_000);
    expect(play.typings()).toHaveLength(1);
  });

  it.each<Activity>(['busy', 'dialog', 'compacting', 'unknown'])(
    'waits while the agent is %s',
    (activity) => {
      const play = playFull(wish);
      play.is(activity);
      play.wait(60_000);
      expect(play.typings()).toEqual([]);
    },
  );

  it('waits until the user has stopped typing', () => {
    const play = playFull(wish);
    for (let second = 0; second < 60; second += 1) {
      play.keys();
      play.is('draft');
      play.wait(1_000);
    }
    expect(play.typings()).toEqual([]);
  });

  it('types a command that a busy agent is to queue', () => {
    const play = playFull({ ...wish, mayQueue: true });
    play.is('busy');
    play.wait(30_000);
    expect(play.typings()).toMatchObject([{ effect: { isQueued: true, channel: undefined } }]);
  });

  it('is not used where a strategy shortens the conversation', () => {
    const play = playFull({ ...wish, strategy: 'truncate' });
    play.is('draft');
    play.wait(60_000);
    expect(play.typings()).toEqual([]);
  });

  it.each([
    ['the record of the agent', (play: Play) => play.boundary({ preTokens: AUTO_TOKENS, postTokens: 9_000 })],
    ['a smaller number', (play: Play) => play.used(9_000)],
  ])('is verified by %s, and recorded with its way', (_, prove) => {
    const play = playTyping(wish);
    asked(play);
    play.is('compacting');
    play.wait(1_000);
    prove(play);
    const ended = play.last();
    expect(ended).toMatchObject({ initiator: 'ctxwrap', via: 'server', outcome: { kind: 'verified' } });
    const record = ended && attemptRecord(ended);
    expect(record?.via).toBe('server');
    const answer = { schema: 'ctxwrap.answer/1', session: 's', request: 'r', at: NOON, state: 'ended' };
    expect(parseAnswer(JSON.stringify({ ...answer, attempt: record }))).toMatchObject({ attempt: record });
  });

  it('that the agent reports as failed has failed', () => {
    const play = playTyping(wish);
    asked(play);
    play.is('compacting');
    play.failed('made up 500');
    expect(play.last()).toMatchObject({ via: 'server', outcome: { kind: 'failed', text: 'made up 500' } });
  });

  it('that nothing follows did not start', () => {
    const play = playTyping(wish);
    asked(play);
    play.wait(90_000);
    expect(play.outcomes()).toEqual(['not-started']);
  });

  it('that starts late is waited for, also with a draft in the prompt: that is no rest of a command', () => {
    const play = playTyping(wish);
    asked(play);
    play.is('draft');
    play.wait(20_000);
    expect(play.outcomes()).toEqual([]);
    play.is('compacting');
    play.used(9_000);
    expect(play.outcomes()).toEqual(['verified']);
  });

  it('that works after it was given up keeps its way', () => {
    const play = playTyping(wish);
    asked(play);
    play.wait(90_000);
    play.boundary({ initiator: 'user', postTokens: 9_000 });
    expect(play.last()).toMatchObject({ via: 'server', isLate: true, outcome: { kind: 'verified' } });
  });
});

describe('a control channel that cannot be used', () => {
  it('is not asked again: the command is typed, as if there were none', () => {
    const play = playTyping(wish);
    close(play);
    play.wait(12_000);
    expect(play.outcomes()).toEqual(['skipped-busy']);
    expect(play.typings()).toHaveLength(2);
    expect(play.typings().at(-1)).toMatchObject({ effect: { channel: undefined } });
    expect(play.words()).toBe('typing /compact');
    play.sent();
    play.is('compacting');
    play.used(9_000);
    expect(play.last()).toMatchObject({ via: undefined, outcome: { kind: 'verified' } });
  });

  it('leaves a request of the user open, for which the command is typed at once', () => {
    const play = playFull({ ...wish, mode: 'warn' });
    play.wait(3_000);
    play.ask('r1', { focus: 'the tests' });
    expect(play.typings()).toMatchObject([{ effect: { channel } }]);
    close(play);
    expect(play.outcomes()).toEqual([]);
    expect(play.typings()).toMatchObject([{}, { effect: { focus: 'the tests', channel: undefined } }]);
    play.sent();
    play.is('compacting');
    play.used(9_000);
    const ended = play.done.filter(({ effect }) => effect.type === 'ended');
    expect(ended).toMatchObject([{ effect: { requestId: 'r1', ended: { outcome: { kind: 'verified' } } } }]);
  });

  it('leaves a draft to wait for', () => {
    const play = playFull(wish);
    play.is('draft');
    play.wait(12_000);
    expect(play.phase().kind).toBe('typing');
    close(play);
    play.wait(50_000);
    expect(play.typings()).toHaveLength(1);
    expect(play.words()).toBe('waiting: unsent text in the prompt');
  });

  it('stays closed when the settings change', () => {
    const play = playTyping(wish);
    close(play);
    const { settings } = play.state();
    play.tell({
      type: 'settings',
      settings: { ladder: {}, compact: { ...settings, channel } },
    });
    play.wait(12_000);
    expect(play.typings()).toHaveLength(2);
    expect(play.typings().at(-1)).toMatchObject({ effect: { channel: undefined } });
  });
});
