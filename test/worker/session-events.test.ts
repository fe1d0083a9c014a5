// What other programs are told of a session as it happens.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventContent } from '../../src/core/report/published-event.js';
import type { CompactionRecord, SessionRecord } from '../../src/core/report/records.js';
import { startSession, stepSession, type Session } from '../../src/core/session.js';
import type { Event } from '../../src/core/event.js';
import { sessionEvents } from '../../src/worker/session-events.js';
import { endedFor } from '../support/requester.js';
import { tokens } from '../support/sessions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const record = { id: 'me' } as SessionRecord;

const run = (isReplacement = false) => {
  const told: EventContent[] = [];
  let state: Session = startSession({ agent: 'claude' }, 0);
  let compaction: CompactionRecord = { mode: 'auto' };
  const events = sessionEvents({
    state,
    compaction,
    snapshot: () => record,
    isReplacement,
    now: Date.now,
    emit: (content) => told.push(content),
  });
  return {
    ...events,
    told,
    types: () => told.map(({ type }) => type),
    step: (event: Event): void => {
      state = stepSession(state, event, Date.now());
      events.onState(state, compaction);
    },
    compaction: (next: CompactionRecord): void => {
      compaction = next;
      events.onState(state, compaction);
    },
  };
};

describe('the events of a session', () => {
  it('begin with what is known, for a worker that replaces another as a state', () => {
    expect(run().told).toEqual([{ type: 'session-start', state: record }]);
    expect(run(true).told).toEqual([{ type: 'state', state: record }]);
  });

  it('are no tier in a window that only another session knew, because programs act on tiers', () => {
    const { step, told } = run();
    const claims = [{ windowTokens: 200_000, windowSource: 'remembered', model: 'm' }] as const;
    step({ type: 'remembered-windows', claims });
    step({ type: 'reading', reading: { usedTokens: 190_000, source: 'log', model: 'm', at: 1 } });
    expect(told.map(({ type }) => type)).not.toContain('tier');
    step({ type: 'window', claim: { windowTokens: 200_000, windowSource: 'agent', model: 'm' } });
    expect(told).toContainEqual({ type: 'tier', tier: 'hard', before: undefined });
  });

  it('have every tier, at once and after its number', () => {
    const session = run();
    for (const used of [1_000, 150_000, 178_000, 2_000]) session.step(tokens('log', used));
    expect(session.told.filter(({ type }) => type === 'tier')).toEqual([
      { type: 'tier', tier: 'safe', before: undefined },
      { type: 'tier', tier: 'warn', before: 'safe' },
      { type: 'tier', tier: 'hard', before: 'warn' },
      { type: 'tier', tier: 'safe', before: 'hard' },
    ]);
    expect(session.types().slice(1, 3)).toEqual(['reading', 'tier']);
    expect(session.told.at(-2)).toMatchObject({ type: 'reading', reading: { usedTokens: 2_000 } });
  });

  it('have at most one number a second, the latest', () => {
    const session = run();
    for (let used = 1_000; used < 1_100; used += 1) session.step(tokens('log', used));
    expect(session.types()).toEqual(['session-start', 'reading', 'tier']);
    vi.advanceTimersByTime(1_000);
    expect(session.told.slice(3)).toMatchObject([{ type: 'reading', reading: { usedTokens: 1_099 } }]);
    vi.advanceTimersByTime(5_000);
    expect(session.told).toHaveLength(4);
  });

  it('have every activity, what a dialog asks, and the mode', () => {
    const session = run();
    const report = (activity: 'busy' | 'dialog' | 'dead', asks?: string): Event => ({
      type: 'activity',
      report: { activity, witnesses: ['test'], ...(asks === undefined ? {} : { asks }) },
    });
    session.step(report('busy'));
    session.step(report('dialog', 'rm'));
    session.step(report('dialog', 'cp'));
    session.compaction({ mode: 'ask' });
    session.step(report('dead'));
    session.end({ code: 0 });
    expect(session.told.slice(1)).toEqual([
      { type: 'activity', activity: 'busy', before: 'unknown', asks: undefined },
      { type: 'activity', activity: 'dialog', before: 'busy', asks: 'rm' },
      { type: 'activity', activity: 'dialog', before: 'dialog', asks: 'cp' },
      { type: 'mode', mode: 'ask', before: 'auto' },
      { type: 'session-end', exit: { code: 0 } },
    ]);
  });

  it('have every attempt with its request, its outcome, and what was refused', () => {
    const session = run();
    session.compaction({ mode: 'auto', request: 'one' });
    session.onEffect({ type: 'type-compact', isQueued: false });
    session.onEffect(endedFor('one'));
    session.onEffect({ type: 'refused', requestId: 'two', reason: 'no' });
    expect(session.told.slice(1)).toMatchObject([
      { type: 'attempt', request: 'one' },
      { type: 'outcome', request: 'one', attempt: { schema: 'ctxwrap.attempt/1' } },
      { type: 'refused', request: 'two', reason: 'no' },
    ]);
  });
});
