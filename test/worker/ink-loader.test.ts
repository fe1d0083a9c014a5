// When Ink is loaded: never while the user types.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nullLog } from '../../src/storage/log-file.js';
import { type InkLoader, makeInkLoader } from '../../src/worker/ink-loader.js';

let loads: number;
let typed: number;
let ink: InkLoader;
beforeEach(() => {
  vi.useFakeTimers();
  [loads, typed] = [0, 0];
  const log = { ...nullLog, info: () => void (loads += 1) }; // it says that it was loaded
  ink = makeInkLoader(
    log,
    () => typed,
    () => undefined,
  );
});
afterEach(() => {
  ink.stop();
  vi.useRealTimers();
});

const settled = async (): Promise<void> => {
  await ink.load();
};

/** So many seconds in which this happens every half second. */
const pass = (seconds: number, happens: () => void = () => undefined): void => {
  for (let half = 0; half < seconds * 2; half += 1) {
    vi.advanceTimersByTime(500);
    happens();
  }
};
const isLoading = async (): Promise<boolean> => {
  ink.stop();
  vi.useRealTimers();
  await vi.dynamicImportSettled();
  return ink.loaded() !== undefined;
};

describe('Ink', () => {
  it('is loaded when for two seconds there was no key and no output', async () => {
    pass(2);
    expect(await isLoading()).toBe(true);
  });

  it('is not loaded while the agent writes', async () => {
    pass(10, ink.noteOutput);
    expect(await isLoading()).toBe(false);
  });

  it('is not loaded while the user types, however long', async () => {
    pass(60, () => (typed += 1));
    expect(await isLoading()).toBe(false);
  });

  it('is not loaded right behind a key, even the first one after a long time', async () => {
    vi.advanceTimersByTime(1_999);
    typed += 1;
    vi.advanceTimersByTime(1_999);
    expect(await isLoading()).toBe(false);
  });

  it('is loaded beside an agent that writes all the time when the user has not typed for 15 seconds', async () => {
    pass(14, ink.noteOutput);
    pass(2, ink.noteOutput);
    expect(await isLoading()).toBe(true);
  });

  it('is loaded at once where it is asked for, and once only', async () => {
    typed += 1;
    await Promise.all([ink.load(), settled()]);
    expect(ink.loaded()).toBeDefined();
    pass(3);
    expect(loads).toBe(1);
  });
});
