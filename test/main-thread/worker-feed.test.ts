// How much of the child's output the worker is told: one that is slow loses output, and reads the end of it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeScreenModel } from '../../src/terminal/screen-model.js';
import {
  answer,
  lastOf,
  openHost,
  outputOf,
  questionsOf,
  typesOf,
  type Host,
} from '../support/worker-threads.js';

const KILOBYTE = 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a worker is told', () => {
  it('where the cursor was before the last of it, if more came before it was started than it could read', async () => {
    const { worker, counters, grid, threads, start } = openHost();
    Object.assign(grid, { row: 6, column: 7 });
    for (let kilobytes = 0; kilobytes < 1_024; kilobytes += 64)
      worker.screen.feed(Buffer.alloc(64 * KILOBYTE, 'x'));
    start();
    const [thread] = threads;
    if (thread) answer(thread, questionsOf(thread).at(-1));
    await vi.advanceTimersByTimeAsync(258);
    const { restart, last } = lastOf(thread);
    expect(restart?.seed).toMatch(/\x1b\[7;8H$/);
    expect(restart?.fed).toBe(counters.get('fed') - last.length);
  });

  it('less output than there is while it does not read, and then the last of it', async () => {
    const { worker, counters, threads, start } = openHost();
    start();
    for (let kilobytes = 0; kilobytes < 2_048; kilobytes += 4)
      worker.screen.feed(Buffer.alloc(4 * KILOBYTE, 'x'));
    const [thread] = threads;
    const told = Buffer.byteLength(thread ? outputOf(thread) : '');
    expect(told).toBeGreaterThan(128 * KILOBYTE);
    expect(told).toBeLessThan(512 * KILOBYTE);
    expect(counters.get('fed')).toBe(2_048 * KILOBYTE);
    if (thread) answer(thread, questionsOf(thread).at(-1));
    await vi.advanceTimersByTimeAsync(250);
    worker.screen.feed(Buffer.from('read again'));
    vi.advanceTimersByTime(8);
    const { restart, last } = lastOf(thread);
    expect(last).toMatch(/^x{65536,200000}read again$/);
    expect((restart?.fed ?? 0) + last.length).toBe(counters.get('fed'));
  });
});

it.each([
  ['has started its screen model anew', (host: Host) => void host.worker.screen.measure(80)],
  ['has been replaced', ({ threads }: Host) => threads[0]?.listener.onEnd('it has thrown')],
])('a worker that %s has not read more when an older question is answered', async (_, startAnew) => {
  const host = openHost();
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
  const { worker, threads, start } = openHost();
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

describe('a worker that has lost output', () => {
  /** The child writes the text in reads of 4 KB, and the worker has read nothing before its end. */
  const afterFlood = async (text: string, end: (host: Host) => void = () => undefined) => {
    const host = openHost();
    host.start();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 4 * KILOBYTE) {
      const read = bytes.subarray(at, at + 4 * KILOBYTE);
      host.filter.push(read);
      host.worker.screen.feed(read);
    }
    end(host);
    const [thread] = host.threads;
    if (thread) answer(thread, questionsOf(thread)[0]);
    await vi.advanceTimersByTimeAsync(258);
    return { ...lastOf(thread), types: thread ? typesOf(thread) : [] };
  };
  const flood = (kilobytes: number): string => 'a row of the flood\r\n'.repeat((kilobytes * KILOBYTE) / 20);

  it('gets what the child has set in it: titles, states and modes', async () => {
    const commands = ['\x1b]0;✳ one\x07', '\x1b]7501;state=idle\x1b\\', '\x1b]2;two\x07'];
    const output = `${flood(600)}\x1b[?2004h${commands.join('text')}${flood(600)}\x1b]0;last\x07`;
    const { restart, last } = await afterFlood(output);
    expect(restart?.seed.startsWith(commands.join(''))).toBe(true);
    expect(restart?.seed).toContain('\x1b[?2004h');
    expect(last).toMatch(/\x1b\]0;last\x07$/);
  });

  const links = Array.from(
    { length: 40_000 },
    (_, row) =>
      `\x1b[${31 + (row % 7)}mrow ${row}\x1b[${1 + (row % 5)}C\x1b]8;;http://a/${row}\x07link\x1b]8;;\x07\x1b[m\r\n`,
  );
  const steps = Array.from({ length: 60_000 }, (_, step) => `\x1b[3B${step % 10}\x1b[3A\x1b[1D`);
  it.each([
    ['rows that scroll', `${links.join('')}> \x1b[3A\x1b[2Kabove\x1b[3B`],
    ['moves from where the cursor is', `\x1b[m\x1b[7;8H${steps.join('')}\x1b[2;2Hend`],
  ])('sees the screen as it stands at the end of %s, whatever a read ends in', async (_, output) => {
    const { restart, last } = await afterFlood(output);
    const screenAfter = async (bytes: string) => {
      const model = makeScreenModel({ columns: 80, rows: 23 }, () => '');
      for (let at = 0; at < bytes.length; at += 100 * KILOBYTE) {
        model.feed(Buffer.from(bytes.slice(at, at + 100 * KILOBYTE)));
        const settled = model.settled();
        await vi.advanceTimersByTimeAsync(1_000);
        await settled;
      }
      const screen = model.snapshot()?.screen;
      return [screen?.cursorRow, ...Array.from({ length: 23 }, (_, row) => screen?.text(row))];
    };
    expect(last.length).toBeLessThan(200 * KILOBYTE);
    expect(await screenAfter(`${restart?.seed}${last}`)).toEqual(await screenAfter(output));
  });

  it.each([
    ['resize', ({ worker }: Host) => worker.screen.resize({ columns: 60, rows: 9 })],
    ['align', ({ worker }: Host) => worker.screen.alignCursor(2)],
    ['erase', ({ worker }: Host) => worker.screen.eraseBelow(2)],
  ])('gets it before what follows it (%s)', async (type, change) => {
    const { types } = await afterFlood(flood(1_000), change);
    expect(types.slice(types.indexOf('restart'))).toEqual(['restart', 'output', type]);
  });
});

describe('a worker that is behind a flood', () => {
  /** It has read what it got of the flood, 2 MB of output that nothing has come after. */
  const flood = () => {
    const opened = openHost();
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
