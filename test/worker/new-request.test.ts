// One request more: its row and its action are all that reading, carrying out, answering and asking need to work with it.
import { once } from 'node:events';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askSession } from '../../src/cli/ask-session.js';
import {
  requests,
  type Actions,
  type Asked,
  type RequestRecord,
  type RequestRow,
} from '../../src/core/compaction/requests.js';
import { readAnswer, readRequest, listRequests, writeRequest } from '../../src/storage/requests.js';
import type { RequestActions } from '../../src/worker/request-queue.js';
import { keyOf, makeRequester } from '../support/requester.js';

const row = {
  nap: {
    schema: 'ctxwrap.nap/1',
    arguments: { minutes: v.pipe(v.number(), v.minValue(1)) },
    ends: { napped: { means: 'done', tells: { words: v.string() } } },
  },
} as const satisfies Readonly<Record<string, RequestRow>>;

type Wait = Parameters<RequestActions['brief']>[1];
type ActionsWithNap = Omit<Actions<Wait, typeof requests & typeof row>, 'compact'>;

const others = {
  switch: () => undefined,
  brief: () => undefined,
  undo: () => undefined,
  shorten: () => undefined,
};

let asking: Awaited<ReturnType<typeof makeRequester>>;
let actions: ActionsWithNap;
beforeEach(async () => {
  Object.assign(requests, row);
  asking = await makeRequester();
  actions = {
    ...others,
    nap: async ({ minutes }, { gate }) => {
      await gate.begin();
      return { kind: 'napped', words: `for ${minutes} minutes` };
    },
  };
});
afterEach(async () => {
  Reflect.deleteProperty(requests, 'nap');
  await asking.end();
});

const ask = (minutes: number, signal = new AbortController().signal) =>
  askSession('me', { schema: 'ctxwrap.nap/1', minutes } as unknown as Asked, {
    stateFolder: asking.state,
    waits: true,
    signal,
  });

describe('a request that is added to the table', () => {
  it('does not compile without its action', () => {
    // @ts-expect-error nobody naps
    const without: ActionsWithNap = others;
    expect(without).not.toHaveProperty('nap');
  });

  it('is carried out with its arguments, and what it came to is told in its own words', async () => {
    asking.watch({ actions });
    expect(await ask(5)).toEqual({ outcome: 'done', words: 'for 5 minutes' });
  });

  it('is answered as begun before its action goes on', async () => {
    const { nap } = actions;
    const seen: unknown[] = [];
    const actionsSeen: ActionsWithNap = {
      ...actions,
      nap: async (asked, wait) => {
        const result = await nap(asked, wait);
        seen.push(await readAnswer(asking.folder, keyOf(wait.id)));
        return result ?? { kind: 'refused', reason: 'no result' };
      },
    };
    asking.watch({ actions: actionsSeen });
    await ask(5);
    expect(seen).toMatchObject([{ state: 'begun' }]);
  });

  it('withdraws its action while that waits', async () => {
    const withdrawing = new AbortController();
    const waiting: ActionsWithNap = {
      ...actions,
      nap: async (_, { signal }) => {
        withdrawing.abort();
        if (!signal.aborted) await once(signal, 'abort');
        return { kind: 'refused', reason: 'withdrawn' };
      },
    };
    asking.watch({ actions: waiting });
    expect(await ask(5, withdrawing.signal)).toMatchObject({ outcome: 'refused', why: 'withdrawn' });
    expect(await listRequests(asking.folder, 'me')).toEqual([]);
  });

  it('is none with an argument that its row does not allow, and in a session that has no such row', async () => {
    const leave = (minutes: number): Promise<void> =>
      writeRequest(asking.folder, {
        ...asking.requestOf('one'),
        schema: 'ctxwrap.nap/1',
        minutes,
      } as unknown as RequestRecord);
    await leave(1);
    expect(await readRequest(asking.folder, keyOf('one'))).toMatchObject({ minutes: 1 });
    Reflect.deleteProperty(requests, 'nap');
    expect(await readRequest(asking.folder, keyOf('one'))).toBeUndefined();
    Object.assign(requests, row);
    await leave(0);
    expect(await readRequest(asking.folder, keyOf('one'))).toBeUndefined();
  });
});
