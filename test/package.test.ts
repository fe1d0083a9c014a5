// What is published: the files, the metadata, and an installation as a user makes it.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTerminal, makeBench } from './cli/launcher.js';

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const MOST_BYTES = 4_650_000; // a third of it is what draws the overview and what sends metrics; the library has its own copy of the readers; 0.3 MB are pictures
const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

let folder: string;
let packed: Packed;
let tarball: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'package-test-')));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  [packed] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }));
  tarball = join(folder, packed.filename);
});
afterAll(() => rmSync(folder, { recursive: true }));

const paths = (): readonly string[] => packed.files.map(({ path }) => path).sort();

describe('the package', () => {
  it('holds the program, its pages and nothing else', () => {
    const kinds = [
      /^(?:agents|examples)\/[\w-]+\.m?js(?:on)?$/,
      /^bin\/ctxwrap\.js$/,
      /^dist\/[\w-]+\.(d\.ts|c?js)$/,
      /^docs\/[\w/-]+\.(md|svg|png|gif)$/,
    ];
    const single = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/package.json',
      'dist/ctxwrap.1',
      'package.json',
    ];
    const others = paths().filter((path) => !kinds.some((kind) => kind.test(path)));
    expect(others).toEqual(single);
    for (const kind of kinds) expect(paths().some((path) => kind.test(path))).toBe(true);
  });

  it('has its parts at the top level, where everybody looks for them', () => {
    const parts = ['package.json', 'tsconfig.json', 'bin', 'src', 'test', 'README.md', 'CHANGELOG.md'];
    expect(parts.filter((part) => !existsSync(join(root, part)))).toEqual([]);
  });

  it('can be started by other users than the one who built it', () => {
    expect(statSync('dist').mode & 0o555).toBe(0o555);
  });

  it('is small', () => {
    expect(packed.unpackedSize).toBeLessThanOrEqual(MOST_BYTES);
  });

  it('holds every file that its pages lead to', () => {
    const pages = paths().filter((path) => path.endsWith('.md'));
    const targets = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, to = '']) => join(dirname(page), to)),
    );
    expect(targets.length).toBeGreaterThan(1);
    expect(targets.filter((target) => !paths().includes(target))).toEqual([]);
  });

  it('holds every part that a part of the program asks for', () => {
    const program = paths().filter((path) => path.startsWith('dist/program-'));
    expect(program.length).toBe(1);
    const asked = program.flatMap((path) =>
      [...read(path).matchAll(/(?:importPart|require)\s*\(?\s*["']\.\/([\w-]+\.cjs)["']/g)].map(
        ([, part = '']) => part,
      ),
    );
    expect(asked.length).toBeGreaterThan(100);
    const launcher = read('dist/launcher.cjs');
    expect(asked.filter((part) => !launcher.includes(`"${part}":[`))).toEqual([]);
  });

  it('is one that publint finds nothing wrong with', async () => {
    const bytes = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(bytes).buffer },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it('says which Node it needs, and is published with its provenance', () => {
    expect(manifest.engines).toEqual({ node: '>=20' });
    expect(manifest.publishConfig).toEqual({ access: 'public', provenance: true });
  });

  it('has its version in one place', () => {
    const written = paths().filter(
      (path) => /^(bin|dist)\/.*\.c?js$/.test(path) && read(path).includes('CTXWRAP_'),
    );
    expect(written.length).toBeGreaterThan(0);
    const literal = `"${manifest.version}"`;
    expect(written.filter((path) => read(path).includes(literal))).toEqual([]);
  });

  it('needs nothing that has to be compiled or run to be installed', () => {
    const { packages } = JSON.parse(read('package-lock.json'));
    const installed = Object.entries<{ dev?: boolean; hasInstallScript?: boolean }>(packages).filter(
      ([path, { dev }]) => path !== '' && !dev,
    );
    expect(installed.length).toBeGreaterThan(0);
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
    for (const hook of ['preinstall', 'install', 'postinstall'])
      expect(manifest.scripts).not.toHaveProperty(hook);
  });
});

describe('a checkout that has not been built', () => {
  const copy = (name: string): string => {
    cpSync(join(root, name), join(folder, 'a checkout', name), { recursive: true });
    return join(folder, 'a checkout', name);
  };

  const checkout = (): string => join(folder, 'a checkout');
  const dist = (): string => join(checkout(), 'dist');
  const run = (): unknown => {
    const options = { encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(copy('bin'), 'ctxwrap.js'), 'ps'],
      options,
    );
    return { status, stdout, stderr };
  };
  const half = (path: string): void => truncateSync(path, Math.floor(statSync(path).size / 2));
  const program = (): string =>
    join(dist(), readdirSync(dist()).find((name) => name.startsWith('program-')) ?? '');

  it.each([
    ['has no bundle', () => rmSync(dist(), { recursive: true })],
    ['has only the launcher', () => rmSync(program())],
    ['has half of the program', () => half(program())],
    ['has half of the launcher', () => half(join(dist(), 'launcher.cjs'))],
    ['has an empty launcher', () => truncateSync(join(dist(), 'launcher.cjs'), 0)],
  ])('says what to do where it %s', (_, harm) => {
    copy('dist');
    copy('package.json');
    mkdirSync(join(checkout(), 'src'));
    harm();
    expect(run()).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'ctxwrap: this checkout has not been built\n' +
        `ctxwrap: build it with: cd '${checkout()}' && npm install && npm run build\n`,
    });
    rmSync(join(checkout(), 'src'), { recursive: true });
    expect(run()).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'ctxwrap: files of this installation are missing, or it is being updated: start it once more\n' +
        'ctxwrap: if that does not help: npm install -g ctxwrap\n',
    });
    rmSync(checkout(), { recursive: true });
  });

  it.each([
    ['is missing', (path: string) => rmSync(path)],
    ['is cut off', half],
    ['is empty', (path: string) => truncateSync(path, 0)],
  ])('says what mends the demo where its agent %s', async (_, harm) => {
    copy('dist');
    copy('package.json');
    mkdirSync(join(checkout(), 'src'));
    harm(join(dist(), 'demo-agent.js'));
    const bench = makeBench();
    const terminal = inTerminal(process.execPath, [join(copy('bin'), 'ctxwrap.js'), 'demo'], bench);
    expect((await terminal.ended).exitCode).toBe(1);
    expect(terminal.output()).toContain(`cd '${checkout()}' && npm run build\r\n`);
    expect(terminal.output()).not.toContain('    at ');
    bench.remove();
    rmSync(checkout(), { recursive: true });
  });

  it('is installed all the same where what builds it is left out', () => {
    expect(manifest.scripts.prepare).toBe('node build-if-changed.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [copy('build-if-changed.js')], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

/** The program of npm itself, which is run without anything else on PATH. */
const npmPath = (): string | undefined => {
  const found = process.env['PATH']
    ?.split(':')
    .map((each) => join(each, 'npm'))
    .find((each) => existsSync(each));
  return found === undefined ? undefined : realpathSync(found);
};

const setting = (name: string): string =>
  execFileSync('npm', ['config', 'get', name], { encoding: 'utf8', stdio: 'pipe' }).trim();

const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;

describe('an installation of the package, with nothing but Node at hand', () => {
  const installed = (): string => join(folder, 'prefix/bin/ctxwrap');
  let env: Record<string, string>;
  let reason: string | undefined;
  let installation = {};

  beforeAll(() => {
    const npm = npmPath();
    if (npm === undefined) {
      reason = 'npm is not there';
      return;
    }
    const path = join(folder, 'bin');
    const home = join(folder, 'home');
    for (const each of [path, home]) mkdirSync(each);
    symlinkSync(process.execPath, join(path, 'node'));
    env = { PATH: path, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
    const places = ['--prefix', join(folder, 'prefix'), '--cache', join(folder, 'cache')];
    const options = ['--no-audit', '--no-fund', '--no-update-notifier', '--fetch-retries', '0'];
    const args = [npm, 'install', '--global', ...places, ...options, tarball];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      // where the registry is and how it is reached is of this machine, all else is not
      env: {
        ...env,
        NPM_CONFIG_USERCONFIG: setting('userconfig'),
        NPM_CONFIG_GLOBALCONFIG: setting('globalconfig'),
      },
    });
    if (UNREACHABLE.test(stderr)) reason = 'the registry cannot be reached';
    else installation = { status, stderr: stderr.replace(/^npm (warn|notice).*\n?/gim, '') };
  });

  const run = (...args: string[]) =>
    spawnSync(installed(), args, { cwd: folder, env, encoding: 'utf8', input: '' });

  it('ends well, and compiles nothing', ({ skip }) => {
    skip(reason !== undefined, reason);
    expect(installation).toEqual({ status: 0, stderr: '' });
  });

  it('says its version, which is that of package.json', ({ skip }) => {
    skip(reason !== undefined, reason);
    expect(run('--version')).toMatchObject({ stdout: `${manifest.version}\n`, stderr: '', status: 0 });
  });

  it('helps, looks at itself, and writes for a shell', ({ skip }) => {
    skip(reason !== undefined, reason);
    expect(run('demo', '--help')).toMatchObject({
      stdout: expect.stringContaining('--interactive'),
      status: 0,
    });
    expect(JSON.parse(run('doctor', '--json').stdout)).toHaveProperty('schema');
    expect(run('init', 'bash')).toMatchObject({ stderr: '', status: 0 });
    expect(run('completion', 'zsh')).toMatchObject({ stdout: expect.stringContaining('ctxwrap'), status: 0 });
  });

  it('tells other programs what is configured', ({ skip }) => {
    skip(reason !== undefined, reason);
    const library = join(folder, 'prefix/lib/node_modules/ctxwrap', manifest.exports['.'].default);
    const script = `import(${JSON.stringify(library)}).then((it) => console.log(it.getContextWindowSize()))`;
    const options = { cwd: folder, env: { ...env, BACKEND: 'openai' }, encoding: 'utf8' } as const;
    expect(spawnSync(process.execPath, ['-e', script], options)).toMatchObject({
      stdout: '128000\n',
      stderr: '',
    });
  });

  it('has the manual page where man looks for it', ({ skip }) => {
    skip(reason !== undefined, reason);
    const page = readFileSync(join(folder, 'prefix/share/man/man1/ctxwrap.1'), 'utf8');
    expect(page).toMatch(/^\.TH /m);
    expect(page).toBe(read('dist/ctxwrap.1'));
  });

  it('runs the demo in a terminal, with its footer', async ({ skip }) => {
    skip(reason !== undefined, reason);
    const bench = { folder, env, program: () => '', remove: () => undefined };
    const terminal = inTerminal(installed(), ['demo'], bench);
    await terminal.seen(/%.{1,20}\d+k\/200k/);
    terminal.kill();
    await terminal.ended;
    expect(terminal.output()).toContain('\x1b[?25h');
  });

  it('keeps its compiled code with its state, once a session has made a folder for that', ({ skip }) => {
    skip(reason !== undefined, reason);
    const state = join(folder, 'home/.local/state/ctxwrap');
    mkdirSync(state, { recursive: true, mode: 0o700 });
    run('--version');
    expect(readdirSync(join(state, 'compiled'))).not.toEqual([]);
  });
});
