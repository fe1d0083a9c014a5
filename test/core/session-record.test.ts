import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSessionRecord } from '../../src/core/read-record.js';
import { livenessOf, findOutdated, sessionRecord } from '../../src/core/report/records.js';
import type { Liveness, PublishedFacts, SessionRecord } from '../../src/core/report/records.js';
import { startSession, stepSession } from '../../src/core/session.js';
import type { Event } from '../../src/core/event.js';

const identity = {
  id: '4711-abc',
  version: '0.1.0',
  pid: 4711,
  processStart: '123456',
  childPid: 4712,
  runtime: 'claude',
  cwd: '/proj/app',
  startedAt: 1_000,
};
const claude = { agent: 'claude', native: { share: 1, reserveTokens: 33_000 } };
const reading = {
  type: 'reading',
  reading: { usedTokens: 150_000, windowTokens: 200_000, windowSource: 'table', source: 'log', at: 2_000 },
} satisfies Event;
const after = (...events: readonly Event[]) =>
  events.reduce((state, event) => stepSession(state, event, 2_000), startSession(claude, 1_000));

describe('a session record', () => {
  it('says why there is no number before the first turn, and holds none', () => {
    const record = sessionRecord(identity, after(), {}, 3_000);
    expect(record).toMatchObject({ note: 'waiting for the first turn', activity: 'unknown', compactions: 0 });
    expect(record).not.toHaveProperty('reading');
    expect(record).not.toHaveProperty('tier');
  });

  it('holds the number, its tier, and the boundaries with their reasons', () => {
    const record = sessionRecord(
      identity,
      after({ type: 'session-changed', sessionId: 's1', path: '/home/x.jsonl' }, reading),
      {},
      3_000,
    );
    expect(record).toMatchObject({
      ...identity,
      heartbeatAt: 3_000,
      agentSessionId: 's1',
      logPath: '/home/x.jsonl',
      tier: 'warn',
      reading: { usedTokens: 150_000, windowTokens: 200_000, windowSource: 'table', exact: true },
    });
    expect(record.thresholds.map(({ name, value }) => `${name} ${value}`)).toEqual([
      'effective 180000',
      'warn 142000',
      'auto 162000',
      'hard 177000',
      'native 167000',
    ]);
    expect(record.thresholds.every((each) => each.reason.length > 20)).toBe(true);
  });

  it('has the plan and the estimate only where they are known', () => {
    const tasks = { done: 1, total: 3, current: 'write\nthe tests' };
    const planned = sessionRecord(identity, after({ type: 'work', work: { tasks } }), {}, 3_000);
    expect(parseSessionRecord(JSON.stringify(planned))).toMatchObject({
      currentTask: 'write the tests',
      tasksCompleted: 1,
      tasksTotal: 3,
    });
    const reading = { source: 'estimate', usedTokens: 50_000, characters: 200_000, at: 2_000 } as const;
    const guessed = sessionRecord(identity, after({ type: 'reading', reading }), {}, 3_000);
    expect(parseSessionRecord(JSON.stringify(guessed))).toMatchObject({
      cumulativeChars: 200_000,
      estimatedTokens: 50_000,
    });
    const blank = sessionRecord(identity, after(), {}, 3_000);
    for (const field of ['currentTask', 'tasksTotal', 'tasksCompleted', 'cumulativeChars', 'estimatedTokens'])
      expect(blank).not.toHaveProperty(field);
  });

  it('names the handoff that was written, for whoever reads it back', () => {
    const begun = { type: 'session-changed', sessionId: 's1', path: '/home/x.jsonl' } as const;
    const handoff = { path: '/state/handoff/one.md', at: 2_500, conversation: 's1' };
    const record = sessionRecord(identity, after(begun), { handoff }, 3_000);
    const ready = { state: 'handoff_ready', path: '/state/handoff/one.md', at: 2_500 };
    expect(parseSessionRecord(JSON.stringify(record))?.handoff).toEqual(ready);
    expect(sessionRecord(identity, after(begun), {}, 3_000)).not.toHaveProperty('handoff');
  });

  it('says what comes next and what is left until then, in the mode of the session', () => {
    const next = (...[state, facts]: [ReturnType<typeof after>, Partial<PublishedFacts>?]) =>
      sessionRecord(identity, state, facts ?? {}, 3_000).next;
    expect(next(after(reading))).toEqual({
      kind: 'auto',
      value: 162_000,
      unit: 'tokens',
      left: 12_000,
      wayPercent: 92.6,
    });
    expect(next(after(reading), { compaction: { mode: 'warn' } })).toMatchObject({
      kind: 'own',
      value: 167_000,
      left: 17_000,
    });
    const shown: Event = { type: 'reading', reading: { usedPercent: 42.5, source: 'screen', at: 2_000 } };
    expect(next(after(shown))).toEqual({
      kind: 'auto',
      value: 85,
      unit: 'percent',
      left: 42.5,
      wayPercent: 50,
    });
    expect(next(after())).toBeUndefined();
    expect(next(after(reading), { end: { at: 9, exit: { code: 0 } } })).toBeUndefined();
  });

  it('says how far a limit of the user is that lies far below the window, and is read back with it', () => {
    const early = { ...claude, ladder: { auto: { value: 141_000, unit: 'tokens' } } } as const;
    const state = stepSession(
      startSession(early, 1_000),
      { ...reading, reading: { ...reading.reading, usedTokens: 100_000 } },
      2_000,
    );
    const record = sessionRecord(identity, state, {}, 3_000);
    const distance = { to: 'limit', tokens: 41_000 };
    expect(record.next).toMatchObject({ kind: 'limit', value: 141_000, left: 41_000, distance });
    expect(parseSessionRecord(JSON.stringify(record))).toEqual(record);
    const lie = { ...record, next: { ...record.next, wayPercent: 1e9, distance: { to: 'you', tokens: 1 } } };
    const { wayPercent: _, distance: __, ...rest } = record.next ?? {};
    expect(parseSessionRecord(JSON.stringify(lie))?.next).toEqual(rest);
  });

  it('tells what is asked as long as it is, in one plain line', () => {
    const asks = 'approve Bash: touch\u001b]0;x\u0007 a\n b\u202e';
    const asked = after({ type: 'activity', report: { activity: 'dialog', witnesses: [], asks } });
    const record = sessionRecord(identity, asked, {}, 3_000);
    expect(record).toMatchObject({ activity: 'dialog', asks: 'approve Bash: touch ]0;x a b' });
    expect(parseSessionRecord(JSON.stringify({ ...record, asks }))).toEqual(record);
    const answered = after(
      { type: 'activity', report: { activity: 'dialog', witnesses: [], asks } },
      { type: 'activity', report: { activity: 'busy', witnesses: [] } },
    );
    expect(sessionRecord(identity, answered, {}, 3_000)).not.toHaveProperty('asks');
    const end = { at: 3_000, exit: { code: 0 } };
    expect(sessionRecord(identity, asked, { end }, 3_000)).not.toHaveProperty('asks');
  });

  it('is read back as it was written', () => {
    const ends = [undefined, { at: 9_000, exit: { code: 3 } }, { at: 9_000, exit: { signal: 'SIGTERM' } }];
    for (const end of ends) {
      const record = sessionRecord(identity, after(reading), { end }, 3_000);
      expect(parseSessionRecord(JSON.stringify(record))).toEqual(record);
    }
  });

  it('says what is done about a full window, and nothing of it after the end', () => {
    const words = 'waiting: the agent is busy';
    const compaction = { mode: 'ask', words, request: 'mine', compactSuccessful: false } as const;
    const running = sessionRecord(identity, after(reading), { compaction }, 3_000);
    expect(parseSessionRecord(JSON.stringify(running))).toEqual({ ...running, compaction });
    const ended = sessionRecord(
      identity,
      after(reading),
      { compaction, end: { at: 9, exit: { code: 0 } } },
      9,
    );
    expect(ended.compaction).toEqual({ mode: 'ask', compactSuccessful: false });
    for (const unknown of [{ mode: 'never' }, { words: 'x' }, 'auto', null]) {
      const parsed = parseSessionRecord(JSON.stringify({ ...running, compaction: unknown }));
      expect(parsed).not.toHaveProperty('compaction');
    }
  });

  it('says in mode off that nothing is observed, in place of waiting for something', () => {
    const compaction = { mode: 'off' } as const;
    const words = 'off: not observed';
    expect(sessionRecord(identity, after(), { compaction }, 3_000)).toMatchObject({
      note: words,
      compaction: { mode: 'off', words },
    });
  });

  it('loses numbers that nothing can be measured by', () => {
    const record = sessionRecord(identity, after(reading), {}, 3_000);
    const numbers = { usedTokens: 1e308, windowTokens: 1e308, usedPercent: 1e300 };
    const parsed = parseSessionRecord(
      JSON.stringify({ ...record, reading: { ...record.reading, ...numbers } }),
    );
    expect(Object.keys(parsed?.reading ?? {})).not.toEqual(expect.arrayContaining(['usedTokens']));
    expect(parsed?.reading).not.toMatchObject({ windowTokens: expect.anything() });
    expect(parsed?.reading).not.toMatchObject({ usedPercent: expect.anything() });
  });

  it('loses moments that no clock can show, and is none without a start', () => {
    const record = sessionRecord(identity, after(reading), {}, 3_000);
    const cache = { expiresAt: 1e300, exact: true };
    const limits = [{ name: '5h', usedPercent: 1, resetsAt: 1e300 }];
    const parsed = parseSessionRecord(JSON.stringify({ ...record, cache, limits, activitySince: 1e300 }));
    expect(parsed).not.toHaveProperty('cache');
    expect(parsed).not.toHaveProperty('activitySince');
    expect(parsed?.limits).toEqual([{ name: '5h', usedPercent: 1 }]);
    expect(parseSessionRecord(JSON.stringify({ ...record, startedAt: 1e300 }))).toBeUndefined();
  });

  it('is never half a record: whatever a file holds, it is whole or nothing', () => {
    const record = sessionRecord(identity, after(reading), {}, 3_000);
    const names = Object.keys(record);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
        const parsed = parseSessionRecord(JSON.stringify({ ...record, [name]: value }));
        expect(parsed === undefined || parsed.pid > 0).toBe(true);
        expect(parsed?.thresholds ?? []).toBeInstanceOf(Array);
        expect(typeof (parsed?.cwd ?? '')).toBe('string');
        expect(parsed?.id ?? 'x').toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
    for (const text of ['', '{', 'null', '[]', '{"schema":"ctxwrap.session/2"}'])
      expect(parseSessionRecord(text)).toBeUndefined();
  });
});

