import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRegular, readAtMost, readHead } from '../../src/storage/files.js';
import { makeFilePort } from '../../src/storage/agent-file-reader.js';
import { readOwnFile, readSmallFile } from '../../src/storage/state-folder.js';
import { readSettings } from '../../src/storage/status-line.js';

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
  it('is read up to the limit, also through a link', async () => {
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
    expect(await readSettings(path)).toBeUndefined();
    expect(await readSmallFile(path)).toBeUndefined();
    expect(await makeFilePort().smallText(path)).toBeUndefined();
  });

  // files that the kernel generates report the size 0
  it.runIf(existsSync('/proc/self/smaps'))(
    'is not read past the limit if it reports the size 0',
    async () => {
      expect(await readSmallFile('/proc/self/smaps', 1000)).toBeUndefined();
      expect(await readOwnFile('/proc/self/smaps', 1000)).toBeUndefined();
      expect(readHead('/proc/self/smaps', 1000)).toHaveLength(1000);
      expect(await readSmallFile('/proc/self/comm', 1000)).toMatch(/\n$/);
    },
  );
});
