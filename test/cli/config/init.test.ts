import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyNames } from '../../../src/core/config/keys.js';
import { userFileOf, writeConfig } from './config-file.js';
import { ctxwrapHere } from '../../support/command-here.js';
import { ctxwrap, makeBench, type Bench, type Ended } from '../launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const userFile = (): string => userFileOf(bench);
const write = (text: string, path = userFile()): void => writeConfig(bench, text, path);
const config = (...args: readonly string[]): Promise<Ended> => ctxwrapHere(['config', ...args], bench);
const rowOf = ({ stdout }: Ended, key: string): string =>
  stdout.split('\n').find((line) => line.startsWith(`${key} `)) ?? '';

describe('config init', () => {
  it('writes a file without mistakes, and a schema for editors', async () => {
    expect(await ctxwrap(['config', 'init'], bench)).toMatchObject({
      code: 0,
      stdout: `${userFile()}: written, with ${keyNames.length} keys as comments\n`,
    });
    expect(await config('check')).toMatchObject({ code: 0 });
    const schema: unknown = JSON.parse(readFileSync(join(dirname(userFile()), 'config.schema.json'), 'utf8'));
    const { stdout } = await config('schema');
    expect(schema).toEqual(JSON.parse(stdout));
    // each key as it stands there, all at once
    const open = readFileSync(userFile(), 'utf8').replace(/^( *)\/\/ (".*)$/gm, '$1$2');
    writeFileSync(userFile(), open.replace(/"(log|env\.file)": "[^"]*",/g, ''));
    expect((await config('check')).stdout).not.toContain('error');
    expect(await config('init')).toMatchObject({ stdout: expect.stringContaining('added log, env.file') });
  });

  it('keeps what is there, and what was there in a second file', async () => {
    const before = '// mine\n{ "mode": "ask" }\n';
    write(before);
    expect(await config('init')).toMatchObject({ code: 0 });
    expect(readFileSync(`${userFile()}.bak`, 'utf8')).toBe(before);
    const after = readFileSync(userFile(), 'utf8');
    expect(after.startsWith('// mine\n{ "mode": "ask"')).toBe(true);
    expect(rowOf(await config(), 'mode')).toMatch(/"ask"$/);
    expect(await config('init')).toMatchObject({
      stdout: `${userFile()}: nothing to add, it has all keys\n`,
    });
    expect(readFileSync(userFile(), 'utf8')).toBe(after);
    expect(readFileSync(`${userFile()}.bak`, 'utf8')).toBe(before);
  });

  it('touches no file that is broken or not the user’s own', async () => {
    write('{ "mode": ');
    expect(await config('init')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not valid JSONC'),
    });
    expect(readFileSync(userFile(), 'utf8')).toBe('{ "mode": ');
    spawnSync('rm', [userFile()]);
    symlinkSync(join(bench.folder, 'elsewhere'), userFile());
    expect(await config('init')).toMatchObject({ code: 2, stderr: expect.stringContaining('symbolic link') });
    expect(existsSync(join(bench.folder, 'elsewhere'))).toBe(false);
  });

  it('writes nothing where there is no file to be', async () => {
    const folder = join(bench.folder, 'config.jsonc');
    mkdirSync(folder);
    const named = await ctxwrapHere(['--config', folder, 'config', 'init'], bench);
    expect(named.code).toBe(2);
    expect(await ctxwrapHere(['--config', '/dev/null', 'config', 'init'], bench)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not a regular file'),
    });
    expect(existsSync('/dev/null.bak')).toBe(false);
  });

  it('writes the file that was named, and nothing beside it', async () => {
    const named = join(bench.folder, 'sub/mine.jsonc');
    expect(await ctxwrapHere(['--config', 'sub/mine.jsonc', 'config', 'init'], bench)).toMatchObject({
      code: 0,
    });
    expect(readFileSync(named, 'utf8')).not.toContain('$schema');
    expect(existsSync(join(bench.folder, 'sub/config.schema.json'))).toBe(false);
    expect(existsSync(userFile())).toBe(false);
    expect(await ctxwrapHere(['--config', 'sub/mine.jsonc', 'config', 'path'], bench)).toMatchObject({
      stdout: `${named}\n`,
    });
  });
});
