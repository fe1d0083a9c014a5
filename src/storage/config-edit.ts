import { applyEdits, createScanner } from 'jsonc-parser';
import { lstat, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode } from '../core/errors.js';
import {
  parseConfig,
  readUserConfig,
  readUserFile,
  type ConfigFile,
  type Member,
  type ReadFile,
  type RefusedFile,
  type SyntaxFault,
  type TrustedFile,
} from './config-file.js';
import { FILE_MODE } from './file-modes.js';
import { makeFolder, writeAtomic } from './state-folder.js';

// Changes configuration files. A change leaves everything else byte for byte, and keeps what another process changes meanwhile.

// Adding all keys to a configuration file. The user's text stays, byte for byte; lines are only added.

/** Comment lines that document a key and show how to set it. */
export interface KeyBlock {
  readonly name: string;
  readonly lines: readonly string[];
}

export interface CompletedConfig {
  readonly text: string;
  /** keys that were missing */
  readonly added: readonly string[];
}

/** A new file; `schema` is the name of a JSON schema for editors. */
export const newConfig = (blocks: readonly KeyBlock[], schema?: string): CompletedConfig => {
  const first = schema === undefined ? [] : ['', `  "$schema": ${JSON.stringify(schema)},`];
  const lines = [...first, ...blocks.flatMap((block) => ['', ...indented(block)])].slice(1);
  return { text: `{\n${lines.join('\n')}\n}\n`, added: blocks.map(({ name }) => name) };
};

/** The file with the missing keys added; undefined if there is no object to add them to. */
export const completeConfig = (
  file: ReadFile,
  blocks: readonly KeyBlock[],
  schema?: string,
): CompletedConfig | undefined => {
  const { text, end, missingCommaAt, faults } = file;
  if (end === undefined) return faults.length > 0 ? undefined : appendConfig(text, newConfig(blocks, schema));
  const missing = blocks.filter(({ name }) => !hasKey(file, name));
  if (missing.length === 0) return { text, added: [] };
  const newline = newlineOf(text);
  const head = text.slice(0, end);
  // a comma after the last value, so that the added lines can be uncommented unchanged
  const [before, after] =
    missingCommaAt === undefined
      ? [head, '']
      : [`${head.slice(0, missingCommaAt)},`, head.slice(missingCommaAt)];
  const start = /(?:^|[\r\n])[ \t]*$/.test(head) ? '' : newline;
  const lines = missing.flatMap((block) => ['', ...indented(block)]).map((line) => `${line}${newline}`);
  return {
    text: `${before}${after}${start}${lines.join('')}${text.slice(end)}`,
    added: missing.map(({ name }) => name),
  };
};

/** A file with comments only: the new object goes below them. */
const appendConfig = (text: string, { text: more, added }: CompletedConfig): CompletedConfig => {
  const ends = text.trim() === '' || /[\r\n]$/.test(text);
  const newline = newlineOf(text);
  return { text: `${text}${ends ? '' : newline}${more.replaceAll('\n', newline)}`, added };
};

const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** True if the key is set or present as a comment. */
const hasKey = (file: ReadFile, name: string): boolean =>
  file.members.some(({ key }) => key === name) || commentsOf(file, name).length > 0;

/** The offsets of the comment lines that show how to set the key; a nested key of the same name does not count. */
const commentsOf = ({ text, isInValue }: ReadFile, name: string): readonly number[] => {
  const comment = new RegExp(`^[ \\t]*//[ \\t]*"${name.replaceAll('.', '\\.')}"\\s*:`, 'gm');
  return [...text.matchAll(comment)].flatMap(({ index }) => (isInValue(index) ? [] : [index]));
};

const indented = ({ lines }: KeyBlock): readonly string[] => lines.map((line) => `  ${line}`);

// Setting and removing one key. jsonc-parser's own edits would move or remove the comments beside a value.

/** The text of a file in which only this key is set. */
export const newSetting = (name: string, json: string): string =>
  `{\n  ${JSON.stringify(name)}: ${json}\n}\n`;

/** The text with the key set to this JSON value; undefined if the text is not valid. Of a repeated key the last one counts. */
export const setKey = (file: ReadFile, name: string, json: string): string | undefined => {
  const { text, members, end, faults } = file;
  if (faults.length > 0) return undefined;
  if (end === undefined) return appendConfig(text, { text: newSetting(name, json), added: [name] }).text;
  const last = members.findLast(({ key }) => key === name);
  if (last) return `${text.slice(0, last.valueFrom)}${json}${text.slice(last.to)}`;
  const member = `${JSON.stringify(name)}: ${json}`;
  const places = [
    ...commentsOf(file, name).map((at) => insertBelow(file, at, member)),
    insertAtEnd(file, end, member),
  ];
  return places.find((each) => holds(each, name, json)); // a line in a block comment only looks like a place
};

/**
 * The text in which the object under `key` has this member, in place of one of the same name; everything else in it stays, comments
 * included. Undefined if the text is not valid, or something else than an object is there.
 */
