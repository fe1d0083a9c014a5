// The main thread's side of the worker with threads of the test's own: what they got, and what they do with it.
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { quirksFromEnv } from '../../src/terminal/filter/quirks.js';
import type { WrapSession } from '../../src/session/options.js';
import {
  makeSessionWorker,
  type StartThread,
  type ThreadListener,
} from '../../src/main-thread/worker-host.js';
import { makeCounters, type ToWorker, type WorkerStart } from '../../src/session/thread-messages.js';

export interface Thread {
  readonly start: WorkerStart;
  readonly listener: ThreadListener;
  readonly got: ToWorker[];
  /** what the thread does with a message: handle it, or nothing */
  isAwake: boolean;
  isOver: boolean;
  /** it does not end when it is told to */
  isStuck: boolean;
}

/** `awake`: so many threads handle what they get, and those after them do not. */
export const openHost = (canStart: (starts: number) => boolean = () => true, awake = Infinity) => {
  const threads: Thread[] = [];
  const failures: boolean[] = [];
  const startThread: StartThread = (start, listener) => {
    if (!canStart(threads.length)) throw new Error('no more threads');
    const isAwake = threads.length < awake;
    const thread: Thread = { start, listener, got: [], isAwake, isOver: false, isStuck: false };
    threads.push(thread);
    const handled = new Int32Array(start.handled);
    return {
      post: (message) => {
        thread.got.push(message);
        if (thread.isAwake) Atomics.add(handled, 0, 1);
      },
      terminate: () => {
        thread.isOver = true;
        return thread.isStuck ? new Promise(() => undefined) : Promise.resolve();
      },
    };
  };
  const counters = makeCounters();
  const session = {
    file: '/bin/cat',
    args: [],
    env: {},
    cwd: '/',
    agent: agents.generic,
    values: defaultValues,
    isModeGiven: false,
    recording: undefined,
    log: nullLog,
  } as const satisfies WrapSession;
  const grid = makeGrid(80, 23, 24, quirksFromEnv({}));
  const filter = makeStreamFilter(grid);
  const worker = makeSessionWorker({ session, filter, counters, startThread });
  const start = (): void =>
    worker.start({ pid: 1, startedAt: 5 }, () => true, {
      onRequest: () => undefined,
      onFailure: (isLast) => failures.push(isLast),
    });
  return { worker, counters, grid, filter, threads, failures, start };
};

export type Host = ReturnType<typeof openHost>;

export const typesOf = ({ got }: Thread): readonly string[] => got.map(({ type }) => type);
export const outputOf = ({ got }: Thread): string =>
  got
    .flatMap((message) => (message.type === 'output' ? [Buffer.from(message.bytes).toString()] : []))
    .join('');

export const questionsOf = ({ got }: Thread): readonly number[] =>
  got.flatMap((message) => (message.type === 'measure' ? [message.id] : []));
export const answer = ({ listener }: Thread, id = 0): void =>
  listener.onMessage({
    type: 'measured',
    id,
    measures: { rowsBelowCursor: 0, isBlankFromCursor: false, wrappedRows: 0, lastRow: 0 },
  });

/** The last start anew of its screen model, and the output after it. */
export const lastOf = (thread: Thread | undefined) => {
  const got = thread?.got ?? [];
  const at = got.findLastIndex(({ type }) => type === 'restart');
  const restart = got[at];
  return {
    restart: restart?.type === 'restart' ? restart : undefined,
    last: thread ? outputOf({ ...thread, got: got.slice(at) }) : '',
  };
};
