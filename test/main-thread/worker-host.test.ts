// The main thread's side of the worker: what it tells, when it leaves output out, and when it leaves the worker.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { makeGrid, resizeGrid } from '../../src/terminal/filter/grid.js';
import { quirksFromEnv } from '../../src/terminal/filter/quirks.js';
import type { WrapSession } from '../../src/session/options.js';
import {
  makeSessionWorker,
  type StartThread,
  type ThreadListener,
} from '../../src/main-thread/worker-host.js';
import { makeCounters, type ToWorker, type WorkerStart } from '../../src/session/thread-messages.js';

const KILOBYTE = 1024;

interface Thread {
  readonly start: WorkerStart;
  readonly listener: ThreadListener;
  readonly got: ToWorker[];
  /** what the thread does with a message: handle it, or nothing */
  isAwake: boolean;
  isOver: boolean;
  /** it does not end when it is told to */
  isStuck: boolean;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** `awake`: so many threads handle what they get, and those after them do not. */
const open = (canStart: (starts: number) => boolean = () => true, awake = Infinity) => {
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

type Host = ReturnType<typeof open>;

const typesOf = ({ got }: Thread): readonly string[] => got.map(({ type }) => type);
const outputOf = ({ got }: Thread): string =>
  got
    .flatMap((message) => (message.type === 'output' ? [Buffer.from(message.bytes).toString()] : []))
    .join('');

const questionsOf = ({ got }: Thread): readonly number[] =>
  got.flatMap((message) => (message.type === 'measure' ? [message.id] : []));
const answer = ({ listener }: Thread, id = 0): void =>
  listener.onMessage({
    type: 'measured',
    id,
    measures: { rowsBelowCursor: 0, isBlankFromCursor: false, wrappedRows: 0, lastRow: 0 },
  });

describe('a worker is told', () => {
  it('output together, 8 ms after the first piece of it', () => {
    const { worker, threads, start } = open();
    start();
    for (const text of ['one ', 'two ', 'three']) worker.screen.feed(Buffer.from(text));
    expect(threads.map(typesOf)).toEqual([['child']]);
    vi.advanceTimersByTime(8);
    expect(threads.map(typesOf)).toEqual([['child', 'output']]);
    expect(threads.map(outputOf)).toEqual(['one two three']);
  });

  it('keys together, 250 ms after the first of them, whatever the child writes meanwhile', () => {
    const { worker, threads, start } = open();
    start();
    for (let keys = 0; keys < 20; keys += 1) {
      worker.handle({ type: 'user-keys' });
      worker.screen.feed(Buffer.from('x'));
      vi.advanceTimersByTime(10);
    }
    expect(threads.flatMap(typesOf)).not.toContain('keys');
    vi.advanceTimersByTime(50);
    expect(threads.flatMap(typesOf).filter((type) => type === 'keys')).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    expect(threads.flatMap(typesOf).filter((type) => type === 'keys')).toHaveLength(1);
  });

  it('keys at once when the footer counts down, also those that were pressed just before it did', () => {
    const { worker, threads, start } = open();
    start();
    const keysTold = (): number => threads.flatMap(typesOf).filter((type) => type === 'keys').length;
    const draw = (due?: 'countdown'): void =>
      threads[0]?.listener.onMessage({
        type: 'footer',
        drawing: { columns: 80, text: '', compactions: 0, ...(due ? { due } : {}) },
      });
    worker.handle({ type: 'user-keys' });
    draw('countdown');
    expect(keysTold()).toBe(1);
    worker.handle({ type: 'user-keys' });
    vi.advanceTimersByTime(8);
    expect(keysTold()).toBe(2);
    draw();
    worker.handle({ type: 'user-keys' });
    vi.advanceTimersByTime(8);
    expect(keysTold()).toBe(2);
  });

  it('of the keys before anything that the user does', () => {
    const { worker, threads, start } = open();
    start();
    worker.handle({ type: 'user-keys' });
    worker.handle({ type: 'postpone' });
    expect(threads.map(typesOf)).toEqual([['child', 'keys', 'event']]);
  });

  it('everything in the order in which it happened, also what came before it was started', () => {
    const { worker, threads, start } = open();
    worker.screen.feed(Buffer.from('before '));
    worker.screen.alignCursor(3);
    start();
    worker.screen.feed(Buffer.from('after'));
    worker.handle({ type: 'postpone' });
    expect(threads.map(typesOf)).toEqual([['child', 'output', 'align', 'output', 'event']]);
    expect(threads.map(outputOf)).toEqual(['before after']);
  });

  it('what came before it was started for the size that the terminal had then', () => {
    const { worker, grid, threads, start } = open();
    worker.screen.feed(Buffer.from('drawn'));
    worker.screen.resize({ columns: 60, rows: 9 });
    resizeGrid(grid, 60, 9, 10);
    start();
    const [first] = threads;
    expect(first?.start).toMatchObject({ size: { columns: 80, rows: 23 }, seed: '', fed: 0 });
    expect(first && typesOf(first)).toEqual(['child', 'output', 'resize']);
    first?.listener.onEnd('it has thrown');
    expect(threads[1]?.start).toMatchObject({ size: { columns: 60, rows: 9 }, fed: 5 });
  });

  it('where the cursor is, if more came before it was started than it could read', async () => {
    const { worker, counters, grid, threads, start } = open();
    for (let kilobytes = 0; kilobytes < 1_024; kilobytes += 64)
      worker.screen.feed(Buffer.alloc(64 * KILOBYTE, 'x'));
    Object.assign(grid, { row: 6, column: 7 });
    start();
    const [thread] = threads;
    if (thread) answer(thread, questionsOf(thread).at(-1));
    await vi.advanceTimersByTimeAsync(250);
    const last = { type: 'restart', seed: expect.stringMatching(/\x1b\[7;8H$/), fed: counters.get('fed') };
    expect(thread?.got.at(-1)).toEqual(last);
  });

  it('less output than there is while it does not read, and then where the cursor is now', async () => {
    const { worker, counters, grid, threads, start } = open();
    start();
    for (let kilobytes = 0; kilobytes < 2_048; kilobytes += 4)
      worker.screen.feed(Buffer.alloc(4 * KILOBYTE, 'x'));
    const [thread] = threads;
    const told = Buffer.byteLength(thread ? outputOf(thread) : '');
    expect(told).toBeGreaterThan(128 * KILOBYTE);
    expect(told).toBeLessThan(512 * KILOBYTE);
    expect(counters.get('fed')).toBe(2_048 * KILOBYTE);
    Object.assign(grid, { row: 6, column: 7 });
    if (thread) answer(thread, questionsOf(thread).at(-1));
    await vi.advanceTimersByTimeAsync(250);
    expect(thread?.got.at(-1)).toEqual({
      type: 'restart',
      seed: expect.stringMatching(/\x1b\[7;8H$/),
      fed: 2_048 * KILOBYTE,
    });
    worker.screen.feed(Buffer.from('read again'));
    vi.advanceTimersByTime(8);
    expect(thread && outputOf(thread)).toMatch(/read again$/);
  });
});

it.each([
  ['has started its screen model anew', (host: Host) => void host.worker.screen.measure(80)],
  ['has been replaced', ({ threads }: Host) => threads[0]?.listener.onEnd('it has thrown')],
])('a worker that %s has not read more when an older question is answered', async (_, startAnew) => {
  const host = open();
  host.start();
  const pour = (kilobytes: number): void => {
    for (let poured = 0; poured < kilobytes; poured += 4) host.worker.screen.feed(Buffer.alloc(4 * KILOBYTE));
  };
  const told = (): number => host.threads.reduce((sum, thread) => sum + outputOf(thread).length, 0);
  pour(2_048);
  const [first] = host.threads;
  const before = told();
  startAnew(host);
  pour(200);
  vi.advanceTimersByTime(8);
  if (first) answer(first, questionsOf(first)[0]);
  await vi.advanceTimersByTimeAsync(0);
  pour(2_048);
  expect(told() - before).toBeLessThan(300 * KILOBYTE);
});

it('a worker that is behind, but has lost nothing, does not start its screen model anew', async () => {
  const { worker, threads, start } = open();
  start();
  for (let kilobytes = 0; kilobytes < 260; kilobytes += 4)
    worker.screen.feed(Buffer.alloc(4 * KILOBYTE, 'x'));
  vi.advanceTimersByTime(8);
  const [thread] = threads;
  if (thread) for (const id of questionsOf(thread)) answer(thread, id);
  await vi.advanceTimersByTimeAsync(2_000);
  worker.screen.feed(Buffer.from('read'));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(thread && typesOf(thread)).not.toContain('restart');
  expect(thread && outputOf(thread)).toMatch(/^x{266240}read$/);
});

it('a worker that has lost output gets what the child has set in it: titles, states and modes', async () => {
  const { worker, filter, threads, start } = open();
  start();
  for (let kilobytes = 0; kilobytes < 2_048; kilobytes += 4)
    worker.screen.feed(Buffer.alloc(4 * KILOBYTE, 'x'));
  const commands = ['\x1b]0;✳ one\x07', '\x1b]7501;state=idle\x1b\\', '\x1b]2;two\x07'];
  const output = Buffer.from(`\x1b[?2004h${commands.join('text')}`).toString('latin1');
  for (const byte of output) {
    filter.push(Buffer.from(byte, 'latin1'));
    worker.screen.feed(Buffer.from(byte, 'latin1'));
  }
  const [thread] = threads;
  if (thread) answer(thread, questionsOf(thread).at(-1));
  await vi.advanceTimersByTimeAsync(250);
  const last = thread?.got.at(-1);
  const seed = last?.type === 'restart' ? last.seed : '';
  expect(seed.startsWith(commands.join(''))).toBe(true);
  expect(seed).toContain('\x1b[?2004h');
});

describe('a worker that is behind a flood', () => {
  /** It has read what it got of the flood, 2 MB of output that nothing has come after. */
  const flood = () => {
    const opened = open();
    opened.start();
    const [thread] = opened.threads;
    const write = (): void => opened.worker.screen.feed(Buffer.alloc(4 * KILOBYTE, 'x'));
    for (let kilobytes = 0; kilobytes < 2_048; kilobytes += 4) write();
    if (thread) answer(thread, questionsOf(thread).at(-1));
    const restarts = (): number =>
      (thread ? typesOf(thread) : []).filter((type) => type === 'restart').length;
    /** the child writes every 5 ms, for so long */
    const goOn = async (milliseconds: number): Promise<void> => {
      for (let spent = 0; spent < milliseconds; spent += 5) {
        write();
        await vi.advanceTimersByTimeAsync(5);
      }
    };
    return { restarts, goOn };
  };

  it('starts anew after a second, while the flood lasts', async () => {
    const { restarts, goOn } = flood();
    await goOn(990);
    expect(restarts()).toBe(0);
    await goOn(20);
    expect(restarts()).toBe(1);
  });

  it('starts anew 25 ms after the flood', async () => {
    const { restarts, goOn } = flood();
    await goOn(500);
    await vi.advanceTimersByTimeAsync(15);
    expect(restarts()).toBe(0);
    await vi.advanceTimersByTimeAsync(10);
    expect(restarts()).toBe(1);
  });

  it('does not start anew twice within a quarter of a second, however often the child pauses', async () => {
    const { restarts, goOn } = flood();
    await vi.advanceTimersByTimeAsync(240);
    expect(restarts()).toBe(0);
    await vi.advanceTimersByTimeAsync(10);
    expect(restarts()).toBe(1);
    await goOn(100);
    expect(restarts()).toBe(1);
  });
});

it('a worker is ready when it has handled something, and its overview can be asked for from the beginning', () => {
  const { worker, threads, start } = open();
  const states = () => [worker.isReady(), worker.isOver()];
  worker.post({ type: 'overview-closed' });
  expect(states()).toEqual([false, false]);
  start();
  expect(threads[0] && typesOf(threads[0])).toContain('overview-closed');
  expect(states()).toEqual([true, false]);
});

describe('a worker that handles nothing', () => {
  it('is left after five seconds and replaced, but only once', () => {
    const { worker, threads, failures, start } = open();
    start();
    worker.handle({ type: 'postpone' });
    for (const [index, isLast] of [false, true].entries()) {
      const thread = threads[index];
      if (thread) thread.isAwake = false;
      worker.handle({ type: 'postpone' });
      vi.advanceTimersByTime(4_900);
      expect(failures).toHaveLength(index);
      vi.advanceTimersByTime(1_100);
      expect(failures.at(-1)).toBe(isLast);
      expect(thread?.isOver).toBe(true);
    }
    expect(threads).toHaveLength(2);
    expect(worker.isRunning()).toBe(false);
  });

  it('is not left while there is nothing to handle', () => {
    const { worker, failures, start } = open();
    start();
    vi.advanceTimersByTime(60_000);
    expect(failures).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(1); // only a ping wakes an idle session, every 15 s
    worker.close();
  });

  it('is noticed although there is nothing to handle, because it is pinged', () => {
    const { threads, failures, start } = open();
    start();
    const [thread] = threads;
    if (thread) thread.isAwake = false;
    vi.advanceTimersByTime(25_000);
    expect(failures).toEqual([false]);
    expect(thread?.isOver).toBe(true);
  });

  it('gets what is needed to go on: the child, the cursor, and what it has missed', () => {
    const { worker, grid, threads, start } = open();
    start();
    worker.screen.feed(Buffer.from('output'));
    vi.advanceTimersByTime(8);
    Object.assign(grid, { row: 2, column: 4 });
    threads[0]?.listener.onEnd('it has thrown');
    expect(threads[1]?.start).toMatchObject({ seed: expect.stringMatching(/\x1b\[3;5H$/), fed: 6 });
    expect(threads[1]?.got).toEqual([expect.objectContaining({ type: 'child', pid: 1 })]);
  });

  it('asks before it compacts when it takes the place of another one, and says why', () => {
    const { threads, start } = open();
    start();
    threads[0]?.listener.onEnd('it has thrown');
    const [first, second] = threads.map((thread) => thread.start);
    expect(first).toMatchObject({ isReplacement: false, session: { values: { mode: 'auto' } } });
    expect(second).toMatchObject({
      isReplacement: true,
      session: {
        values: { mode: 'ask' },
        notices: ['ctxwrap had to restart a part of itself: it now asks before it compacts'],
      },
    });
  });

  it('tells the one in its place what it has recorded of a restart of the agent', () => {
    const { threads, start } = open();
    start();
    threads[0]?.listener.onMessage({ type: 'restart-taken' });
    threads[0]?.listener.onEnd('it has thrown');
    vi.advanceTimersByTime(600_000);
    threads[1]?.listener.onMessage({ type: 'restart-recorded' });
    threads[1]?.listener.onEnd('it has thrown');
    expect(threads.map((thread) => thread.start.session.restartProgress)).toEqual([
      undefined,
      'taken',
      'recorded',
    ]);
  });

  it('may be replaced again when it has run well for ten minutes', () => {
    const { threads, failures, start } = open();
    start();
    threads[0]?.listener.onEnd('it has thrown');
    vi.advanceTimersByTime(600_000);
    threads[1]?.listener.onEnd('it has thrown');
    threads[2]?.listener.onEnd('it has thrown');
    expect(failures).toEqual([false, false, true]);
  });
});

it('a question to a worker that does not answer has an answer all the same', async () => {
  const { worker, start } = open();
  start();
  worker.screen.feed(Buffer.from('output'));
  const measuring = worker.screen.measure(80);
  const saving = worker.screen.save();
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await measuring).lastRow).toBe(Infinity);
  expect(await saving).toBeUndefined();
});

it('a worker that takes the place of another one is not asked for the screen before it has read something: output would wait', async () => {
  const { worker, threads, grid, start } = open(() => true, 1);
  start();
  worker.screen.feed(Buffer.from('output'));
  grid.row = 5;
  threads[0]?.listener.onEnd('it has failed');
  expect((await worker.screen.measure(80)).rowsBelowCursor).toBe(17);
  expect(threads[1] && typesOf(threads[1])).toEqual(['child']);
});

it('a screen on which the child has drawn nothing is known without the worker, which is not loaded yet', async () => {
  const { worker } = open();
  const { rowsBelowCursor, isBlankFromCursor } = await worker.screen.measure(80);
  expect({ rowsBelowCursor, isBlankFromCursor }).toEqual({ rowsBelowCursor: 0, isBlankFromCursor: true });
});

it('a session goes on without a worker where none can be started', async () => {
  const { worker, failures, start } = open(() => false);
  worker.screen.feed(Buffer.from('output'));
  start();
  expect(failures).toEqual([true]);
  expect(worker.isOver()).toBe(true);
  expect((await worker.screen.measure(80)).lastRow).toBe(Infinity);
  await worker.stop({ kind: 'code', code: 0 }, false);
});

describe('at the end of the session a worker', () => {
  const status = { kind: 'code', code: 0 } as const;

  it.each([
    [true, 200],
    [false, 1_500],
  ])('that does not answer is ended (after a signal to end: %s) after %i ms', async (isHurried, ms) => {
    const { worker, threads, start } = open();
    start();
    let isStopped = false;
    const stopping = worker.stop(status, isHurried).then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(threads.map(({ isOver }) => isOver)).toEqual([false]);
    await vi.advanceTimersByTimeAsync(1);
    expect(threads.map(({ isOver }) => isOver)).toEqual([true]);
    await vi.advanceTimersByTimeAsync(isHurried ? 150 : 1_500);
    expect(isStopped).toBe(true);
    await stopping;
  });

  it('that answers is not ended before it has recorded everything', async () => {
    const { worker, threads, start } = open();
    start();
    const stopping = worker.stop(status, true);
    threads[0]?.listener.onMessage({ type: 'stopped', summary: 'one compaction' });
    expect(await stopping).toBe('one compaction');
    expect(threads[0]?.isOver).toBe(false);
    expect(await worker.close()).toBe(true);
    expect(threads[0]?.isOver).toBe(true);
  });

  it('that fails is not replaced', async () => {
    const { worker, threads, failures, start } = open();
    start();
    const stopping = worker.stop(status, false);
    threads[0]?.listener.onEnd('it has thrown');
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await stopping).toBeUndefined();
    expect(threads).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  it.each([
    ['no thread', -1, true],
    ['a thread that was left before', 0, false],
    ['the last thread', 1, false],
  ])(
    'is closed at the latest after 100 ms, and it is known whether %s is stuck',
    async (_, stuck, isOver) => {
      const { worker, threads, start } = open();
      start();
      for (const index of [0, 1]) {
        Object.assign(threads[index] ?? {}, { isStuck: index === stuck });
        if (index === 0) threads[index]?.listener.onEnd('it has thrown');
      }
      const closing = worker.close();
      await vi.advanceTimersByTimeAsync(100);
      expect(await closing).toBe(isOver);
    },
  );
});
