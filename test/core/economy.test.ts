// How long the prompt cache stays warm, how much of the plan is used, and compactions that nobody watches.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { SessionReader } from '../../src/agents/session-format.js';
import {
  cacheDeadline,
  cacheSentence,
  cacheText,
  limitName,
  limitsSentence,
  limitsText,
  updateCache,
} from '../../src/core/economy.js';
import type { Event, Fact } from '../../src/core/event.js';
import { footerView } from '../../src/core/footer-view.js';
import { startFlow, stepFlow } from '../../src/core/session-flow.js';
import { parseMoment } from '../../src/core/time.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import { compacted, inSession, sessionAfter, tokens } from '../support/sessions.js';

const MINUTE_MS = 60_000;

describe('the prompt cache', () => {
  it.each([
    { leftMs: 3_600_000, text: '59m' },
    { leftMs: 720_001, text: '12m' },
    { leftMs: 60_001, text: '1m' },
    { leftMs: 60_000, text: '<1m' },
    { leftMs: 1, text: '<1m' },
    { leftMs: 0, text: 'cold' },
    { leftMs: -1, text: 'cold' },
  ])('is $text with $leftMs ms left, marked where the end is computed', ({ leftMs, text }) => {
    expect(cacheText({ expiresAt: 1e6 + leftMs, exact: true }, 1e6)).toBe(text);
    expect(cacheText({ expiresAt: 1e6 + leftMs, exact: false }, 1e6)).toBe(`~${text}`);
  });

  it('changes its text exactly when its deadline says so', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 * 3_600_000 }), (leftMs) => {
        const cache = { expiresAt: 1e9, exact: true };
        const now = cache.expiresAt - leftMs;
        const due = cacheDeadline(cache, now) ?? Number.NaN;
        expect(due).toBeGreaterThan(now);
        expect(cacheText(cache, due)).not.toBe(cacheText(cache, now));
        expect(cacheText(cache, due - 1)).toBe(cacheText(cache, now));
      }),
    );
    expect(cacheDeadline({ expiresAt: 5, exact: true }, 5)).toBeUndefined();
    expect(cacheDeadline(undefined, 5)).toBeUndefined();
  });

  it('is told in a sentence', () => {
    expect(cacheSentence({ expiresAt: 12 * MINUTE_MS, exact: true }, 0)).toBe('warm for 12 min');
    expect(cacheSentence({ expiresAt: 30_000, exact: false }, 0)).toBe('warm for less than a minute');
    expect(cacheSentence({ expiresAt: 0, exact: true }, 5 * MINUTE_MS)).toBe(
      'cold for 5 min: the next answer reads everything again',
    );
  });

  it('believes what the agent states, until it goes on without stating anything', () => {
    const stated = { expiresAt: 100 * MINUTE_MS, exact: true };
    const computed = (minutes: number) => ({ expiresAt: minutes * MINUTE_MS, exact: false });
    expect(updateCache(undefined, computed(5))).toEqual(computed(5));
    expect(updateCache(stated, computed(95))).toBe(stated);
    expect(updateCache(stated, computed(101))).toBe(stated);
    expect(updateCache(stated, computed(102))).toEqual(computed(102));
    expect(updateCache(computed(200), stated)).toBe(stated);
  });

  it('is unknown after a compaction, and in another conversation', () => {
    const cache: Event = { type: 'cache', cache: { expiresAt: 500_000, exact: true } };
    const warm = [[1, inSession('a')] as const, [1, tokens('log', 1_000)] as const, [1, cache] as const];
    expect(footerView(sessionAfter(warm), 2_000).cache).toBe('8m');
    expect(sessionAfter([...warm, [2, compacted()]]).cache).toBeUndefined();
    expect(sessionAfter([...warm, [2, inSession('b')]]).cache).toBeUndefined();
  });
});

describe('the limits of the plan', () => {
  const limits = [
    { name: '5h', usedPercent: 42.4, resetsAt: 7_500_000 },
    { name: '7d', usedPercent: 13 },
  ];

  it('are named, and told with their resets; a limit that has been reset is not told', () => {
    expect(limitsText(limits, 0)).toBe('5h 42% 7d 13%');
    expect(limitsSentence(limits, 0)).toBe('5h 42% used (resets in 2 h 5 min), 7d 13% used');
    expect(limitsText(limits, 7_500_000)).toBe('7d 13%');
    expect(limitsText(undefined, 0)).toBe('');
  });

  it.each([
    [300, '5h'],
    [10_080, '7d'],
    [1_440, '1d'],
    [90, '90m'],
  ])('of %i minutes is called %s', (minutes, name) => expect(limitName(minutes)).toBe(name));
});

it.each([
  [1_795_500_000, 1_795_500_000_000],
  [1_795_500_000_000, 1_795_500_000_000],
  ['2026-11-24T08:40:00Z', 1_795_509_600_000],
  ['soon', undefined],
  [0, undefined],
  [Number.NaN, undefined],
  [null, undefined],
])('the moment %s is %s', (written, at) => expect(parseMoment(written)).toBe(at));

const readerOf = (name: 'claude' | 'codex'): SessionReader => {
  const reader = agents[name].log?.reader({});
  if (!reader) throw new Error(`${name} has no log`);
  return reader;
};

const factsOf = (reader: SessionReader, ...records: readonly unknown[]): readonly Fact[] => {
  let next = reader;
  return records.flatMap((record) => {
    const read = next(JSON.stringify(record), 0);
    next = read.next;
    return read.facts.filter(({ type }) => type === 'cache' || type === 'limits');
  });
};

