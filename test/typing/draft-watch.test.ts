import { describe, expect, it, vi } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { makeDraftWatch } from '../../src/typing/draft.js';
import type { Log } from '../../src/storage/log-file.js';
import { BACKSPACE, makeAgent, typed } from '../support/typed-agent.js';

const silent = { info: () => undefined, warn: () => undefined } as unknown as Log;
const PATIENCE = { timeout: 15_000 };

/** The end of an attempt with a stashed draft. */
const ended = (
  left: { readonly text: string; readonly stashed?: string | undefined },
  mayHoldCommand = false,
) => {
  const { state, port } = makeAgent({ text: 'half a thought' });
  const events: Event[] = [];
  const watch = makeDraftWatch({ port, log: silent, onEvent: (event) => events.push(event) });
  watch.begin();
  state.text = left.text;
  state.stashed = left.stashed;
  const signal = new AbortController().signal;
  watch.end({ recipe: typed, port, isQueued: false, mayStash: true, signal }, { mayHoldCommand });
  return { state, events, watch };
};

describe.concurrent('a stashed draft', () => {
  it('is left alone where the agent restores it by itself', async () => {
    const { state, events } = ended({ text: 'half a thought' });
    const { looks } = state;
    await vi.waitFor(() => expect(state.looks).toBeGreaterThan(looks), PATIENCE);
    expect([state.written, events]).toEqual([[], []]);
  });

  it('is restored with the stash key where the agent does not', async () => {
    const { state, events } = ended({ text: '', stashed: 'half a thought' });
    await vi.waitFor(() => expect(state.text).toBe('half a thought'), PATIENCE);
    expect([state.written, events]).toEqual([['\x13'], []]);
  });

  it('is restored in the place of an interrupted command, which is removed first', async () => {
    const { state, events } = ended({ text: '/compact ', stashed: 'half a thought' }, true);
    await vi.waitFor(() => expect(state.text).toBe('half a thought'), PATIENCE);
    expect([state.written, events]).toEqual([[BACKSPACE.repeat(9), '\x13'], []]);
  });

  it('is reported as not restored where the user has typed something else, and no key is pressed then', async () => {
    const { state, events } = ended({ text: 'another thought', stashed: 'half a thought' });
    const { looks } = state;
    await vi.waitFor(() => expect(state.looks).toBeGreaterThan(looks), PATIENCE);
    state.typedCount += 1;
    await vi.waitFor(() => expect(events).toHaveLength(1), PATIENCE);
    expect(events).toEqual([
      { type: 'notice', text: 'draft put aside: the agent has not given it back', priority: 200 },
    ]);
    expect(state.written).toEqual([]);
  });

  it('is reported as not restored where the key does nothing', async () => {
    const { state, events } = ended({ text: '', stashed: undefined });
    state.isDeaf = true;
    await vi.waitFor(() => expect(events).toHaveLength(1), PATIENCE);
    expect(state.written).toEqual(['\x13']);
  });
});
