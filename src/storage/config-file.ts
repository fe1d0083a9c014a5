// Configuration files. They decide what is typed and run, so only a plain file that nobody else may write is read, and what keeps one
// from being read is told. Nothing here throws.
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { getuid } from 'node:process';
import { parseConfig } from './jsonc.js';
import type { ConfigText } from './jsonc.js';
import { reasonOf } from './unwritable.js';

const MOST_BYTES = 256 * 1024; // all keys with their documentation have about eight
const OTHERS_MAY_WRITE = 0o002;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** What keeps a file from being read, for the command that mends it. */
export type FileFault =
  | { readonly kind: 'unusable' | 'foreign' | 'device' }
  /** it could lead into a file that is not the user's, or lead nowhere */
  | { readonly kind: 'link'; readonly leadsTo: string | undefined }
  | { readonly kind: 'open-to-all'; readonly isOwn: boolean }
  /** `path` is the file, or the uppermost folder on its way that may not be entered */
  | { readonly kind: 'closed'; readonly path: string; readonly isOwn: boolean };

export interface RefusedFile {
  readonly kind: 'refused';
  readonly path: string;
  readonly reason: string;
  readonly fault: FileFault;
}

export type ConfigFile =
  | { readonly kind: 'absent'; readonly path: string }
  | RefusedFile
  | ({ readonly kind: 'read'; readonly path: string; readonly text: string } & ConfigText);

/** A JSONC file of a configuration. */
export const readConfigFile = (path: string): ConfigFile => {
  const found = readPlainFile(path);
  if (found.kind !== 'read') return found;
  const { text } = found;
  const parsed = parseConfig(text);
  return parsed ? { ...found, ...parsed } : refusal(path, 'it is nested too deep', { kind: 'unusable' });
};

/** The text of a file of the user's, or why it is not read. */
export type PlainFile =
  | Exclude<ConfigFile, { kind: 'read' }>
  | { readonly kind: 'read'; readonly path: string; readonly text: string };

export const readPlainFile = (path: string): PlainFile => {
  if (path === NOTHING) return { kind: 'read', path, text: '' }; // who names it wants none
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
      ? refusal(path, 'it is not a text in UTF-8', { kind: 'unusable' })
      : { kind: 'read', path, text };
  } catch (error) {
    return failed(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

const NOTHING = '/dev/null';

const failed = (path: string, error: unknown): PlainFile => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent', path };
  if (code === 'ELOOP') return linked(path);
  const closed = closedFolder(dirname(path)) ?? path;
  return refusal(path, reasonOf(error), { kind: 'closed', path: closed, isOwn: isOwn(closed) });
};

const isOwn = (path: string): boolean => {
  try {
    return lstatSync(path).uid === getuid?.();
  } catch {
    return false;
  }
};

/** The uppermost folder on the way that may not be entered. */
const closedFolder = (folder: string): string | undefined => {
  const above = dirname(folder);
  const closed = above === folder ? undefined : closedFolder(above);
  if (closed !== undefined) return closed;
  try {
    accessSync(folder, constants.X_OK);
    return undefined;
  } catch {
    return folder;
  }
};

const objectionTo = (path: string, stats: Stats): PlainFile | undefined => {
  if (stats.isCharacterDevice() || stats.isBlockDevice())
    return refusal(path, 'it is a device', { kind: 'device' });
  if (!stats.isFile()) return refusal(path, 'it is not a file', { kind: 'unusable' });
  if (stats.size > MOST_BYTES) return refusal(path, 'it has more than 256 KB', { kind: 'unusable' });
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0)
    return refusal(path, 'everybody may write it', { kind: 'open-to-all', isOwn: stats.uid === getuid?.() });
  const isMine = stats.uid === getuid?.() || stats.uid === 0;
  return isMine ? undefined : refusal(path, 'it belongs to another user', { kind: 'foreign' });
};

const linked = (path: string): PlainFile => {
  let leadsTo: string | undefined;
  try {
    leadsTo = realpathSync(path);
  } catch {
    leadsTo = undefined; // nowhere, or to itself
  }
  return refusal(path, 'it is a symbolic link', { kind: 'link', leadsTo });
};

const refusal = (path: string, reason: string, fault: FileFault): RefusedFile => ({
  kind: 'refused',
  path,
  reason,
  fault,
});

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