export const setMember = (
  file: ReadFile,
  key: string,
  [name, json]: readonly [string, string],
): string | undefined => {
  const place = file.members.findLast((each) => each.key === key);
  if (!place) return setKey(file, key, `{\n    ${JSON.stringify(name)}: ${indentLines(json)}\n  }`);
  const text = file.text.slice(place.valueFrom, place.to);
  const inner = parseConfig(text);
  if (file.faults.length > 0 || inner?.end === undefined) return undefined;
  const changed = setKey({ ...file, ...inner, text }, name, indentLines(json));
  if (changed === undefined) return undefined;
  return `${file.text.slice(0, place.valueFrom)}${changed}${file.text.slice(place.to)}`;
};

const indentLines = (json: string): string => json.replaceAll('\n', '\n    ');

const holds = (text: string, name: string, json: string): boolean => {
  const parsed = parseConfig(text);
  const entry = parsed?.entries.find(({ key }) => key === name);
  return parsed?.faults.length === 0 && JSON.stringify(entry?.value) === JSON.stringify(JSON.parse(json));
};

/** A line below the comment line at this offset, with its indentation. */
const insertBelow = ({ text, missingCommaAt: comma }: ReadFile, at: number, member: string): string => {
  const [indent = ''] = /^[ \t]*/.exec(text.slice(at)) ?? [];
  const below = text.indexOf('\n', at) + 1;
  const line = { offset: below, length: 0, content: `${indent}${member},${newlineOf(text)}` };
  const isAfterLast = comma !== undefined && comma < at;
  return applyEdits(text, isAfterLast ? [{ offset: comma, length: 0, content: ',' }, line] : [line]);
};

/** After the last member: on the same line if all are on one, otherwise on a line of its own. */
const insertAtEnd = ({ text, members, missingCommaAt }: ReadFile, end: number, member: string): string => {
  const [first, last] = [members[0], members.at(-1)];
  const head =
    missingCommaAt === undefined
      ? text.slice(0, end)
      : `${text.slice(0, missingCommaAt)},${text.slice(missingCommaAt, end)}`;
  const tail = text.slice(end);
  const added = last && missingCommaAt === undefined ? `${member},` : member;
  const [bare, blanks] = [head.trimEnd(), head.slice(head.trimEnd().length)];
  const isOneLine = first && !/[\r\n]/.test(text.slice(text.lastIndexOf('{', first.from), end));
  if (isOneLine) return `${bare} ${added}${blanks}${tail}`;
  const newline = newlineOf(text);
  const [, closing] = /[\r\n]([ \t]*)$/.exec(blanks) ?? [];
  const before = closing === undefined ? `${bare}${newline}` : head.slice(0, head.length - closing.length);
  return `${before}${last ? indentOf(text, last) : '  '}${added}${newline}${closing ?? ''}${tail}`;
};

const indentOf = (text: string, { from }: Member): string =>
  /(?:^|[\r\n])([ \t]*)$/.exec(text.slice(0, from))?.[1] ?? '  ';

/** The text without the key; undefined if the text is not valid. */
export const unsetKey = ({ text, faults }: ReadFile, name: string): string | undefined => {
  if (faults.length > 0) return undefined;
  for (let rest = text; ;) {
    const members = parseConfig(rest)?.members ?? [];
    const index = members.findIndex(({ key }) => key === name);
    if (index < 0) return rest;
    rest = removeMember(rest, members, index);
  }
};

/** Comments stay. A line on which nothing else is goes with it. */
const removeMember = (text: string, members: readonly Member[], index: number): string => {
  const [before, member] = [members[index - 1], members[index]];
  if (!member) return text;
  const isBlank = (from: number, to: number): boolean => /^[ \t]*$/.test(text.slice(from, to));
  const comma = commaAfter(text, member.to);
  // a last member takes the comma before it along, so that the file has trailing commas only where it had them
  const earlier = comma === undefined && before ? commaAfter(text, before.to) : undefined;
  let [from, to] = [member.from, member.to];
  const commas: number[] = [];
  if (comma !== undefined && isBlank(to, comma)) to = comma + 1;
  else if (comma !== undefined) commas.push(comma);
  if (earlier !== undefined && isBlank(earlier + 1, from)) from = earlier;
  else if (earlier !== undefined) commas.push(earlier);
  const edits = [lineOrPart(text, from, to), ...commas.map((offset) => ({ offset, length: 1 }))];
  return applyEdits(
    text,
    edits.map((edit) => ({ ...edit, content: '' })),
  );
};

/** The whole line, if there is nothing else on it; otherwise the part, and the blanks behind it. */
const lineOrPart = (text: string, from: number, to: number): { offset: number; length: number } => {
  const [blanks = ''] = /[ \t]*$/.exec(text.slice(0, from)) ?? [];
  const [rest = '', newline] = /^[ \t]*(\r\n|[\r\n]|$)?/.exec(text.slice(to)) ?? [];
  const isLineStart = /(?:^|[\r\n])$/.test(text.slice(0, from - blanks.length));
  if (isLineStart && newline !== undefined)
    return { offset: from - blanks.length, length: blanks.length + to - from + rest.length };
  const isLast = text[from] === ','; // what is behind it belongs to the end of the object
  return { offset: from, length: to - from + (newline === undefined && !isLast ? rest.length : 0) };
};

