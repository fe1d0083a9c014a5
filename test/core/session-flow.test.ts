// The whole state of one wrap, stepped with an agent that is only a handful of values.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import type { WindowClaim } from '../../src/core/reading.js';
import { flowDeadline, startFlow, stepFlow, type AgentFacts } from '../../src/core/session-flow.js';
import { settings } from '../support/compaction-play.js';
import { alarm, blank, shows } from '../support/sessions.js';

const agent: AgentFacts = { name: 'made-up', native: undefined, hasLog: true, derivedWindow: undefined };
const counted: Event = { type: 'reading', reading: { usedTokens: 100_000, source: 'log', at: 1 } };

/** The window after a number on the screen and one in the session file have stood still for two seconds. */
const windowAfterPair = (derivedWindow: AgentFacts['derivedWindow'], ...between: readonly Event[]) => {
  const events = [counted, shows(40), ...between];
  const start = startFlow({ agent: { ...agent, derivedWindow }, compact: settings }, 0);
  const flow = events.reduce((each, event) => stepFlow(each, event, 0), start);
  const due = flowDeadline(flow, 0);
  return { due, windowTokens: stepFlow(flow, alarm, 2_000).session.fused?.window?.windowTokens };
};

const claim: WindowClaim = { windowTokens: 250_000, windowSource: 'derived' };

describe('an alarm', () => {
  it('asks the agent for the window that two numbers prove, once they have stood still', () => {
    const asked: unknown[] = [];
    const { due, windowTokens } = windowAfterPair((screen, log) => {
      asked.push([screen.usedPercent, log.usedTokens]);
      return claim;
    });
    expect(due).toBe(2_000);
    expect(asked).toEqual([[40, 100_000]]);
    expect(windowTokens).toBe(250_000);
  });

  it('proves nothing where one of them is gone, or the agent draws no conclusion', () => {
    expect(windowAfterPair(() => claim, blank).windowTokens).toBeUndefined();
    expect(windowAfterPair(() => undefined).windowTokens).toBeUndefined();
    expect(windowAfterPair(undefined).windowTokens).toBeUndefined();
  });
});

it('an agent without a session file that we can read is said to have none', () => {
  const { session } = startFlow({ agent: { ...agent, hasLog: false } }, 0);
  expect(session.blank).toEqual({ why: 'unreadable', reason: 'made-up has no session file' });
});
