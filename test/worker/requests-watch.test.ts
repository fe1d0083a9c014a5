import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getActiveResourcesInfo } from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readAnswer } from '../../src/storage/requests.js';
import { makeRequester, endedFor, folderWatches, holdTimers, keyOf, slowLook } from '../support/requester.js';

let asking: Awaited<ReturnType<typeof makeRequester>>;
beforeEach(async () => {
  asking = await makeRequester();
});
afterEach(() => asking.end());

describe('watching for requests', () => {
  it('answers those who still wait that the session has ended', async () => {
    const requests = asking.watch();
    await asking.leave('one');
    await asking.answered('one', { state: 'waiting' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // waits for a slow disk
    await requests.stop();
    expect(await readAnswer(asking.folder, keyOf('one'))).toMatchObject({
      state: 'refused',
      reason: 'the session has ended',
    });
    expect(readdirSync(asking.folder)).toEqual(['me.one.answer.json']);
    await asking.leave('two');
    await new Promise(setImmediate);
    expect(asking.events).toHaveLength(1);
  });

  it.runIf(process.platform === 'linux')(
    'does not keep the process running, and leaves no timer and no handle behind',
    async () => {
      const timers = ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const;
      asking.unwatch(); // two watches of one folder count as one
      const before = folderWatches();
      vi.useFakeTimers({ toFake: [...timers] });
      const requests = asking.watch();
      await asking.leave('one');
      while (asking.events.length === 0) await new Promise(setImmediate);
      expect(folderWatches()).toBe(before + 1);
      expect(getActiveResourcesInfo()).not.toContain('FSEventWrap');
      expect(vi.getTimerCount()).toBe(1);
      await requests.stop();
      expect(vi.getTimerCount()).toBe(0);
      vi.useRealTimers();
      expect(folderWatches()).toBe(before);
    },
  );

  it('can be stopped before it has begun', async () => {
    const requests = asking.watch();
    await requests.stop();
    await asking.leave('one');
    expect(asking.events).toEqual([]);
  });

  it('finds the folder again after somebody has removed it', async () => {
    holdTimers();
    asking.watch();
    await asking.leave('one');
    await asking.answered('one', { state: 'waiting' });
    renameSync(asking.folder, join(asking.home, 'away'));
    slowLook();
    await asking.seen(2);
    expect(asking.events[1]).toEqual({ type: 'compact-cancelled', id: 'one' });
    slowLook();
    await asking.until(() => expect(readdirSync(asking.state)).toContain('requests'));
    await asking.leave('two');
    await asking.seen(3);
    expect(asking.failures).toEqual([]);
  });

  it('reports once that no requests can be read, and disturbs nothing', async () => {
    rmSync(asking.state, { recursive: true });
    writeFileSync(asking.state, 'a file in the place of the folder');
    holdTimers();
    const requests = asking.watch();
    await asking.until(() => expect(asking.failures).toHaveLength(1));
    slowLook();
    requests.applyEffect(endedFor('one'));
    await requests.stop();
    expect(asking.failures).toHaveLength(1);
  });

  it('goes on when the core throws', async () => {
    asking.watch({
      onEvent: () => {
        throw new Error('broken');
      },
    });
    await asking.leave('one');
    await asking.leave('two');
    await asking.seen(2);
    expect(asking.failures).toEqual(['broken']);
  });
});
