// The first commands of the README as somebody types them who has nothing but Node: a clone, an empty home folder, no compiler. By hand:
// npm run test:fresh-machine. It needs git and a registry. `--test` also runs all tests there, which find no shells or tools to try.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';

const root = resolve(import.meta.dirname, '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ctxwrap-fresh-')));
const inFolder = (name) => join(folder, name);
const clone = inFolder('ctxwrap');
const setting = (name) =>
  execFileSync('npm', ['config', 'get', name], { encoding: 'utf8', stdio: 'pipe' }).trim();

const programs = () => {
  const onPath = (name) =>
    process.env.PATH.split(delimiter)
      .map((each) => join(each, name))
      .find((each) => existsSync(each));
  mkdirSync(inFolder('bin'));
  symlinkSync(process.execPath, inFolder('bin/node'));
  for (const name of ['npm', 'sh']) symlinkSync(realpathSync(onPath(name)), inFolder(`bin/${name}`));
};

const env = () => ({
  HOME: inFolder('home'),
  PATH: [inFolder('bin'), inFolder('prefix/bin')].join(delimiter),
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  NPM_CONFIG_PREFIX: inFolder('prefix'),
  // where the registry is and how it is reached is of this machine, all else is not
  NPM_CONFIG_USERCONFIG: setting('userconfig'),
  NPM_CONFIG_GLOBALCONFIG: setting('globalconfig'),
});

/** As the README has it: without its comment. */
const written = (needle) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const line = readme.split('\n').find((each) => each.startsWith('npm ') && each.includes(needle));
  if (line === undefined) throw new Error(`the README has no line with ${needle}`);
  return line.split('#')[0].trim();
};

const run = (command, { status: wanted = 0, cwd = inFolder('home') } = {}) => {
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
    cwd,
    env: env(),
    encoding: 'utf8',
  });
  if (status !== wanted)
    throw new Error(`${command} ended with ${status}, not ${wanted}:\n${stdout}${stderr}`);
  console.log(`ok  ${command}`);
  return stdout;
};

/** Runs a command in a terminal until its output matches, and ends it as closing the window would. */
const show = (command, pattern) =>
  new Promise((done, fail) => {
    const terminal = spawn('/bin/sh', ['-c', command], { cols: 100, rows: 30, cwd: clone, env: env() });
    let output = '';
    let isSeen = false;
    terminal.onData((data) => {
      output += data;
      if (isSeen || !pattern.test(stripVTControlCharacters(output))) return;
      isSeen = true;
      terminal.kill('SIGHUP');
    });
    terminal.onExit(() => {
      if (!isSeen) return fail(new Error(`${command} never showed ${pattern}:\n${output.slice(-2000)}`));
      console.log(`ok  ${command}`);
      done();
    });
  });

try {
  programs();
  mkdirSync(inFolder('home'));
  execFileSync('git', ['clone', '-q', root, clone]);
  await show(written('npm start'), /%.{1,8}\d+k\/200k/);
  if (process.argv.includes('--test')) run(written('npm test'), { cwd: clone });
  run('npm link', { cwd: clone });
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
  if (run('ctxwrap --version').trim() !== version) throw new Error('another version');
  for (const command of [
    'ps',
    'doctor',
    'init bash',
    'completion bash',
    'config init',
    'config check',
    'man',
  ])
    run(`ctxwrap ${command}`);
  run('ctxwrap context'); // of the demo, which was the last session
  run('ctxwrap claude', { status: 127 }); // not installed
  await show("ctxwrap -- sh -c 'echo wrapped; read -r line'", /wrapped[^]*generic/);
  run('npm uninstall -g ctxwrap');
  run('ctxwrap --version', { status: 127 });
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
