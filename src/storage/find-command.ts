import { realpathSync, accessSync, constants, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join, dirname } from 'node:path';
import { readHead, openRegular, readAtMost } from './files.js';

// Finds the agent's program on PATH, and its version. First, detection of shims (`exec ctxwrap claude "$@"`): ctxwrap must not start itself.

/** Bytes read of a script: a shim has only a few lines. */
const headBytes = 4096;

/** True if `file` starts ctxwrap. `self` is the real path of ctxwrap's own bin. */
export const isOwnShim = (file: string, self: string): boolean => {
  try {
    const real = realpathSync(file);
    return real === self || real.endsWith('/ctxwrap/bin/ctxwrap.js') || callsCtxwrap(headOf(file));
  } catch {
    return false; // an unreadable file is left to the system, which reports why it cannot run it
  }
};

/** True for a shell script, which may start ctxwrap even if its first lines do not show it. */
export const isShellScript = (file: string): boolean => {
  try {
    return /^#!.*\b(ba|da|z|k|fi)?sh\b/.test(headOf(file));
  } catch {
    return false;
  }
};

const headOf = (file: string): string => readHead(file, headBytes).toString('latin1');

/** True if the first bytes of a script run ctxwrap; mentions in comments, messages or arguments do not count. */
const callsCtxwrap = (head: string): boolean => {
  if (head.includes('\0') || !head.includes('ctxwrap')) return false;
  const interpreter = /^#!.*/.exec(head)?.[0] ?? '#!/bin/sh';
  if (!/\b(ba|da|z|k|fi)?sh\b/.test(interpreter)) return spawnCall.test(head);
  const commands = simpleCommands(head);
  const values = new Map(commands.map(([first = '']) => splitAt(first, '=')));
  return commands.some((words) => {
    const program = programOf(words);
    const variable = /^\$\{?(\w+)\}?$/.exec(program)?.[1];
    return isCtxwrap(variable === undefined ? program : (values.get(variable) ?? ''));
  });
};

// Python, Node and the like: execvp("ctxwrap", …), spawn('/opt/bin/ctxwrap', …), subprocess.run(["ctxwrap", …
const spawnCall =
  /\b(exec|spawn|run|call|system|popen)\w*\s*\(\s*\[?\s*["'`]([^"'`\s]*\/)?ctxwrap(\.js)?["'`\s]/i;

const splitAt = (text: string, mark: string): readonly [string, string] => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
};

const isCtxwrap = (program: string): boolean => /^(ctxwrap|ctxwrap\.js)$/.test(basename(program));

/** The commands of a shell script as unquoted words. Good enough for the first lines of a launcher. */
const simpleCommands = (script: string): readonly (readonly string[])[] =>
  script
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, '').replace(/"[^"]*"|'[^']*'/g, unquote))
    .flatMap((line) => line.split(/[;|&()`]+/).map((command) => command.split(/\s+/).filter(Boolean)));

