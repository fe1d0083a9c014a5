import { realpathSync, accessSync, constants, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, join, dirname } from 'node:path';
import { readHead, openRegular, readAtMost } from './files.js';

// Tells our own shims (`exec ctxwrap claude "$@"`) from an agent's real program, so that the launcher does not start itself.

/** A shim is a few lines; what comes later in a file does not decide how it starts. */
const headBytes = 4096;

/** True if running `file` would only start us again. `self` is the real path of our own bin. */
export const isOwnShim = (file: string, self: string): boolean => {
  try {
    const real = realpathSync(file);
    return real === self || real.endsWith('/ctxwrap/bin/ctxwrap.js') || callsUs(headOf(file));
  } catch {
    return false; // what cannot be read is left to the system, which says why it cannot run it
  }
};

/** True for a shell script: the only kind of program that can start us without our seeing it in its head. */
export const isShellScript = (file: string): boolean => {
  try {
    return /^#!.*\b(ba|da|z|k|fi)?sh\b/.test(headOf(file));
  } catch {
    return false;
  }
};

const headOf = (file: string): string => readHead(file, headBytes).toString('latin1');

/** True if a script's head runs us; a mention in a comment, a message or an argument is none. */
const callsUs = (head: string): boolean => {
  if (head.includes('\0') || !head.includes('ctxwrap')) return false;
  const interpreter = /^#!.*/.exec(head)?.[0] ?? '#!/bin/sh';
  if (!/\b(ba|da|z|k|fi)?sh\b/.test(interpreter)) return spawnCall.test(head);
  const commands = simpleCommands(head);
  const values = new Map(commands.map(([first = '']) => splitAt(first, '=')));
  return commands.some((words) => {
    const program = programOf(words);
    const variable = /^\$\{?(\w+)\}?$/.exec(program)?.[1];
    return isUs(variable === undefined ? program : (values.get(variable) ?? ''));
  });
};

// Python, Node and the like: execvp("ctxwrap", …), spawn('/opt/bin/ctxwrap', …), subprocess.run(["ctxwrap", …
const spawnCall =
  /\b(exec|spawn|run|call|system|popen)\w*\s*\(\s*\[?\s*["'`]([^"'`\s]*\/)?ctxwrap(\.js)?["'`\s]/i;

const splitAt = (text: string, mark: string): readonly [string, string] => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
};

const isUs = (program: string): boolean => /^(ctxwrap|ctxwrap\.js)$/.test(basename(program));

/** The commands of a shell script as words, quotes taken off. Good enough for the first lines of a launcher. */
const simpleCommands = (script: string): readonly (readonly string[])[] =>
  script
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, '').replace(/"[^"]*"|'[^']*'/g, quoted))
    .flatMap((line) => line.split(/[;|&()`]+/).map((command) => command.split(/\s+/).filter(Boolean)));

// A quoted text is an argument; if it has no spaces, or is a path of ours, it may also be a program.
const quoted = (text: string): string => {
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

/** Where a command is, or why it cannot be run: the difference between the statuses 126 and 127 of a shell. */
export type FoundCommand =
  /** `shims` are files of that name that start us, and come before it on PATH */
  | { readonly kind: 'found'; readonly file: string; readonly shims: readonly string[] }
  | { readonly kind: 'not-executable'; readonly file: string; readonly reason: Obstacle }
  | { readonly kind: 'missing'; readonly shims: readonly string[] };

/** A folder is no program, nor is a pipe, a device or a socket (`special`); `locked` is a file in a folder we may not enter. */
export type Obstacle = 'folder' | 'special' | 'permission' | 'locked';

export interface SearchPlace {
  /** PATH; where it is not set, the system's default */
  readonly path: string | undefined;
  /** real path of our own bin */
  readonly self: string;
}

/** Finds the real program for a word as a shell does, but past our own shims. A word with a slash is used as it is. */
export const findCommand = (word: string, place: SearchPlace): FoundCommand => {
  if (word.includes('/')) return look(word);
  let blocked: FoundCommand | undefined;
  const shims: string[] = [];
  // An empty element of PATH is the current folder; the result must hold a slash, so that nobody searches it again.
  const folders = word === '' ? [] : (place.path ?? '/usr/local/bin:/usr/bin:/bin').split(':');
  for (const folder of folders) {
    const file = folder.startsWith('/') ? join(folder, word) : `./${join(folder, word)}`;
    const seen = look(file);
    if (seen.kind === 'found') {
      if (!isOwnShim(file, place.self)) return { ...seen, shims };
      shims.push(file);
    }
    // a shell, too, forgets what is no file of that name and folders it may not enter
    if (seen.kind === 'not-executable' && seen.reason === 'permission') blocked ??= seen;
  }
  return blocked ?? { kind: 'missing', shims };
};

const look = (file: string): FoundCommand => {
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

// Which version of a program is installed, told by the files around it: the program is not started for it.

const PACKAGE_BYTES = 256 * 1024;
const MOST_FOLDERS = 4; // from the program up to its package: `dist/bin/cli.js` is the deepest that is known

/** What to look for: the command's own name, and the npm package that brings it. */
export interface ProgramNames {
  readonly command?: string;
  readonly npmPackage?: string;
}

/**
 * The version that npm's `package.json` says, or the path behind all links, where other installers keep each version in a place of its
 * own: `claude/versions/2.1.330`, `Caskroom/claude-code/2.1.330/claude`. Undefined for a start script and for a program in no such place.
 */
export const installedVersion = async (file: string, names: ProgramNames): Promise<string | undefined> => {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return undefined;
  return (await packageVersion(dirname(real), names, MOST_FOLDERS)) ?? versionInPath(real, names);
};

const packageVersion = async (
  folder: string,
  names: ProgramNames,
  folders: number,
): Promise<string | undefined> => {
  const found = await packageIn(folder);
  if (isOf(found?.name, names)) return found?.version;
  const above = dirname(folder);
  return folders <= 1 || above === folder ? undefined : packageVersion(above, names, folders - 1);
};

/** A native program can be in a package of its own beside the one that was asked for: `claude-code-linux-x64`. */
const isOf = (name: unknown, { npmPackage }: ProgramNames): boolean =>
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

const VERSION_PLACE = /\/([^/]+?)(?:\/versions\/|[-/])(\d+\.\d+\.\d+)(?=\/|$)/g;

const versionInPath = (path: string, { command }: ProgramNames): string | undefined =>
  [...path.matchAll(VERSION_PLACE)].findLast(
    ([, owner = '']) => command !== undefined && owner.split('-').includes(command),
  )?.[2];
