// The commands that `config check` offers for a file that is not read, run by a shell as a user would paste them.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userFileOf, writeConfig } from './config-file.js';
import { ctxwrapHere } from '../../support/command-here.js';
import { bin } from '../../support/programs.js';
import { makeBench, type Bench } from '../launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  bench.env['TMPDIR'] = bench.folder;
  bench.program('ctxwrap', `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
});
afterEach(() => bench.remove());

const project = (): string => join(bench.folder, '.ctxwrap.jsonc');

const checked = async (folder = bench.folder): Promise<string> =>
  (await ctxwrapHere(['config', 'check'], { ...bench, folder })).stdout;

/** Runs what is offered, and something after it in the same shell. */
const mended = async (cwd = bench.folder, then = 'ctxwrap config check'): Promise<string> => {
  const [, fix = 'false'] = /^ {2}fix {4}(.*)$/m.exec(await checked(cwd)) ?? [];
  const script = `${fix} >/dev/null && ${then}`;
  return execFileSync('bash', ['-c', script], { env: bench.env, cwd, encoding: 'utf8' });
};

describe('a file of the user that is not read is mended by the command that is offered', () => {
  it.each([
    ['open to all', () => chmodSync(userFileOf(bench), 0o666)],
    ['too large', () => writeFileSync(userFileOf(bench), ' '.repeat(300_000))],
    ['no text', () => writeFileSync(userFileOf(bench), Buffer.from([0, 1, 2]))],
  ])('%s', async (_, spoil) => {
    writeConfig(bench, '{}');
    spoil();
    expect(await checked()).toContain('error: ctxwrap does not read the file');
    expect(await mended()).toBe('no problems found\n');
  });

  it.each([
    ['that others may write', () => chmodSync(join(bench.folder, 'elsewhere/mine.jsonc'), 0o660)],
    ['in a folder that others may write', () => chmodSync(join(bench.folder, 'elsewhere'), 0o777)],
  ])('a link to a file %s', async (_, open) => {
    writeConfig(bench, '{ "mode": "ask" }', join(bench.folder, 'elsewhere/mine.jsonc'));
    mkdirSync(dirname(userFileOf(bench)), { recursive: true });
    symlinkSync(join(bench.folder, 'elsewhere/mine.jsonc'), userFileOf(bench));
    expect(await checked()).toBe('no problems found\n');
    open();
    expect(await checked()).toContain('error: ctxwrap does not read the file');
    expect(await mended()).toBe('no problems found\n');
  });

  it('a link to a device', async () => {
    mkdirSync(dirname(userFileOf(bench)), { recursive: true });
    symlinkSync('/dev/null', userFileOf(bench));
    expect(await mended()).toBe('no problems found\n');
  });

  it('that an option names', async () => {
    const named = join(bench.folder, 'my own', 'config.jsonc');
    writeConfig(bench, ' '.repeat(300_000), named);
    const { stdout } = await ctxwrapHere(['--config', named, 'config', 'check'], bench);
    expect(stdout).toContain(
      `fix    mv '${named}' '${named}'.$(date +%s) && ctxwrap --config '${named}' config init\n`,
    );
  });

  it('a link that leads nowhere', async () => {
    mkdirSync(dirname(userFileOf(bench)), { recursive: true });
    symlinkSync('config.jsonc', userFileOf(bench));
    expect(await mended()).toBe('no problems found\n');
  });

  it('a device', async () => {
    bench.env['CTXWRAP_CONFIG'] = '/dev/zero';
    expect(await mended()).toBe('no problems found\n');
  });

  it('a dotenv file that is not there yet, nor its folder', async () => {
    bench.env['CTXWRAP_ENV_FILE'] = join(bench.folder, 'no such', 'env');
    expect(await mended()).toBe('no problems found\n');
  });

  it('a dotenv file', async () => {
    const file = join(bench.folder, 'env');
    writeFileSync(file, Buffer.from([0]));
    bench.env['CTXWRAP_ENV_FILE'] = file;
    expect(await mended()).toBe('no problems found\n');
  });
});

describe('a file that came with a folder', () => {
  it('is moved away, into no place that the folder has prepared', async () => {
    const victim = join(bench.folder, 'victim');
    writeFileSync(victim, 'mine');
    writeFileSync(join(bench.folder, 'payload'), 'theirs');
    symlinkSync('payload', project());
    for (const end of ['.plain', '.old']) symlinkSync(victim, `${project()}${end}`);
    expect(await mended()).toBe('no problems found\n');
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(readFileSync(join(bench.folder, 'payload'), 'utf8')).toBe('theirs');
    expect(readdirSync(bench.folder)).not.toContain('.ctxwrap.jsonc');
  });

  const names = [
    'two  blanks',
    'a\u202eb',
    'line\nbreak',
    "it's $(touch pwned)",
    '\u2800',
    'a…é\u00a0',
    '🙂\u200d0',
  ];
  it.each(names.flatMap((name) => ['C.UTF-8', 'C'].map((locale) => [name, locale] as const)))(
    'is named so that a shell finds it: %j in the locale %s',
    async (name, locale) => {
      const folder = join(bench.folder, name);
      mkdirSync(folder);
      writeFileSync(join(folder, '.ctxwrap.jsonc'), ' '.repeat(300_000));
      bench.env['LC_ALL'] = locale;
      await mended(folder, 'true');
      expect(await checked(folder)).toBe('no problems found\n');
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});
