// Bundles the fuzz, which is TypeScript, and runs it: npm run fuzz -- --runs 5000 --seed 1
// Or tries what the tests say of any input with new inputs, twenty times as many: npm run fuzz -- --properties 20
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const runFuzz = async (args) => {
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
    return spawnSync(process.execPath, [outfile, ...args], { stdio: 'inherit' }).status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const testFolder = join(import.meta.dirname, '..');

const runProperties = (times) => {
  const files = readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .map((name) => join(testFolder, name))
    .filter((path) => readFileSync(path, 'utf8').includes("from 'fast-check'"));
  const env = { ...process.env, FUZZ: times };
  return spawnSync('npx', ['vitest', 'run', '--testTimeout=0', ...files], { stdio: 'inherit', env }).status;
};

const [option, ...values] = process.argv.slice(2);
const status =
  option === '--properties' ? runProperties(values[0] ?? '20') : await runFuzz(process.argv.slice(2));
process.exitCode = status ?? 1;
