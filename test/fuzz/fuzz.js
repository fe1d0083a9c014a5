// Bundles the fuzz, which is TypeScript, and runs it: npm run fuzz -- --runs 5000 --seed 1
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-fuzz-'));
const outfile = join(folder, 'fuzz.mjs');
try {
  await build({
    entryPoints: [join(import.meta.dirname, 'main.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    // bundled CommonJS packages call require() for Node's own modules
    banner: {
      js: "import { createRequire as fuzzRequire } from 'node:module'; const require = fuzzRequire(import.meta.url);",
    },
  });
  const { status } = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
