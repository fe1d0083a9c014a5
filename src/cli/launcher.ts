import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { openScriptCache } from '../storage/code-cache.js';
import { stateFolder } from '../storage/state-folder.js';

// Starts the built program. Its parts are functions of CommonJS in dist/, which this loads with the code that V8 compiled in an earlier start:
// compiling them again takes longer than everything else before the agent runs.

/** set by build.js: changes with every byte of the program */
declare const BUILD: string;
/** Set by build.js, true in the bundle for the tests: each test has a home of its own, and nothing would be compiled there yet. */
declare const KEEPS_CODE_BESIDE: boolean;

const OPEN_MS = 1_000; // earlier the agent's start would wait, and most commands have ended by then
const SPARE_FILES = 64; // that a session may still open; with fewer none is opened
const SAVE_MS = 3_000; // later V8 may have dropped code that runs only at the start; earlier the start itself would wait

const folder = __dirname;
const nodeRequire = createRequire(__filename);
const build = `${BUILD}-${process.version}-${process.arch}`;
const cache = openScriptCache(KEEPS_CODE_BESIDE ? folder : stateFolder(process.env, homedir()), build);
const loaded = new Map<string, Script>();
let isOutdated = false;
let saving: NodeJS.Timeout | undefined;

/** open files of the parts that are not loaded yet */
const openParts = new Map<string, number>();

/** An update deletes these files while a session runs; an open file can be read all the same, and is of this version. */
const openAllParts = (): void => {
  const spare: number[] = [];
  try {
    for (const name of readdirSync(folder))
      if (name.endsWith('.cjs') && !loaded.has(name)) openParts.set(name, openSync(join(folder, name), 'r'));
    while (spare.length < SPARE_FILES) spare.push(openSync(__filename, 'r'));
  } catch {
    // too many open files, or an update in this moment: what is not open is read by its name
    openParts.forEach((file) => closeSync(file));
    openParts.clear();
  }
  for (const file of spare) closeSync(file);
};

const readPart = (name: string): string => {
  const file = openParts.get(name);
  if (file === undefined) return readFileSync(join(folder, name), 'utf8');
  openParts.delete(name);
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
};

/** `require` of the parts: `./name.cjs` is another part. */
const requirePart = (id: string): unknown => (id.startsWith('./') ? loadPart(basename(id)) : nodeRequire(id));

/** `import()` of the parts, which a script of node:vm does not have. */
const importPart = async (id: string): Promise<unknown> =>
  id.endsWith('.cjs') ? requirePart(id) : import(id);

const compile = (name: string, path: string): Script => {
  const text = readPart(name);
  const code = cache.read(name);
  const script = new Script(text, { filename: path, ...(code ? { cachedData: code } : {}) });
  loaded.set(name, script);
  if (script.cachedDataRejected !== false) {
    isOutdated = true;
    saving ??= setTimeout(save, SAVE_MS).unref(); // again for what is loaded later, as Ink is
  }
  return script;
};

const loadPart = (name: string): unknown => {
  const path = join(folder, name);
  const known = nodeRequire.cache[path];
  if (known) return known.exports;
  const script = loaded.get(name) ?? compile(name, path);
  const module = new Module(path);
  nodeRequire.cache[path] = module;
  try {
    const run = script.runInThisContext() as (...args: readonly unknown[]) => void;
    run(module.exports, requirePart, module, importPart, pathToFileURL(path).href);
  } catch (error) {
    delete nodeRequire.cache[path]; // it may be tried again, where a file that it needs was missing
    throw error;
  }
  module.loaded = true;
  return module.exports;
};

/** Keeps the compiled code for the next start; of all parts, because this start may have used more of those that were cached. */
const save = (): void => {
  if (isOutdated) cache.write([...loaded].map(([name, script]) => [name, script.createCachedData()]));
  isOutdated = false;
  saving = undefined;
};

process.on('exit', save);
if (isMainThread) setTimeout(openAllParts, OPEN_MS).unref();
else openAllParts(); // a thread starts later, and needs most parts
loadPart('main.cjs');
