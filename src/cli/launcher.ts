import { fstatSync, openSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { errorCode } from '../core/errors.js';
import { openScriptCache } from '../storage/code-cache.js';
import { stateFolder } from '../storage/state-folder.js';
import {
  readText,
  shareProgramFile,
  sharedProgramFile,
  type Place,
  type ProgramFile,
} from './program-file.js';

// Starts the built program. Its parts are functions of CommonJS in one file, which this loads with the code that V8 compiled in an earlier
// start: compiling them again takes longer than everything else before the agent runs.

/** set by build.js: changes with every byte of the program */
declare const BUILD: string;
/** Set by build.js, true in the bundle for the tests: each test has a home of its own, and nothing would be compiled there yet. */
declare const KEEPS_CODE_BESIDE: boolean;

/** Set by build.js: where each part is in the program file, which ends with this launcher. */
declare const PARTS: Readonly<Record<string, Place>>;

const SAVE_MS = 3_000; // later V8 may have dropped code that runs only at the start; earlier the start itself would wait

const folder = __dirname;
const nodeRequire = createRequire(__filename);
const build = `${BUILD}-${process.version}-${process.arch}`;
const cache = openScriptCache(KEEPS_CODE_BESIDE ? folder : stateFolder(process.env, homedir()), build);
const loaded = new Map<string, Script>();
let isOutdated = false;
let saving: NodeJS.Timeout | undefined;

const incomplete = (): Error =>
  Object.assign(new Error('files of ctxwrap are missing'), { code: 'CTXWRAP_INCOMPLETE' }); // bin/ctxwrap.js says what to do

/** By its build's name: beside a launcher of another build, in the middle of an update, there is none. */
const openByName = (): number => {
  try {
    return openSync(join(folder, `program-${BUILD}.cjs`), 'r');
  } catch (error) {
    throw errorCode(error) === 'ENOENT' ? incomplete() : error;
  }
};

const openProgramFile = (): ProgramFile => {
  const descriptor = openByName();
  const at = Math.max(...Object.values(PARTS).map(([start, bytes]) => start + bytes));
  const bytes = fstatSync(descriptor).size - at;
  if (bytes <= 0) throw incomplete(); // it is being written
  const place = [at, bytes] as const;
  const file = { descriptor, launcher: { place, path: __filename } };
  shareProgramFile(file);
  return file;
};

const { descriptor } = sharedProgramFile() ?? openProgramFile();

const readPart = (name: string): string => {
  const place = PARTS[name];
  if (!place) throw new Error(`this build of ctxwrap has no part ${name}`);
  return readText(descriptor, place);
};

/** `require` of the parts: `./name.cjs` is another part. */
const requirePart = (id: string): unknown => (id.startsWith('./') ? loadPart(basename(id)) : nodeRequire(id));

/** `import()` of the parts, which a script of node:vm does not have. What imports has run to its end by then, and exports all it has. */
const importPart = async (id: string): Promise<unknown> => {
  await undefined;
  return id.endsWith('.cjs') ? requirePart(id) : import(id);
};

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
    delete nodeRequire.cache[path]; // it may be tried again, where something that it needs was missing
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
loadPart('main.cjs');
