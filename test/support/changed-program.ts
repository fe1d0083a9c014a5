import { copyFileSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The wrapper with something to show in the overview. */
const withOverview: Plugin = {
  name: 'with-overview',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/wrap\.js$/ }, ({ importer }) =>
      importer.endsWith('/cli/session.ts') ? { path: pathOf('overview-wrap.ts') } : undefined,
    );
  },
};

/** One more agent in both tables: its folder, and a line for its launch and for the rest of it. */
const withToy: Plugin = {
  name: 'with-toy',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/agents\/(?:index|launches)\.ts$/ }, async ({ path }) => {
      const table = (await readFile(path, 'utf8'))
        .replace('agents = {', 'agents = { toy,')
        .replace('AgentLaunch[] = [', 'AgentLaunch[] = [toy,');
      const toy = JSON.stringify(pathOf('../fixtures/toy/agent.ts'));
      return { contents: `import { toy } from ${toy};\n${table}`, loader: 'ts' };
    });
  },
};

/** One more command in the list: its file, and its place there. */
const withCommand: Plugin = {
  name: 'with-command',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/cli\/commands\.ts$/ }, async ({ path }) => {
      const list = (await readFile(path, 'utf8')).replace('onTrials = [', 'onTrials = [greet, ');
      const greet = JSON.stringify(pathOf('../fixtures/toy/greet.ts'));
      return { contents: `import { greet } from ${greet};\n${list}`, loader: 'ts' };
    });
  },
};

/** The demo agent as a program on PATH, `demo-agent`, so that it can be started by its name; it imports sessions of Claude. */
const withDemoCommand: Plugin = {
  name: 'with-demo-command',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/src\/agents\/demo\/(?:launch|agent)\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replace("name: 'demo',", "name: 'demo', command: 'demo-agent',")
        .replace('...demoLaunch,', "...demoLaunch, imports: { from: ['claude'], command: '/import' },"),
      loader: 'ts',
    }));
  },
};

/** Ink imports it behind a condition that is false here. */
const withoutDevtools: Plugin = {
  name: 'without-devtools',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/devtools\.js$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Builds the program into a folder, with an overview that has rows that say what they are; returns the path of its entry. */
export const buildWithOverview = (folder: string): Promise<string> => buildWith(withOverview, folder);

/** Builds the program into a folder, with one agent more. */
export const buildWithToy = (folder: string): Promise<string> => buildWith(withToy, folder);

/** Builds the program into a folder, with one command more. */
export const buildWithCommand = (folder: string): Promise<string> => buildWith(withCommand, folder);

/** Builds the program into a folder, with a demo agent that is started by its name. */
export const buildWithDemoCommand = (folder: string): Promise<string> => buildWith(withDemoCommand, folder);

const REQUIRE =
  "import { createRequire as ctxwrapRequire } from 'node:module'; const require = ctxwrapRequire(import.meta.url);";
/** It runs without its launcher, which would say that a thread is one. */
const AS_LAUNCHER =
  "import * as ctxwrapThreads from 'node:worker_threads'; if (!ctxwrapThreads.isMainThread) globalThis[Symbol.for('ctxwrap program')] = { isThread: true };";

const buildWith = async (plugin: Plugin, folder: string): Promise<string> => {
  await build({
    entryPoints: { [`main-${plugin.name}`]: pathOf('../../src/cli/main.ts') },
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20',
    jsx: 'automatic',
    logLevel: 'warning',
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env.DEV': '"false"',
      WAIT_SHARE: await readFile(pathOf('wait-share.json'), 'utf8'),
    },
    plugins: [plugin, withoutDevtools],
    banner: { js: REQUIRE + AS_LAUNCHER },
  });
  copyFileSync(pathOf('../../package.json'), join(folder, 'package.json')); // it says which version it is
  symlinkSync(pathOf('../../node_modules'), join(folder, 'node_modules')); // with the native module
  return join(folder, 'dist', `main-${plugin.name}.mjs`);
};
