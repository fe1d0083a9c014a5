// The main thread's side of the worker: what it tells, and when it leaves the worker.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resizeGrid } from '../../src/terminal/filter/grid.js';
import { openHost, outputOf, typesOf } from '../support/worker-threads.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a worker is told', () => {
  it('output together, 8 ms after the first piece of it', () => {
    const { worker, threads, start } = openHost();
    start();
    for (const text of ['one ', 'two ', 'three']) worker.screen.feed(Buffer.from(text));
    expect(threads.map(typesOf)).toEqual([['child']]);
    vi.advanceTimersByTime(8);
    expect(threads.map(typesOf)).toEqual([['child', 'output']]);
    expect(threads.map(outputOf)).toEqual(['one two three']);
  });

  it('keys together, 250 ms after the first of them, whatever the child writes meanwhile', () => {
    const { worker, threads, start } = openHost();
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
    const { worker, threads, start } = openHost();
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
    const { worker, threads, start } = openHost();
    start();
    worker.handle({ type: 'user-keys' });
    worker.handle({ type: 'postpone' });
    expect(threads.map(typesOf)).toEqual([['child', 'keys', 'event']]);
  });

  it('everything in the order in which it happened, also what came before it was started', () => {
    const { worker, threads, start } = openHost();
    worker.screen.feed(Buffer.from('before '));
    worker.screen.alignCursor(3);
    start();
    worker.screen.feed(Buffer.from('after'));
    worker.handle({ type: 'postpone' });
    expect(threads.map(typesOf)).toEqual([['child', 'output', 'align', 'output', 'event']]);
    expect(threads.map(outputOf)).toEqual(['before after']);
  });

  it('what came before it was started for the size that the terminal had then', () => {
    const { worker, grid, threads, start } = openHost();
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
});

it('a worker is ready when it has handled something, and its overview can be asked for from the beginning', () => {
  const { worker, threads, start } = openHost();
  const states = () => [worker.isReady(), worker.isOver()];
  worker.post({ type: 'overview-closed' });
  expect(states()).toEqual([false, false]);
  start();
  expect(threads[0] && typesOf(threads[0])).toContain('overview-closed');
  expect(states()).toEqual([true, false]);
});

describe('a worker that handles nothing', () => {
  it('is left after five seconds and replaced, but only once', () => {
    const { worker, threads, failures, start } = openHost();
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
    const { worker, failures, start } = openHost();
    start();
    vi.advanceTimersByTime(60_000);
    expect(failures).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(1); // only a ping wakes an idle session, every 15 s
    worker.close();
  });

  it('is noticed although there is nothing to handle, because it is pinged', () => {
    const { threads, failures, start } = openHost();
    start();
    const [thread] = threads;
    if (thread) thread.isAwake = false;
    vi.advanceTimersByTime(25_000);
    expect(failures).toEqual([false]);
    expect(thread?.isOver).toBe(true);
  });

  it('gets what is needed to go on: the child, the cursor, and what it has missed', () => {
    const { worker, grid, threads, start } = openHost();
    start();
    worker.screen.feed(Buffer.from('output'));
    vi.advanceTimersByTime(8);
    Object.assign(grid, { row: 2, column: 4 });
    threads[0]?.listener.onEnd('it has thrown');
    expect(threads[1]?.start).toMatchObject({ seed: expect.stringMatching(/\x1b\[3;5H$/), fed: 6 });
    expect(threads[1]?.got).toEqual([expect.objectContaining({ type: 'child', pid: 1 })]);
  });

  it('asks before it compacts when it takes the place of another one, and says why', () => {
    const { threads, start } = openHost();
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
    const { threads, start } = openHost();
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
    const { threads, failures, start } = openHost();
    start();
    threads[0]?.listener.onEnd('it has thrown');
    vi.advanceTimersByTime(600_000);
    threads[1]?.listener.onEnd('it has thrown');
    threads[2]?.listener.onEnd('it has thrown');
    expect(failures).toEqual([false, false, true]);
  });
});

it('a question to a worker that does not answer has an answer all the same', async () => {
  const { worker, start } = openHost();
  start();
  worker.screen.feed(Buffer.from('output'));
  const measuring = worker.screen.measure(80);
  const saving = worker.screen.save();
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await measuring).lastRow).toBe(Infinity);
  expect(await saving).toBeUndefined();
});

it('a worker that takes the place of another one is not asked for the screen before it has read something: output would wait', async () => {
  const { worker, threads, grid, start } = openHost(() => true, 1);
  start();
  worker.screen.feed(Buffer.from('output'));
  grid.row = 5;
  threads[0]?.listener.onEnd('it has failed');
  expect((await worker.screen.measure(80)).rowsBelowCursor).toBe(17);
  expect(threads[1] && typesOf(threads[1])).toEqual(['child']);
});

it('a screen on which the child has drawn nothing is known without the worker, which is not loaded yet', async () => {
  const { worker } = openHost();
  const { rowsBelowCursor, isBlankFromCursor } = await worker.screen.measure(80);
  expect({ rowsBelowCursor, isBlankFromCursor }).toEqual({ rowsBelowCursor: 0, isBlankFromCursor: true });
});

it('a session goes on without a worker where none can be started', async () => {
  const { worker, failures, start } = openHost(() => false);
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
    const { worker, threads, start } = openHost();
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
    const { worker, threads, start } = openHost();
    start();
    const stopping = worker.stop(status, true);
    threads[0]?.listener.onMessage({ type: 'stopped', summary: 'one compaction' });
    expect(await stopping).toBe('one compaction');
    expect(threads[0]?.isOver).toBe(false);
    expect(await worker.close()).toBe(true);
    expect(threads[0]?.isOver).toBe(true);
  });

  it('that fails is not replaced', async () => {
    const { worker, threads, failures, start } = openHost();
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
      const { worker, threads, start } = openHost();
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
