// Builds a checkout whose bundle is missing or older than what it is made of: for `npm install`, `npm start` and `npm test`.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';

process.chdir(import.meta.dirname);

const SOURCES = ['src', 'agents', 'bin', 'build.js', 'package.json', 'package-lock.json'].concat(
  'test/support/wait-share.json',
);
const LAST_WRITTEN = 'dist-fast/package.json'; // by build.js, so a build that failed is done again
const TOOLS = ['esbuild', 'typescript'];

/** When any of this was changed, also by a removal: milliseconds since the epoch. */
const changedAt = (path) => {
  const stats = statSync(path);
  const below = stats.isDirectory() ? readdirSync(path).map((name) => changedAt(`${path}/${name}`)) : [];
  return Math.max(stats.mtimeMs, ...below);
};

const isBuilt = () =>
  ['dist/launcher.cjs', LAST_WRITTEN].every((path) => existsSync(path)) &&
  SOURCES.every((path) => changedAt(path) <= statSync(LAST_WRITTEN).mtimeMs);

const isInstalled = (name) => {
  try {
    return createRequire(import.meta.url).resolve(name) !== '';
  } catch {
    return false;
  }
};

// in an installation without what builds (`npm ci --omit=dev`) the program says itself what is missing
if (!isBuilt() && TOOLS.every(isInstalled)) {
  console.log('building ctxwrap: a few seconds …');
  execFileSync(process.execPath, ['build.js'], { stdio: 'inherit' });
}
