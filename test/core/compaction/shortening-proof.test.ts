// What ends the wait for the answer that proves a shortening: never another compaction's success, and never nothing at all.
import { describe, expect, it } from 'vitest';
import type { Boundary } from '../../../src/core/event.js';
import { AUTO_TOKENS, HARD_TOKENS, NOON, playCompaction } from '../../support/compaction-play.js';
import { inSession, tokens } from '../../support/sessions.js';

type Play = ReturnType<typeof playCompaction>;

const play = (): Play => playCompaction({ strategy: 'truncate' }, { window: 200_000 });

const untilTyping = (session: Play, used = AUTO_TOKENS): number => {
  session.tell(inSession('the-old-one'));
  session.turn(used);
  while (session.phase().kind !== 'typing') session.wait(500);
  const phase = session.phase();
  return phase.kind === 'typing' ? phase.attempt.startedAt : 0;
};

const WRITTEN = 1_000;
const tell = (session: Play): void =>
  session.typed({
    kind: 'sent',
    isQueued: false,
    evidence: ['it does not show it'],
    pendingSession: { id: 'the-new-one', writtenAt: WRITTEN },
  });
const shortened = (session: Play, shortening?: Boundary['shortening']): void =>
  session.boundary({
    initiator: 'ctxwrap',
    at: WRITTEN,
    preTokens: AUTO_TOKENS,
    postTokens: 40_000,
    ...(shortening ? { shortening } : {}),
  });
const answer = (session: Play, used: number): void => session.tell(tokens('log', used, { at: 5_000 }));

/** The agent was told, and does not show that it has taken it. */
const told = (used?: number): Play => {
  const session = play();
  untilTyping(session, used);
  tell(session);
  return session;
};

/** The agent has taken it. */
const taken = (): Play => {
  const session = play();
  untilTyping(session);
  session.tell(inSession('the-new-one'));
  session.sent();
  shortened(session);
  return session;
};

/** The agent was started again for it. */
const startedAgain = (): Play => {
  const session = play();
  session.is('ready');
  shortened(session, { strategy: 'truncate', isManual: false, startedAt: 500 });
  return session;
};

const past = (session: Play) =>
  session.past().map(({ ended: { initiator, outcome } }) => `${initiator} ${outcome.kind}`);

const waits: readonly (readonly [string, () => Play])[] = [
  ['that the agent was told of', () => told()],
  ['that the agent has taken', taken],
  ['for which the agent was started again', startedAgain],
];

describe.each(waits)('a shortening %s, while its proof is waited for,', (_, open) => {
  it.each(['agent', 'user'] as const)('is not proved by a compaction of the %s', (initiator) => {
    const session = open();
    session.boundary({ initiator, at: NOON, preTokens: AUTO_TOKENS, postTokens: 12_000 });
    expect(past(session)).toEqual(['ctxwrap no-evidence', `${initiator} verified`]);
    expect(session.past()[0]?.ended.outcome).toMatchObject({ reason: /before another compaction$/ });
    expect(session.phase().kind).toBe('rest');
  });

  it('does not get the blame for a compaction that has left nothing', () => {
    const session = open();
    session.boundary({ initiator: 'agent', at: NOON, summary: 'empty' });
    expect(session.outcomes()).toEqual(['no-evidence']);
  });

  it('goes on waiting where another command fails, or the screen shows an old compaction', () => {
    const session = open();
    session.failed();
    session.boundary({ source: 'screen' });
    expect(session.outcomes()).toEqual([]);
    answer(session, 44_000);
    expect(session.outcomes()).toEqual(['verified']);
  });

  it.each<[string, (session: Play) => void]>([
    ['the agent ends', (session) => session.is('dead')],
    ['another conversation follows', (session) => session.tell(inSession('another'))],
    ['you ask for the next one', (session) => session.ask('one')],
  ])('has one record where %s before the answer', (_what, happens) => {
    const session = open();
    session.tell(inSession(session.state().conversation ?? 'the-new-one'));
    happens(session);
    expect(session.outcomes()).toEqual(['no-evidence']);
  });
});

