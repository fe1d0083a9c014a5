import { describe, expect, it, vi } from 'vitest';
import { leftBehind, retractLate } from '../../src/wrap/typist.js';
import { BACKSPACE, makeAgent, typed } from '../support/typed-agent.js';

const NOT_ASIDE = 'the agent does not say that the draft was put aside';

describe.concurrent('a draft', () => {
  it('is put aside first, and comes back with the end of the command', async () => {
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

  it('is given back at once, and nothing is typed, when it went away without the agent’s word', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    state.isSilent = true;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn', reason: `${NOT_ASIDE}: given back` });
    expect(state.written).toEqual(['\x13', '\x13']);
    expect([state.text, state.submitted]).toEqual(['half a thought', []]);
    expect(state.released).toEqual(['held', 'released after 2']); // keys of the user's come behind it
  });

  it('is given back once its prompt is seen again, when something came over it', async () => {
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

  it('is given back when the command had to be taken back', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    state.most = 4;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn' });
    expect(state.written).toEqual(['\x13', '/compact', BACKSPACE.repeat(4), '\x13']);
    expect(state.text).toBe('half a thought');
  });
});

describe.concurrent('text of ours', () => {
  const orderOf = (text: string) => {
    const { state, port } = makeAgent({ text });
    const signal = new AbortController().signal;
    return { state, order: { recipe: typed, port, isQueued: false, mayStash: true, signal } };
  };

  it('is taken out with the line break that an agent has made of Enter', async () => {
    const { state, order } = orderOf('/compact\n');
    await retractLate(order, { typedBefore: 0, wasSent: true });
    expect([state.written, state.text]).toEqual([[BACKSPACE.repeat(9)], '']);
  });

  it('is told where it stands among other text and nobody can take it out', () => {
    expect(leftBehind(orderOf('/compact  <optional instructions>').order, 0)).toBe(
      '/compact is left in the prompt: remove it',
    );
    expect(leftBehind(orderOf('').order, 0)).toBeUndefined();
    expect(leftBehind(orderOf('fix the tests').order, 0)).toBeUndefined();
    const typing = orderOf('/compact and more');
    typing.state.typed = 1; // the user is at it
    expect(leftBehind(typing.order, 0)).toBeUndefined();
  });
});
