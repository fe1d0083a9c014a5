import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LimitError } from '../../src/core/errors.js';
import { listStore, readStored, storedFile, withinLimits } from '../../src/storage/session-store.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'store-test-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string | Buffer = 'x'): string => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};
const isSession = (name: string): boolean => name.endsWith('.jsonl');
const listed = async (path = folder) =>
  (await listStore(path, isSession)).files.map((file) => file.path.slice(folder.length + 1)).toSorted();
const contentOf = async (path: string): Promise<string> => {
  let text = '';
  for await (const chunk of readStored(path)) text += chunk.toString();
  return text;
};

describe('the files of a store', () => {
  it('are those that are wanted, in all its folders', async () => {
    write('a/1.jsonl');
    write('a/b/2.jsonl');
    write('a/notes.txt');
    expect(await listed()).toEqual(['a/1.jsonl', 'a/b/2.jsonl']);
  });

  it('are none where there is no store', async () => {
    expect(await listStore(join(folder, 'missing'), isSession)).toEqual({ files: [], problems: [] });
  });

  it('are never behind a link in it, though the store itself may be one', async () => {
    const outside = write('outside/secret.jsonl');
    write('store/1.jsonl');
    symlinkSync(join(folder, 'outside'), join(folder, 'store/folder'));
    symlinkSync(outside, join(folder, 'store/2.jsonl'));
    symlinkSync(folder, join(folder, 'store/loop'));
    symlinkSync(join(folder, 'store'), join(folder, 'link'));
    expect(await listed(join(folder, 'store'))).toEqual(['store/1.jsonl']);
    expect(await listed(join(folder, 'link'))).toEqual(['store/1.jsonl']);
  });
});

describe('more files than a store may have', () => {
  it('are left out, and that is told', async () => {
    for (let index = 0; index < 5; index += 1) write(`${index}/a.jsonl`);
    const { files, problems } = await listStore(folder, isSession, 3);
    expect(files).toHaveLength(3);
    expect(problems).toEqual([
      { path: folder, reason: 'all but the first 3 session files in it', isLimit: true },
    ]);
    expect((await listStore(folder, isSession, 5)).problems).toEqual([]);
  });
});

describe('a stored file', () => {
  it('is read from beginning to end, also packed with gzip', async () => {
    const text = 'line\n'.repeat(500_000);
    expect(await contentOf(write('a.jsonl', text))).toBe(text);
    expect(await contentOf(write('a.jsonl.gz', gzipSync(text)))).toBe(text);
  });

  it('is not read through a link, nor is a folder', async () => {
    symlinkSync(write('a.jsonl'), join(folder, 'link.jsonl'));
    await expect(contentOf(join(folder, 'link.jsonl'))).rejects.toThrow(/ELOOP/);
    await expect(contentOf(folder)).rejects.toThrow(/not a regular file/);
    expect((await storedFile(join(folder, 'link.jsonl'))).path).toBe(join(folder, 'a.jsonl'));
  });

  it('that is packed and cut off fails, after what could be unpacked', async () => {
    const packed = gzipSync('line\n'.repeat(500_000));
    await expect(contentOf(write('a.jsonl.gz', packed.subarray(0, packed.length / 2)))).rejects.toThrow(
      /unexpected end/,
    );
  });

  it('that takes hardly anything on the disk is read up to 1 GB: one with holes, and a packed one', async () => {
    const holes = write('a.jsonl', 'line\n');
    truncateSync(holes, 2 ** 41);
    const member = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 17 }, () => member));
    for (const path of [holes, write('b.jsonl.gz', bomb)]) {
      let bytes = 0;
      const reading = async (): Promise<void> => {
        for await (const chunk of readStored(path)) bytes += chunk.length;
      };
      await expect(reading()).rejects.toThrow(/^it holds more than 1 GB, and takes \d.* on the disk$/);
      expect(bytes).toBeLessThanOrEqual(1_000_000_000);
    }
  });

  it.each([
    [0, 10],
    [200_000_000, 20],
  ])('of %i bytes is read for %i seconds of computing', async (diskBytes, seconds) => {
    let now = 0;
    let pieces = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) yield Buffer.from('line\n');
    }
    const reading = async (): Promise<void> => {
      for await (const _ of withinLimits(endless(), diskBytes, { clock: () => now })) {
        pieces += 1;
        now += 1_000;
      }
    };
    await expect(reading()).rejects.toThrow(new LimitError(`reading it takes more than ${seconds} s`));
    expect(pieces).toBe(seconds + 1);
  });
});
