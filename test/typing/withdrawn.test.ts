// What is being typed is not wanted any more: it is taken back, and nothing is submitted.
import { describe, expect, it } from 'vitest';
import type { EndedCompaction } from '../../src/core/compaction/outcome.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeCompactor } from '../../src/typing/compactor.js';
import { eventually } from '../support/eventually.js';
import { BACKSPACE, makeAgent, pasted, typed } from '../support/typed-agent.js';

const REASON = 'the model has changed';

/** Withdraws when these keys are written. */
const withdrawnAt = (keys: string, start: Parameters<typeof makeAgent>[0] = {}) => {
  const agent = makeAgent(start);
  const withdrawal = new AbortController();
  agent.state.onWrite = (written) => {
    if (written === keys) withdrawal.abort(REASON);
  };
  return { ...agent, withdrawal: withdrawal.signal };
};

describe.concurrent('a command that is withdrawn', () => {
  it('when its text is in the prompt, is removed from it and never submitted', async () => {
    const { state, type, withdrawal } = withdrawnAt('/compact');
    const result = await type(typed, { withdrawal });
    expect(result).toMatchObject({ kind: 'withdrawn', reason: REASON });
    expect(result).not.toHaveProperty('isLeft');
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
    expect([state.text, state.submitted]).toEqual(['', []]);
    await eventually(() => expect(state.released).toEqual(['held', 'released after 2']));
  });

  it('is removed with the blank that was pasted behind it', async () => {
    const { state, type, withdrawal } = withdrawnAt('\x1b[200~/compact \x1b[201~');
    expect(await type(pasted, { withdrawal })).toMatchObject({ kind: 'withdrawn', reason: REASON });
    expect([state.text, state.submitted]).toEqual(['', []]);
  });

  it('before the first key, is not typed', async () => {
    const { state, type } = makeAgent();
    const result = await type(typed, { withdrawal: AbortSignal.abort(REASON) });
    expect(result).toMatchObject({ kind: 'skipped', reason: REASON });
    expect(state.written).toEqual([]);
  });

  it('behind a draft that was put aside, gives the draft back', async () => {
    const { state, type, withdrawal } = withdrawnAt('\x13', { text: 'half a thought' });
    expect(await type(typed, { withdrawal })).toMatchObject({ kind: 'withdrawn' });
    await eventually(() => expect(state.text).toBe('half a thought'));
    expect([state.written, state.submitted]).toEqual([['\x13', '\x13'], []]);
  });

  it('with Enter, stays sent', async () => {
    const { state, type, withdrawal } = withdrawnAt('\r');
    expect(await type(typed, { withdrawal })).toMatchObject({ kind: 'sent' });
    expect(state.submitted).toEqual(['/compact']);
  });
});

describe('the compactor', () => {
  const start = (shorten: (signal: AbortSignal) => Promise<never> = () => Promise.reject(new Error())) => {
    const agent = makeAgent();
    const events: Event[] = [];
    const compactor = makeCompactor({
      recipe: typed,
      port: agent.port,
      copy: () => Promise.reject(new Error('unused')),
      findFocus: () => Promise.reject(new Error('unused')),
      channel: undefined,
      shorten: (_strategy, signal) => shorten(signal),
      log: nullLog,
      onEvent: (event) => events.push(event),
    });
    return { ...agent, compactor, events };
  };
  const ended: EndedCompaction = {
    initiator: 'ctxwrap',
    startedAt: 0,
    endedAt: 1,
    outcome: { kind: 'skipped-busy', reason: REASON },
    evidence: [],
  };

  it('takes the command back, tells so, and can type the next one', async () => {
    const { compactor, state, events } = start();
    state.onWrite = (keys) => {
      if (keys === '/compact' && events.length === 0) compactor.run({ type: 'withdraw', reason: REASON });
    };
    compactor.run({ type: 'type-compact', isQueued: false });
    await eventually(() => expect(events).toHaveLength(1));
    expect(events).toMatchObject([{ type: 'typed', result: { kind: 'withdrawn', reason: REASON } }]);
    expect([state.text, state.submitted]).toEqual(['', []]);
    compactor.run({ type: 'ended', ended });
    compactor.run({ type: 'type-compact', isQueued: false });
    await eventually(() => expect(state.submitted).toEqual(['/compact']));
    compactor.stop();
  });

  it('has a strategy that is at work stop', async () => {
    const signals: AbortSignal[] = [];
    const { compactor } = start((signal) => {
      signals.push(signal);
      return new Promise<never>(() => undefined);
    });
    compactor.run({ type: 'type-compact', isQueued: false, strategy: 'truncate' });
    await eventually(() => expect(signals).toHaveLength(1));
    compactor.run({ type: 'withdraw', reason: REASON });
    expect(signals[0]?.aborted).toBe(true);
    compactor.stop();
  });
});
