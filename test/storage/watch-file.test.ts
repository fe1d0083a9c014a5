import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchFile } from '../../src/storage/watch.js';

let folder = '';
let stop: (() => void) | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watch-file-'));
});
afterEach(() => {
  stop?.();
  rmSync(folder, { recursive: true, force: true });
});

const watched = (name = 'config.jsonc') => {
  const path = join(folder, name);
  let changes = 0;
  stop = watchFile(path, () => {
    changes += 1;
  });
  /** the number of calls, after waiting for that many */
  const seen = (count: number): Promise<number> =>
    vi.waitFor(
      () => {
        if (changes < count) throw new Error(`told ${changes} times`);
        return changes;
      },
      { timeout: 20_000, interval: 20 },
    );
  return { path, seen };
};

it('reports when a file is written, replaced, removed and created again', async () => {
  const { path, seen } = watched();
  writeFileSync(path, '{}');
  expect(await seen(1)).toBe(1);
  writeFileSync(`${path}.new`, '{ }');
  renameSync(`${path}.new`, path);
  expect(await seen(2)).toBe(2);
  rmSync(path);
  expect(await seen(3)).toBe(3);
  writeFileSync(path, '{  }');
  expect(await seen(4)).toBe(4);
});

it('reports several steps once', async () => {
  const { path, seen } = watched();
  for (const text of ['{', '{ ', '{ }']) writeFileSync(path, text);
  expect(await seen(1)).toBe(1);
});

it('also finds a file whose folder is created later', async () => {
  const { path, seen } = watched('later/config.jsonc');
  mkdirSync(join(folder, 'later'));
  writeFileSync(path, '{}');
  expect(await seen(1)).toBe(1);
});

it.each([
  { change: 'moved away', leave: (kept: string) => renameSync(kept, join(folder, 'old')) },
  { change: 'removed', leave: (kept: string) => rmSync(kept, { recursive: true }) }, // the next one may get its inode
])('goes on in a new folder where the old one was $change', async ({ leave }) => {
  mkdirSync(join(folder, 'kept'));
  const { path, seen } = watched('kept/config.jsonc');
  leave(join(folder, 'kept'));
  mkdirSync(join(folder, 'kept'));
  writeFileSync(path, '{}');
  expect(await seen(1)).toBe(1);
  writeFileSync(`${path}.new`, '{ }');
  renameSync(`${path}.new`, path);
  expect(await seen(2)).toBe(2);
});

it('reports changes of the file behind a link', async () => {
  mkdirSync(join(folder, 'dotfiles'));
  const target = join(folder, 'dotfiles/mine.jsonc');
  writeFileSync(target, '{}');
  symlinkSync('dotfiles/mine.jsonc', join(folder, 'config.jsonc'));
  const { seen } = watched();
  writeFileSync(target, '{ }');
  expect(await seen(1)).toBe(1);
});
