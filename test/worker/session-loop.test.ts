import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { InvisibleReason } from '../../src/core/compaction/policy.js';
import type { CompactSettings, Effect } from '../../src/core/compaction/state.js';
import type { Event } from '../../src/core/event.js';
import type { FooterView } from '../../src/core/footer-view.js';
import { agents } from '../../src/agents/index.js';
import { makeSessionLoop } from '../../src/worker/session-loop.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { WrapSession } from '../../src/session/options.js';
import { tokens } from '../support/sessions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const settings: CompactSettings = {
  mode: 'auto',
  command: '/compact',
  startMs: 5_000,
  finishMs: 120_000,
  isProactive: true,
};

/** A full window before an agent that is ready, with a countdown that ends in ten seconds. */
const counting = () => {
  const effects: Effect[] = [];
  const sight: { unseen?: InvisibleReason | undefined } = {};
  const user = { hasTyped: false };
  const words: (string | undefined)[] = [];
  const session = { agent: agents.claude, env: {}, log, values: defaultValues } as unknown as WrapSession;
  const loop = makeSessionLoop(session, settings, {
    onView: () => undefined,
    unseen: () => sight.unseen,
    takeUnreportedKeys: () => {
      const { hasTyped } = user;
      user.hasTyped = false;
      return hasTyped;
    },
    onEffect: (effect) => effects.push(effect),
    onState: (_, { compaction }) => words.push(compaction.words),
  });
  loop.take({ type: 'activity', report: { activity: 'ready', witnesses: [] } });
  loop.take(tokens('log', 165_000));
  vi.advanceTimersByTime(1_500);
  expect(words.at(-1)).toContain('compacting in 10 s');
  return { loop, effects, words, sight, user };
};

describe('what follows from the tier', () => {
  const viewAfter = (given: CompactSettings, ...events: readonly Event[]): FooterView | undefined => {
    const views: FooterView[] = [];
    const session = { agent: agents.claude, env: {}, log, values: defaultValues } as unknown as WrapSession;
    const loop = makeSessionLoop(session, given, { onView: (view) => views.push(view) });
    loop.take({ type: 'activity', report: { activity: 'ready', witnesses: [] } });
    loop.take(tokens('log', 100_000));
    for (const event of events) loop.take(event);
    return views.at(-1);
  };
  const noteOf = (given: CompactSettings, ...events: readonly Event[]): string | undefined =>
    viewAfter(given, ...events)?.tierNote;

  it('is promised only while it would happen', () => {
    expect(noteOf(settings)).toBe('compacts at 162k');
    expect(noteOf(settings, { type: 'postpone' })).toBe('room left');
  });

  it('is a compaction at hard, also after three failures', () => {
    const failed: Event = {
      type: 'restart-failed',
      reason: 'the agent does not show it',
      preTokens: 165_000,
      shortening: { strategy: 'truncate', isManual: false, startedAt: 1 },
    };
    const again = { ...failed, shortening: { ...failed.shortening, startedAt: 2 } };
    const failures = [failed, again, { ...again, shortening: { ...again.shortening, startedAt: 3 } }];
    const full = { type: 'activity', report: { activity: 'busy', witnesses: [] } } as const;
    expect(noteOf(settings, ...failures, full, tokens('log', 165_000))).toBe('Ctrl-] c compacts');
    expect(noteOf(settings, ...failures, full, tokens('log', 179_000))).toBe('compacts when idle');
  });

  it('gets a row in a small terminal where it is suggested', () => {
    expect(viewAfter({ ...settings, mode: 'ask' })?.due).toBeUndefined();
    expect(viewAfter({ ...settings, mode: 'ask' }, tokens('log', 179_000))?.due).toBe('soon');
  });

  it('is nothing where only a control channel is known, which nothing is sent to by itself', () => {
    const { command: _, ...others } = settings;
    expect(noteOf({ ...others, channel: { via: 'server', name: "opencode's server" } })).toBe('room left');
  });
});

describe('a key of the user', () => {
  it('is reported with a delay, once for all keys of that time', () => {
    const { loop, words } = counting();
    const before = words.length;
    for (const _ of 'draft') loop.take({ type: 'user-keys' });
    expect(words.length).toBe(before);
    vi.advanceTimersByTime(5);
    expect(words.slice(before)).toEqual(['waiting: you just typed']);
  });

  it('is reported before a countdown ends, however late it came', () => {
    const { loop, effects, words } = counting();
    vi.advanceTimersByTime(9_998);
    loop.take({ type: 'user-keys' });
    vi.advanceTimersByTime(2);
    expect(words.at(-1)).toBe('waiting: you just typed');
    vi.advanceTimersByTime(5_900);
    expect(effects).toEqual([]);
  });

  it('is reported before any other event', () => {
    const { loop, effects, words } = counting();
    loop.take({ type: 'user-keys' });
    loop.take({ type: 'compact-requested', request: { id: 'one', force: true } });
    expect(words.at(-1)).toBe('waiting: you just typed');
    expect(effects).toEqual([]);
  });

  it('is known at the end of a countdown, although nobody has told of it yet', () => {
    const { effects, words, user } = counting();
    vi.advanceTimersByTime(9_999);
    user.hasTyped = true;
    vi.advanceTimersByTime(1);
    expect(words.at(-1)).toBe('waiting: you just typed');
    vi.advanceTimersByTime(2_900);
    expect(effects).toEqual([]);
  });

  it.each<[string, Event]>([
    ['a request', { type: 'compact-requested', request: { id: 'one', force: true } }],
    ['a new reading', tokens('log', 166_000)],
  ])('is known at %s, although nobody has told of it yet', (_, event) => {
    const { loop, effects, words, user } = counting();
    user.hasTyped = true;
    loop.take(event);
    expect(words.at(-1)).toBe('waiting: you just typed');
    expect(effects).toEqual([]);
  });

  it('is known when a countdown that could not be seen can be seen again', () => {
    const { words, sight, user } = counting();
    sight.unseen = 'undrawn';
    vi.advanceTimersByTime(60_000);
    [sight.unseen, user.hasTyped] = [undefined, true];
    vi.advanceTimersByTime(1_000);
    expect(words.at(-1)).toBe('waiting: you just typed');
  });

  it('is dropped when the session ends', () => {
    const { loop, words } = counting();
    loop.take({ type: 'user-keys' });
    const before = words.length;
    loop.stop();
    vi.advanceTimersByTime(60_000);
    expect(words.length).toBe(before);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a countdown that cannot be seen any more', () => {
  it('waits, and begins anew when it can be seen, without another event', () => {
    const { loop, effects, words, sight } = counting();
    sight.unseen = 'undrawn';
    vi.advanceTimersByTime(60_000);
    expect(words.at(-1)).toBe('waiting: the footer could not be drawn');
    expect(effects).toEqual([]);
    sight.unseen = undefined;
    vi.advanceTimersByTime(1_000);
    expect(words.at(-1)).toContain('compacting in 10 s');
    vi.advanceTimersByTime(10_000);
    expect(effects).toMatchObject([{ type: 'type-compact' }]);
    loop.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
