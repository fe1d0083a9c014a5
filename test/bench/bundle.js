// Parts of the program as a module of their own: inside its bundle they cannot be called alone.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export const root = resolve(import.meta.dirname, '../..');

/** Bundles a program whose imports are relative to the root of the project; returns the path of the file that it has written. */
export const bundle = async (folder, name, contents, define = {}) => {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
    define,
  });
  return outfile;
};

/** The same, imported. */
export const importBundle = async (folder, name, contents) =>
  import(pathToFileURL(await bundle(folder, name, contents)).href);
