import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Effect } from '../../src/core/compaction/state.js';
import { processStart } from '../../src/storage/processes.js';
import {
  readAnswer,
  removeAnswer,
  removeRequest,
  writeAnswer,
  writeRequest,
} from '../../src/storage/requests.js';
import type { RequestEvent } from '../../src/worker/requests.js';
import type { Requests } from '../../src/worker/requests.js';
import { makeRequester, endedFor, holdTimers, keyOf, slowLook } from '../support/requester.js';

let asking: Awaited<ReturnType<typeof makeRequester>>;
beforeEach(async () => {
  asking = await makeRequester();
});
afterEach(() => asking.end());

const asked = (id: string, more: object = {}) => ({
  type: 'compact-requested',
  request: { id, force: false, ...more },
});
const typing: Effect = { type: 'type-compact', isQueued: false };

describe('a request', () => {
  it('is reported once, answered as waiting, and then with the outcome', async () => {
    const requests = asking.watch();
    await asking.leave('one', { force: true, focus: 'the tests' });
    await asking.seen(1);
    expect(asking.events).toEqual([asked('one', { force: true, focus: 'the tests' })]);
    await asking.answered('one', { state: 'waiting' });
    requests.applyEffect(typing);
    requests.applyEffect(endedFor('one'));
    await asking.answered('one', { state: 'ended', attempt: { words: 'compacted 166k → 12k' } });
    await asking.until(() => expect(readdirSync(asking.folder)).toEqual(['me.one.answer.json']));
    await asking.settled();
    expect(asking.events).toEqual([asked('one', { force: true, focus: 'the tests' })]);
  });

  it('for which the agent is started again is answered with that, and not with the end of the session', async () => {
    const requests = asking.watch();
    await asking.leave('one');
    await asking.seen(1);
    requests.applyEffect(typing);
    requests.applyEffect({ type: 'restarting', requestId: 'one', strategy: 'truncate' });
    await requests.stop();
    await asking.answered('one', {
      state: 'restarting',
      words:
        'the agent is started again with a shorter conversation (truncate); its footer says when it has it',
    });
    expect(asking.events).toHaveLength(1);
  });

  it('that was there before the wrapper looked is not missed', async () => {
    await asking.leave('early');
    asking.watch();
    await asking.seen(1);
    expect(asking.events).toEqual([asked('early')]);
  });

  it('that is older than a watcher that must not repeat it is refused', async () => {
    await asking.leave('early');
    asking.watch({ from: asking.now + 1 });
    await asking.answered('early', {
      state: 'refused',
      reason: 'ctxwrap had to restart a part of itself: ask again',
    });
    expect(asking.events).toEqual([]);
  });

  it('that a watcher before it has begun is told as not known, because the command may have been typed', async () => {
    const { folder } = asking;
    for (const id of ['begun', 'waiting', 'torn']) await asking.leave(id);
    const base = { schema: 'ctxwrap.answer/1', session: 'me', at: 1 } as const;
    await writeAnswer(folder, { ...base, request: 'begun', state: 'begun' });
    await writeAnswer(folder, { ...base, request: 'waiting', state: 'waiting' });
    writeFileSync(join(folder, 'me.torn.answer.json'), '{"schema":"ctxwrap.answ');
    asking.watch({ from: asking.now + 1 });
    const reason = 'ctxwrap had to restart a part of itself';
    await asking.answered('begun', { state: 'unknown', reason });
    await asking.answered('torn', { state: 'unknown', reason });
    await asking.answered('waiting', { state: 'refused', reason: `${reason}: ask again` });
    expect(asking.events).toEqual([]);
  });

  it('that is withdrawn before its command is typed stops that, also where nobody has noticed yet', async () => {
    const requests = asking.watch();
    await asking.leave('one');
    await asking.answered('one', { state: 'waiting' });
    requests.applyEffect(typing);
    expect(await requests.begin()).toBeUndefined();
    expect(await readAnswer(asking.folder, keyOf('one'))).toMatchObject({ state: 'begun' });
    unlinkSync(join(asking.folder, 'me.one.request.json'));
    requests.applyEffect(typing); // before the watcher can have told of it
    expect(await requests.begin()).toBe('withdrawn');
  });

  it('that had begun when the session ends is told as not known', async () => {
    const requests = asking.watch();
    await asking.leave('one');
    await asking.answered('one', { state: 'waiting' });
    requests.applyEffect(typing);
    await requests.stop();
    expect(await readAnswer(asking.folder, keyOf('one'))).toMatchObject({
      state: 'unknown',
      reason: 'the session has ended',
    });
  });

  it('that the core refuses at once is answered so, and never as waiting', async () => {
    const requests: Requests = asking.watch({
      onEvent: (event) => {
        if (event.type === 'compact-requested')
          requests.applyEffect({
            type: 'refused',
            requestId: event.request.id,
            reason: 'paused after 3 failures',
          });
      },
    });
    await asking.leave('one');
    await asking.answered('one', { state: 'refused', reason: 'paused after 3 failures' });
    await asking.settled();
    expect(await readAnswer(asking.folder, keyOf('one'))).toMatchObject({ state: 'refused' });
  });

  it('that is withdrawn is reported to the core, and not answered', async () => {
    const requests = asking.watch();
    await asking.leave('one');
    await asking.answered('one', { state: 'waiting' });
    await removeRequest(asking.folder, keyOf('one'));
    await asking.seen(2);
    expect(asking.events[1]).toEqual({ type: 'compact-cancelled', id: 'one' });
    requests.applyEffect(endedFor('one'));
    await asking.settled();
    expect(await readAnswer(asking.folder, keyOf('one'))).toMatchObject({ state: 'waiting' });
  });

  it('for another session is ignored', async () => {
    asking.watch();
    await writeRequest(asking.folder, asking.requestOf('one', { session: 'me-too' }));
    await asking.settled();
    expect(asking.events).toEqual([]);
  });

  it('that is a link or no request is left alone', async () => {
    writeFileSync(join(asking.home, 'elsewhere'), JSON.stringify(asking.requestOf('one')));
    symlinkSync(join(asking.home, 'elsewhere'), join(asking.folder, 'me.one.request.json'));
    writeFileSync(join(asking.folder, 'me.two.request.json'), '{"schema":"ctxwrap.request/1"');
    asking.watch();
    await asking.settled();
    expect(asking.events).toEqual([]);
    expect(readdirSync(asking.folder)).toContain('me.two.request.json');
  });

  it('that is older than ten minutes is refused without an event for the core', async () => {
    asking.watch();
    await asking.leave('old', { askedAt: asking.now - 600_001 });
    await asking.answered('old', { state: 'refused', reason: 'no safe moment came in 10 minutes' });
    expect(asking.events).toEqual([]);
  });

  it('is answered when its command is typed', async () => {
    const requests = asking.watch();
    await asking.leave('one');
    await asking.answered('one', { state: 'waiting' });
    requests.applyEffect(typing);
    const { folder, until } = asking;
    await until(async () => expect(await readAnswer(folder, keyOf('one'))).toMatchObject({ state: 'begun' }));
  });

  it('that nobody waits for gets no answer that nobody would read', async () => {
    const requests = asking.watch();
    const { pid: _, ...request } = asking.requestOf('one');
    await writeRequest(asking.folder, request);
    await asking.answered('one', { state: 'waiting' });
    await removeAnswer(asking.folder, keyOf('one')); // as `ctxwrap compact` does before it exits
    requests.applyEffect(typing);
    requests.applyEffect(endedFor('one'));
    await asking.until(() => expect(readdirSync(asking.folder)).toEqual([]));
  });

  it('of a process that is gone is void, whether it was taken or not', async () => {
    holdTimers();
    asking.watch();
    const child = spawn('sleep', ['1000']);
    const start = processStart(child.pid ?? 0);
    const more = { pid: child.pid ?? 0, ...(start === undefined ? {} : { processStart: start }) };
    await asking.leave('one', more);
    await asking.seen(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    slowLook();
    await asking.seen(2);
    expect(asking.events[1]).toEqual({ type: 'compact-cancelled', id: 'one' });
    await asking.leave('two', more);
    await asking.settled();
    expect(asking.events).toHaveLength(2);
  });

  it('without a waiting process stays valid', async () => {
    asking.watch();
    const { pid: _, ...request } = asking.requestOf('one');
    await writeRequest(asking.folder, request);
    await asking.seen(1);
    expect(asking.events).toEqual([asked('one')]);
  });
});

describe('the file of OMC', () => {
  const put = (): void => {
    const at = join(asking.home, 'project', '.omc', 'state');
    mkdirSync(at, { recursive: true });
    const text = { requestedAt: new Date(asking.now).toISOString(), contextPercent: 83, threshold: 80 };
    writeFileSync(join(at, 'compact-requested.json'), JSON.stringify(text));
  };
  const isOmc = (event: RequestEvent): boolean => 'request' in event && event.request.id.startsWith('omc-');

  it('counts once, is not changed, and answering it does no harm', async () => {
    holdTimers();
    const requests = asking.watch({ omcFolder: join(asking.home, 'project') });
    await asking.settled();
    asking.now += 1_000;
    put();
    slowLook();
    await asking.until(() => expect(asking.events.filter(isOmc)).toHaveLength(1));
    const [event] = asking.events;
    if (event?.type === 'compact-requested') requests.applyEffect(endedFor(event.request.id));
    asking.now += 1_000;
    put();
    slowLook();
    await asking.settled();
    expect(asking.events.filter(isOmc)).toHaveLength(1);
    expect(readdirSync(join(asking.home, 'project', '.omc', 'state'))).toEqual(['compact-requested.json']);
  });

  it('is ignored unless it is enabled', async () => {
    holdTimers();
    asking.watch();
    await asking.settled();
    asking.now += 1_000;
    put();
    slowLook();
    await asking.settled();
    expect(asking.events).toEqual([]);
  });
});
