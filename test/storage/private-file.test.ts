import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPrivateFile } from '../../src/storage/files.js';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-private-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (): number => statSync(path).mode & 0o777;
const isRoot = process.getuid?.() === 0;
const STRANGER = 65_534;

describe('a file for the contents of a session', () => {
  it.each([0o644, 0o666, 0o640, 0o600])(
    'that exists with mode %o is closed to other users before anything is written',
    (mode) => {
      writeFileSync(path, 'before');
      chmodSync(path, mode);
      const file = openPrivateFile(path, 'empty');
      expect([modeOf(), readFileSync(path, 'utf8')]).toEqual([0o600, '']);
      writeSync(file, 'after');
      closeSync(file);
      expect(readFileSync(path, 'utf8')).toBe('after');
    },
  );

  it('that is new is readable by the user only, whatever the umask is', () => {
    const before = process.umask(0);
    try {
      closeSync(openPrivateFile(path, 'append'));
    } finally {
      process.umask(before);
    }
    expect(modeOf()).toBe(0o600);
  });

  it('keeps its contents when opened for appending', () => {
    writeFileSync(path, 'one ');
    chmodSync(path, 0o644);
    const file = openPrivateFile(path, 'append');
    writeSync(file, 'two');
    closeSync(file);
    expect([modeOf(), readFileSync(path, 'utf8')]).toEqual([0o600, 'one two']);
  });

  it('may be opened through a link of the user', () => {
    writeFileSync(path, '');
    chmodSync(path, 0o644);
    symlinkSync(path, join(folder, 'link'));
    closeSync(openPrivateFile(join(folder, 'link'), 'append'));
    expect(modeOf()).toBe(0o600);
  });

  it('cannot be a pipe, even one with a reader, or a folder', () => {
    execFileSync('mkfifo', [path]);
    expect(() => openPrivateFile(path, 'append')).toThrow('it is not a regular file');
    symlinkSync(path, join(folder, 'link'));
    expect(() => openPrivateFile(join(folder, 'link'), 'append')).toThrow('ENXIO'); // nobody reads it
    expect(() => openPrivateFile(folder, 'append')).toThrow('EISDIR');
  });

  it.runIf(existsSync('/dev/null'))('may be a device, whose mode is left as it is', () => {
    const { mode } = statSync('/dev/null');
    closeSync(openPrivateFile('/dev/null', 'empty'));
    expect(statSync('/dev/null').mode).toBe(mode);
  });

  it.runIf(isRoot)('is not one of another user, which keeps what it holds (as root)', () => {
    writeFileSync(path, 'theirs');
    chmodSync(path, 0o666);
    chownSync(path, STRANGER, STRANGER);
    expect(() => openPrivateFile(path, 'empty')).toThrow('it belongs to another user');
    expect([modeOf(), readFileSync(path, 'utf8')]).toEqual([0o666, 'theirs']);
  });

  it.runIf(isRoot)('is not where a link of another user leads to (as root)', () => {
    writeFileSync(path, 'mine');
    const link = join(folder, 'link');
    symlinkSync(path, link);
    lchownSync(link, STRANGER, STRANGER);
    expect(() => openPrivateFile(link, 'empty')).toThrow('it is a link of another user');
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });
});
