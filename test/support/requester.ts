// A watcher for requests on its own folder, and processes that make requests.
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { RequestRecord } from '../../src/core/compaction/requests.js';
import type { Effect } from '../../src/core/compaction/state.js';
import { readAnswer, ensureRequestsFolder, writeRequest } from '../../src/storage/requests.js';
import type { RequestEvent, RequestsOptions } from '../../src/worker/requests.js';
import { watchRequests } from '../../src/worker/requests.js';
import type { Requests } from '../../src/worker/requests.js';
import { successfulEnd } from './ended.js';

interface More {
  readonly actions?: RequestsOptions['actions'];
  readonly omcFolder?: string;
  readonly from?: number;
  readonly onEvent?: (event: RequestEvent) => void;
}

export const makeRequester = async () => {
  const home = mkdtempSync(join(tmpdir(), 'requests-'));
  const state = join(home, 'ctxwrap');
  const folder = await ensureRequestsFolder(state);
  const changes = new EventEmitter().setMaxListeners(0);
  const noteChange = (): void => void changes.emit('change');
  const watches = [state, folder].map((each) =>
    watch(each, { persistent: false }, noteChange).on('error', () => undefined),
  );
  /** Resolves when nothing is thrown; retried after each event, failure and change of a file. Only the test's time limit ends it. */
  const until = async (assertion: () => void | Promise<void>): Promise<void> => {
    for (;;) {
      const change = once(changes, 'change');
      try {
        return await assertion();
      } catch {
        await change;
      }
    }
  };
  let watching: Requests | undefined;
  const asking = {
    home,
    state,
    folder,
    until,
    now: Date.now(),
    events: [] as RequestEvent[],
    failures: [] as string[],
    watch: (more: More = {}): Requests => {
      watching = watchRequests({
        stateFolder: state,
        sessionId: 'me',
        now: () => asking.now,
        onFailure: (reason) => {
          asking.failures.push(reason);
          noteChange();
        },
        ...more,
        onEvent: (event) => {
          asking.events.push(event);
          noteChange();
          more.onEvent?.(event);
        },
      });
      return watching;
    },
    requestOf: (id: string, more: Partial<RequestRecord<'compact'>> = {}): RequestRecord<'compact'> => ({
      schema: 'ctxwrap.request/1',
      session: 'me',
      request: id,
      askedAt: asking.now,
      force: false,
      pid: process.pid,
      ...more,
    }),
    leave: (id: string, more: Partial<RequestRecord<'compact'>> = {}): Promise<void> =>
      writeRequest(asking.folder, asking.requestOf(id, more)),
    seen: (count: number) => until(() => expect(asking.events).toHaveLength(count)),
    answered: (id: string, wanted: object) =>
      until(async () => expect(await readAnswer(folder, keyOf(id))).toMatchObject(wanted)),
    /** For a check that must not find anything: when the second request is taken, the check that took the first one is over. */
    settled: async (): Promise<void> => {
      for (const id of [crypto.randomUUID(), crypto.randomUUID()]) {
        const isProbe = (event: RequestEvent): boolean => 'request' in event && event.request.id === id;
        await asking.leave(id);
        await until(() => expect(asking.events.some(isProbe)).toBe(true));
        asking.events = asking.events.filter((event) => !isProbe(event));
      }
    },
    unwatch: (): void => watches.forEach((each) => each.close()),
    end: async (): Promise<void> => {
      vi.useRealTimers();
      asking.unwatch();
      await watching?.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return asking;
};

export const keyOf = (request: string) => ({ session: 'me', request });

/** The effect of an ended attempt. */
export const endedFor = (requestId: string, outcome = successfulEnd().outcome): Effect => ({
  type: 'ended',
  requestId,
  ended: successfulEnd({ isManual: true, endedAt: 15_200, outcome }),
});

/** The regular check runs only on demand. */
export const holdTimers = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
export const slowLook = (): void => void vi.advanceTimersByTime(5_000);

/** Folders that this process watches, from /proc. */
export const folderWatches = (): number =>
  readdirSync('/proc/self/fdinfo')
    .map((name) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${name}`, 'utf8').split('inotify wd:').length - 1;
      } catch {
        return 0; // closed meanwhile
      }
    })
    .reduce((sum, each) => sum + each, 0);
