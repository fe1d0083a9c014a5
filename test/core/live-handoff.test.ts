import { describe, expect, it } from 'vitest';
import type { Preset } from '../../src/core/ladder.js';
import type { Event } from '../../src/core/event.js';
import { liveHandoffText, stepLiveHandoff, type LiveHandoff } from '../../src/core/live-handoff.js';
import { startSession, stepSession } from '../../src/core/session.js';
import { tokens } from '../support/sessions.js';

/** The handoff after these events in a window of 200,000 tokens: whether one fell due, and what the footer says. */
const after = (events: readonly Event[], preset: Preset = 'handoff') => {
  let session = startSession({ agent: 'claude', native: undefined, ladder: { preset } }, 0);
  session = stepSession(session, { type: 'user-window', windowTokens: 200_000 }, 0);
  let handoff: LiveHandoff = { keys: 'Ctrl-] h', command: 'ctxwrap handoff --to claude' };
  let due = 0;
  for (const event of events) {
    session = stepSession(session, event, 1);
    handoff = stepLiveHandoff(handoff, event, session);
    due += handoff.isDue ? 1 : 0;
  }
  return { due, text: liveHandoffText(handoff, session), isReady: handoff.written !== undefined };
};

const written: Event = { type: 'handoff-ready', handoff: { path: '/state/handoff/x.md', at: 1 } };

describe('with the preset `handoff`', () => {
  it('nothing is said below 70 %', () => {
    expect(after([tokens('log', 139_999)])).toMatchObject({ due: 0, text: undefined });
  });

  it('the footer prepares for a handoff from 70 % on, and none is written yet', () => {
    expect(after([tokens('log', 140_000)])).toMatchObject({ due: 0, text: 'handoff soon: Ctrl-] h' });
  });

  it('at 85 % it is written once, and then offered', () => {
    const full = [tokens('log', 170_000), tokens('log', 171_000), tokens('log', 180_000)];
    expect(after(full)).toMatchObject({ due: 1, text: 'handoff soon: Ctrl-] h' });
    expect(after([...full, written])).toMatchObject({
      due: 1,
      text: 'handoff ready: ctxwrap handoff --to claude',
    });
  });

  it('the same conversation gets a new one when it fell below and rises again', () => {
    const [full, freed] = [tokens('log', 170_000), tokens('log', 20_000)];
    expect(after([full, written, freed])).toMatchObject({ due: 1, text: undefined });
    expect(after([full, written, freed, full, tokens('log', 171_000)])).toMatchObject({
      due: 2,
      text: 'handoff soon: Ctrl-] h',
    });
    expect(after([full, written, freed, full, written]).text).toBe(
      'handoff ready: ctxwrap handoff --to claude',
    );
  });

  it('an estimate writes nothing', () => {
    expect(after([tokens('estimate', 190_000)]).due).toBe(0);
  });
});

describe('a handoff that was written', () => {
  const full = tokens('log', 170_000);
  const other = { type: 'session-changed', sessionId: 'other', path: '/x/other.jsonl' } as const;
  const compacted: Event = { type: 'boundary', boundary: { at: 1, preTokens: 170_000, postTokens: 20_000 } };

  it.each<readonly [string, readonly Event[]]>([
    ['the conversation is compacted', [compacted]],
    ['the conversation is cleared', [{ type: 'voided' }]],
    ['another conversation begins', [other]],
    ['another view opens', [{ type: 'view', view: { shows: 'list', name: '' } }]],
  ])('is ready until %s, with any preset', (_, events) => {
    for (const preset of ['handoff', 'percent'] as const) {
      expect(after([full, written], preset).isReady).toBe(true);
      expect(after([full, written, ...events], preset).isReady).toBe(false);
    }
  });

  it('is not ready in the conversation that began while it was written', () => {
    const late: Event = { type: 'handoff-ready', handoff: { path: '/x.md', at: 1, conversation: 'before' } };
    expect(after([{ ...other, sessionId: 'before' }, full, other, late]).isReady).toBe(false);
  });
});

it('with another preset nothing is written by itself', () => {
  expect(after([tokens('log', 199_000)], 'percent')).toMatchObject({ due: 0, text: undefined });
});
