// What is displayed between a compaction and the next number: what the agent's screen says is left, where it says that.
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import { footerView } from '../../src/core/footer-view.js';
import { claim, compacted, sessionAfter, shows, tokens } from '../support/sessions.js';

const is = (activity: Activity): Event => ({ type: 'activity', report: { activity, witnesses: [] } });
const recorded = (more: { readonly preTokens?: number; readonly fixedTokens?: number } = {}): Event => ({
  type: 'boundary',
  boundary: { at: 2, ...more },
});
const said = (saidTokens: number): Event => ({
  type: 'boundary',
  boundary: { at: 2, source: 'screen', saidTokens },
});

const full: readonly Event[] = [
  claim(1_000_000, 'table'),
  tokens('log', 480_000, { windowTokens: 1_000_000 }),
  shows(48),
  is('ready'),
];
const played = (...events: readonly Event[]) =>
  sessionAfter(
    [...full, ...events].map((event, index) => [index, event] as const),
    { agent: 'gemini', showsLeft: true },
  );
const view = (...events: readonly Event[]) => footerView(played(...events), 60_000);
const compaction = [is('compacting'), recorded({ preTokens: 480_000, fixedTokens: 12_000 })];

describe('a screen that shows an estimate of what a compaction has left', () => {
  it('is displayed as an estimate, with what every request sends besides', () => {
    expect(view(...compaction, shows(1), is('ready'))).toMatchObject({
      usedTokens: 22_000,
      estimated: true,
      tier: 'safe',
    });
    expect(view(...compaction, shows(0), is('ready'))).toMatchObject({ usedTokens: 12_000, estimated: true });
  });

  it('counts whether it changes before or after the session file tells of the compaction', () => {
    const early = [is('compacting'), shows(1), is('ready'), recorded({ fixedTokens: 12_000 })];
    expect(view(...early)).toMatchObject({ usedTokens: 22_000, estimated: true });
    const same = [is('compacting'), shows(0), recorded({ fixedTokens: 12_000 }), is('ready')];
    expect(view(...same)).toMatchObject({ usedTokens: 12_000, estimated: true });
  });

  it('says it in words, too, which are more exact', () => {
    const words = { usedTokens: 12_640, estimated: true };
    expect(view(...compaction, shows(0), said(640), is('ready'))).toMatchObject(words);
    expect(view(is('compacting'), said(640), is('ready'), recorded({ fixedTokens: 12_000 }))).toMatchObject(
      words,
    );
  });

  it('does not count while it still shows the number of before, nor while the agent works', () => {
    expect(view(...compaction, shows(48), is('ready')).note).toBe('size pending');
    expect(view(...compaction, is('busy'), shows(1)).note).toBe('size pending');
  });

  it('does not take the number of before for a new one when it comes back after the next turn', () => {
    const state = played(...compaction, shows(1), is('ready'), is('busy'), shows(48), is('ready'), shows(48));
    expect(footerView(state, 60_000)).toMatchObject({ usedTokens: 22_000, estimated: true });
    expect(state.fused?.actingTier).toBeUndefined();
  });

  it('gives way to the next number of the session file', () => {
    const next = tokens('log', 31_000, { windowTokens: 1_000_000 });
    expect(view(...compaction, shows(1), is('ready'), is('busy'), next)).toMatchObject({
      usedTokens: 31_000,
      estimated: false,
    });
  });

  it('is not believed when the conversation was only cut back', () => {
    expect(view({ type: 'voided' }, shows(0), is('ready')).note).toBe('size pending');
  });

  it('says nothing with a percentage of 0 anywhere else', () => {
    const zero = sessionAfter([[0, shows(0)]], { showsLeft: true });
    expect(footerView(zero, 1).note).toBe('waiting for the first turn');
    expect(view(shows(0))).toMatchObject({ usedTokens: 480_000, estimated: false });
  });

  it('leaves out what every request sends where that would be as much as before', () => {
    const small = recorded({ preTokens: 21_000, fixedTokens: 12_000 });
    expect(view(is('compacting'), small, shows(1), is('ready'))).toMatchObject({ usedTokens: 10_000 });
  });
});

describe('a screen of which that is not known', () => {
  it('is not read before the session file has a new number', () => {
    const state = sessionAfter(
      [...full, ...compaction, shows(1), is('ready')].map((event, index) => [index, event] as const),
    );
    expect(footerView(state, 60_000).note).toBe('size pending');
  });

  it('has shown its new number already when it says that it has compacted', () => {
    const alone = [
      shows(48),
      is('ready'),
      is('compacting'),
      shows(1),
      compacted('screen'),
      is('ready'),
      shows(1),
    ];
    const state = sessionAfter(alone.map((event, index) => [index, event] as const));
    expect(state.fused?.reading).toMatchObject({ usedPercent: 1, source: 'screen' });
  });
});

it('what a record says is left counts with what every request sends besides', () => {
  const boundary = { at: 2, preTokens: 170_000, postTokens: 2_900, fixedTokens: 20_000 };
  const state = sessionAfter([
    [0, tokens('log', 170_000)],
    [1, { type: 'boundary', boundary }],
  ]);
  expect(footerView(state, 1_000)).toMatchObject({ usedTokens: 22_900, estimated: true });
});

it('a screen whose words are known is not read before the next turn', () => {
  const alone = [shows(48), is('ready'), is('compacting'), shows(1), said(7_671), is('ready'), shows(1)];
  const state = sessionAfter(
    alone.map((event, index) => [index, event] as const),
    { showsLeft: true },
  );
  expect(state.fused?.reading).toMatchObject({ usedTokens: 7_671, source: 'estimate' });
});
