import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchFile } from '../../src/storage/watch-file.js';

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
  const seen = (count: number): Promise<void> =>
    vi.waitFor(() => expect(changes).toBe(count), { timeout: 20_000, interval: 20 });
  return { path, seen };
};

it('tells when a file is written, replaced, removed and made again', async () => {
  const { path, seen } = watched();
  writeFileSync(path, '{}');
  await seen(1);
  writeFileSync(`${path}.new`, '{ }');
  renameSync(`${path}.new`, path);
  await seen(2);
  rmSync(path);
  await seen(3);
  writeFileSync(path, '{  }');
  await seen(4);
});

it('tells once of several steps', async () => {
  const { path, seen } = watched();
  for (const text of ['{', '{ ', '{ }']) writeFileSync(path, text);
  await seen(1);
});

it('also finds a file whose folder is made later', async () => {
  const { path, seen } = watched('later/config.jsonc');
  mkdirSync(join(folder, 'later'));
  writeFileSync(path, '{}');
  await seen(1);
});
