// Configuration files. They decide what is typed and run, so only a plain file that nobody else may write is read, and what keeps one
// from being read is told with the command that mends it. Nothing here throws.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { basename } from 'node:path';
import { getuid } from 'node:process';
import { shellWord } from '../core/shell-word.js';
import { parseConfig } from './jsonc.js';
import type { ConfigText } from './jsonc.js';
import { reasonOf } from './unwritable.js';

const MOST_BYTES = 256 * 1024; // all keys with their documentation have about eight
const OTHERS_MAY_WRITE = 0o002;
const USER_FILE = 'config.jsonc';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export type ConfigFile =
  | { readonly kind: 'absent'; readonly path: string }
  | { readonly kind: 'refused'; readonly path: string; readonly reason: string; readonly fix: string }
  | ({ readonly kind: 'read'; readonly path: string; readonly text: string } & ConfigText);

/** A JSONC file of a configuration. */
export const readConfigFile = (path: string): ConfigFile => {
  const found = readPlainFile(path);
  if (found.kind !== 'read') return found;
  const { text } = found;
  const parsed = parseConfig(text);
  return parsed ? { ...found, ...parsed } : refusal(path, 'it is nested too deep', anew(path));
};

/** The text of a file of the user's, or why it is not read. */
export type PlainFile =
  | Exclude<ConfigFile, { kind: 'read' }>
  | { readonly kind: 'read'; readonly path: string; readonly text: string };

export const readPlainFile = (path: string): PlainFile => {
  let file: number | undefined;
  try {
    // asked before it is opened, for its name; what counts is asked of the open file
    if (lstatSync(path).isSymbolicLink()) return linked(path);
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fstatSync(file);
    const objection = objectionTo(path, stats);
    if (objection) return objection;
    const text = textOf(readAll(file, stats.size));
    return text === undefined
      ? refusal(path, 'it is not a text in UTF-8', anew(path))
      : { kind: 'read', path, text };
  } catch (error) {
    return failed(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

const failed = (path: string, error: unknown): PlainFile => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent', path };
  if (code === 'ELOOP') return linked(path);
  return refusal(path, reasonOf(error), `chmod u+r ${shellWord(path)}`);
};

const objectionTo = (path: string, stats: Stats): PlainFile | undefined => {
  if (stats.isCharacterDevice() || stats.isBlockDevice())
    return refusal(path, 'it is a device', 'name a file');
  if (!stats.isFile()) return refusal(path, 'it is not a file', anew(path));
  if (stats.size > MOST_BYTES) return refusal(path, 'it has more than 256 KB', anew(path));
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0)
    return refusal(path, 'everybody may write it', `chmod o-w ${shellWord(path)}`);
  const isMine = stats.uid === getuid?.() || stats.uid === 0;
  return isMine
    ? undefined
    : refusal(path, 'it belongs to another user', `sudo chown "$USER" ${shellWord(path)}`);
};

// A link of the user's own can be named; one that came with a folder must not be given the rights of the user's own.
const linked = (path: string): PlainFile =>
  refusal(
    path,
    'it is a symbolic link',
    isUsers(path)
      ? `export CTXWRAP_CONFIG="$(readlink -f ${shellWord(path)})"`
      : `cat ${shellWord(path)} > ${shellWord(`${path}.plain`)} && mv ${shellWord(`${path}.plain`)} ${shellWord(path)}`,
  );

const isUsers = (path: string): boolean => basename(path) === USER_FILE;

const refusal = (path: string, reason: string, fix: string): Exclude<PlainFile, { kind: 'read' }> => ({
  kind: 'refused',
  path,
  reason,
  fix,
});

const anew = (path: string): string =>
  `mv ${shellWord(path)} ${shellWord(`${path}.old`)}${isUsers(path) ? ' && ctxwrap config init' : ''}`;

const readAll = (file: number, size: number): Buffer => {
  const buffer = Buffer.alloc(size);
  let length = 0;
  for (;;) {
    const read = readSync(file, buffer, length, size - length, null);
    length += read;
    if (read === 0 || length === size) return buffer.subarray(0, length);
  }
};

const textOf = (bytes: Buffer): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};
