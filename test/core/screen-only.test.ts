// An agent of which nothing is known but what its screen shows: no session file, no status line, no window.
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import { sessionLadder } from '../../src/core/report/report.js';
import type { Session } from '../../src/core/session.js';
import { blank, compacted, sessionAfter, shows, tokens } from '../support/sessions.js';

const half = { agent: 'gemini', native: { share: 0.5, reserveTokens: 0 } };

describe('an agent that compacts on its own at 50 %', () => {
  it.each([
    [37, 'safe'],
    [38, 'warn'],
    [48, 'auto'],
    [95, 'hard'],
  ])('at %i percent of the window is %s', (percent, tier) => {
    expect(sessionAfter([[1, shows(percent)]], half).fused?.tier).toBe(tier);
  });

  it('says why', () => {
    const { warn, auto } = sessionLadder(sessionAfter([[1, shows(40)]], half));
    expect(auto?.reason).toBe('auto 48%: 2 points before gemini compacts on its own at 50%');
    expect(warn.reason).toBe('warn 38%: 10 points before auto');
  });

  it('which is less in tokens that nobody can tell, is told as the latest', () => {
    const qwen = { agent: 'qwen', native: { share: 0.85, reserveTokens: 0, leastFreeTokens: 33_000 } };
    const { auto } = sessionLadder(sessionAfter([[1, shows(40)]], qwen));
    expect(auto?.reason).toBe('auto 83%: 2 points before qwen compacts on its own at 85% at the latest');
  });

  it('is judged as any other where the percentage counts something else than the window', () => {
    const state = sessionAfter([[1, shows(60, 'auto-compact')]], half);
    expect(state.fused?.tier).toBe('safe');
    expect(sessionLadder(state).auto?.value).toBe(85);
  });

  it('leaves a limit of the user where it is, unless the agent comes before it', () => {
    const tier = (percent: number, value: number) =>
      sessionAfter([[1, shows(percent)]], { ...half, ladder: { auto: { value, unit: 'percent' } } }).fused
        ?.tier;
    expect([29, 30, 39, 40].map((percent) => tier(percent, 40))).toEqual(['safe', 'warn', 'warn', 'auto']);
    expect([47, 48].map((percent) => tier(percent, 60))).toEqual(['warn', 'auto']);
  });
});

describe('the same percentage as before a compaction', () => {
  const is = (activity: Activity): Event => ({ type: 'activity', report: { activity, witnesses: [] } });
  const played = (...events: readonly Event[]): Session =>
    sessionAfter([shows(100), is('ready'), ...events].map((event, index) => [index, event] as const));
  const end = compacted('screen');
  const percentAfter = (...events: readonly Event[]) => played(...events).fused?.reading.usedPercent;

  it('counts again after a turn, so that a window that is full again is not missed', () => {
    expect(percentAfter(is('compacting'), end, is('ready'), is('busy'), is('ready'), shows(100))).toBe(100);
  });

  it('counts in the turn that goes on after a compaction once it was away from the screen', () => {
    expect(percentAfter(is('busy'), is('compacting'), end, blank, is('busy'), shows(100))).toBe(100);
  });

  it('counts when it was away already before the compaction', () => {
    expect(percentAfter(is('busy'), blank, is('compacting'), end, is('busy'), shows(100))).toBe(100);
  });

  it.each([
    ['it still stands there', [end, shows(100), is('ready')]],
    ['the agent has not worked since', [end, blank, is('ready'), is('draft'), is('ready')]],
    ['the agent has only begun to work', [end, is('ready'), is('busy')]],
    ['what was before went on', [is('busy'), end, is('ready')]],
  ])('is the old one as long as %s', (_, events) => {
    expect(percentAfter(...events, shows(100))).toBeUndefined();
  });

  it('does not count beside a session file, which has a better number', () => {
    const told = [shows(30), { type: 'reading', reading: { usedTokens: 9, source: 'log', at: 1 } }] as const;
    const state = played(...told, shows(100), compacted(), blank, is('busy'), is('ready'), shows(100));
    expect(state.fused).toBeUndefined();
  });

  it('does not count beside the new number of a session file either: a screen may be late', () => {
    const counted = (usedTokens: number) => tokens('log', usedTokens);
    const told = [shows(95), counted(190_000), compacted(), blank, is('busy'), counted(20_000), is('ready')];
    expect(played(...told, shows(95)).fused).toMatchObject({ reading: { source: 'log' }, tier: 'safe' });
    expect(played(...told, shows(94)).fused).toMatchObject({ reading: { source: 'screen' }, tier: 'hard' });
  });
});
