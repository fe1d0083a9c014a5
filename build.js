// Bundles the program and the demo agent into dist/, so that an installed copy starts fast and needs one dependency.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';

const OUTPUT = 'dist';

// Ink imports them behind a condition that is false here; followed, they would become a chunk that nobody loads.
const withoutDevtools = {
  name: 'without-devtools',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, external: true })),
};

const SOURCE = resolve('src');
const START = join(SOURCE, 'cli/main.ts');
const SESSION = join(SOURCE, 'wrap/session-start.ts');

// What several entries share becomes a chunk of its own, dozens of them, and a start would wait for each. So every module that is loaded
// later says what is there by then: all of it shares that, and it stays in one piece.
const loadedLater = {
  name: 'loaded-later',
  setup: ({ onLoad, onResolve, resolve: find }) => {
    onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir, importer }) => {
      if (kind !== 'dynamic-import' || !importer.startsWith(SOURCE)) return undefined;
      const target = (await find(path, { resolveDir, importer, kind: 'import-statement' })).path;
      const isInSession = /^(?:wrap|terminal|ui)\//.test(relative(SOURCE, importer));
      // it has a terminal of its own, of the same parts: without the rest of a session it would break that into pieces
      const hasTerminal = target === join(SOURCE, 'cli/commands/verify.ts');
      const there = isInSession || hasTerminal ? [START, SESSION] : [START];
      return { path: target.replace(/\.tsx?$/, ''), namespace: 'later', pluginData: { target, there } };
    });
    onLoad({ filter: /^/, namespace: 'later' }, ({ pluginData: { target, there } }) => ({
      contents: [
        ...there.map((path) => `import ${JSON.stringify(path)};`),
        `export * from ${JSON.stringify(target)};`,
      ].join('\n'),
      resolveDir: SOURCE,
    }));
  },
};

const common = {
  outdir: OUTPUT,
  metafile: true,
  bundle: true,
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
  // bundled CommonJS packages call require() for Node's own modules
  banner: {
    js: "import { createRequire as ctxwrapRequire } from 'node:module'; const require = ctxwrapRequire(import.meta.url);",
  },
};

// Ink, React and xterm.js live in chunks of their own that are loaded after the child has started
const program = {
  ...common,
  entryPoints: { main: START },
  splitting: true,
  plugins: [withoutDevtools, loadedLater],
};
const library = { ...common, entryPoints: { library: join(SOURCE, 'cli/library.ts') } };
const demoAgent = { ...common, entryPoints: { 'demo-agent': join(SOURCE, 'demo/main.ts') } };
const outputs = (await Promise.all([program, library, demoAgent].map(build))).flatMap(({ metafile }) =>
  Object.keys(metafile.outputs),
);

// the types of the library, which name no other file
const { outputText } = ts.transpileDeclaration(await readFile(library.entryPoints.library, 'utf8'), {});
await writeFile(`${OUTPUT}/library.d.ts`, outputText);

// the manual page, from the definitions of the command line
await writeFile(`${OUTPUT}/ctxwrap.1`, execFileSync(process.execPath, [`${OUTPUT}/main.js`, 'man']));

// chunks are named after their content: those of earlier builds would stay for ever, and be published
const current = new Set([...outputs.map((path) => basename(path)), 'ctxwrap.1', 'library.d.ts']);
for (const name of await readdir(OUTPUT)) if (!current.has(name)) await rm(`${OUTPUT}/${name}`);
