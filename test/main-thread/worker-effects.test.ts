// What happens to the user's keys, the screen and the overview when the worker fails while it is needed.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OverviewKey } from '../../src/core/overview-keys.js';
import { own } from '../../src/core/printable.js';
import { errorText } from '../../src/core/errors.js';
import type { FromWorker, OverviewDrawing, ToWorker } from '../../src/session/thread-messages.js';
import { makeWorkerContents, serveWorker } from '../../src/main-thread/worker-effects.js';
import { makeOverviewHarness, type OverviewHarness } from '../support/overview-harness.js';

const BACKSPACE = '\x7f';

let run: OverviewHarness;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  run.stop();
  vi.useRealTimers();
});

const start = () => {
  run = makeOverviewHarness(60, 14);
  const posted: ToWorker[] = [];
  const calls = { forced: 0, lost: 0 };
  Object.assign(run.stage.worker, { post: (message: ToWorker) => void posted.push(message) });
  const resize = { check: () => false, force: async () => void (calls.forced += 1) };
  const onLost = (): void => void (calls.lost += 1);
  const { onRequest, onFailure } = serveWorker({ ...run.parts, resize, onLost });
  const ask = (request: Extract<FromWorker, { readonly type: 'hold' | 'write' | 'release' }>): void =>
    onRequest(request);
  return {
    posted,
    calls,
    onFailure,
    hold: (): void => ask({ type: 'hold', id: 1, typed: run.stage.counters.get('typed') }),
    write: (keys: string): void => ask({ type: 'write', bytes: Buffer.from(keys), hold: 1, typed: 0 }),
    release: (): void => ask({ type: 'release', id: 1 }),
  };
};

describe('a worker that holds the keys', () => {
  it('is asked for a sign of life twice a second, and no longer than it holds them', () => {
    const { posted, hold, release } = start();
    hold();
    posted.length = 0;
    vi.advanceTimersByTime(1_000);
    expect(posted.map(({ type }) => type)).toEqual(['ping', 'ping']);
    release();
    vi.advanceTimersByTime(5_000);
    expect(posted).toHaveLength(2);
  });

  it('and fails before it has typed gives them to the agent at once', () => {
    const { hold, onFailure } = start();
    hold();
    run.type('abc');
    expect(run.received()).toBe('');
    onFailure(false, false);
    expect(run.received()).toBe('abc');
  });

  it('and fails in the middle of the command leaves nothing of it in front of them', () => {
    const { hold, write, onFailure } = start();
    hold();
    write('\x1b[200~/comp\x1b[201~');
    write(BACKSPACE);
    run.type('abc');
    onFailure(false, false);
    vi.advanceTimersByTime(100);
    expect(run.writes).toEqual(['\x1b[200~/comp\x1b[201~', BACKSPACE, BACKSPACE.repeat(4), 'abc']);
    run.type('d');
    expect(run.received()).toMatch(/abcd$/);
  });

  it('and fails after Enter drops them, because they could answer a dialog', () => {
    const { hold, write, onFailure } = start();
    hold();
    write('/compact');
    write('\r');
    run.type('y\r');
    onFailure(false, false);
    vi.advanceTimersByTime(1_000);
    expect(run.received()).toBe('/compact\r');
    run.type('later');
    expect(run.received()).toBe('/compact\rlater');
  });

  it('is not obeyed any more after it has failed', () => {
    const { hold, write, onFailure } = start();
    hold();
    onFailure(false, false);
    run.type('a');
    write('/compact');
    expect(run.received()).toBe('a');
  });
});

describe('after a worker has failed', () => {
  it('the child draws its screen once more for the next one', () => {
    const { calls, onFailure } = start();
    onFailure(false, false);
    expect(calls).toEqual({ forced: 1, lost: 0 });
  });

  it('a child whose screen is not read keeps its size', () => {
    const { calls, onFailure } = start();
    run.stage.isPassthrough = true;
    onFailure(false, false);
    expect(calls).toEqual({ forced: 0, lost: 0 });
  });

  it('for the last time, the session goes on without it', () => {
    const { calls, onFailure } = start();
    onFailure(true, true);
    expect(calls).toEqual({ forced: 0, lost: 1 });
  });
});

describe('the hotkey whose worker fails before anything is drawn', () => {
  const restart = (isLast: boolean, wasReady = false) => {
    let isOver = false;
    const load = (): Promise<void> => new Promise(() => undefined);
    run = makeOverviewHarness(60, 14, { load, isAvailable: () => !isOver });
    const resize = { check: () => false, force: async () => undefined };
    const { onFailure } = serveWorker({ ...run.parts, resize, onLost: () => undefined });
    run.type('\x1d');
    isOver = isLast;
    onFailure(isLast, wasReady);
    return run.overview.isOpen();
  };

  it('that had run before leaves it to you to ask again: drawing may have been its end', () => {
    expect(restart(false, true)).toBe(false);
  });

  it('opens the overview of the next one', () => {
    expect(restart(false)).toBe(true);
  });

  it('opens nothing where there is no next one', () => {
    expect(restart(true)).toBe(false);
  });
});

