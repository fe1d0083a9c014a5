// Tells our own shims (`exec ctxwrap claude "$@"`) from an agent's real program, so that the launcher does not start itself.
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { readHead } from './regular-file.js';

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
