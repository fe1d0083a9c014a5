// Somebody sets the wall clock, or the machine sleeps, while a session runs.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { CompactSettings, Effect } from '../../src/core/compaction/state.js';
import type { Activity } from '../../src/core/reading.js';
import type { WrapSession } from '../../src/session/options.js';
import { makeSessionLoop } from '../../src/worker/session-loop.js';
import { makeClock } from '../../src/storage/timing.js';
import { blank, shows, tokens } from '../support/sessions.js';

const HOUR = 3_600_000;
const START = 1_800_000_000_000;

beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => void vi.useRealTimers());

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const settings: CompactSettings = {
  mode: 'auto',
  command: '/compact',
  startMs: 5_000,
  finishMs: 120_000,
  isProactive: true,
};

/** Two compactions, one that fails and one that works, each after a countdown, with the wall clock set before each step. */
const play = (jumps: readonly number[]) => {
  const seen: unknown[] = [];
  const ends: Extract<Effect, { type: 'ended' }>['ended'][] = [];
  let elapsed = 0;
  let steps = 0;
  const note = (what: unknown): void => void seen.push([elapsed, what]);
  const session = { agent: agents.claude, env: {}, log, values: defaultValues } as unknown as WrapSession;
  const loop = makeSessionLoop(session, settings, {
    onView: note,
    onState: (_, compaction) => note(compaction),
    onEffect: (effect) => {
      note(effect.type);
      if (effect.type === 'ended') ends.push(effect.ended);
    },
  });
  const wait = (ms: number): void => {
    vi.setSystemTime(Date.now() + (jumps[steps % jumps.length] ?? 0));
    steps += 1;
    // in pieces, so that the countdown is seen for long enough
    for (let left = ms; left > 0; left -= 100) {
      elapsed += 100;
      vi.advanceTimersByTime(100);
    }
  };
  const is = (activity: Activity): void =>
    loop.take({ type: 'activity', report: { activity, witnesses: [] } });
  is('ready');
  loop.take({ type: 'notice', text: 'something of ours', priority: 10 });
  wait(2_000);
  loop.take(tokens('log', 100_000));
  loop.take(shows(50));
  wait(4_000);
  loop.take(tokens('log', 165_000));
  wait(1_000);
  loop.take({ type: 'user-keys' });
  for (const length of [3_000, 6_000, 6_000]) wait(length);
  loop.take({ type: 'typed', result: { kind: 'sent', isQueued: false, evidence: [] } });
  wait(1_000);
  loop.take({ type: 'compact-result', result: { kind: 'failed', failure: 'error', text: 'API Error: 500' } });
  wait(31_000);
  is('busy');
  wait(3_000);
  is('ready');
  for (const length of [25_000, 10_000, 10_000]) wait(length);
  loop.take({ type: 'typed', result: { kind: 'sent', isQueued: false, evidence: [] } });
  loop.take(blank);
  wait(2_000);
  is('compacting');
  wait(20_000);
  loop.take({ type: 'boundary', boundary: { at: Date.now(), initiator: 'user' } });
  is('ready');
  wait(1_000);
  loop.take(tokens('log', 30_000));
  wait(30_000);
  loop.stop();
  return { seen, ends };
};

describe('a wall clock that somebody sets while a session runs', () => {
  it.each([
    { name: 'an hour back', jumps: [-HOUR] },
    { name: 'an hour on', jumps: [HOUR] },
    { name: 'an hour back and an hour on', jumps: [-HOUR, HOUR] },
    { name: 'days on and back', jumps: [24 * HOUR, 0, -50 * HOUR] },
  ])('by $name: all is shown and done at the same moments', ({ jumps }) => {
    const steady = play([0]);
    vi.setSystemTime(START);
    const { seen, ends } = play(jumps);
    expect(steady.ends.map(({ outcome }) => outcome.kind)).toEqual(['failed', 'verified']);
    expect(seen).toEqual(steady.seen);
    const lengths = (each: typeof ends) => each.map(({ startedAt, endedAt }) => endedAt - startedAt);
    expect(lengths(ends)).toEqual(lengths(steady.ends));
  });

  it('reports a compaction to other programs by the current wall clock', () => {
    const [failed] = play([0, 0, 0, 0, 0, 0, -HOUR, 0, 0, 0, 0, 0, 0, 0]).ends;
    expect(failed?.endedAt).toBeGreaterThan(START - HOUR);
    expect(failed?.endedAt).toBeLessThan(START - HOUR + 60_000);
  });
});

describe('the clock of a session', () => {
  it('begins with the time of the wall clock, and continues independently of it', () => {
    const now = makeClock();
    expect(now()).toBe(START);
    vi.advanceTimersByTime(1_500);
    vi.setSystemTime(0);
    expect(now()).toBe(START + 1_500);
  });

  it('counts the time in which the machine slept, and no difference that is only in how two clocks are read', () => {
    let up = 5_000;
    const now = makeClock(() => up);
    vi.advanceTimersByTime(400);
    up += 1_000;
    expect(now()).toBe(START + 400);
    vi.advanceTimersByTime(1_000);
    up += HOUR;
    expect(now()).toBe(START + 400 + HOUR);
  });
});
