import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepLooking, makeRest, RESTING_PAUSE_MS, watchFolder } from '../../src/storage/watch.js';

const PAUSE_MS = 250;
const LONG_MS = 20_000; // a session is at rest by then, and the next rare look has not come
const reportsChanges = (): boolean => {
  const watching = watchFolder(tmpdir(), () => undefined);
  const isSure = watching.isSure();
  watching.close();
  return isSure;
};

let folder = '';
const stops: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rest-'));
  vi.useFakeTimers();
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const openSession = () => {
  const rest = makeRest();
  let looks = 0;
  const { stop } = keepLooking({
    look: async () => void (looks += 1),
    pauseMs: () => PAUSE_MS,
    rest,
  });
  stops.push(stop);
  /** how often files are looked at in so many milliseconds */
  const looksIn = async (milliseconds: number): Promise<number> => {
    const before = looks;
    await vi.advanceTimersByTimeAsync(milliseconds);
    return looks - before;
  };
  const watch = (path: string): void => void stops.push(rest.watch(path).close);
  return { rest, looksIn, watch };
};

const untilAwake = ({ isResting }: ReturnType<typeof makeRest>): Promise<void> =>
  vi.waitFor(() => expect(isResting()).toBe(false));

describe('a session in which nothing happens', () => {
  it('looks at its files rarely, and as before as soon as something happens', async () => {
    const { rest, looksIn } = openSession();
    expect(await looksIn(5_000)).toBe(5_000 / PAUSE_MS);
    await looksIn(LONG_MS);
    expect(await looksIn(RESTING_PAUSE_MS * 3)).toBe(3);
    rest.end();
    expect(await looksIn(PAUSE_MS)).toBe(1);
    expect(await looksIn(5_000)).toBe(5_000 / PAUSE_MS);
  });

  it('does not rest where the system does not report changes', async () => {
    const { looksIn, watch } = openSession();
    watch('/proc/self/nothing');
    await looksIn(LONG_MS);
    expect(await looksIn(5_000)).toBe(5_000 / PAUSE_MS);
  });

  describe.runIf(reportsChanges())('that watches a file', () => {
    it.each([
      { change: 'is written', act: (path: string) => appendFileSync(path, 'more') },
      {
        change: 'is replaced by another one',
        act: (path: string) => {
          writeFileSync(`${path}.new`, 'other');
          renameSync(`${path}.new`, path);
        },
      },
      { change: 'is removed', act: (path: string) => rmSync(path) },
    ])('ends its rest when the file $change', async ({ act }) => {
      const { rest, looksIn, watch } = openSession();
      const path = join(folder, 'file');
      writeFileSync(path, '');
      watch(path);
      await looksIn(LONG_MS);
      expect(rest.isResting()).toBe(true);
      act(path);
      await untilAwake(rest);
      expect(await looksIn(1_000)).toBe(1_000 / PAUSE_MS);
    });

    it('ends its rest when the file is created in a folder that was not there', async () => {
      const { rest, looksIn, watch } = openSession();
      watch(join(folder, 'later/still/file'));
      await looksIn(LONG_MS);
      mkdirSync(join(folder, 'later/still'), { recursive: true });
      await untilAwake(rest);
      await looksIn(LONG_MS);
      expect(rest.isResting()).toBe(true);
      writeFileSync(join(folder, 'later/still/file'), '');
      await untilAwake(rest);
    });

    it('goes on resting when another file in the folder changes', async () => {
      const { rest, looksIn, watch } = openSession();
      watch(join(folder, 'file'));
      await looksIn(LONG_MS);
      const told = new Promise<void>((resolve) => {
        const watching = watchFolder(folder, (name) => name === 'other' && resolve());
        stops.push(watching.close);
      });
      writeFileSync(join(folder, 'other'), '');
      await told;
      expect(rest.isResting()).toBe(true);
    });
  });
});
