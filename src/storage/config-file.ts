import { errorCode } from '../core/errors.js';
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
import { dirname } from 'node:path';
import { getuid } from 'node:process';
import { parseJson } from '../core/json.js';
import type { Position } from '../core/config/problem.js';
import type { Entry } from '../core/config/read.js';
import { systemReason } from './errors.js';
import { followLink, type LinkTarget } from './trusted-link.js';
import { present } from '../core/present.js';

// Reads configuration files; config-edit.ts changes them. First, the parser: JSON with comments and trailing commas, with positions of values.

export interface ConfigText {
  /** the keys of the object; of a repeated key only the last one */
  readonly entries: readonly Entry[];
  /** syntax errors */
  readonly faults: readonly SyntaxFault[];
  /** all members of the object, in the order of the file */
  readonly members: readonly Member[];
  /** keys that occur more than once in one object, at any depth, as `runtimes.mine.command` */
  readonly duplicates: readonly DuplicateKey[];
  /** position of a value; undefined if there is none */
  readonly positionOf: (path: readonly string[]) => Position | undefined;
  /** whether this offset is inside a value of the top-level object */
  readonly isInValue: (offset: number) => boolean;
  /** offset of the brace that closes the object; undefined if there is no object */
  readonly end: number | undefined;
  /** offset after the last value in the object if no comma follows it; undefined otherwise */
  readonly missingCommaAt: number | undefined;
}

/** Where a key and its value are, as offsets in the text. */
export interface Member {
  readonly key: string;
  readonly from: number;
  readonly valueFrom: number;
  /** after the value; a comma may follow */
  readonly to: number;
}

export interface SyntaxFault {
  readonly reason: string;
  readonly at: Position;
}

export interface DuplicateKey {
  readonly key: string;
  /** of the last occurrence, which counts */
  readonly at: Position;
}

/** Reads as much as possible; undefined for a text that is nested too deeply. An empty text has no entries. */
export const parseConfig = (text: string): ConfigText | undefined => {
  try {
    return parseText(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // stack overflow
    throw error;
  }
};

const parseText = (text: string): ConfigText => {
  const errors: ParseError[] = [];
  const body = text.replace(/^\uFEFF/, ' '); // same length, so that offsets stay
  const root = parseTree(body, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const at = positionsIn(body);
  const isObject = root?.type === 'object';
  const pairs = isObject ? pairsOf(root) : [];
  return {
    entries: entriesOf(pairs, at),
    faults: [
      ...errors.map(({ error, offset }) => ({
        reason: readableCode(printParseErrorCode(error)),
        at: at(offset),
      })),
      ...(root && !isObject ? [{ reason: 'an object { … } is expected', at: at(root.offset) }] : []),
    ],
    members: pairs.map(toMember),
    duplicates: root ? duplicatesIn(root, '', at) : [],
    positionOf: (path) => {
      const node = root && findNodeAtLocation(root, path.map(pathSegment));
      return node && at(node.offset);
    },
    isInValue: (offset) =>
      pairs.some(({ value }) => value.offset <= offset && offset < value.offset + value.length),
    end: isObject && errors.length === 0 ? root.offset + root.length - 1 : undefined,
    missingCommaAt: isObject ? findMissingComma(root, body) : undefined,
  };
};

type PositionOf = (offset: number) => Position;

const entriesOf = (pairs: readonly Pair[], at: PositionOf): readonly Entry[] => {
  const last = new Map(pairs.map((pair) => [pair.key, pair.value]));
  return [...last].map(([key, value]) => ({
    key,
    value: getNodeValue(value) as unknown,
    at: at(value.offset),
  }));
};

interface Pair {
  readonly key: string;
  readonly from: number;
  readonly value: Node;
}

const pairsOf = ({ children = [] }: Node): readonly Pair[] =>
  children.flatMap(({ offset: from, children: [name, value] = [] }) => {
    const key: unknown = name?.value;
    return value && typeof key === 'string' ? [{ key, from, value }] : [];
  });

const toMember = ({ key, from, value: { offset, length } }: Pair): Member => ({
  key,
  from,
  valueFrom: offset,
  to: offset + length,
});

const duplicatesIn = (node: Node, prefix: string, at: PositionOf): readonly DuplicateKey[] => {
  if (node.type !== 'object') return (node.children ?? []).flatMap((each) => duplicatesIn(each, prefix, at));
  const pairs = pairsOf(node);
  const last = new Map(pairs.map(({ key, value }) => [key, value]));
  const twice = new Set(
    last.size === pairs.length ? [] : pairs.flatMap(({ key, value }) => (last.get(key) === value ? [] : key)),
  );
  return [...last].flatMap(([key, value]) => [
    ...(twice.has(key) ? [{ key: prefix + key, at: at(value.offset) }] : []),
    ...(value.children ? duplicatesIn(value, `${prefix}${key}.`, at) : []),
  ]);
};

/** Ignores comments between the last value and its comma. */
const findMissingComma = (root: Node, text: string): number | undefined => {
  const last = root.children?.at(-1);
  if (!last) return undefined;
  const end = last.offset + last.length;
  const rest = text.slice(end, root.offset + root.length - 1);
  const bare = rest.replace(/\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$)/g, ''); // a comment without an end is not looked for again
  return bare.includes(',') ? undefined : end;
};

/** jsonc-parser expects numbers for indexes of lists. */
const pathSegment = (part: string): string | number => (/^\d+$/.test(part) ? Number(part) : part);

const MOST_UNKNOWN = 100; // members that are parsed; the tree of tens of thousands would delay each start

/** The text with blanks in place of the members that are not known, after the first ones, and how many those are. */
const blankUnknown = (
  text: string,
  isKnown: (key: string) => boolean,
): { readonly text: string; readonly left: number } => {
  const runs: { readonly from: number; to: number }[] = []; // to be blanked: neighbours with what is between them
  let unknown = 0;
  let isRun = false;
  for (const { from, keyTo, to } of topMembers(text)) {
    const isUnknown = !isKnown(keyIn(text.slice(from, keyTo)));
    unknown += isUnknown ? 1 : 0;
    const isLeft = isUnknown && unknown > MOST_UNKNOWN;
    const last = runs.at(-1);
    if (isLeft && isRun && last) last.to = to;
    else if (isLeft) runs.push({ from, to });
    isRun = isLeft;
  }
  let blanked = '';
  let end = 0;
  for (const { from, to } of runs) {
    blanked += text.slice(end, from) + text.slice(from, to).replace(/[^\r\n]/g, ' ');
    end = to;
  }
  return { text: blanked + text.slice(end), left: Math.max(0, unknown - MOST_UNKNOWN) };
};

const keyIn = (written: string): string =>
  written.includes('\\') ? String(parseJson(written)) : written.slice(1, -1);

interface TopMember {
  readonly from: number;
  readonly keyTo: number;
  /** after the comma that follows it, if one does */
  readonly to: number;
}

/** The members of the object in a text, up to the first one that is not as it should be. */
function* topMembers(text: string): Generator<TopMember> {
  let at = skipTrivia(text, 0);
  if (text[at] !== '{') return;
  at = skipTrivia(text, at + 1);
  while (text[at] === '"') {
    const from = at;
    const keyTo = endOf(STRING, text, at);
    at = skipTrivia(text, keyTo);
    if (keyTo === from || text[at] !== ':') return;
    const valueFrom = skipTrivia(text, at + 1);
    const valueTo = endOfValue(text, valueFrom);
    if (valueTo === valueFrom) return;
    at = skipTrivia(text, valueTo);
    const isFollowed = text[at] === ',';
    if (!isFollowed && text[at] !== '}') return;
    yield { from, keyTo, to: isFollowed ? at + 1 : valueTo };
    at = isFollowed ? skipTrivia(text, at + 1) : at;
  }
}

const TRIVIA = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[^]*?(?:\*\/|$))*/y;
const STRING = /"(?:[^"\\\r\n]|\\.)*"/y;
const PLAIN = /[\w.+-]+/y;
const INNER = /[^"{}[\]/]+|\/(?![/*])/y;

/** The end of the match that begins here, or the same offset if there is none. */
const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};

