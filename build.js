// Bundles the program and the demo agent into dist/, so that an installed copy starts fast and needs one dependency.
import { execFileSync } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build } from 'esbuild';

const OUTPUT = 'dist';

// Ink imports them behind a condition that is false here; followed, they would become a chunk that nobody loads.
const withoutDevtools = {
  name: 'without-devtools',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, external: true })),
};

const { metafile } = await build({
  entryPoints: { main: 'src/cli/main.ts', 'demo-agent': 'src/demo/main.ts' },
  outdir: OUTPUT,
  metafile: true,
  bundle: true,
  splitting: true, // Ink, React and xterm.js live in chunks of their own that are loaded after the child has started
  format: 'esm',
  platform: 'node',
  mainFields: ['module', 'main'], // jsonc-parser's other form asks for its parts in a way that cannot be bundled
  target: 'node20',
  jsx: 'automatic',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
  external: ['@lydell/node-pty'],
  plugins: [withoutDevtools],
  // bundled CommonJS packages call require() for Node's own modules
  banner: {
    js: "import { createRequire as ctxwrapRequire } from 'node:module'; const require = ctxwrapRequire(import.meta.url);",
  },
});

// the manual page, from the definitions of the command line
await writeFile(`${OUTPUT}/ctxwrap.1`, execFileSync(process.execPath, [`${OUTPUT}/main.js`, 'man']));

// chunks are named after their content: those of earlier builds would stay for ever, and be published
const current = new Set([...Object.keys(metafile.outputs).map((path) => basename(path)), 'ctxwrap.1']);
for (const name of await readdir(OUTPUT)) if (!current.has(name)) await rm(`${OUTPUT}/${name}`);
