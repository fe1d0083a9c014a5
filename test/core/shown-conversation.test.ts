// The conversation on the screen: numbers, compactions and records belong to it.
import { describe, expect, it } from 'vitest';
import { startFlow, stepFlow } from '../../src/core/session-flow.js';
import { footerView } from '../../src/core/footer-view.js';
import { sessionRecord } from '../../src/core/report/records.js';
import { leavesConversation, type Event } from '../../src/core/event.js';
import { startSession, stepSession, type Session } from '../../src/core/session.js';
import { shownId } from '../../src/core/shown-conversation.js';
import { tokens } from '../support/sessions.js';

const after = (...events: readonly Event[]): Session =>
  events.reduce((state, event, at) => stepSession(state, event, at), startSession({ agent: 'claude' }, 0));
const found: Event = { type: 'session-changed', sessionId: 'one', path: '/one.jsonl' };
const list: Event = { type: 'view', view: { shows: 'list', name: 'the list of agents' } };
const other: Event = { type: 'view', view: { shows: 'conversation', names: [], messages: [] } };
const full = tokens('log', 100_000);

describe('another view', () => {
  it('takes the number with it at once, and the footer says what is there instead', () => {
    expect(footerView(after(found, full), 9)).toMatchObject({ usedTokens: 100_000 });
    expect(footerView(after(found, full, list), 9)).toMatchObject({ note: 'the list of agents' });
    expect(footerView(after(found, full, other), 9)).toMatchObject({ note: 'looking for this conversation' });
    for (const view of [list, other]) {
      const state = after(found, full, { type: 'screen-blank' }, view);
      expect(state.fused).toBeUndefined();
      expect(shownId(state.conversation)).toBeUndefined();
    }
  });

  it('looks for no conversation where none was ever found, as of an agent without files', () => {
    expect(footerView(after(full, other), 9)).toMatchObject({ note: 'waiting for the first turn' });
  });

  it('leaves nothing of the conversation in the published record', () => {
    const identity = {
      id: 'x',
      version: '1',
      pid: 1,
      childPid: 2,
      runtime: 'claude',
      cwd: '/',
      startedAt: 0,
    };
    const record = sessionRecord({ ...identity, processStart: '1' }, after(found, full, list), {}, 9);
    expect(record).not.toHaveProperty('agentSessionId');
    expect(record).not.toHaveProperty('logPath');
    expect(record).toMatchObject({ note: 'the list of agents' });
  });

  it('has the number of the conversation that is found in it, since it was found', () => {
    const state = after(
      found,
      full,
      list,
      other,
      { ...found, sessionId: 'two', path: '/two' },
      tokens('log', 33_000),
    );
    expect(state.conversation).toEqual({ kind: 'known', id: 'two', path: '/two', isCertain: true, since: 4 });
    expect(state.fused?.reading.usedTokens).toBe(33_000);
  });

  it('is the same one as long as only more of it is seen', () => {
    const state = after(found, full, { ...other, isSame: true } as Event);
    expect(state.fused?.reading.usedTokens).toBe(100_000);
    expect(shownId(state.conversation)).toBe('one');
  });

  it('does not measure with the model of the conversation before', () => {
    const claim: Event = {
      type: 'window',
      claim: { windowTokens: 1e6, windowSource: 'agent', model: 'opus' },
    };
    const state = after(found, claim, full, other);
    expect(state.windows.model).toBeUndefined();
  });
});

describe('the number of a resumed conversation', () => {
  it('is marked as from before the first turn, until there is one', () => {
    const start = startSession({ agent: 'claude' }, 100);
    const resumed = [found, full].reduce((state, event) => stepSession(state, event, 101), start);
    expect(footerView(resumed, 101)).toMatchObject({ usedTokens: 100_000, words: 'before your first turn' });
    const later = stepSession(resumed, tokens('log', 120_000, { at: 200 }), 200);
    expect(footerView(later, 200).words).toBeUndefined();
  });
});

describe('the same conversation in another file', () => {
  it('stays in view since it was found first', () => {
    const state = after(found, full, { ...found, path: '/moved.jsonl' } as Event);
    expect(state.conversation).toMatchObject({ id: 'one', path: '/moved.jsonl', since: 0 });
    expect(state.fused?.reading.usedTokens).toBe(100_000);
  });
});

describe('a compaction in a conversation that goes from the screen', () => {
  const settings = {
    mode: 'auto',
    command: '/compact',
    startMs: 5_000,
    finishMs: 9_000,
    isProactive: false,
  } as const;
  const agentFacts = { name: 'claude', native: undefined, hasLog: true, derivedWindow: undefined };
  const opened = startFlow({ agent: agentFacts, compact: settings }, 0);
  const flowAfter = (...events: readonly Event[]) =>
    events.reduce((flow, event, at) => stepFlow(flow, event, at * 10_000), opened);
  const ready: Event = { type: 'activity', report: { activity: 'ready', witnesses: [] } };
  const over = tokens('log', 190_000);

  it('is not counted down to, and its outcome is not told of the next one', () => {
    const due = flowAfter(found, over, ready, { type: 'alarm' });
    expect(due.compaction.phase.kind).toBe('countdown');
    for (const view of [list, other])
      expect(flowAfter(found, over, ready, view).compaction.phase.kind).toBe('rest');
    const boundary: Event = {
      type: 'boundary',
      boundary: { at: 5, initiator: 'user', preTokens: 190_000, postTokens: 9 },
    };
    expect(flowAfter(found, over, boundary, tokens('log', 9_000)).compaction.last).toBeDefined();
    expect(flowAfter(found, over, boundary, tokens('log', 9_000), other).compaction.last).toBeUndefined();
  });

  it('is not made in the next one, though it was asked for: the request is refused', () => {
    const request: Event = { type: 'compact-requested', request: { id: 'r', isByKey: false, force: false } };
    for (const before of [found, other]) {
      const { compaction } = flowAfter(before, request, list);
      expect(compaction.request).toBeUndefined();
      expect(compaction.effects).toMatchObject([{ type: 'refused', requestId: 'r' }]);
    }
  });

  it('says nothing of a smaller window, which belongs to the other conversation', () => {
    const claim: Event = {
      type: 'window',
      claim: { windowTokens: 1e6, windowSource: 'agent', model: 'opus' },
    };
    const large = tokens('log', 50_000, { model: 'opus', windowTokens: 1e6 });
    const small = tokens('log', 50_000, { model: 'sonnet' });
    expect(flowAfter(found, claim, large, small).warnings).toEqual([
      expect.stringContaining('reduced capacity'),
    ]);
    expect(flowAfter(found, claim, large, other, small).warnings).toEqual([]);
  });
});

describe('what leaves a conversation', () => {
  it.each([
    [found, true],
    [{ ...found, isSame: true } as Event, false],
    [list, true],
    [other, true],
    [{ ...other, isSame: true } as Event, false],
    [full, false],
  ])('%j: %s', (event, isLeft) => {
    expect(leavesConversation(event)).toBe(isLeft);
  });
});
