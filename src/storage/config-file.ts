import { errorCode } from '../core/json.js';
import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getuid } from 'node:process';
import type { Position } from '../core/config/merge.js';
import type { Entry } from '../core/config/read.js';
import { reasonOf } from './errors.js';
import { writeAtomic } from './state-folder.js';

// JSON with comments and trailing commas, as a configuration file has it, with the places where its values stand.

export interface ConfigText {
  /** what stands in the object; the last one of a name holds */
  readonly entries: readonly Entry[];
  /** what is no JSONC */
  readonly faults: readonly Fault[];
  /** names that stand more than once in one object, also further in, as `runtimes.mine.command` */
  readonly repeated: readonly Repeated[];
  /** where a value stands; undefined where there is none */
  readonly positionOf: (path: readonly string[]) => Position | undefined;
  /** whether what stands at this offset belongs to a value of the object, and not to the object itself */
  readonly isInValue: (offset: number) => boolean;
  /** offset of the bracket that closes the object; undefined where there is no object */
  readonly end: number | undefined;
  /** offset behind the last value in the object, when no comma follows; undefined else */
  readonly openEnd: number | undefined;
}

export interface Fault {
  readonly reason: string;
  readonly at: Position;
}

export interface Repeated {
  readonly key: string;
  /** of the last one, which holds */
  readonly at: Position;
}

