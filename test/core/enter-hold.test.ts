// The question before a message is sent at hard.
import { describe, expect, it } from 'vitest';
import type { CompactSettings } from '../../src/core/compaction/state.js';
import { enterQuestion } from '../../src/core/enter-hold.js';
import type { Event } from '../../src/core/event.js';
import type { ActivityReport } from '../../src/core/reading.js';
import { startFlow, stepFlow } from '../../src/core/session-flow.js';
import { agents } from '../../src/agents/index.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import { tokens } from '../support/sessions.js';

const settings: CompactSettings = {
  mode: 'warn',
  command: '/compact',
  startMs: 5_000,
  finishMs: 120_000,
  isProactive: false,
  holdsEnter: true,
  stashesAsked: true,
};
const is = (activity: ActivityReport['activity'], more: Partial<ActivityReport> = {}): Event => ({
  type: 'activity',
  report: { activity, witnesses: [], ...more },
});
const draft = is('draft');
const held: Event = { type: 'enter-held' };
const full = [tokens('log', 179_000), is('ready')];

/** What an Enter would meet after these events, in a window of 200,000 tokens. */
const after = (events: readonly Event[], compact = settings) => {
  const context = { agent: toAgentFacts(agents.claude, {}), compact, window: 200_000 };
  const flow = events.reduce((state, event) => stepFlow(state, event, 1), startFlow(context, 0));
  return enterQuestion(flow, 'Ctrl-] c');
};
const isAsked = (events: readonly Event[]) => after(events)?.isAsked;

describe('an Enter at hard', () => {
  it('is held with a message in the prompt, and then the footer asks', () => {
    expect(isAsked([...full, draft])).toBe(false);
    expect(after([...full, draft, held])).toEqual({
      text: 'hard: Enter sends anyway · Ctrl-] c compacts first',
      isAsked: true,
    });
  });

  it('is held without a promise where the agent cannot set the message aside', () => {
    const { stashesAsked: _, ...rest } = settings;
    expect(after([...full, draft], rest)?.text).toBe(
      'hard: Enter sends anyway · Ctrl-] c compacts once the prompt is empty',
    );
  });

  it('is not held again before the next turn', () => {
    expect(isAsked([...full, draft, held, is('ready'), draft])).toBe(true);
    expect(isAsked([...full, draft, held, is('busy'), is('ready'), draft])).toBe(false);
  });

  it('is not held by default', () => {
    const { holdsEnter: _, ...usual } = settings;
    expect(after([...full, draft], usual)).toBeUndefined();
  });

  it.each<readonly [string, readonly Event[]]>([
    ['the window has room', [tokens('log', 100_000), is('ready'), draft]],
    ['the number is an estimate', [tokens('estimate', 190_000), is('ready'), draft]],
    ['the prompt is empty', full],
    ['the prompt holds a command', [...full, is('draft', { isCommand: true })]],
    ['a dialog is open', [...full, is('dialog')]],
    ['the agent works', [...full, is('busy')]],
    ['the screen is not understood', [...full, is('unknown')]],
    ['the agent compacts', [...full, is('compacting')]],
    [
      'a compaction was asked for',
      [...full, draft, { type: 'compact-requested', request: { id: '1', force: true } }],
    ],
    ['ctxwrap is off', [...full, draft, { type: 'mode', mode: 'off' }]],
  ])('is not held where %s', (_, events) => {
    expect(after(events)).toBeUndefined();
  });
});

describe('Ctrl-] c in place of that Enter', () => {
  const request = (isByKey: boolean): Event => ({
    type: 'compact-requested',
    request: { id: '1', force: true, isByKey },
  });
  const effectsAfter = (isByKey: boolean) => {
    const context = { agent: toAgentFacts(agents.claude, {}), compact: settings, window: 200_000 };
    const asked = [...full, draft, held, request(isByKey)].reduce(
      (state, event) => stepFlow(state, event, 1),
      startFlow(context, 0),
    );
    return stepFlow(asked, { type: 'alarm' }, 60_000).compaction.effects;
  };

  it('has the message set aside and the command typed', () => {
    expect(effectsAfter(true)).toMatchObject([{ type: 'type-compact', stashes: true }]);
  });

  it('from another terminal waits for the message to be gone', () => {
    expect(effectsAfter(false)).toEqual([]);
  });
});
