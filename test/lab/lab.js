// Bundles the lab, which is TypeScript, and runs it. `npm run lab -- --list` shows what it can play.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

// It has a native part that cannot be bundled, and it is not to be found from a temporary folder.
const withoutPty = {
  name: 'without-pty',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@lydell\/node-pty$/ }, ({ path }) => ({
      path: import.meta.resolve(path),
      external: true,
    })),
};

const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-lab-'));
const outfile = join(folder, 'lab.mjs');
try {
  await build({
    entryPoints: [join(import.meta.dirname, 'main.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    plugins: [withoutPty],
  });
  const env = { ...process.env, CTXWRAP_LAB_ROOT: root };
  const { status } = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env,
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
