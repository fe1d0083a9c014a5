// What is asked of a running session besides compacting: it says that it begins before anything can be typed, and what it does not know it
// never tells as refused.
import { once } from 'node:events';
import { readdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer, withdrawRequest, writeRequest, type Withdrawal } from '../../src/storage/requests.js';
import { beginIn, makeAnswerWriter, type RequestActions } from '../../src/worker/request-queue.js';
import type { SwitchResult } from '../../src/typing/switcher.js';
import { keyOf, makeRequester } from '../support/requester.js';

let asking: Awaited<ReturnType<typeof makeRequester>>;
beforeEach(async () => {
  asking = await makeRequester();
});
afterEach(() => asking.end());

type Wait = Parameters<RequestActions['switch']>[1];

/** A session in which a switch goes as the test says. */
const watchWith = (switchTo: (wait: Wait) => Promise<SwitchResult>) =>
  asking.watch({
    actions: {
      switch: (_, wait) => switchTo(wait),
      brief: () => undefined,
      undo: () => undefined,
      shorten: () => undefined,
    },
  });

const askForSwitch = (): Promise<void> =>
  writeRequest(asking.folder, {
    schema: 'ctxwrap.switch/1',
    ...keyOf('one'),
    askedAt: asking.now,
    name: 'the-new',
    pid: process.pid,
  });

const answerNow = () => readAnswer(asking.folder, keyOf('one'));

describe('a request for a switch', () => {
  it('is answered as begun before anything is typed, and as waiting again when the moment has passed', async () => {
    const seen: unknown[] = [];
    watchWith(async ({ gate }) => {
      seen.push(await gate?.begin(), await answerNow());
      gate?.rest();
      seen.push(await gate?.begin(), await answerNow());
      gate?.rest();
      return { kind: 'refused', reason: 'no safe moment was found' };
    });
    await askForSwitch();
    await asking.answered('one', { state: 'refused', reason: 'no safe moment was found' });
    const begun = expect.objectContaining({ state: 'begun' }) as unknown;
    expect(seen).toEqual([undefined, begun, undefined, begun]);
  });

  it('that is withdrawn is not begun, also before anybody has noticed', async () => {
    const told = new Promise((resolve) => {
      watchWith(async ({ gate }) => {
        unlinkSync(join(asking.folder, 'me.one.request.json'));
        resolve(await gate?.begin());
        return { kind: 'refused', reason: 'withdrawn' };
      });
    });
    await askForSwitch();
    expect(await told).toBe('withdrawn');
  });

  it('that is withdrawn is not answered any more', async () => {
    const told = new Promise<void>((resolve) => {
      watchWith(async ({ signal, onHold }) => {
        await once(signal, 'abort');
        onHold('a dialog is open');
        resolve();
        return { kind: 'refused', reason: 'withdrawn' };
      });
    });
    await askForSwitch();
    await asking.answered('one', { state: 'waiting' });
    unlinkSync(join(asking.folder, 'me.one.request.json'));
    await told;
    await asking.leave('two');
    await asking.answered('two', { state: 'waiting' }); // answers are written in order
    expect(await answerNow()).not.toHaveProperty('reason');
  });

  it('says from its first answer on what it waits for', async () => {
    watchWith(({ onHold }) => {
      onHold('a dialog is open');
      return new Promise(() => undefined);
    });
    await askForSwitch();
    await asking.answered('one', { state: 'waiting' });
    await asking.leave('two');
    await asking.answered('two', { state: 'waiting' }); // answers are written in order
    expect(await answerNow()).toMatchObject({ reason: 'a dialog is open' });
  });

  it('is not begun where that cannot be answered', async () => {
    const told = new Promise((resolve) => {
      watchWith(async ({ gate }) => {
        rmSync(asking.state, { recursive: true });
        symlinkSync(asking.home, asking.state); // a link in the place of the folder is not trusted
        resolve(await gate?.begin());
        return { kind: 'refused', reason: 'unwritten' };
      });
    });
    await askForSwitch();
    expect(await told).toBe('the answer to the request cannot be written');
    expect(readdirSync(asking.home)).toEqual(['ctxwrap']);
  });

  it.each([
    ['before the first key is told as refused', false, 'refused'],
    ['afterwards is told as not known', true, 'unknown'],
  ])('that fails %s', async (_, hasBegun, state) => {
    watchWith(async ({ gate }) => {
      if (hasBegun) await gate?.begin();
      throw new Error('gone');
    });
    await askForSwitch();
    await asking.until(async () => expect(await answerNow()).toMatchObject({ state, reason: 'gone' }));
  });

  it.each([
    ['waits', [], 'refused'],
    ['has begun', ['begin'], 'unknown'],
    ['waits again', ['begin', 'rest'], 'refused'],
  ] as const)('that %s when the session ends is told accordingly', async (_, steps, state) => {
    const requests = watchWith(async ({ gate, onHold }) => {
      for (const step of steps) await gate[step]();
      if (state === 'refused') onHold('a dialog is open');
      return new Promise(() => undefined);
    });
    await askForSwitch();
    await asking.answered('one', state === 'unknown' ? { state: 'begun' } : { reason: 'a dialog is open' });
    await requests.stop();
    expect(await answerNow()).toMatchObject({ state, reason: 'the session has ended' });
  });
});

describe('who withdraws while the session begins', () => {
  type Step = 'before it answers' | 'between its answer and its look' | 'after its look';

  /** What the session, and who withdraws at this step of it, know of each other. */
  const meetAt = async (step: Step) => {
    const { folder, state, now } = asking;
    await asking.leave('one');
    const answers = makeAnswerWriter(
      { stateFolder: state, sessionId: 'me', now: () => now },
      () => undefined,
    );
    let withdrawal: Withdrawal | undefined;
    const withdrawAt = async (at: Step): Promise<void> => {
      if (at === step) withdrawal = await withdrawRequest(folder, keyOf('one'));
    };
    const refusal = await beginIn(
      {
        ...answers,
        write: async (...answer) => {
          await withdrawAt('before it answers');
          return answers.write(...answer);
        },
        isWanted: async (id) => {
          await withdrawAt('between its answer and its look');
          return answers.isWanted(id);
        },
      },
      'one',
    );
    await withdrawAt('after its look');
    return { isTyped: refusal === undefined, known: withdrawal?.kind };
  };

  it.each<[Step, object]>([
    ['before it answers', { isTyped: false, known: 'unbegun' }],
    ['between its answer and its look', { isTyped: false, known: 'unknown' }],
    ['after its look', { isTyped: true, known: 'unknown' }],
  ])('%s is never sure of what is not so', async (step, expected) => {
    expect(await meetAt(step)).toEqual(expected);
  });
});
