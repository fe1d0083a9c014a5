// Runs the unit tests and the demo on the newest Node, which npm brings in a package of its own. Not a part of `npm test`: it needs a registry.
// Other tests can be named: npm run test:node-latest -- test/e2e
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { spawn } from '@lydell/node-pty';

const root = resolve(import.meta.dirname, '..');
const { platform, arch } = process;
const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'; // as the package `node` names its parts

const unitTests = [
  ...['core', 'agents', 'terminal', 'storage', 'ui', 'demo', 'wrap', 'cli', 'replay'].map(
    (floor) => `test/${floor}/`,
  ),
  'test/architecture.test.ts',
  'test/package.test.ts',
];

const fail = (reason) => {
  console.error(`node-latest: ${reason}`);
  process.exit(1);
};

const newestVersion = () => {
  const args = ['view', 'node@latest', 'version', '--prefer-online', '--fetch-retries=0'];
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8' });
  const why = (stderr ?? '').split('\n').find((line) => line.startsWith('npm error')) ?? 'npm is not there';
  if (status !== 0) fail(`the registry cannot be reached, so nothing was tested (${why})`);
  return stdout.trim();
};

/** The program, installed outside the project once for each version. */
const installed = (version) => {
  const { uid } = userInfo();
  const cache = join(tmpdir(), `ctxwrap-node-${uid}`);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  if (lstatSync(cache).uid !== uid) fail(`${cache} belongs to another user`);
  const name = `${prefix}-${platform}-${arch}`;
  const folder = join(cache, version);
  const node = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(node)) return node;
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', [...args, `${name}@${version}`], { stdio: ['ignore', 2, 2] });
  if (status !== 0 || !existsSync(node)) fail(`npm installed no Node ${version} for ${platform} ${arch}`);
  return node;
};

/** The whole demo, as `npm start` plays it; resolves with what is wrong with it. */
const playDemo = (node, env) =>
  new Promise((done) => {
    const child = spawn(node, ['bin/ctxwrap.js', 'demo'], { cols: 100, rows: 30, cwd: root, env });
    let output = '';
    child.onData((data) => {
      output += data;
    });
    child.onExit(({ exitCode, signal }) => {
      if (exitCode !== 0) done(`it ended with ${exitCode}, signal ${signal}: ${output.slice(-500)}`);
      else done(output.includes('compacted 169k → 14k') ? undefined : 'it did not compact');
    });
  });

const node = installed(newestVersion());
// npm would look for its global settings beside the Node that runs it
const globals = spawnSync('npm', ['config', 'get', 'globalconfig'], { encoding: 'utf8' }).stdout.trim();
const env = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  NPM_CONFIG_GLOBALCONFIG: globals,
};
const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
console.log(`node-latest: ${stdout.trim()}`);
const wanted = process.argv.slice(2);
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const tests = spawnSync(node, [vitest, 'run', ...(wanted.length > 0 ? wanted : unitTests)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
if (tests.status !== 0) fail(`the tests end with ${tests.status ?? tests.signal}`);
const wrong = await playDemo(node, env);
if (wrong !== undefined) fail(`the demo: ${wrong}`);
console.log('node-latest: the demo went well');
