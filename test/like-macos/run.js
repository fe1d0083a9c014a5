// The tests that do not need Linux, on Linux, with all hidden that macOS does not have: npm run test:like-macos. Others can be named behind --.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

const chosen = [
  ...['storage', 'terminal', 'session-files', 'like-macos'].map((name) => `test/${name}/`),
  'test/cli/published.test.ts',
  'test/e2e/compact.test.ts',
];

/** esbuild, which some tests bundle with, looks for its program by the platform. */
const esbuild = createRequire(import.meta.url).resolve(
  `@esbuild/${process.platform}-${process.arch}/bin/esbuild`,
);

const wanted = process.argv.slice(2);
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...(wanted.length > 0 ? wanted : chosen)], {
  cwd: root,
  env: { ...process.env, LIKE_MACOS: '1', ESBUILD_BINARY_PATH: esbuild },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