const skipTrivia = (text: string, at: number): number => endOf(TRIVIA, text, at);

/** The end of the value, or the same offset if there is none. */
const endOfValue = (text: string, start: number): number => {
  if (text[start] === '"') return endOf(STRING, text, start);
  if (text[start] !== '{' && text[start] !== '[') return endOf(PLAIN, text, start);
  let depth = 0;
  for (let at = start; at < text.length;) {
    const sign = text[at] ?? '';
    if ('{['.includes(sign)) depth += 1;
    if ('}]'.includes(sign)) depth -= 1;
    if (depth === 0) return at + 1;
    const next = '{}[]'.includes(sign)
      ? at + 1
      : endOf(STRING, text, endOf(INNER, text, skipTrivia(text, at)));
    if (next === at) return start;
    at = next;
  }
  return start;
};

const positionsIn = (text: string): PositionOf => {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|[\r\n]/g), ({ index, 0: end }) => index + end.length)];
  return (offset) => {
    let line = 0; // binary search
    for (let after = starts.length; after - line > 1;) {
      const middle = (line + after) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else after = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
};

/** `PropertyNameExpected` as `property name expected`. */
const readableCode = (code: string): string =>
  code.replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

// Reading the file. A configuration decides what is typed and run, so only a regular file is read that no other user may write. A refused
// file is reported with the reason. Nothing here throws.

const MAX_BYTES = 256 * 1024; // all keys with their documentation take about 8 KB
const OTHERS_MAY_WRITE = 0o002;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Why a file is not read, so that a command to fix it can be suggested. */
export type FileFault =
  | { readonly kind: 'unusable' | 'foreign' | 'device' }
  /** a symbolic link, which could point to another user's file or to nothing; `open`: it would be followed if others could not write this */
  | { readonly kind: 'link'; readonly leadsTo: string | undefined; readonly open?: string }
  | { readonly kind: 'open-to-all'; readonly isOwn: boolean }
  /** `path` is the file, or the topmost folder above it that may not be entered */
  | { readonly kind: 'closed'; readonly path: string; readonly isOwn: boolean };

export interface RefusedFile {
  readonly kind: 'refused';
  readonly path: string;
  readonly reason: string;
  readonly fault: FileFault;
}

export type ConfigFile = { readonly kind: 'absent'; readonly path: string } | RefusedFile | ReadFile;

export type ReadFile = ReadText & ConfigText;

interface ReadText {
  readonly kind: 'read';
  readonly path: string;
  /** the file itself, where `path` is a link to it */
  readonly target: string;
  readonly text: string;
}

/**
 * Reads and parses a configuration file that is not changed. A symbolic link is refused. Of its members that are `isKnown` all are entries, of
 * the others the first ones; further ones are only counted, as `left`.
 */
export const readConfigFile = (
  path: string,
  isKnown: (key: string) => boolean = () => true,
): ConfigFile & { readonly left?: number } => {
  const found = readTrustedFile(path);
  if (found.kind !== 'read') return found;
  const { text, left } = blankUnknown(found.text, isKnown);
  const file = parsed({ ...found, text });
  return file.kind === 'read' ? { ...file, left } : file;
};

/** Reads and parses the user's own file, also through a link that nobody else could have put there. */
export const readUserConfig = (path: string): ConfigFile => parsed(readUserFile(path));

const parsed = (found: TrustedFile): ConfigFile => {
  if (found.kind !== 'read') return found;
  const parseText = parseConfig(found.text);
  return parseText
    ? { ...found, ...parseText }
    : refusal(found.path, 'it is nested too deep', { kind: 'unusable' });
};

/** The text of a file that no other user may write, or why it is not read. */
export type TrustedFile = Exclude<ConfigFile, { kind: 'read' }> | ReadText;

/** The text behind a link that is followed, or of the file itself. */
export const readUserFile = (path: string): TrustedFile => {
  if (!isLink(path)) return readTrustedFile(path);
  const found = followLink(path);
  if (found.kind === 'untrusted') return refuseLink(path, found);
  const file = readTrustedFile(found.path);
  return file.kind === 'read' ? { ...file, path } : file;
};

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false; // reading it says why
  }
};