describe('an overview that cannot be drawn', () => {
  const recipe = () => ({ command: '/compact', submit: '\r' }) as never;

  it('is said, with the key that compacts all the same, and is not offered again', () => {
    run = makeOverviewHarness(60, 14, {}, { recipe });
    let isClosed = false;
    const overview = { ...run.parts.overview, closeByItself: () => void (isClosed = true) };
    const resize = { check: () => false, force: async () => undefined };
    const { contents } = makeWorkerContents(run.stage, () => undefined);
    Object.assign(run.stage.worker, { isOver: () => false });
    const { onRequest, onFailure } = serveWorker({ ...run.parts, overview, resize, onLost: () => undefined });
    expect(makeWorkerContents(run.stage, () => undefined).contents.isAvailable?.()).toBe(true);
    onRequest({ type: 'close-overview', isUndrawable: true });
    expect(isClosed).toBe(true);
    expect(run.notices).toEqual(['the overview cannot be drawn · Ctrl-] c compacts']);
    expect(run.stage.isOverviewUndrawable).toBe(true);
    onRequest({ type: 'footer', drawing: { columns: 60, text: ' demo', row: own` demo`, compactions: 0 } });
    expect(run.stage.isOverviewUndrawable).toBe(false);
    onRequest({ type: 'close-overview', isUndrawable: true });
    onFailure(false, false); // another worker may be able to
    expect(run.stage.isOverviewUndrawable).toBe(false);
    contents.onClose?.(true);
  });
});