describe('a shortening that is taken back before the answer', () => {
  const from = 'the-old-one';
  const takenFrom = (): Play => {
    const session = play();
    const startedAt = untilTyping(session);
    session.tell(inSession('the-new-one'));
    session.sent();
    shortened(session, { strategy: 'truncate', isManual: false, startedAt, from });
    return session;
  };
  const startedAgainFrom = (): Play => {
    const session = play();
    session.is('ready');
    session.tell(inSession('the-new-one'));
    shortened(session, { strategy: 'truncate', isManual: false, startedAt: 500, from });
    return session;
  };

  it.each([
    ['has taken', takenFrom],
    ['was started again for', startedAgainFrom],
  ])('is undone, and no failure, where the agent %s it', (_, open) => {
    const session = open();
    session.tell(inSession(from));
    expect(session.outcomes()).toEqual(['undone']);
    expect(session.state().policy.failures).toBe(0);
    session.tell(inSession('another'));
    expect(session.outcomes()).toEqual(['undone']);
  });

  it.each([
    ['has taken', takenFrom],
    ['was started again for', startedAgainFrom],
  ])('is undone where the agent %s it and goes back to a copy of the whole conversation', (_, open) => {
    const session = open();
    session.tell({ type: 'going-back', sessionId: 'a-copy' });
    session.tell(inSession('a-copy'));
    expect(session.outcomes()).toEqual(['undone']);
  });

  it('is undone where another view came first', () => {
    const session = takenFrom();
    session.tell({ type: 'view', view: { shows: 'conversation', names: [], messages: [] } });
    session.tell(inSession(from));
    expect(session.outcomes()).toEqual(['undone']);
  });

  it('is undone where the agent has the whole conversation back in the same session', () => {
    const session = takenFrom();
    session.tell({ type: 'undone' });
    expect(session.past().map(({ ended }) => ended.outcome.kind)).toEqual(['undone']);
    expect(session.state().policy.failures).toBe(0);
  });

  it('is not undone in another conversation', () => {
    const session = takenFrom();
    session.tell(inSession('another'));
    expect(session.last()?.outcome).toEqual({
      kind: 'no-evidence',
      reason: 'no answer before another conversation',
    });
  });

  it('is proved by the answer after a look elsewhere', () => {
    const session = takenFrom();
    session.tell({ type: 'view', view: { shows: 'list', name: 'the list' } });
    session.tell(inSession('the-new-one'));
    answer(session, 44_000);
    expect(session.outcomes()).toEqual(['verified']);
  });
});

describe('a shortening that the agent does not show, and has no answer for,', () => {
  it('ends with the next turn, so that the next one can be tried at hard', () => {
    const session = told(HARD_TOKENS);
    session.turn();
    session.wait(9_999);
    expect(session.outcomes()).toEqual([]);
    session.wait(1);
    expect(session.last()?.outcome).toEqual({
      kind: 'no-evidence',
      reason: 'the shortened conversation was not seen before the end of a turn',
    });
    session.turn(HARD_TOKENS + 100);
    session.wait(15_000);
    expect(session.typings()).toHaveLength(2);
  });

  it('waits for the end of a turn that asks something', () => {
    const session = told();
    session.is('busy');
    session.is('dialog');
    session.wait(3_600_000);
    session.is('busy');
    session.wait(3_600_000);
    expect(session.outcomes()).toEqual([]);
    answer(session, 44_000);
    expect(session.outcomes()).toEqual(['verified']);
  });

  it('ends after ten minutes where the screen shows no turns, and waits for an agent that rests', () => {
    const session = told();
    session.wait(3_600_000);
    session.is('unknown');
    session.wait(599_999);
    expect(session.outcomes()).toEqual([]);
    session.wait(1);
    expect(session.last()?.outcome).toMatchObject({ kind: 'no-evidence', reason: /10 minutes$/ });
  });

  it('is not proved by an answer in a conversation that came into view and is not known', () => {
    const session = told();
    session.tell({ type: 'view', view: { shows: 'conversation', names: [], messages: [] } });
    answer(session, 20_000);
    expect(session.outcomes()).toEqual([]);
    session.tell(inSession('another'));
    expect(session.outcomes()).toEqual(['no-evidence']);
  });
});

