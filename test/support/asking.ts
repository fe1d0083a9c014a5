// A watcher for requests on a folder of its own, and those who ask it.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { RequestRecord } from '../../src/core/compaction/protocol.js';
import type { Effect } from '../../src/core/compaction/state.js';
import { readAnswer, requestsFolder, writeRequest } from '../../src/storage/requests.js';
import type { RequestEvent } from '../../src/wrap/requests.js';
import { watchRequests } from '../../src/wrap/requests.js';
import type { Requests } from '../../src/wrap/requests.js';
import { anEnded } from './ended.js';

export const WAIT = { timeout: 20_000, interval: 10 };

interface More {
  readonly omcFolder?: string;
  readonly onEvent?: (event: RequestEvent) => void;
}

export const makeAsking = async () => {
  const home = mkdtempSync(join(tmpdir(), 'requests-'));
  const state = join(home, 'ctxwrap');
  let watching: Requests | undefined;
  let probes = 0;
  const asking = {
    home,
    state,
    folder: await requestsFolder(state),
    now: Date.now(),
    events: [] as RequestEvent[],
    failures: [] as string[],
    watch: (more: More = {}): Requests => {
      watching = watchRequests({
        stateFolder: state,
        sessionId: 'me',
        now: () => asking.now,
        onEvent: (event) => asking.events.push(event),
        onFailure: (reason) => asking.failures.push(reason),
        ...more,
      });
      return watching;
    },
    requestOf: (id: string, more: Partial<RequestRecord> = {}): RequestRecord => ({
      schema: 'ctxwrap.request/1',
      session: 'me',
      request: id,
      askedAt: asking.now,
      force: false,
      pid: process.pid,
      ...more,
    }),
    leave: (id: string, more: Partial<RequestRecord> = {}): Promise<void> =>
      writeRequest(asking.folder, asking.requestOf(id, more)),
    seen: (count: number) => vi.waitFor(() => expect(asking.events).toHaveLength(count), WAIT),
    answered: (id: string, wanted: object) =>
      vi.waitFor(async () => expect(await readAnswer(asking.folder, keyOf(id))).toMatchObject(wanted), WAIT),
    /** For looks that must not find anything: as long as a request takes that is taken. */
    settled: async (): Promise<void> => {
      probes += 1;
      const id = `probe${probes}`;
      const isProbe = (event: RequestEvent): boolean => 'request' in event && event.request.id === id;
      await asking.leave(id);
      await vi.waitFor(() => expect(asking.events.some(isProbe)).toBe(true), WAIT);
      asking.events = asking.events.filter((event) => !isProbe(event));
    },
    end: async (): Promise<void> => {
      vi.useRealTimers();
      await watching?.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
  return asking;
};

export const keyOf = (request: string) => ({ session: 'me', request });

/** The effect of an attempt that is over. */
export const endedFor = (requestId: string, outcome = anEnded().outcome): Effect => ({
  type: 'ended',
  requestId,
  ended: anEnded({ isManual: true, endedAt: 15_200, outcome }),
});

/** The slow look comes only when it is told to. */
export const holdTimers = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
export const slowLook = (): void => void vi.advanceTimersByTime(5_000);

/** Folders that this process watches, as Linux tells. */
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