/** Reads as much as there is; undefined for a text that is nested too deep to be read at all. An empty text has no entries. */
const parseConfig = (text: string): ConfigText | undefined => {
  try {
    return parsed(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the stack
    throw error;
  }
};

const parsed = (text: string): ConfigText => {
  const errors: ParseError[] = [];
  const body = text.replace(/^\uFEFF/, ' '); // of the same length
  const root = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const at = positionsIn(body);
  const isObject = root?.type === 'object';
  return {
    entries: isObject ? entriesOf(root, at) : [],
    faults: [
      ...errors.map(({ error, offset }) => ({ reason: words(printParseErrorCode(error)), at: at(offset) })),
      ...(root && !isObject ? [{ reason: 'an object { … } is expected', at: at(root.offset) }] : []),
    ],
    repeated: root ? repeatedIn(root, '', at) : [],
    positionOf: (path) => {
      const node = root && findNodeAtLocation(root, path.map(segment));
      return node && at(node.offset);
    },
    isInValue: (offset) =>
      isObject &&
      pairsOf(root).some(({ value }) => value.offset <= offset && offset < value.offset + value.length),
    end: isObject && errors.length === 0 ? root.offset + root.length - 1 : undefined,
    openEnd: isObject ? openEndOf(root, body) : undefined,
  };
};

type Place = (offset: number) => Position;

const entriesOf = (root: Node, at: Place): readonly Entry[] => {
  const pairs = pairsOf(root).map(
    ({ key, value }) => [key, { key, value: getNodeValue(value) as unknown, at: at(value.offset) }] as const,
  );
  return [...new Map(pairs).values()];
};

const pairsOf = ({ children = [] }: Node): readonly { readonly key: string; readonly value: Node }[] =>
  children.flatMap(({ children: [name, value] = [] }) => {
    const key: unknown = name?.value;
    return value && typeof key === 'string' ? [{ key, value }] : [];
  });

const repeatedIn = (node: Node, prefix: string, at: Place): readonly Repeated[] => {
  if (node.type !== 'object') return (node.children ?? []).flatMap((each) => repeatedIn(each, prefix, at));
  const last = new Map<string, Node>();
  const twice = new Set<string>();
  for (const { key, value } of pairsOf(node)) {
    if (last.has(key)) twice.add(key);
    last.set(key, value);
  }
  return [...last].flatMap(([key, value]) => [
    ...(twice.has(key) ? [{ key: prefix + key, at: at(value.offset) }] : []),
    ...repeatedIn(value, `${prefix}${key}.`, at),
  ]);
};

/** Comments may stand between the last value and its comma. */
const openEndOf = (root: Node, text: string): number | undefined => {
  const last = root.children?.at(-1);
  if (!last) return undefined;
  const end = last.offset + last.length;
  const rest = text.slice(end, root.offset + root.length - 1);
  const bare = rest.replace(/\/\/[^\r\n]*|\/\*[^]*?\*\//g, '');
  return bare.includes(',') ? undefined : end;
};

/** The numbers of a list are numbers here. */
const segment = (part: string): string | number => (/^\d+$/.test(part) ? Number(part) : part);

const positionsIn = (text: string): Place => {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|[\r\n]/g), ({ index, 0: end }) => index + end.length)];
  return (offset) => {
    let line = 0; // by halves: a file may have as many names as lines
    for (let after = starts.length; after - line > 1;) {
      const middle = (line + after) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
};

/** `PropertyNameExpected` as `property name expected`. */
const words = (code: string): string => code.replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

// Configuration files. They decide what is typed and run, so only a plain file that nobody else may write is read, and what keeps one
// from being read is told. Nothing here throws.

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
  const code = errorCode(error);
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

// The file of a configuration with all keys in it. What the user wrote stays as it is, byte for byte; lines are only added.

/** A key as comments that say what it does and show how it is set. */
export interface Block {
  readonly name: string;
  readonly lines: readonly string[];
}

export interface Completed {
  readonly text: string;
  /** keys that were not there */
  readonly added: readonly string[];
}

/** A new file; with the name of a schema beside it, editors know the keys. */
export const newConfig = (blocks: readonly Block[], schema?: string): Completed => {
  const first = schema === undefined ? [] : ['', `  "$schema": ${JSON.stringify(schema)},`];
  const lines = [...first, ...blocks.flatMap((block) => ['', ...indented(block)])].slice(1);
  return { text: `{\n${lines.join('\n')}\n}\n`, added: blocks.map(({ name }) => name) };
};

/** The file with the keys that are missing, set or as comments; undefined where there is no object to add them to. */
export const completedConfig = (
  file: ConfigFile & { readonly kind: 'read' },
  blocks: readonly Block[],
  schema?: string,
): Completed | undefined => {
  const { text, end, openEnd, faults } = file;
  if (end === undefined) return faults.length > 0 ? undefined : below(text, newConfig(blocks, schema));
  const missing = blocks.filter(({ name }) => !hasKey(file, name));
  if (missing.length === 0) return { text, added: [] };
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const head = text.slice(0, end);
  // a comma behind the last value, so that a line below it can be uncommented as it is
  const [before, after] =
    openEnd === undefined ? [head, ''] : [`${head.slice(0, openEnd)},`, head.slice(openEnd)];
  const start = /(?:^|[\r\n])[ \t]*$/.test(head) ? '' : newline;
  const lines = missing.flatMap((block) => ['', ...indented(block)]).map((line) => `${line}${newline}`);
  return {
    text: `${before}${after}${start}${lines.join('')}${text.slice(end)}`,
    added: missing.map(({ name }) => name),
  };
};

/** Comments alone are kept above it. */
const below = (text: string, { text: more, added }: Completed): Completed => {
  const ends = text.trim() === '' || /[\r\n]$/.test(text);
  return { text: `${text}${ends ? '' : '\n'}${more}`, added };
};

/** Set, or left as a comment by an earlier time; the same name in an object further in is another key. */
const hasKey = (
  { entries, text, isInValue }: ConfigFile & { readonly kind: 'read' },
  name: string,
): boolean => {
  const comment = new RegExp(`^[ \\t]*//[ \\t]*"${name.replaceAll('.', '\\.')}"\\s*:`, 'gm');
  return (
    entries.some(({ key }) => key === name) ||
    [...text.matchAll(comment)].some(({ index }) => !isInValue(index))
  );
};

const indented = ({ lines }: Block): readonly string[] => lines.map((line) => `  ${line}`);

const FOLDER_MODE = 0o700;
const WRITE_CONFIG_OTHERS_MAY_WRITE = 0o022;

/**
 * Puts a configuration in its place, as a whole, and what was there before into FILE.bak. Rejects when something that is no regular
 * file is in the way, or the folder may not be written.
 */
export const writeConfig = async (path: string, text: string, before: string | undefined): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const stats = await lstat(path).catch(() => undefined);
  if (stats && !stats.isFile()) throw new Error(`${path} is not a regular file`); // nor may there be anything beside it
  const mode = stats && stats.mode & 0o777 & ~WRITE_CONFIG_OTHERS_MAY_WRITE;
  if (before !== undefined) await writeAtomic(`${path}.bak`, before, mode);
  await writeAtomic(path, text, mode);
};
