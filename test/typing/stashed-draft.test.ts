import { describe, expect, it, vi } from 'vitest';
import { leftoverNotice, retractLate } from '../../src/typing/typist.js';
import { BACKSPACE, makeAgent, typed } from '../support/typed-agent.js';

const NOT_ASIDE = 'the agent does not say that the draft was put aside';

describe.concurrent('a draft', () => {
  it('is stashed first, and comes back with the end of the command', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    expect(await type(typed)).toMatchObject({ kind: 'sent' });
    expect(state.written).toEqual(['\x13', '/compact', '\r']);
    expect(state.text).toBe('half a thought');
  });

  it('is not followed by a command when it did not go away', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    state.isDeaf = true;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn', reason: NOT_ASIDE });
    expect(state.written).toEqual(['\x13']);
  });

  it('is restored at once, and nothing is typed, when it disappeared without the agent’s confirmation', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    state.isSilent = true;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn', reason: `${NOT_ASIDE}: given back` });
    expect(state.written).toEqual(['\x13', '\x13']);
    expect([state.text, state.submitted]).toEqual(['half a thought', []]);
    expect(state.released).toEqual(['held', 'released after 2']); // the user's keys follow
  });

  it('is restored once the prompt is visible again, when something covered it', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    state.isSilent = true;
    state.onWrite = () => void (state.activity = 'dialog');
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn', reason: NOT_ASIDE });
    expect(state.written).toEqual(['\x13']);
    state.onWrite = () => undefined;
    state.activity = undefined;
    await vi.waitFor(() => expect(state.text).toBe('half a thought'), { timeout: 5_000 });
    expect(state.written).toEqual(['\x13', '\x13']);
  });

  it('is restored when the command had to be retracted', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    state.most = 4;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn' });
    expect(state.written).toEqual(['\x13', '/compact', BACKSPACE.repeat(4), '\x13']);
    expect(state.text).toBe('half a thought');
  });
});

describe.concurrent('text of the wrapper', () => {
  const orderOf = (text: string) => {
    const { state, port } = makeAgent({ text });
    const signal = new AbortController().signal;
    return { state, order: { recipe: typed, port, isQueued: false, mayStash: true, signal } };
  };

  it('is removed with the line break that an agent has made of Enter', async () => {
    const { state, order } = orderOf('/compact\n');
    await retractLate(order, { typedBefore: 0, wasSent: true });
    expect([state.written, state.text]).toEqual([[BACKSPACE.repeat(9)], '']);
  });

  it('is reported where it stands among other text and cannot be removed', () => {
    expect(leftoverNotice(orderOf('/compact  <optional instructions>').order, 0)).toBe(
      '/compact is left in the prompt: remove it',
    );
    expect(leftoverNotice(orderOf('').order, 0)).toBeUndefined();
    expect(leftoverNotice(orderOf('fix the tests').order, 0)).toBeUndefined();
    const typing = orderOf('/compact and more');
    typing.state.typedCount = 1; // the user is typing
    expect(leftoverNotice(typing.order, 0)).toBeUndefined();
  });
});
