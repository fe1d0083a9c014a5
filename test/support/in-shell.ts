import { join } from 'node:path';
import { build } from 'esbuild';
import { openWindow, type Window } from './window.js';
import { plainEnv } from './wrapped.js';
import { programPath } from './programs.js';

/** Bundles a module of the source for a program of the tests that runs outside of this process; returns the path of the bundle. */
export const bundle = async (module: string, folder: string): Promise<string> => {
  const outfile = join(folder, `${module.replaceAll('/', '-')}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, '../../src', `${module}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
  });
  return outfile;
};

/** A shell in a window that runs the program, tells its status, and then reads a line itself. The program has to say `pid N.` first. */
export const inShell = async (
  { program, args, folder }: { program: string; args: readonly string[]; folder: string },
  act: (window: Window, pid: () => number) => Promise<void>,
): Promise<void> => {
  const window = openWindow({
    file: 'sh',
    args: [
      '-c',
      `"$@"; echo "status $?"; read -r line; echo "the shell has <$line>"; read -r stop`,
      'sh',
      process.execPath,
      programPath(program),
      ...args,
    ],
    cwd: folder,
    env: plainEnv(folder),
    columns: 80,
    rows: 24,
  });
  const text = (): string => window.bytes().toString();
  try {
    await window.until(() => /pid \d+\./.test(text()), 'the pid');
    await act(window, () => Number(/pid (\d+)\./.exec(text())?.[1]));
  } finally {
    window.close();
  }
};
