import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRegular, readAtMost, readHead } from '../../src/storage/files.js';
import { sessionFiles } from '../../src/storage/agent-files.js';
import { readOwn, readSmall } from '../../src/storage/state-folder.js';
import { settingsText } from '../../src/storage/status-line.js';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ctxwrap-regular-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const fileOf = (text: string): string => {
  const path = join(folder, 'file');
  writeFileSync(path, text);
  return path;
};

const readWith = async (path: string, mostBytes: number): Promise<string | undefined> => {
  const file = await openRegular(path);
  try {
    return await readAtMost(file, mostBytes);
  } finally {
    await file.close();
  }
};

describe('a regular file', () => {
  it('is read up to its bound, also behind a link', async () => {
    const path = fileOf('a'.repeat(200_000));
    symlinkSync(path, join(folder, 'link'));
    expect(await readWith(join(folder, 'link'), 200_000)).toHaveLength(200_000);
    expect(await readWith(path, 199_999)).toBeUndefined();
    expect(readHead(path, 100)).toHaveLength(100);
    expect(readHead(path, 300_000)).toHaveLength(200_000);
    expect(readHead(fileOf(''), 100)).toHaveLength(0);
  });

  it.each([
    ['a pipe', () => void execFileSync('mkfifo', [join(folder, 'file')])],
    [
      'a link to a pipe',
      () => {
        execFileSync('mkfifo', [join(folder, 'pipe')]);
        symlinkSync('pipe', join(folder, 'file'));
      },
    ],
    ['a link to a device', () => symlinkSync('/dev/zero', join(folder, 'file'))],
    ['a link to a folder', () => symlinkSync('.', join(folder, 'file'))],
  ])('is not %s, and nobody waits for it', async (_, make) => {
    make();
    const path = join(folder, 'file');
    await expect(openRegular(path)).rejects.toThrow('it is not a regular file');
    expect(() => readHead(path, 10)).toThrow('it is not a regular file');
    expect(await settingsText(path)).toBeUndefined();
    expect(await readSmall(path)).toBeUndefined();
    expect(await sessionFiles().smallText(path)).toBeUndefined();
  });

  // what the kernel makes up has the length 0 until it is read
  it.runIf(existsSync('/proc/self/smaps'))(
    'is not read past its bound where it says that it is empty',
    async () => {
      expect(await readSmall('/proc/self/smaps', 1000)).toBeUndefined();
      expect(await readOwn('/proc/self/smaps', 1000)).toBeUndefined();
      expect(readHead('/proc/self/smaps', 1000)).toHaveLength(1000);
      expect(await readSmall('/proc/self/comm', 1000)).toMatch(/\n$/);
    },
  );
});
