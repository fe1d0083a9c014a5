import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installedVersion } from '../../src/storage/find-command.js';

const claude = { command: 'claude', npmPackage: '@anthropic-ai/claude-code' };

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'installed-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (path: string, text = ''): string => {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};
const packed = (name: string, version: unknown): string => JSON.stringify({ name, version });
/** The version found through a link `claude` to this program. */
const told = (program: string) => {
  symlinkSync(program, join(folder, 'claude'));
  return installedVersion(join(folder, 'claude'), claude);
};

describe('the version of an installed program', () => {
  it.each([
    ['its own folder', 'lib/node_modules/@anthropic-ai/claude-code', 'cli.js', claude.npmPackage],
    ['above it', 'lib/node_modules/@anthropic-ai/claude-code', 'bin/claude.exe', claude.npmPackage],
    ['that of its platform', 'n/claude-code-linux-x64', 'claude', `${claude.npmPackage}-linux-x64`],
  ])('is that of the package: %s', async (_, place, file, name) => {
    put(`${place}/package.json`, packed(name, '1.0.30'));
    expect(await told(put(`${place}/${file}`))).toBe('1.0.30');
  });

  it.each([
    '.local/share/claude/versions/2.1.330',
    'Caskroom/claude-code/2.1.330/claude',
    'nix/store/abc-claude-code-2.1.330/bin/claude',
    'node/v20.1.1/claude/versions/2.1.330',
  ])('is in the path where the installer puts it there: %s', async (path) => {
    expect(await told(put(path))).toBe('2.1.330');
  });

  it.each([
    ['a start script', 'bin/claude.sh'],
    ['the version of Node', '.nvm/versions/node/v20.20.2/lib/claude.js'],
    ['a folder of the same name without a version', 'opt/claude/bin/claude'],
  ])('is not known of %s', async (_, path) => {
    expect(await told(put(path))).toBeUndefined();
  });

  it('is not taken from another package around it, nor from a folder that is no package', async () => {
    put('app/package.json', packed('my-app', '9.9.9'));
    expect(await told(put('app/bin/claude'))).toBeUndefined();
    put('odd/package.json', packed(claude.npmPackage, 7));
    expect(await installedVersion(put('odd/cli.js'), claude)).toBeUndefined();
    put('broken/package.json', '{');
    expect(await installedVersion(put('broken/cli.js'), claude)).toBeUndefined();
  });

  it('is unknown for a program that does not exist', async () => {
    expect(await installedVersion(join(folder, 'none'), claude)).toBeUndefined();
  });
});
