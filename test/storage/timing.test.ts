// Limits for what is waited for.
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { atLatest, withLimit } from '../../src/storage/timing.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a signal with a time limit', () => {
  it('aborts when the time is over, however often garbage is collected meanwhile', async () => {
    const limited = withLimit(withLimit(new AbortController().signal, 60_000), 60);
    const collecting = setInterval(collectGarbage, 5);
    await once(limited, 'abort').finally(() => clearInterval(collecting));
    expect(limited.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('aborts with the other signal, also with one that has aborted already', () => {
    const ended = new AbortController();
    const limited = withLimit(ended.signal, 60_000);
    expect(limited.aborted).toBe(false);
    ended.abort('over');
    expect([limited.reason, withLimit(ended.signal, 60_000).reason]).toEqual(['over', 'over']);
  });
});

it('what is to be done at the latest after a while is done once, then or when it is called', () => {
  vi.useFakeTimers();
  const done: string[] = [];
  const [early, late] = ['early', 'late'].map((name) => atLatest(60, () => done.push(name)));
  early?.();
  early?.();
  expect(done).toEqual(['early']);
  vi.advanceTimersByTime(60);
  expect(done).toEqual(['early', 'late']);
  late?.();
  vi.advanceTimersByTime(1_000);
  expect(done).toEqual(['early', 'late']);
  vi.useRealTimers();
});