export const readTrustedFile = (path: string): TrustedFile => {
  if (path === NULL_DEVICE) return { kind: 'read', path, target: path, text: '' }; // naming /dev/null means: no configuration
  let file: number | undefined;
  try {
    // checked before opening only for the error message; the checks that count use the open file
    if (lstatSync(path).isSymbolicLink()) return refuseLink(path);
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fstatSync(file);
    const refused = refusalFor(path, stats);
    if (refused) return refused;
    const text = decodeUtf8(readAll(file, stats.size));
    return text === undefined
      ? refusal(path, 'it is not a text in UTF-8', { kind: 'unusable' })
      : { kind: 'read', path, target: path, text };
  } catch (error) {
    return failedRead(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

const NULL_DEVICE = '/dev/null';

const failedRead = (path: string, error: unknown): TrustedFile => {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent', path };
  if (code === 'ELOOP') return refuseLink(path);
  const closed = closedFolder(dirname(path)) ?? path;
  return refusal(path, systemReason(error), { kind: 'closed', path: closed, isOwn: isOwn(closed) });
};

const isOwn = (path: string): boolean => {
  try {
    return lstatSync(path).uid === getuid?.();
  } catch {
    return false;
  }
};

/** The topmost folder in the path that may not be entered. */
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

const refusalFor = (path: string, stats: Stats): TrustedFile | undefined => {
  if (stats.isCharacterDevice() || stats.isBlockDevice())
    return refusal(path, 'it is a device', { kind: 'device' });
  if (!stats.isFile()) return refusal(path, 'it is not a regular file', { kind: 'unusable' });
  if (stats.size > MAX_BYTES) return refusal(path, 'it has more than 256 KB', { kind: 'unusable' });
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0)
    return refusal(path, 'every user can write to it', {
      kind: 'open-to-all',
      isOwn: stats.uid === getuid?.(),
    });
  const isMine = stats.uid === getuid?.() || stats.uid === 0;
  return isMine ? undefined : refusal(path, 'it belongs to another user', { kind: 'foreign' });
};

const refuseLink = (path: string, { reason, open }: Untrusted = {}): TrustedFile => {
  let leadsTo: string | undefined;
  try {
    leadsTo = realpathSync.native(path);
  } catch {
    leadsTo = undefined; // the target does not exist, or the link points to itself
  }
  const why = reason === undefined ? '' : `, and ${reason}`;
  return refusal(path, `it is a symbolic link${why}`, {
    kind: 'link',
    leadsTo,
    ...present({ open }),
  });
};

type Untrusted = Partial<Omit<Extract<LinkTarget, { kind: 'untrusted' }>, 'kind'>>;

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

const decodeUtf8 = (bytes: Buffer): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};