describe('the overview', () => {
  it('does not wait for longer than ten seconds for a worker that does not draw it', async () => {
    run = makeOverviewHarness(60, 14);
    const { contents } = makeWorkerContents(run.stage, () => undefined);
    const loading = Promise.resolve(contents.load?.()).catch(errorText);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await loading).toBe('the worker does not draw it');
  });

  const opened = (isReady = true) => {
    run = makeOverviewHarness(60, 14);
    const posted: ToWorker[] = [];
    const post = (message: ToWorker): void => void posted.push(message);
    Object.assign(run.stage.worker, { post, isReady: () => isReady });
    let closed = 0;
    const { contents: made, onDrawn } = makeWorkerContents(run.stage, () => void (closed += 1));
    let isSeen = false; // which the overview knows, not its contents
    void Promise.resolve(made.load?.()).catch(() => undefined);
    const contents = {
      ...made,
      onKey: (key: OverviewKey, isByItself = false) => made.onKey(key, { isSeen, isByItself }),
      onClose: (isByItself: boolean) => {
        isSeen = false;
        made.onClose?.(isByItself);
      },
    };
    const acted = (): readonly string[] =>
      posted.flatMap((message) => (message.type === 'overview-action' ? [message.action] : []));
    const chosen = () => posted.flatMap((message) => (message.type === 'chosen' ? [message.answer] : []));
    const draws = (page: 'main' | 'limit' | 'recap', more: Partial<OverviewDrawing> = {}): void => {
      onDrawn({
        page,
        scroll: 0,
        most: 0,
        shown: 6,
        rows: [],
        size: { columns: 60, rows: 14 },
        ...more,
      });
      isSeen = true;
    };
    return { contents, acted, chosen, draws, closed: () => closed };
  };

  it.each([
    ['c', 'compact'],
    ['u', 'undo'],
    ['r', 'rescue'],
  ] as const)('does not stay for %s right behind the hotkey, which acts at once', (key, action) => {
    const { contents, acted, closed } = opened();
    contents.onKey(key);
    expect([acted(), closed()]).toEqual([[action], 1]);
  });

  it('opens on the page of a key that comes before it was drawn, and not on another one', async () => {
    run = makeOverviewHarness(60, 14);
    const { contents, onDrawn } = makeWorkerContents(run.stage, () => undefined);
    let isLoaded = false;
    void Promise.resolve(contents.load?.()).then(() => (isLoaded = true));
    contents.onKey('b', { isSeen: false, isByItself: false });
    const size = { columns: 60, rows: 14 };
    const drawing = { scroll: 0, most: 0, shown: 6, size };
    onDrawn({ ...drawing, page: 'main', rows: [own`main`] });
    await vi.advanceTimersByTimeAsync(0);
    expect([isLoaded, contents.draw(size)]).toEqual([false, []]);
    onDrawn({ ...drawing, page: 'recap', rows: [own`recap`] });
    await vi.advanceTimersByTimeAsync(0);
    expect([isLoaded, contents.draw(size)]).toEqual([true, ['recap']]);
  });

  it('lets nothing wait for a key that the user has not pressed', () => {
    const { contents, draws } = opened();
    const events: string[] = [];
    Object.assign(run.stage.worker, { handle: ({ type }: { readonly type: string }) => events.push(type) });
    contents.onKey('b', true);
    draws('recap', { recap: { at: 7, keys: ['a'], chosen: ['a'] } });
    contents.onKey('enter', true);
    expect(events).toEqual([]);
    contents.onKey('b');
    expect(events).toEqual(['user-keys']);
  });

  it('keeps what was chosen in a recap while it is closed, as long as it is the same recap', () => {
    const { contents, chosen, draws } = opened();
    const recap = { at: 7, keys: ['a', 'b'], chosen: ['a', 'b'] };
    contents.onKey('b');
    draws('recap', { recap });
    contents.onKey(' ');
    contents.onClose(false);
    contents.onKey('b');
    draws('recap', { recap });
    contents.onKey('enter');
    expect(chosen()).toEqual([{ page: 'recap', recap: { at: 7, keys: ['b'] } }]);
    contents.onClose(false);
    contents.onKey('b');
    draws('recap', { recap: { ...recap, at: 8 } });
    contents.onKey('enter');
    expect(chosen().at(-1)).toEqual({ page: 'recap', recap: { at: 8, keys: ['a', 'b'] } });
  });

  it('tells the worker the limit that was chosen, and closes', () => {
    const { contents, chosen, draws, closed } = opened();
    contents.onKey('l');
    draws('limit');
    contents.onKey('2');
    contents.onKey('tab');
    expect([chosen(), closed()]).toEqual([[], 0]);
    contents.onKey('enter');
    const limit = { value: 300_000, unit: 'tokens' };
    expect([chosen(), closed()]).toEqual([[{ page: 'limit', limit: { limit, span: 'always' } }], 1]);
  });

  it('takes the limit that was marked on the screen, unless the user has marked another', () => {
    const taken = (...keys: readonly ('down' | 'enter')[]) => {
      const { contents, chosen, draws } = opened();
      contents.onKey('l');
      draws('limit', { marked: 1 });
      for (const key of keys) contents.onKey(key);
      return chosen().map((answer) => answer.page === 'limit' && answer.limit.limit);
    };
    expect(taken('enter')).toEqual([{ value: 300_000, unit: 'tokens' }]);
    expect(taken('down', 'enter')).toEqual([{ value: 500_000, unit: 'tokens' }]);
  });

  it('gives back the lines that were chosen, also when others were given meanwhile', () => {
    const { contents, chosen, draws } = opened();
    contents.onKey('b');
    draws('recap', { recap: { at: 7, keys: ['a', 'b', 'c'], chosen: ['a', 'b'] } });
    contents.onKey('down');
    contents.onKey(' ');
    draws('recap', { recap: { at: 7, keys: ['c', 'a', 'b'], chosen: [] } });
    contents.onKey('enter');
    expect(chosen()).toEqual([{ page: 'recap', recap: { at: 7, keys: ['a'] } }]);
  });

  it('gives back nothing of another compaction than the one that is shown', () => {
    const { contents, chosen, draws } = opened();
    contents.onKey('b');
    draws('recap', { recap: { at: 7, keys: ['a', 'b'], chosen: ['a'] } });
    contents.onKey('end');
    contents.onKey(' ');
    draws('recap', { recap: { at: 9, keys: ['a', 'b'], chosen: ['a'] } });
    contents.onKey('enter');
    expect(chosen()).toEqual([{ page: 'recap', recap: { at: 9, keys: ['a'] } }]);
  });

  it('waits for keys that were meant for the choice, when it was taken or closed by itself', () => {
    const { contents, draws } = opened();
    contents.onKey('l');
    draws('limit');
    contents.onClose(false);
    expect(contents.late?.isOpen()).toBe(false);
    contents.onKey('l');
    draws('limit');
    contents.onKey('enter');
    contents.onClose(false);
    expect([contents.late?.takes('enter'), contents.late?.takes('2')]).toEqual([true, false]);
    contents.onKey('l');
    contents.onClose(true);
    expect([contents.late?.takes('2'), contents.late?.takes('c')]).toEqual([true, false]);
    contents.onClose(true); // another page: its keys do the agent no harm
    expect(contents.late?.isOpen()).toBe(false);
  });

  it('takes no Enter for a choice that nobody has seen', () => {
    const { contents, chosen, draws, closed } = opened();
    contents.onKey('l');
    contents.onKey('enter');
    draws('main');
    contents.onKey('enter');
    expect([chosen(), closed()]).toEqual([[], 0]);
  });

  it.each(['c', 'a', 'p', 'n', 'u', 'r', 'h'] as const)(
    'does nothing for %s that nobody can see, and stays',
    (key) => {
      const { contents, acted, draws, closed } = opened(false);
      contents.onKey(key);
      vi.advanceTimersByTime(100);
      contents.onKey(key);
      expect([acted(), closed()]).toEqual([[], 0]);
      draws('main');
      contents.onKey(key);
      expect([acted().length, closed()]).toEqual([1, 0]);
    },
  );

  it('takes no key for one right behind the hotkey that comes more than a second later, before anything is drawn', () => {
    const { contents, acted, closed } = opened();
    vi.advanceTimersByTime(1_100);
    contents.onKey('r');
    expect([acted(), closed()]).toEqual([[], 0]);
  });

  it.each(['c', 'u', 'r'] as const)('stays for %s behind another key', (key) => {
    const { contents, acted, draws, closed } = opened();
    draws('main');
    contents.onKey('down');
    contents.onKey(key);
    expect([acted().length, closed()]).toEqual([1, 0]);
  });
});
