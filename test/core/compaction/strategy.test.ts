// A compaction by a strategy: the same gate and the same outcomes as with the agent's command, and more time.
import { describe, expect, it } from 'vitest';
import { strategyInUse } from '../../../src/core/config/strategy.js';
import { AUTO_TOKENS, playCompaction } from '../../support/compaction-play.js';
import { answerEvent } from '../../../src/core/session-flow.js';
import { tokens } from '../../support/sessions.js';

const play = () => playCompaction({ strategy: 'truncate' }, { window: 200_000 });

const untilTyping = (session: ReturnType<typeof play>): void => {
  while (session.phase().kind !== 'typing') session.wait(500);
};

describe('a compaction by a strategy', () => {
  it('is asked for by the effect that would type the command, and verified by a smaller answer of the agent', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    expect(session.typings()).toMatchObject([{ effect: { strategy: 'truncate' } }]);
    expect(session.words()).toBe('shortening the conversation (truncate)');
    session.tell({ type: 'session-changed', sessionId: 'the-new-one' });
    session.sent();
    session.boundary({ initiator: 'ctxwrap', at: 1_000, preTokens: AUTO_TOKENS, postTokens: 40_000 });
    session.tell(tokens('log', 40_000, { at: 900 }));
    expect(session.outcomes()).toEqual([]);
    expect(session.words()).toBe('shortened, waiting for the new size');
    session.tell(tokens('log', 44_000, { at: 5_000 }));
    expect(session.last()).toMatchObject({
      initiator: 'ctxwrap',
      strategy: 'truncate',
      outcome: { kind: 'verified', after: { usedTokens: 44_000 } },
    });
    expect(session.words()).toMatch(/^✓ shortened .* → 44k$/);
  });

  it('that has nothing to remove says so, and is not tried again before the conversation has grown', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.typed({ kind: 'nothing', reason: 'everything would be kept', evidence: [] });
    expect(session.words()).toBe('nothing removed: everything would be kept');
    session.wait(120_000);
    session.turn(AUTO_TOKENS + 2_000);
    session.wait(120_000);
    expect(session.typings()).toHaveLength(1);
    expect(session.words()).toBe('waiting: nothing new since the last try');
  });

  it('can be chosen while the session runs, and given up for the command', () => {
    const chosen = playCompaction({}, { window: 200_000 });
    chosen.tell({ type: 'strategy', strategy: 'truncate' });
    chosen.turn(AUTO_TOKENS);
    untilTyping(chosen);
    expect(chosen.typings()).toMatchObject([{ effect: { strategy: 'truncate' } }]);
    const given = play();
    given.tell({ type: 'strategy', strategy: 'auto' });
    given.turn(AUTO_TOKENS);
    untilTyping(given);
    expect(given.typings().map(({ effect }) => 'strategy' in effect && effect.strategy)).toEqual([undefined]);
  });

  it('whose module cannot be used is replaced by the command, and is no failure', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.wait(60_000);
    session.typed({ kind: 'skipped', reason: 'its module fails', evidence: [], isStrategyLost: true });
    expect(session.state().policy.failures).toBe(0);
    session.wait(15_000);
    expect(session.typings().map(({ effect }) => 'strategy' in effect && effect.strategy)).toEqual([
      'truncate',
      undefined,
    ]);
    expect(session.words()).toBe('typing /compact');
  });

  it('that you have asked for and whose module cannot be used goes on with the command', () => {
    const session = play();
    session.turn(20_000);
    session.wait(10_000);
    session.ask('one');
    untilTyping(session);
    session.typed({ kind: 'skipped', reason: 'its module fails', evidence: [], isStrategyLost: true });
    untilTyping(session);
    expect(session.typings()).toHaveLength(2);
    expect(session.outcomes()).toEqual([]);
  });

  describe('whose session the agent takes later than was waited for', () => {
    const told = () => {
      const session = play();
      session.tell({ type: 'session-changed', sessionId: 'the-old-one' });
      session.turn(AUTO_TOKENS);
      untilTyping(session);
      const pendingSession = { id: 'the-new-one', writtenAt: 1_000 };
      session.typed({ kind: 'sent', isQueued: false, evidence: ['it does not show it'], pendingSession });
      return session;
    };
    const taken = (session: ReturnType<typeof play>) => {
      session.tell({ type: 'session-changed', sessionId: 'the-new-one' });
      session.boundary({
        initiator: 'ctxwrap',
        at: 1_000,
        preTokens: AUTO_TOKENS,
        postTokens: 40_000,
        shortening: { strategy: 'truncate', isManual: false },
      });
    };
    const oneRecord = [
      {
        ended: {
          initiator: 'ctxwrap',
          strategy: 'truncate',
          isManual: false,
          before: { usedTokens: AUTO_TOKENS },
          outcome: { kind: 'verified', after: { usedTokens: 44_000 } },
        },
      },
    ];

    it('is one compaction of ctxwrap, with the sizes that the agent says', () => {
      const session = told();
      expect(session.words()).toBe('continuing with less, waiting for its answer');
      session.wait(3_600_000);
      expect(session.outcomes()).toEqual([]);
      taken(session);
      expect(session.words()).toBe('shortened, waiting for the new size');
      session.tell(tokens('log', 44_000, { at: 5_000 }));
      expect(session.past()).toMatchObject(oneRecord);
    });

    it('is one also where the new conversation is seen before its id is known', () => {
      const session = told();
      session.tell({ type: 'view', view: { shows: 'conversation', names: [], messages: [] } });
      taken(session);
      session.tell(tokens('log', 44_000, { at: 5_000 }));
      expect(session.past()).toMatchObject(oneRecord);
    });

    it('is one also where the agent shows its session only with its next answer', () => {
      const session = told();
      session.turn();
      taken(session);
      session.tell(tokens('log', 40_000, { at: 1_000 }), tokens('log', 44_000, { at: 5_000 }));
      expect(session.past()).toMatchObject(oneRecord);
    });

    it('is not confirmed where the next answer says as much as before', () => {
      const session = told();
      session.turn();
      session.tell(tokens('log', AUTO_TOKENS + 100, { at: 5_000 }));
      expect(session.outcomes()).toEqual(['unverified']);
    });

    it.each([
      [
        'another conversation',
        (session: ReturnType<typeof play>) => session.tell({ type: 'session-changed', sessionId: 'another' }),
      ],
      [
        'another one, from a list',
        (session: ReturnType<typeof play>) => {
          session.tell({ type: 'view', view: { shows: 'list', name: '' } });
          session.tell({ type: 'session-changed', sessionId: 'another' });
        },
      ],
    ])('has no evidence where the agent goes on in %s', (_, goOn) => {
      const session = told();
      goOn(session);
      session.tell(tokens('log', 20_000, { at: 5_000 }));
      expect(session.outcomes()).toEqual(['no-evidence']);
    });
  });

  it('answers the key that asked for it while the new size is waited for', () => {
    const session = play();
    session.is('ready');
    session.turn(100_000);
    session.boundary({ initiator: 'ctxwrap', at: 1_000, preTokens: 100_000, postTokens: 20_000 });
    session.tell({ type: 'notice', text: 'a tip', priority: 50 });
    expect(session.footer()).toBe('shortened, waiting for the new size');
    session.tell(answerEvent('rescued by truncate, 100k → ~20k'));
    expect(session.footer()).toBe('rescued by truncate, 100k → ~20k');
    session.wait(6_000);
    expect(session.footer()).toBe('shortened, waiting for the new size');
  });

  it('for which the agent is started again leaves its record to the next run', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.tell({ type: 'restart-planned', isPlanned: true });
    session.is('dead');
    expect(session.outcomes()).toEqual([]);

    const next = play();
    next.is('ready');
    const shortening = { strategy: 'truncate', isManual: false, startedAt: 500 };
    next.boundary({
      initiator: 'ctxwrap',
      at: 1_000,
      preTokens: AUTO_TOKENS,
      postTokens: 40_000,
      shortening,
    });
    next.tell(tokens('log', 44_000, { at: 5_000 }));
    expect(next.past()).toMatchObject([
      { ended: { initiator: 'ctxwrap', ...shortening, outcome: { kind: 'verified' } } },
    ]);
  });

  it('that ends with the agent, whose restart is not planned any more, was interrupted', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.tell({ type: 'restart-planned', isPlanned: true }, { type: 'restart-planned', isPlanned: false });
    session.is('dead');
    expect(session.outcomes()).toEqual(['interrupted']);
    expect(session.last()?.evidence).toEqual(['the agent ended before it had the shorter conversation']);
  });

  it('that was asked for answers with the restart of the agent', () => {
    const session = play();
    session.turn(100_000);
    session.ask('one');
    session.wait(15_000);
    expect(session.phase().kind).toBe('typing');
    session.tell({ type: 'restart-planned', isPlanned: true });
    session.is('dead');
    expect(session.state().effects).toContainEqual({
      type: 'restarting',
      requestId: 'one',
      strategy: 'truncate',
    });
  });

  it('that another conversation follows before an answer has no evidence', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.tell({ type: 'session-changed', sessionId: 'the-new-one' });
    session.sent();
    session.boundary({ initiator: 'ctxwrap', at: 1_000, preTokens: AUTO_TOKENS, postTokens: 40_000 });
    session.tell({ type: 'session-changed', sessionId: 'another' });
    expect(session.outcomes()).toEqual(['no-evidence']);
  });

  it('has minutes for a summary, and not for ever', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.wait(600_000);
    expect(session.phase().kind).toBe('typing');
    session.wait(400_000);
    expect(session.outcomes()[0]).toBe('not-delivered');
  });

  it('that is refused counts as an attempt that changed nothing', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    untilTyping(session);
    session.typed({ kind: 'withdrawn', reason: 'the summary is empty', evidence: [] });
    expect(session.last()).toMatchObject({
      outcome: { kind: 'not-delivered', reason: 'the summary is empty' },
    });
  });
});

describe('the strategy in use', () => {
  it.each([
    [{}, undefined],
    [{ strategy: 'auto', backend: 'ollama' }, undefined],
    [{ strategy: 'truncate' }, 'truncate'],
    [{ backend: 'claude' }, undefined],
    [{ backend: 'ollama' }, 'truncate'],
    [{ backend: 'custom' }, 'truncate'],
    [{ backend: 'openai' }, undefined], // a summary needs somebody who writes it: here the agent
    [{ backend: 'vllm', 'summariser.url': 'http://127.0.0.1:1/v1' }, 'summarize'],
  ])('of %j with CUSTOM_CONTEXT_COMPACTION is %s', (values, expected) => {
    expect(strategyInUse({ mode: 'auto', ...values }, true)).toBe(expected);
  });

  it("is the agent's own command unless the mode or the strategy was set", () => {
    expect(strategyInUse({ mode: 'auto', backend: 'ollama' }, false)).toBeUndefined();
    expect(strategyInUse({ mode: 'warn', backend: 'ollama' }, true)).toBeUndefined();
    expect(strategyInUse({ mode: 'warn', strategy: 'truncate' }, false)).toBe('truncate');
  });
});
