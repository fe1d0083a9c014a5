import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readGit } from '../../src/storage/git.js';
import { hasGit } from '../support/programs.js';

let folder: string;
const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-git-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(hasGit)('what git says about a folder (skipped without git)', () => {
  beforeEach(() => {
    git('init', '-q');
    writeFileSync(join(folder, 'a'), '1');
    git('add', '.');
    git('commit', '-qm', 'one');
  });

  it('is the commit, and the files that are changed or new', async () => {
    expect(await readGit(folder, env)).toEqual({ head: git('rev-parse', 'HEAD').trim(), dirty: [] });
    writeFileSync(join(folder, 'a'), '2');
    writeFileSync(join(folder, 'b c\n"d'), '2');
    expect((await readGit(folder, env))?.dirty).toEqual(['a', 'b c\n"d']);
  });

  it('is cut after two hundred files', async () => {
    for (let i = 0; i < 250; i += 1) writeFileSync(join(folder, `new-${i}`), '');
    const found = await readGit(folder, env);
    expect([found?.dirty.length, found?.isCut]).toEqual([200, true]);
  });

  it('is read without touching the index or running what the repository names', async () => {
    const trace = join(folder, 'ran');
    const script = join(folder, 'monitor');
    writeFileSync(script, `#!/bin/sh\ntouch '${trace}'\n`);
    chmodSync(script, 0o755);
    git('config', 'core.fsmonitor', script);
    writeFileSync(join(folder, 'a'), '1'); // the same content with another time: git would refresh its index
    const index = join(folder, '.git/index');
    const before = [readFileSync(index), statSync(index).mtimeMs, statSync(index).ino] as const;
    expect((await readGit(folder, env))?.dirty).toEqual(['monitor']);
    expect([readFileSync(index), statSync(index).mtimeMs, statSync(index).ino]).toEqual(before);
    expect(existsSync(trace)).toBe(false);
  });
});

describe('nothing is said', () => {
  it.each([
    ['outside of a repository', () => folder],
    ['of a folder that does not exist', () => join(folder, 'gone')],
  ])('%s', async (_, where) => {
    expect(await readGit(where(), { ...env, GIT_CEILING_DIRECTORIES: tmpdir() })).toBeUndefined();
  });

  it('without git', async () => {
    expect(await readGit(folder, { PATH: '/nonexistent' })).toBeUndefined();
  });

  it('by a git that hangs, after some seconds', { timeout: 20_000 }, async () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), '#!/bin/sh\ntrap "" TERM INT\nsleep 60 &\nwait\n');
    chmodSync(join(bin, 'git'), 0o755);
    expect(await readGit(folder, { PATH: `${bin}:${process.env['PATH']}` })).toBeUndefined();
  });
});