/** The offset of the comma that follows, behind blanks and comments. */
const commaAfter = (text: string, offset: number): number | undefined => {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === ',' ? at : undefined;
};

// Writing.

/** What changes a file: the new text for what was read, undefined to leave it as it is; it may throw. */
export type ConfigChange = (file: ConfigFile) => string | undefined;

const MOST_TRIES = 5;

/**
 * Changes the user's configuration atomically, and keeps the previous text in FILE.bak. A link stays: what it leads to is changed. If
 * somebody else changes it meanwhile, `change` is called again. Rejects if it is not a regular file or the folder is not writable.
 */
export const changeConfig = async (path: string, change: ConfigChange): Promise<void> => {
  const found = readUserConfig(path);
  if (change(found) === undefined) return;
  const target = targetOf(found);
  await assertFile(target);
  await makeFolder(dirname(target));
  const unlock = await lockConfig(target);
  try {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const file = readUserConfig(path);
      const text = change(file);
      if (text === undefined || (await replaceConfig(file, text))) return;
    }
    throw new Error('other programs change it again and again');
  } finally {
    await unlock();
  }
};

/** The errors for a file in which no key can be changed. */
export interface KeyRefusals {
  readonly refused: (file: RefusedFile) => Error;
  readonly invalid: (faults: readonly SyntaxFault[]) => Error;
}

/**
 * Sets a key of the user's configuration, or removes it where the value is undefined; resolves with the value before. Rejects as
 * `changeConfig` does.
 */
export const changeKey = async (
  path: string,
  [name, after]: readonly [name: string, after: unknown],
  { refused, invalid }: KeyRefusals,
): Promise<unknown> => {
  const json = Array.isArray(after)
    ? `[${after.map((each) => JSON.stringify(each)).join(', ')}]`
    : JSON.stringify(after);
  let before: unknown;
  await changeConfig(path, (file) => {
    if (file.kind === 'refused') throw refused(file);
    if (file.kind === 'absent') return after === undefined ? undefined : newSetting(name, json);
    before = file.entries.find((each) => each.key === name)?.value;
    if (after !== undefined && JSON.stringify(before) === JSON.stringify(after)) return undefined;
    const text = after === undefined ? unsetKey(file, name) : setKey(file, name, json);
    if (text === undefined) throw invalid(file.faults);
    return text === file.text ? undefined : text;
  });
  return before;
};

const targetOf = (file: TrustedFile): string => (file.kind === 'read' ? file.target : file.path);

const assertFile = async (path: string): Promise<void> => {
  const stats = await lstat(path).catch(() => undefined);
  if (stats && !stats.isFile()) throw new Error(`${path} is not a regular file`);
};

class ChangedMeanwhile extends Error {}

/** False if the file is no longer as it was read. */
const replaceConfig = async (file: TrustedFile, text: string): Promise<boolean> => {
  const target = targetOf(file);
  const mode = (await lstat(target).catch(() => undefined))?.mode;
  const beforeRename = async (): Promise<void> => {
    if (!isSameFile(file, readUserFile(file.path))) throw new ChangedMeanwhile();
  };
  try {
    if (file.kind === 'read') await keepBackup(file.path, file.text, mode);
    await writeAtomic(target, text, { mode, beforeRename });
    return true;
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return false;
    throw error;
  }
};

const isSameFile = (a: TrustedFile, b: TrustedFile): boolean =>
  a.kind === 'read' && b.kind === 'read' ? a.target === b.target && a.text === b.text : a.kind === b.kind;

export const backupOf = (path: string): string => `${path}.bak`;

/** Keeps the previous text of a file. */
export const keepBackup = (path: string, text: string, mode: number | undefined): Promise<void> =>
  writeAtomic(backupOf(path), text, { mode });

const LOCKED_MS = 10_000; // how long to wait for another process
const STALE_MS = 5_000; // a change takes milliseconds: its process is gone
const RETRY_MS = 20;

/** Waits until no other ctxwrap changes the file; resolves with what ends the lock. */
const lockConfig = async (path: string): Promise<() => Promise<void>> => {
  const lock = `${path}.lock`;
  const remove = (): Promise<void> => unlink(lock).catch(() => undefined);
  for (const end = Date.now() + LOCKED_MS; ;) {
    try {
      await (await open(lock, 'wx', FILE_MODE)).close();
      return remove;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const stats = await lstat(lock).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > STALE_MS) await remove();
    else if (Date.now() > end) throw new Error(`another ctxwrap is changing it; if none is, remove ${lock}`);
    else await wait(RETRY_MS);
  }
};