it.each([
  ['has taken', taken],
  ['was started again for', startedAgain],
])(
  'a shortening that the agent %s does not hold back the next one where the window is full again without an answer',
  (_, open) => {
    const session = open();
    session.tell(tokens('official', HARD_TOKENS));
    session.wait(60_000);
    expect(session.outcomes()).toEqual([]); // it may be the number from before
    session.turn();
    session.wait(9_000);
    expect(session.outcomes()).toEqual([]);
    session.wait(2_000);
    expect(session.outcomes()).toEqual(['no-evidence']);
  },
);

describe('a shortening that the agent takes after its attempt has ended', () => {
  const late = (then: (session: Play) => void = () => undefined): Play => {
    const session = play();
    const startedAt = untilTyping(session);
    tell(session);
    session.turn();
    session.wait(10_000);
    then(session);
    session.tell(inSession('the-new-one'));
    shortened(session, { strategy: 'truncate', isManual: false, startedAt });
    return session;
  };

  it('is the same attempt, and its success takes the place of what was said before', () => {
    const session = late();
    answer(session, 44_000);
    expect(past(session)).toEqual(['ctxwrap verified']);
    expect(session.last()).toMatchObject({ isLate: true, strategy: 'truncate' });
  });

  it('changes nothing where the answer says as much as before', () => {
    const session = late();
    answer(session, AUTO_TOKENS + 100);
    expect(past(session)).toEqual(['ctxwrap no-evidence']);
  });

  it('leaves the record of what came between', () => {
    const session = late((each) => {
      shortened(each);
      answer(each, 60_000);
    });
    answer(session, 44_000);
    expect(past(session)).toEqual(['ctxwrap verified', 'ctxwrap verified']);
    expect(session.past()[0]?.ended.isLate).toBeUndefined();
  });
});

describe('an attempt for which the agent was started again without the shorter conversation', () => {
  const fail = (session: Play): void =>
    session.tell({
      type: 'restart-failed',
      reason: 'the agent does not show it',
      preTokens: AUTO_TOKENS,
      shortening: { strategy: 'truncate', isManual: false, startedAt: 500 },
    });

  it('has one record, and is not tried again before something happens', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    fail(session);
    expect(session.last()).toMatchObject({
      initiator: 'ctxwrap',
      strategy: 'truncate',
      startedAt: 500,
      before: { usedTokens: AUTO_TOKENS },
      outcome: { kind: 'no-evidence', reason: 'the agent does not show it' },
    });
    expect(session.past()).toHaveLength(1);
    expect(session.state().policy.failures).toBe(1);
    session.wait(300_000);
    expect(session.typings()).toEqual([]);
  });

  it('does not end an attempt of the new run', () => {
    const session = play();
    untilTyping(session);
    fail(session);
    expect(session.phase().kind).toBe('typing');
    session.typed({ kind: 'nothing', reason: 'everything would be kept', evidence: [] });
    expect(session.outcomes()).toEqual(['no-evidence', 'noop']);
  });
});

it.each([
  ['has taken', taken],
  ['was started again for', startedAgain],
])(
  'a shortening that the agent %s ends by time alone where the window is full again at the end of the turn',
  (_, open) => {
    const session = open();
    session.turn();
    session.tell(tokens('official', HARD_TOKENS));
    session.wait(9_000);
    expect(session.outcomes()).toEqual([]);
    session.wait(2_000);
    expect(session.outcomes()).toEqual(['no-evidence']);
  },
);

it('a shortening whose answer is overdue rings once, not again and again', () => {
  const session = taken();
  session.turn();
  session.wait(60_000);
  expect(session.outcomes()).toEqual([]);
  expect(session.due()).toBeUndefined();
});
