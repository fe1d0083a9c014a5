// Bundles the lab, which is TypeScript, and runs it. `npm run lab -- --list` shows what it can play.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-lab-'));
const outfile = join(folder, 'lab.mjs');
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules')); // with node-pty, which cannot be bundled
try {
  await build({
    entryPoints: [join(import.meta.dirname, 'main.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    external: ['@lydell/node-pty'],
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
