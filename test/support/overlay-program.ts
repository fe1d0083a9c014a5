import { copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The wrapper with something to show in the overlay, and the one native module where it is. */
const withOverlay: Plugin = {
  name: 'with-overlay',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/wrap\.js$/ }, ({ importer }) =>
      importer.endsWith('/wrap/session-start.ts') ? { path: pathOf('overlay-wrap.ts') } : undefined,
    );
    onResolve({ filter: /^@lydell\/node-pty$/ }, ({ path }) => ({
      path: createRequire(import.meta.url).resolve(path),
      external: true,
    }));
    onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Builds the program into a folder, with an overlay that has rows that say what they are; returns the path of its entry. */
export const buildWithOverlay = async (folder: string): Promise<string> => {
  await build({
    entryPoints: { 'main-with-overlay': pathOf('../../src/cli/main.ts') },
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    target: 'node20',
    jsx: 'automatic',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
    plugins: [withOverlay],
    banner: {
      js: "import { createRequire as ctxwrapRequire } from 'node:module'; const require = ctxwrapRequire(import.meta.url);",
    },
  });
  copyFileSync(pathOf('../../package.json'), join(folder, 'package.json')); // it says which version it is
  return join(folder, 'dist', 'main-with-overlay.mjs');
};
