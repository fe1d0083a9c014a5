// Writes what the built program says of itself, and what it reads from every recording, into a folder: `npm run goldens -- FOLDER`.
// Once before a change of the shape and once after it; `diff -r` of the two folders then shows what has changed for users.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

const root = resolve(import.meta.dirname, '..');
const program = join(root, 'bin/ctxwrap.js');
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('no folder was given: npm run goldens -- FOLDER');
  process.exit(2);
}

const home = mkdtempSync(join(tmpdir(), 'ctxwrap-goldens-'));
const env = { HOME: home, PATH: process.env['PATH'], TZ: 'UTC', COLUMNS: '100' };

/** Output, errors and status of one run, with nothing of this machine in it. */
const said = (...args) => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
    cwd: home,
    env,
    encoding: 'utf8',
    maxBuffer: 256e6,
  });
  return `${stdout}${stderr}status ${status}\n`.replaceAll(home, '~').replaceAll(root, '.');
};

const keep = (name, text) => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const commands = [
  'demo',
  'ps',
  'context',
  'compact',
  'config',
  'doctor',
  'init',
  'completion',
  'replay',
  'verify',
  'hook',
];

try {
  keep('help.txt', said('--help'));
  for (const command of commands) keep(`help-${command}.txt`, said(command, '--help'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    keep(`completion.${shell}`, said('completion', shell));
    keep(`init.${shell}`, said('init', shell));
  }
  keep('schema.json', said('config', 'schema'));
  keep('config.json', said('config', 'show', '--json'));
  keep('doctor.json', said('doctor', '--json').replace(/"version": "v[^"]*"/g, '"version": "…"'));
  for (const agent of ['claude', 'codex']) keep(`hook-${agent}.txt`, said('hook', agent));
  keep('man.1', readFileSync(join(root, 'dist/ctxwrap.1')));
  const casts = join(root, 'test/fixtures/casts');
  for (const name of readdirSync(casts, { recursive: true }).filter((each) => each.endsWith('.cast.gz'))) {
    const cast = join(home, 'recording.cast');
    writeFileSync(cast, gunzipSync(readFileSync(join(casts, name))));
    keep(`replay/${name}.ndjson`, said('replay', cast, '--json'));
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
