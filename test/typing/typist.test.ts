import { describe, expect, it, vi } from 'vitest';
import { BACKSPACE, makeAgent, pasted, typed, unstashed } from '../support/typed-agent.js';
import { eventually } from '../support/eventually.js';

describe.concurrent('the command', () => {
  it('is typed, checked in the prompt and submitted, while the user’s keys are held', async () => {
    const { state, type } = makeAgent();
    expect(await type(typed)).toMatchObject({ kind: 'sent' });
    expect(state.written).toEqual(['/compact', '\r']);
    expect(state.submitted).toEqual(['/compact']);
    await eventually(() => expect(state.released).toEqual(['held', 'released after 2']));
  });

  it('is followed by the user’s keys when the prompt is empty, and not together with Enter', async () => {
    const { state, type } = makeAgent();
    state.isSlow = true;
    expect(await type(typed)).toMatchObject({ kind: 'sent' });
    const { looks } = state;
    await eventually(() => expect(state.looks).toBeGreaterThan(looks + 2));
    expect(state.released).toEqual(['held']);
    state.text = '';
    await eventually(() => expect(state.released).toEqual(['held', 'released after 2']));
  });

  it('is retracted before the user’s keys follow, where the prompt never shows that it was accepted', async () => {
    const { state, type } = makeAgent();
    state.isSlow = true;
    await type(typed);
    state.waitingCount = 1;
    state.outputBytes += 1;
    await vi.waitFor(() => expect(state.released).toHaveLength(2), { timeout: 10_000 });
    expect(state.text).toBe('');
    expect(state.written).toEqual(['/compact', '\r', BACKSPACE.repeat(8)]);
  });

  it('holds the user’s keys while the agent draws nothing: it has not read Enter yet', async () => {
    const { state, type } = makeAgent();
    state.isSlow = true;
    state.onWrite = (keys) => void (state.isDeaf = keys === '\r');
    await type(typed);
    state.waitingCount = 1;
    const { looks } = state;
    await vi.waitFor(() => expect(state.looks).toBeGreaterThan(looks + 150), { timeout: 20_000 });
    expect(state.released).toEqual(['held']);
    state.text = '';
    await eventually(() => expect(state.released).toHaveLength(2));
  });

  it('is pasted with a blank behind it where that is the recipe, and submitted with its key', async () => {
    const { state, type } = makeAgent();
    expect(await type(pasted)).toMatchObject({ kind: 'sent', isQueued: false });
    expect(state.written).toEqual(['\x1b[200~/compact \x1b[201~', '\t']);
  });

  it('takes the focus where the agent takes one, and not elsewhere', async () => {
    const taking = makeAgent();
    await taking.type(typed, { focus: 'the tests' });
    expect(taking.state.submitted).toEqual(['/compact the tests']);
    const other = makeAgent();
    await other.type({ ...typed, takesFocus: false }, { focus: 'the tests' });
    expect(other.state.submitted).toEqual(['/compact']);
  });

  it('takes what must be kept from the conversation, which no log and no audit is told', async () => {
    const { state, type } = makeAgent();
    const found = `Keep word for word: "${'x'.repeat(560)}".`;
    const result = await type(typed, { focus: 'evidence', found });
    expect(state.submitted).toEqual([`/compact ${found}`]);
    const name = '/compact with 583 characters of the conversation';
    expect(result).toMatchObject({ kind: 'sent', evidence: [`typed ${name}, Enter`] });
    expect(state.named).toEqual([name, undefined]);
    const cut = makeAgent();
    cut.state.most = 300;
    const withdrawn = await cut.type(typed, { found });
    expect(withdrawn.kind).toBe('withdrawn');
    expect(JSON.stringify([withdrawn, cut.state.named])).not.toContain('xxx');
    expect(cut.state.text).toBe('');
    const other = makeAgent();
    await other.type({ ...typed, takesFocus: false }, { found });
    expect(other.state.submitted).toEqual(['/compact']);
  });

  it('is given to an agent that works only when it may be queued', async () => {
    const queued = makeAgent({ activity: 'busy' });
    expect(await queued.type(pasted, { isQueued: true })).toMatchObject({ kind: 'sent', isQueued: true });
    const refused = makeAgent({ activity: 'busy' });
    expect(await refused.type(pasted)).toMatchObject({ kind: 'skipped', reason: 'the agent is busy' });
    expect(refused.state.written).toEqual([]);
  });
});

