import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openScriptCache } from '../../src/storage/code-cache.js';

let state = '';
beforeEach(() => (state = mkdtempSync(join(tmpdir(), 'ctxwrap-code-')))); // 0700
afterEach(() => rmSync(state, { recursive: true, force: true }));

const code = Buffer.from('compiled code of a part');
const fileOf = (part = 'main.cjs', build = 'b1'): string => join(state, 'compiled', build, part);
const cacheWith = (parts: readonly (readonly [string, Buffer])[] = [['main.cjs', code]]) => {
  const cache = openScriptCache(state, 'b1');
  cache.write(parts);
  return cache;
};

describe('compiled code', () => {
  it('comes back as it was written, for the user alone', () => {
    const cache = cacheWith([
      ['main.cjs', code],
      ['other.cjs', Buffer.from('other')],
    ]);
    expect(cache.read('main.cjs')).toEqual(code);
    expect(cache.read('other.cjs')).toEqual(Buffer.from('other'));
    expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
    for (const folder of ['compiled', 'compiled/b1'])
      expect(statSync(join(state, folder)).mode & 0o777).toBe(0o700);
  });

  it('is replaced by newer code', () => {
    const cache = cacheWith();
    cache.write([['main.cjs', Buffer.from('newer')]]);
    expect(cache.read('main.cjs')).toEqual(Buffer.from('newer'));
    expect(readdirSync(join(state, 'compiled/b1'))).toEqual(['main.cjs']);
  });

  it('of another build is not used', () => {
    cacheWith();
    expect(openScriptCache(state, 'b2').read('main.cjs')).toBeUndefined();
  });

  it('is kept for three other builds, the last ones', () => {
    cacheWith();
    for (const [index, build] of ['b2', 'b3', 'b4', 'b5'].entries()) {
      openScriptCache(state, build).write([['main.cjs', code]]);
      utimesSync(join(state, 'compiled', build), index + 1, index + 1);
    }
    utimesSync(join(state, 'compiled', 'b1'), 0, 0);
    openScriptCache(state, 'b6').write([['main.cjs', code]]);
    expect(readdirSync(join(state, 'compiled')).sort()).toEqual(['b3', 'b4', 'b5', 'b6']);
  });
});

describe('nothing is trusted that', () => {
  it('has one changed byte', () => {
    const cache = cacheWith();
    const bytes = readFileSync(fileOf());
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        writeFileSync(fileOf(), changed);
        expect(cache.read('main.cjs')).toBeUndefined();
      }),
    );
  });

  it('was cut off', () => {
    const cache = cacheWith();
    const bytes = readFileSync(fileOf());
    for (let length = 1; length < bytes.length; length += 1) {
      writeFileSync(fileOf(), bytes.subarray(0, length));
      expect(cache.read('main.cjs')).toBeUndefined();
    }
  });

  it.each([
    ['others may read', () => chmodSync(fileOf(), 0o604)],
    ['others may write', () => chmodSync(fileOf(), 0o620)],
    ['is in a folder that others may write to', () => chmodSync(join(state, 'compiled/b1'), 0o702)],
    [
      'is a link',
      () => {
        renameSync(fileOf(), join(state, 'elsewhere'));
        symlinkSync(join(state, 'elsewhere'), fileOf());
      },
    ],
    [
      'is a pipe',
      () => {
        rmSync(fileOf());
        execFileSync('mkfifo', ['-m', '600', fileOf()]);
      },
    ],
    [
      'is a folder',
      () => {
        rmSync(fileOf());
        mkdirSync(fileOf(), 0o700);
      },
    ],
    ['is empty', () => writeFileSync(fileOf(), '')],
    ['is not there', () => rmSync(fileOf())],
  ])('%s', (_, change) => {
    const cache = cacheWith();
    expect(cache.read('main.cjs')).toEqual(code);
    change();
    expect(cache.read('main.cjs')).toBeUndefined();
  });
});

describe('nothing is written', () => {
  const isWritten = (folder: string): boolean => {
    openScriptCache(folder, 'b1').write([['main.cjs', code]]);
    return existsSync(join(folder, 'compiled', 'b1', 'main.cjs'));
  };

  it('before a session has created the state folder', () => {
    expect(isWritten(join(state, 'none'))).toBe(false);
    expect(existsSync(join(state, 'none'))).toBe(false);
  });

  it('where no folder can be, and the attempt ends', () => {
    expect(isWritten('/proc/ctxwrap')).toBe(false);
    expect(isWritten('/dev/null/ctxwrap')).toBe(false);
  });

  it('into a state folder that others may write to, or a link', () => {
    symlinkSync(state, `${state}-link`);
    expect(isWritten(`${state}-link`)).toBe(false);
    rmSync(`${state}-link`);
    chmodSync(state, 0o770);
    expect(isWritten(state)).toBe(false);
  });
});
