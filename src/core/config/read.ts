import { envNames, isKeyName, configKey, otherEnvNames, type KeyName } from './keys.js';
import type { Origin, Position, Problem, ReadSettings } from './merge.js';
import type { ValueType } from './value-types.js';
import { present } from '../present.js';

// Reads settings from a file or from the environment. Errors are returned as problems, never thrown.

/** A key and its value in a file. */
export interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly at?: Position;
}

const SCHEMA = '$schema'; // used by editors

/** Unknown keys that become a problem each; a file with more of them is none of ctxwrap's, and thousands would delay the start. */
const MOST_UNKNOWN = 10;

/** Reads the settings of a file. `left`: further unknown keys that are not among the entries. */
export const readEntries = (
  layer: 'user' | 'project',
  place: string,
  entries: readonly Entry[],
  left = 0,
): ReadSettings => {
  let unknown = 0;
  const reads = entries.flatMap(({ key, value, at }): readonly ReadSettings[] => {
    const origin: Origin = { layer, place, ...present({ at }) };
    if (isKeyName(key)) return [readValue(key, value, origin)];
    unknown += key === SCHEMA ? 0 : 1;
    const isTold = key !== SCHEMA && unknown <= MOST_UNKNOWN;
    return isTold ? [problem({ kind: 'unknown', level: 'error', key, origin })] : [];
  });
  const count = unknown + left - MOST_UNKNOWN;
  const more: Problem = { kind: 'more', level: 'error', of: 'unknown', count, origin: { layer, place } };
  return joined(count > 0 ? [...reads, problem(more)] : reads);
};

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the settings of an environment or of a dotenv file. An empty value counts as unset. */
export const readEnv = (env: Env, file?: string): ReadSettings => {
  const originOf = (place: string): Origin => ({
    layer: 'env',
    place,
    ...present({ file }),
  });
  const known = envNames.map(({ name, key, type }) => {
    const text = env[name]?.trim() ?? '';
    return text === '' ? nothing : readValue(key, type.fromText?.(text) ?? text, originOf(name), type);
  });
  const unknown = Object.keys(env)
    .filter((name) => name.startsWith('CTXWRAP_') && !knownNames.has(name))
    .map((key) => problem({ kind: 'unknown', level: 'warning', key, origin: originOf(key) }));
  return joined([...known, ...unknown]);
};

const knownNames: ReadonlySet<string> = new Set([...envNames.map(({ name }) => name), ...otherEnvNames]);

const readValue = (
  key: KeyName,
  written: unknown,
  origin: Origin,
  type: ValueType = configKey(key).type,
): ReadSettings => {
  const value = type.read(written);
  if (value === undefined) return wrongValue(key, written, origin, type);
  return { settings: [{ key, value, origin }], problems: [] };
};

const wrongValue = (key: KeyName, written: unknown, origin: Origin, type: ValueType): ReadSettings => {
  const { type: own, careful, otherwise } = configKey(key);
  const isOther = otherwise !== undefined && typeof written === 'string';
  const used = isOther ? otherwise : careful;
  const value = used === undefined ? undefined : own.read(used);
  const found: Problem = {
    kind: 'wrong',
    level: isOther ? 'warning' : 'error',
    key,
    origin,
    given: type.isPrivate ? 'not what it must be' : short(written),
    rule: type.rule(written),
    ...(used === undefined ? {} : { used: String(used) }),
  };
  return { settings: value === undefined ? [] : [{ key, value, origin }], problems: [found] };
};

const LONGEST_GIVEN = 60; // characters

const short = (written: unknown): string => {
  const text = typeof written === 'number' ? String(written) : (JSON.stringify(written) ?? String(written));
  return text.length > LONGEST_GIVEN ? `${text.slice(0, LONGEST_GIVEN)}…` : text;
};

const nothing: ReadSettings = { settings: [], problems: [] };

const problem = (found: Problem): ReadSettings => ({ settings: [], problems: [found] });

const joined = (reads: readonly ReadSettings[]): ReadSettings => ({
  settings: reads.flatMap(({ settings }) => settings),
  problems: reads.flatMap(({ problems }) => problems),
});

// Reads a dotenv file: `NAME=value`, also after `export`, with quotes and comments. Nothing in it is expanded or executed.

const PAIR = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([^]*)$/;
const NOTHING = /^\s*(?:#.*)?$/;

export interface Dotenv {
  /** if a name is repeated, the last value */
  readonly values: Readonly<Record<string, string>>;
  /** lines that are neither pairs nor comments nor empty, with their numbers from 1; they are ignored */
  readonly unread: readonly { readonly number: number; readonly text: string }[];
}

export const readDotenv = (text: string): Dotenv => {
  const lines = text.split(/\r\n|[\r\n]/);
  const values: [string, string][] = [];
  const unread: { number: number; text: string }[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const [, name, rest] = PAIR.exec(line) ?? [];
    if (name !== undefined && rest !== undefined) {
      const last = lastLineOf(rest, lines, index);
      values.push([name, valueIn([rest, ...lines.slice(index + 1, last + 1)].join('\n'))]);
      index = last;
    } else if (!NOTHING.test(line)) unread.push({ number: index + 1, text: line });
  }
  return { values: Object.fromEntries(values), unread };
};

/** The last line of a value that begins in line `from`, even if its quote is never closed. */
const lastLineOf = (rest: string, lines: readonly string[], from: number): number => {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined || rest.indexOf(quote, 1) > 0) return from;
  for (let at = from + 1; at < lines.length; at += 1) if (lines[at]?.includes(quote)) return at;
  return from;
};

const valueIn = (rest: string): string => quotedIn(rest) ?? withoutComment(rest).trim();

/** The text up to the first quote that is followed only by a comment. Linear in the length of the text. */
const quotedIn = (rest: string): string | undefined => {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined) return undefined;
  const lastLine = rest.lastIndexOf('\n');
  for (let at = rest.indexOf(quote, 1); at > 0; at = rest.indexOf(quote, at + 1)) {
    let next = at + 1;
    while (/\s/.test(rest[next] ?? '')) next += 1;
    if (next === rest.length || (rest[next] === '#' && next > lastLine)) return rest.slice(1, at);
  }
  return undefined;
};

/** A comment begins at the start of the last line, or after a blank. */
const withoutComment = (rest: string): string => {
  const lastLine = rest.lastIndexOf('\n') + 1;
  const at = rest.slice(lastLine).search(/(?:^|\s)#/);
  return at < 0 ? rest : rest.slice(0, lastLine + at);
};