describe.concurrent('no key is typed', () => {
  it.each(['busy', 'dialog', 'compacting', 'unknown', 'dead'] as const)(
    'into an agent that is %s',
    async (activity) => {
      const { state, type } = makeAgent({ activity });
      expect(await type(typed)).toMatchObject({ kind: 'skipped' });
      expect(state.written).toEqual([]);
      expect(state.released).toEqual([]);
    },
  );

  it('where no prompt is visible', async () => {
    const { state, type } = makeAgent();
    state.hasPrompt = false;
    expect(await type(typed)).toMatchObject({ kind: 'skipped', reason: 'no prompt is seen' });
    expect(state.written).toEqual([]);
  });

  it('into a draft that the user does not allow to stash', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    expect(await type(typed, { mayStash: false })).toMatchObject({ kind: 'skipped' });
    expect(state.written).toEqual([]);
  });

  it('into a draft of an agent that cannot stash it', async () => {
    const { state, type } = makeAgent({ text: 'half a thought' });
    expect(await type(unstashed)).toMatchObject({ kind: 'skipped', reason: 'there is text in the prompt' });
    expect(state.written).toEqual([]);
  });

  it('when a dialog opens before the user’s keys are held', async () => {
    const { state, type } = makeAgent();
    state.onHold = () => {
      state.activity = 'dialog';
    };
    expect(await type(typed)).toMatchObject({ kind: 'skipped', reason: 'a dialog is open' });
    expect(state.written).toEqual([]);
    expect(state.released).toEqual(['held', 'released after 0']);
  });

  it('when the user has typed something that the decision did not know of', async () => {
    const { state, type } = makeAgent();
    state.hasUnreportedKeys = true;
    expect(await type(typed)).toMatchObject({ kind: 'skipped', reason: 'the user types' });
    expect(state.written).toEqual([]);
  });
});