describe('a session', () => {
  it.each([
    { heartbeatAt: 1_000, runs: true, now: 61_000, is: 'live' },
    { heartbeatAt: 1_000, runs: true, now: 61_001, is: 'stale' },
    { heartbeatAt: 9_000, runs: true, now: 1_000, is: 'live' }, // the clock was set back
    { heartbeatAt: 9_000_000, runs: true, now: 1_000, is: 'stale' }, // and nothing was written since
    { heartbeatAt: 1_000, runs: true, now: 2_000, failedAt: 1_000, is: 'failed' },
    { heartbeatAt: 1_000, runs: true, now: 99_000, failedAt: 1_000, is: 'failed' }, // stopped, which is the lesser evil
    { heartbeatAt: 1_000, runs: false, now: 2_000, failedAt: 1_000, is: 'dead' },
    { heartbeatAt: 1_000, runs: false, now: 2_000, is: 'dead' },
    { heartbeatAt: 1_000, runs: false, now: 2_000, endedAt: 1_000, is: 'ended' },
    { heartbeatAt: 1_000, runs: true, now: 99_000, endedAt: 1_000, is: 'ended' },
  ])('is $is with a heartbeat at $heartbeatAt of $now, running: $runs', ({ runs, now, is, ...record }) => {
    expect(livenessOf(record, runs, now)).toBe(is);
  });

  it('that is over is remembered for 7 days, and 50 of them; one that runs always', () => {
    const day = 86_400_000;
    const session = (id: number, liveness: Liveness, heartbeatAt: number) => ({
      record: { ...sessionRecord(identity, after(), {}, heartbeatAt), id: `${id}` } satisfies SessionRecord,
      liveness,
    });
    const now = 100 * day;
    const old = [session(1, 'ended', now - 7 * day - 1), session(2, 'dead', now - 7 * day)];
    const stopped = session(3, 'stale', now - 30 * day);
    expect(findOutdated([...old, stopped], now).map(({ id }) => id)).toEqual(['1']);
    const many = Array.from({ length: 60 }, (_, i) => session(i + 100, i % 2 ? 'ended' : 'dead', now - i));
    expect(findOutdated([...many, stopped], now).map(({ id }) => Number(id))).toEqual(
      Array.from({ length: 10 }, (_, i) => 150 + i),
    );
  });
});