// A quoted text is an argument; without spaces, or as a path of ctxwrap, it may also be a program.
const unquote = (text: string): string => {
  const inner = text.slice(1, -1);
  if (/\/ctxwrap(\.js)?$/.test(inner)) return inner.replaceAll(/\s/g, '_');
  return /[\s;|&()`]/.test(inner) ? '""' : inner;
};

const prefixes = new Set(
  'exec command builtin env nohup nice time node bun npx bunx pnpm yarn dlx if then else elif do while until ! { }'.split(
    ' ',
  ),
);

const programOf = (words: readonly string[]): string =>
  words.find((word) => !prefixes.has(basename(word)) && !word.startsWith('-') && !/^\w+=/.test(word)) ?? '';

/** Where a command is, or why it cannot be run, as a shell's exit codes 126 and 127 distinguish. */
export type FoundCommand =
  /** `shims` are files of that name that start ctxwrap and come earlier on PATH */
  | { readonly kind: 'found'; readonly file: string; readonly shims: readonly string[] }
  | { readonly kind: 'not-executable'; readonly file: string; readonly reason: Obstacle }
  | { readonly kind: 'missing'; readonly shims: readonly string[] };

/** `special`: a pipe, device or socket; `locked`: a file in a folder that may not be entered. */
export type Obstacle = 'folder' | 'special' | 'permission' | 'locked';

export const obstacleReasons: Readonly<Record<Obstacle, string>> = {
  folder: 'it is a folder',
  special: 'it is not a regular file',
  permission: 'permission denied',
  locked: 'permission denied',
};

export interface SearchOptions {
  /** PATH; undefined means the system's default */
  readonly path: string | undefined;
  /** real path of ctxwrap's own bin */
  readonly self: string;
}

/** Finds the program for a word as a shell does, but skips shims. A word with a slash is used unchanged. */
export const findCommand = (word: string, options: SearchOptions): FoundCommand => {
  if (word.includes('/')) return inspectFile(word);
  let blocked: FoundCommand | undefined;
  const shims: string[] = [];
  // An empty element of PATH is the current folder; the result must contain a slash, so that it is not searched for again.
  const folders = word === '' ? [] : (options.path ?? '/usr/local/bin:/usr/bin:/bin').split(':');
  for (const folder of folders) {
    const file = folder.startsWith('/') ? join(folder, word) : `./${join(folder, word)}`;
    const candidate = inspectFile(file);
    if (candidate.kind === 'found') {
      if (!isOwnShim(file, options.self)) return { ...candidate, shims };
      shims.push(file);
    }
    // like a shell, ignores non-files and folders that may not be entered
    if (candidate.kind === 'not-executable' && candidate.reason === 'permission') blocked ??= candidate;
  }
  return blocked ?? { kind: 'missing', shims };
};

const inspectFile = (file: string): FoundCommand => {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing', shims: [] };
    if (stats.isDirectory()) return { kind: 'not-executable', file, reason: 'folder' };
    if (!stats.isFile()) return { kind: 'not-executable', file, reason: 'special' };
  } catch {
    return { kind: 'not-executable', file, reason: 'locked' };
  }
  return isExecutable(file)
    ? { kind: 'found', file, shims: [] }
    : { kind: 'not-executable', file, reason: 'permission' };
};

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

// The installed version of a program, read from the files around it, without starting it.

const PACKAGE_BYTES = 256 * 1024;
const MAX_FOLDERS = 4; // searched from the program up to its package: `dist/bin/cli.js` is the deepest known

/** Name of the command, and the npm package that contains it. */
export interface ProgramNames {
  readonly command?: string;
  readonly npmPackage?: string;
}

/**
 * The version from npm's `package.json`, or from the real path, since other installers keep each version in its own folder:
 * `claude/versions/2.1.330`, `Caskroom/claude-code/2.1.330/claude`. Undefined for a start script and any other path.
 */
export const installedVersion = async (file: string, names: ProgramNames): Promise<string | undefined> => {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return undefined;
  return (await packageVersion(dirname(real), names, MAX_FOLDERS)) ?? versionInPath(real, names);
};

const packageVersion = async (
  folder: string,
  names: ProgramNames,
  folders: number,
): Promise<string | undefined> => {
  const found = await packageIn(folder);
  if (isPackageName(found?.name, names)) return found?.version;
  const above = dirname(folder);
  return folders <= 1 || above === folder ? undefined : packageVersion(above, names, folders - 1);
};

/** Accepts the package itself and packages with its native program: `claude-code-linux-x64`. */
const isPackageName = (name: unknown, { npmPackage }: ProgramNames): boolean =>
  npmPackage !== undefined &&
  typeof name === 'string' &&
  (name === npmPackage || name.startsWith(`${npmPackage}-`));

const packageIn = async (
  folder: string,
): Promise<{ readonly name: unknown; readonly version: string | undefined } | undefined> => {
  try {
    const file = await openRegular(join(folder, 'package.json'));
    try {
      const { name, version }: Readonly<Record<string, unknown>> = JSON.parse(
        (await readAtMost(file, PACKAGE_BYTES)) ?? '',
      );
      return { name, version: typeof version === 'string' ? version : undefined };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
};

const VERSION_IN_PATH = /\/([^/]+?)(?:\/versions\/|[-/])(\d+\.\d+\.\d+)(?=\/|$)/g;

const versionInPath = (path: string, { command }: ProgramNames): string | undefined =>
  [...path.matchAll(VERSION_IN_PATH)].findLast(
    ([, owner = '']) => command !== undefined && owner.split('-').includes(command),
  )?.[2];