describe.concurrent('a command on an unexpected screen', () => {
  it('is left alone when a dialog opens between the text and the key that submits it', async () => {
    const { state, type } = makeAgent();
    state.onWrite = () => {
      state.activity = 'dialog';
      state.hasPrompt = false;
      state.outputBytes += 1;
    };
    expect(await type(typed)).toMatchObject({
      kind: 'withdrawn',
      reason: 'the prompt went away while the command was typed',
      isLeft: true,
    });
    expect(state.written).toEqual(['/compact']);
  });

  it.each([
    ['another command is chosen in the list below it', typed, '/clear'],
    ['the list that the agent always shows is not there', { ...typed, isListed: true as const }, undefined],
  ])('is not submitted while %s', async (_why, recipe, listed) => {
    const { state, type } = makeAgent();
    state.listed = listed;
    expect(await type(recipe)).toMatchObject({ kind: 'withdrawn' });
    expect(state.submitted).toEqual([]);
    expect(state.text).toBe('');
  });

  it('is submitted once the list below it has followed', async () => {
    const { state, type } = makeAgent();
    state.listed = '/clear';
    state.onWrite = () => void setTimeout(() => void (state.listed = '/compact'), 100);
    expect(await type({ ...typed, isListed: true })).toMatchObject({ kind: 'sent' });
    expect(state.submitted).toEqual(['/compact']);
  });

  it('is followed by Backspaces when it does not arrive: wherever it still is, they come behind it in order', async () => {
    const { state, type } = makeAgent();
    state.isDeaf = true;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn', isLeft: true }); // nobody sees where it is
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
    expect(state.released.at(-1)).toBe('released after 2');
  });

  it('that appears behind a dialog is retracted before the user’s next key', async () => {
    const { state, type } = makeAgent();
    state.onWrite = (keys) => {
      if (keys !== '/compact') return;
      [state.activity, state.hasPrompt, state.waitingCount] = ['dialog', false, 2];
      state.outputBytes += 1;
    };
    state.onRelease = () => {
      // the first key closes the dialog, and the command is in the prompt
      [state.activity, state.hasPrompt, state.text] = [undefined, true, '/compact'];
      state.outputBytes += 1;
    };
    await type(typed);
    const { looks } = state;
    await eventually(() => expect(state.looks).toBeGreaterThan(looks + 5));
    expect(state.waitingCount).toBe(2); // pressed before the dialog opened, so not meant for it
    state.typedCount += 1;
    state.waitingCount += 1;
    await vi.waitFor(() => expect(state.released.at(-1)).toBe('released after 2'), { timeout: 10_000 });
    expect(state.text).toBe('');
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
  });

  it.each([
    ['is not the agent’s any more', true, 1],
    ['has not been drawn since', false, 0],
  ])('is followed by Backspaces, and then the keys, where the screen %s', async (_, isDoubted, drawn) => {
    const { state, type } = makeAgent();
    state.onWrite = (keys) => {
      if (keys !== '/compact') return;
      Object.assign(state, {
        activity: 'unknown',
        hasPrompt: false,
        isDoubted,
        waitingCount: 1,
        isDeaf: true,
      });
      state.outputBytes += drawn;
    };
    await type(typed);
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
    expect(state.released.at(-1)).toBe('released after 2');
  });

  it('releases the keys when the screen cannot be read any more', async () => {
    const { state, type } = makeAgent();
    state.onWrite = () => void (state.isBlind = true);
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn' });
    await vi.waitFor(() => expect(state.released).toHaveLength(2), { timeout: 20_000 });
  });

  it('is retracted with Backspaces for exactly the typed text', async () => {
    const { state, type } = makeAgent();
    state.onWrite = (keys) => {
      if (keys === '/compact') state.text = 'from elsewhere ';
    };
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn' });
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
    expect(state.text).toBe('from elsewhere ');
    expect(state.submitted).toEqual([]);
    expect(state.released.at(-1)).toBe('released after 2');
  });

  it('is retracted when it appears late', async () => {
    const { state, type } = makeAgent();
    state.isDeaf = true;
    expect(await type(typed)).toMatchObject({ kind: 'withdrawn' });
    state.isDeaf = false;
    state.text = '/compact';
    await eventually(() => expect(state.text).toBe(''));
    expect(state.submitted).toEqual([]);
  });

  it('is waited for on a slow machine, while the user presses nothing', async () => {
    const { state, type } = makeAgent();
    state.isDeaf = true;
    const sent = type(unstashed);
    setTimeout(() => {
      state.isDeaf = false;
      state.text = '/compact';
    }, 2_000); // longer than the user's keys may be held
    expect(await sent).toMatchObject({ kind: 'sent' });
    expect(state.submitted).toEqual(['/compact']);
  });

  it('is given up sooner when a key of the user is held', async () => {
    const [quiet, typing] = [makeAgent(), makeAgent()];
    for (const { state } of [quiet, typing]) state.listed = '/model'; // never sent to the agent
    typing.state.onWrite = () => void (typing.state.typedCount = 1);
    const outcomes = [quiet.type(unstashed).then(() => 'quiet'), typing.type(unstashed).then(() => 'typing')];
    expect(await Promise.race(outcomes)).toBe('typing');
    expect(typing.state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
    await Promise.all(outcomes);
  });

  it('is retracted once, however long the screen still shows it', async () => {
    const { state, type } = makeAgent();
    state.listed = '/model'; // never sent to the agent, so nothing is submitted
    state.onWrite = () => void (state.isDeaf = state.text !== '');
    await type(unstashed);
    const { looks } = state;
    await eventually(() => expect(state.looks).toBeGreaterThan(looks + 2));
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(8)]);
  });

  it('is not touched late when the user has typed since', async () => {
    const { state, type } = makeAgent();
    state.isDeaf = true;
    state.onWrite = () => {
      state.typedCount += 1;
      state.outputBytes += 1;
    };
    await type(unstashed);
    state.isDeaf = false;
    state.text = '/compact';
    await type(unstashed); // finds text in the prompt, and checks it
    expect(state.text).toBe('/compact');
  });

  it('is retracted as far as it arrived', async () => {
    const { state, type } = makeAgent();
    state.most = 4;
    expect(await type(typed)).not.toHaveProperty('isLeft');
    expect(state.written).toEqual(['/compact', BACKSPACE.repeat(4)]);
  });

  it.each([
    ['the text', 1, { kind: 'withdrawn', isLeft: true }],
    ['the key that submits it', 2, { kind: 'sent' }],
  ])('may be there when writing %s fails, and nobody knows how much went out', async (_, failing, result) => {
    const { state, type } = makeAgent();
    state.onWrite = () => {
      if (state.written.length === failing) throw new Error('gone');
    };
    expect(await type(typed)).toMatchObject(result);
    expect(state.released.at(-1)).toBe(`released after ${failing}`);
  });

  it('gets no further key once the agent has ended', async () => {
    const { state, type } = makeAgent();
    const ending = new AbortController();
    state.onWrite = () => ending.abort();
    expect(await type(typed, { signal: ending.signal })).toMatchObject({ reason: 'the agent has ended' });
    expect(state.written).toEqual(['/compact']);
  });
});
