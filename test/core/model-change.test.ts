// A change of the model, in a session as the wrapper runs it.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { footerView } from '../../src/core/footer-view.js';
import { startFlow, stepFlow, type SessionFlow } from '../../src/core/session-flow.js';
import { claim, shows, tokens } from '../support/sessions.js';

const OPUS = 'claude-opus-4-8';
const SONNET = 'claude-sonnet-4-6';
const agent = toAgentFacts(agents.claude, {});
const large: Event = {
  type: 'model',
  model: OPUS,
  claim: { windowTokens: 1_000_000, windowSource: 'agent', model: OPUS },
};

const full: readonly Event[] = [
  claim(200_000, 'agent', SONNET),
  tokens('log', 165_000, { model: SONNET }),
  shows(83),
];

const play = (...events: readonly Event[]): SessionFlow =>
  events.reduce((flow, event, at) => stepFlow(flow, event, at), startFlow({ agent }, 0));
const view = (...events: readonly Event[]) => footerView(play(...events).session, 60_000);

describe('a change of the model', () => {
  it('keeps the tokens and measures them in the new window at once', () => {
    expect(view(...full)).toMatchObject({ usedTokens: 165_000, tier: 'auto' });
    expect(view(...full, large)).toMatchObject({
      usedTokens: 165_000,
      windowTokens: 1_000_000,
      usedPercent: 16.5,
      tier: 'safe',
    });
  });

  it.each<Event>([{ type: 'model', model: OPUS }, { type: 'model' }])(
    'to one whose window is not known leaves no percentage, no tier and nothing to act on',
    (change) => {
      const { session } = play(...full, change);
      expect(session.fused?.actingTier).toBeUndefined();
      const shown = footerView(session, 60_000);
      expect(shown).toMatchObject({ usedTokens: 165_000, words: 'window unknown: set --window' });
      expect(shown).not.toHaveProperty('usedPercent');
      expect(shown).not.toHaveProperty('windowTokens');
    },
  );

  it('to the same one with another window is one, too', () => {
    const larger: Event = {
      type: 'model',
      model: SONNET,
      claim: { windowTokens: 1_000_000, windowSource: 'agent', model: SONNET },
    };
    expect(view(...full, larger)).toMatchObject({ windowTokens: 1_000_000, tier: 'safe' });
    const back: Event = {
      type: 'model',
      model: SONNET,
      claim: { windowTokens: 200_000, windowSource: 'agent', model: SONNET },
    };
    expect(view(...full, larger, back)).toMatchObject({ windowTokens: 200_000, tier: 'auto' });
  });

  it('leaves the window that the user has set', () => {
    const user: Event = { type: 'user-window', windowTokens: 300_000 };
    expect(view(user, ...full, { type: 'model', model: OPUS })).toMatchObject({ windowTokens: 300_000 });
  });

  it('makes what the screen shows of the old one void', () => {
    expect(view(...full, large, shows(83))).toMatchObject({ usedPercent: 16.5, tier: 'safe' });
  });

  it('is not undone by a screen that only repeats the window of the old one', () => {
    const banner = claim(200_000, 'agent', SONNET);
    expect(view(...full, large, banner)).toMatchObject({ windowTokens: 200_000 }); // said anew
    const answered = tokens('log', 165_000, { model: OPUS, windowTokens: 1_000_000, windowSource: 'table' });
    expect(view(...full, answered, banner)).toMatchObject({ windowTokens: 1_000_000, tier: 'safe' });
  });

  it('that an answer shows leaves what was said of that model before', () => {
    const first = [claim(1_000_000, 'agent', OPUS), ...full];
    expect(view(...first, tokens('log', 170_000, { model: OPUS, windowSource: 'default' }))).toMatchObject({
      windowTokens: 1_000_000,
      tier: 'safe',
    });
  });

  it('is followed by the number of the new one, whichever source had the old one', () => {
    const official = tokens('official', 165_000, { model: SONNET });
    const next = tokens('log', 170_000, { model: OPUS });
    expect(view(...full, official, large, next)).toMatchObject({ usedTokens: 170_000, tier: 'safe' });
  });
});

describe('the compaction that was due', () => {
  const compact = { mode: 'auto', command: '/compact', startMs: 1, finishMs: 1, isProactive: false } as const;
  const ready: Event = { type: 'activity', report: { activity: 'ready', witnesses: [] } };
  const counting = (...then: readonly Event[]): SessionFlow => {
    const start = startFlow({ agent, compact }, 0);
    const shown = [...full, ready].reduce((flow, event) => stepFlow(flow, event, 0), start);
    const due = stepFlow(shown, { type: 'alarm' }, 5_000);
    expect(due.compaction.phase.kind).toBe('countdown');
    return then.reduce((flow, event) => stepFlow(flow, event, 6_000), due);
  };

  it.each<readonly [string, Event]>([
    ['the agent says so', large],
    ['its answer is of another model', tokens('log', 165_000, { model: OPUS, windowTokens: 1_000_000 })],
    ['a window of another model is told', claim(1_000_000, 'agent', OPUS)],
    ['the new window is not known', { type: 'model', model: OPUS }],
  ])('is none any more when %s', (_, change) => {
    expect(counting(change).compaction.phase.kind).toBe('rest');
  });

  it('begins anew where the window of the other model is full, too', () => {
    const change = claim(180_000, 'agent', OPUS);
    const once = stepFlow(counting(), { type: 'alarm' }, 8_000).compaction.phase;
    const changed = stepFlow(counting(), change, 8_000).compaction.phase;
    const until = (phase: typeof once): number => (phase.kind === 'countdown' ? phase.until : 0);
    expect(until(changed)).toBeGreaterThan(until(once));
  });

  it('goes on where the same change is told twice', () => {
    const small: Event = {
      type: 'model',
      model: OPUS,
      claim: { windowTokens: 180_000, windowSource: 'agent' },
    };
    const once = counting(small);
    const later = stepFlow(once, { type: 'alarm' }, 8_000);
    expect(later.compaction.phase).toEqual(once.compaction.phase);
    expect(stepFlow(later, small, 8_500).compaction.phase).toEqual(once.compaction.phase);
  });
});