describe("Claude's answers", () => {
  const at = '2026-11-24T08:40:00.000Z';
  const answer = (usage: object) => ({
    type: 'assistant',
    timestamp: at,
    message: { model: 'claude-sonnet-4-6', usage: { input_tokens: 3, output_tokens: 5, ...usage } },
  });
  const warm = (minutes: number): Fact => ({
    type: 'cache',
    cache: { expiresAt: 1_795_509_600_000 + minutes * MINUTE_MS, exact: false },
  });

  it('tell how long what they wrote is kept; what they only read was written as before', () => {
    const hour = { ephemeral_1h_input_tokens: 900, ephemeral_5m_input_tokens: 0 };
    const five = { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 900 };
    const none = { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 };
    const facts = factsOf(
      readerOf('claude'),
      answer({ cache_read_input_tokens: 100, cache_creation: none }),
      answer({ cache_creation_input_tokens: 900, cache_creation: hour }),
      answer({ cache_read_input_tokens: 900, cache_creation: none }),
      answer({ cache_creation_input_tokens: 900, cache_creation: five }),
    );
    expect(facts).toEqual([warm(5), warm(60), warm(60), warm(5)]);
  });

  it('without anything in the cache tell nothing', () => {
    expect(factsOf(readerOf('claude'), answer({ cache_read_input_tokens: 0 }))).toEqual([]);
  });
});

describe("Claude's status line", () => {
  const read = (more: object) =>
    agents.claude.official
      ?.read(JSON.stringify({ context_window: { context_window_size: 200_000 }, ...more }), 0)
      ?.facts.filter(({ type }) => type === 'cache' || type === 'limits');

  it('states the end of the cache and the limits', () => {
    const facts = read({
      prompt_cache: { warm: true, ttl: '5m', expires_at: 1_795_509_600 },
      rate_limits: {
        five_hour: { used_percentage: 42.5, resets_at: 1_795_510_000 },
        seven_day: { used_percentage: 13, resets_at: '2026-11-30T00:00:00Z' },
        spend_limit: null,
      },
    });
    expect(facts).toEqual([
      { type: 'cache', cache: { expiresAt: 1_795_509_600_000, exact: true } },
      {
        type: 'limits',
        limits: [
          { name: '5h', usedPercent: 42.5, resetsAt: 1_795_510_000_000 },
          { name: '7d', usedPercent: 13, resetsAt: 1_795_996_800_000 },
        ],
      },
    ]);
  });

  it.each([
    {},
    { prompt_cache: { warm: false, expires_at: null }, rate_limits: {} },
    { prompt_cache: 'warm', rate_limits: [1] },
    { prompt_cache: { expires_at: -1 }, rate_limits: { five_hour: { used_percentage: 'much' } } },
  ])('that states nothing usable tells nothing: %j', (more) => expect(read(more)).toEqual([]));
});

describe("Codex's token counts", () => {
  const count = (rate_limits: unknown, info: unknown = null) => ({
    timestamp: '2026-11-24T08:40:00.000Z',
    type: 'event_msg',
    payload: { type: 'token_count', info, rate_limits },
  });
  const read = (...records: readonly unknown[]) => factsOf(readerOf('codex'), ...records);

  it('tell the limits of the plan, also before the first answer and in the form of older versions', () => {
    const limits = read(
      count({
        limit_id: 'codex',
        primary: { used_percent: 7, window_minutes: 300, resets_at: 1_795_510_000 },
        secondary: { used_percent: 77.5, window_minutes: 10_080, resets_in_seconds: 60 },
      }),
    );
    expect(limits).toEqual([
      {
        type: 'limits',
        limits: [
          { name: '5h', usedPercent: 7, resetsAt: 1_795_510_000_000 },
          { name: '7d', usedPercent: 77.5, resetsAt: 1_795_509_660_000 },
        ],
      },
    ]);
  });

  it('without limits, or with those of another model, tell nothing', () => {
    const limit = { used_percent: 7, window_minutes: 300 };
    expect(read(count(null), count({ primary: null, secondary: null }))).toEqual([]);
    expect(read(count({ limit_id: 'codex_other', primary: limit }))).toEqual([]);
  });
});

describe('compactions without a turn of the user', () => {
  const busy: Event = { type: 'activity', report: { activity: 'busy', witnesses: [] } };
  const ready: Event = { type: 'activity', report: { activity: 'ready', witnesses: [] } };
  const keys: Event = { type: 'user-keys' };
  const play = (...events: readonly Event[]) => {
    const told: string[] = [];
    const agent = toAgentFacts(agents.claude, {});
    let flow = startFlow({ agent, notify: ['spiral'] }, 0);
    events.forEach((event, index) => {
      flow = stepFlow(flow, event, (index + 1) * 1_000);
      told.push(...flow.notifying.due.map(({ text }) => text));
    });
    const { shown, waiting } = flow.messages.notices;
    const notices = [shown?.text, ...waiting.map(({ text }) => text)].filter((text) => text !== undefined);
    return { told, notices, turns: flow.session.turns };
  };
  const again = [compacted(), busy];

  it('are told once when they look like a loop', () => {
    const { told, turns } = play(ready, keys, busy, ...again, ...again, ...again, ...again);
    expect(told).toEqual(['compacted 3× since your last prompt: the agent may be going in circles']);
    expect(turns).toBe(1);
    expect(play(ready, keys, busy, ...again, ...again, ...again).notices).toContain(told[0]);
  });

  it('count anew after each turn of the user, and one that the agent begins by itself is none', () => {
    const turn = [ready, keys, busy];
    expect(play(...turn, ...again, ...again, ...turn, ...again, ...again).told).toEqual([]);
    expect(play(...turn, ...again, ...again, ready, busy, ...again).told).toHaveLength(1);
  });
});
