// When the footer tells of `ctxwrap handoff`: at hard when compacting does not help, and after every so many compactions.
import { describe, expect, it } from 'vitest';
import { sessionSummary, type SessionFlow } from '../../src/core/session-flow.js';
import {
  AUTO_TOKENS,
  HARD_TOKENS,
  playCompaction,
  settings,
  type PlayStep,
} from '../support/compaction-play.js';

/** A session that hears what is offered. */
const play = (
  more: Parameters<typeof playCompaction>[1] = {},
  wish: Parameters<typeof playCompaction>[0] = {},
) => {
  const offered: string[] = [];
  let exhausted = 0;
  let last: SessionFlow | undefined;
  const watch = ({ after }: PlayStep): void => {
    last = after;
    if (after.offers?.due !== undefined) offered.push(after.offers.due);
    if (after.offers?.isExhausted) exhausted += 1;
  };
  const session = playCompaction(wish, { window: 200_000, handoffAfter: 4, ...more }, watch);
  const summary = (): string | undefined => last && sessionSummary(last, last.startedAt);
  return { ...session, offered, summary, exhausted: () => exhausted };
};

const { command: _, ...uncommanded } = settings;

const USELESS = 'compacting fails · try ctxwrap handoff';

type Play = ReturnType<typeof play>;

/** One attempt that fails. */
const fail = (session: Play): void => {
  session.wait(75_000);
  session.sent();
  session.is('busy');
  session.wait(2_000);
  session.failed();
  session.is('ready');
};

const compactBy = (session: Play, times: number): void => {
  for (let index = 0; index < times; index += 1) {
    session.turn(AUTO_TOKENS - 40_000 + index);
    session.boundary({ initiator: 'user' });
    session.wait(60_000);
  }
};

describe('a handoff is offered', () => {
  it('when compacting has failed at hard, once an episode', () => {
    const session = play();
    session.turn(HARD_TOKENS);
    expect(session.offered).toEqual([]);
    fail(session);
    expect(session.offered).toEqual([USELESS]);
    session.turn(HARD_TOKENS + 100);
    fail(session);
    session.turn(HARD_TOKENS + 200);
    fail(session);
    expect(session.offered).toEqual([USELESS]);
  });

  it('at hard at once where no command can be typed', () => {
    const [without, warned] = [play({ compact: uncommanded }), play({}, { mode: 'warn' })];
    for (const session of [without, warned]) session.turn(HARD_TOKENS);
    expect([without.offered, warned.offered]).toEqual([[USELESS], []]); // with mode warn you can compact
  });

  it('not at auto, however often compacting has failed', () => {
    const session = play();
    for (let index = 0; index < 3; index += 1) {
      session.turn(AUTO_TOKENS + index);
      fail(session);
    }
    expect(session.offered).toEqual([]);
  });

  it('and in its place a rescue, at auto too, where there is a key for it: after three failures', () => {
    const session = play({ rescueKeys: 'Ctrl-] r' });
    for (let index = 0; index < 3; index += 1) {
      expect(session.offered).toEqual([]);
      session.turn(AUTO_TOKENS + index);
      fail(session);
    }
    expect(session.offered).toEqual(['compacting fails · Ctrl-] r: rescue']);
  });

  it('or at once when the agent says that the conversation is too long to compact', () => {
    const session = play({ rescueKeys: 'Ctrl-] r' });
    session.turn(AUTO_TOKENS);
    while (session.phase().kind !== 'typing') session.wait(500);
    session.sent();
    session.is('busy');
    session.wait(2_000);
    session.failed('conversation could not be reduced below the context limit');
    session.is('ready');
    expect(session.offered).toEqual(['compacting fails · Ctrl-] r: rescue']);
  });

  it('again when the agent says so after one that had failed for another reason', () => {
    const session = play({ rescueKeys: 'Ctrl-] r' });
    session.turn(AUTO_TOKENS);
    fail(session);
    session.turn(HARD_TOKENS);
    const first = session.offered.length;
    expect(first).toBe(1);
    expect(session.exhausted()).toBe(0); // one failure is not the end
    while (session.phase().kind !== 'typing') session.wait(500);
    session.sent();
    session.is('busy');
    session.wait(2_000);
    session.failed('conversation could not be reduced below the context limit');
    session.is('ready');
    expect(session.offered).toHaveLength(2);
    expect(session.exhausted()).toBe(1);
  });

  it('after the fourth compaction and after the eighth', () => {
    const session = play();
    compactBy(session, 3);
    expect(session.offered).toEqual([]);
    compactBy(session, 5);
    expect(session.offered).toEqual([
      'compacted 4× · try ctxwrap handoff',
      'compacted 8× · try ctxwrap handoff',
    ]);
  });

  it('not for compactions of a conversation that has ended', () => {
    const session = play();
    session.tell({ type: 'session-changed', sessionId: 'one' });
    compactBy(session, 3);
    session.tell({ type: 'session-changed', sessionId: 'two' });
    compactBy(session, 3);
    expect(session.offered).toEqual([]);
    compactBy(session, 1);
    expect(session.offered).toEqual(['compacted 4× · try ctxwrap handoff']);
  });

  it('after as many compactions as the user says, or never', () => {
    const [second, never] = [play({ handoffAfter: 2 }), play({ handoffAfter: 0 })];
    compactBy(second, 2);
    compactBy(never, 9);
    expect([second.offered.length, never.offered.length]).toEqual([1, 0]);
  });

  it('never for an agent whose session files cannot be read as conversations', () => {
    const session = play({ handoffAfter: undefined });
    session.turn(HARD_TOKENS);
    fail(session);
    compactBy(session, 5);
    expect(session.offered).toEqual([]);
    expect(session.summary()).not.toContain('handoff');
  });
});

describe('after a session', () => {
  it('that ended at hard one line says how to continue', () => {
    const session = play();
    session.tell({ type: 'session-changed', sessionId: 'abc-123' });
    session.turn(HARD_TOKENS);
    expect(session.summary()).toBe(
      'no compactions, 0 s, ended at 90% · to continue with a shorter conversation: ctxwrap compact --strategy truncate abc-123; in a new one: ctxwrap handoff abc-123',
    );
  });

  it.each(['$(rm -rf /)', 'a b', '\x1b[2J', 'x'.repeat(65)])('%j is not printed as an id', (sessionId) => {
    const session = play();
    session.tell({ type: 'session-changed', sessionId });
    session.turn(HARD_TOKENS);
    expect(session.summary()).toMatch(/ctxwrap handoff ID$/);
  });

  it('that ended below hard nothing is said of it', () => {
    const session = play();
    session.turn(AUTO_TOKENS);
    expect(session.summary()).toBeUndefined();
  });
});
