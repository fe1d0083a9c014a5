import { toText } from './key.js';
import { envNames, isKeyName, keyNames, configKey, otherEnvNames, type KeyName } from './keys.js';
import type { ReadSettings } from './merge.js';
import {
  fixAt,
  keyText,
  MOST_TOLD,
  moreProblems,
  problemAt,
  type Origin,
  type Position,
  type Problem,
} from './problem.js';
import type { ValueType } from './value-types.js';
import { replacementOf } from './replaced-keys.js';
import { nearestWord } from '../text.js';
import { present } from '../present.js';

// Reads settings from a file or from the environment. Errors are returned as problems, never thrown.

/** A key and its value in a file. */
export interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly at?: Position;
}

const SCHEMA = '$schema'; // used by editors

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
    const isTold = key !== SCHEMA && unknown <= MOST_TOLD;
    return isTold ? [onlyProblem(unknownKey('error', { key, value }, origin))] : [];
  });
  const count = unknown + left - MOST_TOLD;
  const more = moreProblems(count, { kind: 'unknown', level: 'error', origin: { layer, place } });
  return joined(count > 0 ? [...reads, onlyProblem(more)] : reads);
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
  const unknown = Object.keys(env).filter((name) => name.startsWith('CTXWRAP_') && !knownNames.has(name));
  const shown = unknown
    .slice(0, MOST_TOLD)
    .map((key) => unknownKey('warning', { key, value: undefined }, originOf(key)));
  const count = unknown.length - shown.length;
  const more = moreProblems(count, { kind: 'unknown', level: 'warning', origin: originOf('') });
  return joined([...known, { settings: [], problems: count > 0 ? [...shown, more] : shown }]);
};

const knownNames: ReadonlySet<string> = new Set([...envNames.map(({ name }) => name), ...otherEnvNames]);

const unknownKey = (level: Problem['level'], { key, value }: Entry, origin: Origin): Problem =>
  problemAt(origin, {
    kind: 'unknown',
    level,
    key,
    what: `${keyText(key)} is unknown`,
    why: `there is no such key${adviceFor(key, value, origin)}`,
  });

/** What to write in place of an unknown key. */
const adviceFor = (key: string, value: unknown, { layer }: Origin): string => {
  const fresh = layer === 'env' ? undefined : replacementOf(key, value);
  if (fresh) {
    const { key: name, value: example } = fresh;
    return `, and its value is not used; remove it and write, for example, ${JSON.stringify(name)}: ${JSON.stringify(example)}`;
  }
  const inner = keyNames.filter((name) => name.startsWith(`${key}.`));
  if (layer !== 'env' && inner.length > 0)
    return `; write the key in one piece: ${inner.map((name) => JSON.stringify(name)).join(', ')}`;
  const close = nearestWord(key, layer === 'env' ? envNames.map(({ name }) => name) : keyNames);
  return close === undefined ? '' : `; did you mean ${close}?`;
};

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
  const { type: own, careful, otherwise, example, fallback = example } = configKey(key);
  const isOther = otherwise !== undefined && typeof written === 'string';
  const used = isOther ? otherwise : careful;
  const part = used === undefined ? type.part?.(written) : undefined;
  const value = used === undefined ? part : own.read(used);
  const effect = part === undefined ? 'it is ignored' : 'the others are used';
  const found = problemAt(origin, {
    kind: 'wrong',
    level: isOther ? 'warning' : 'error',
    key,
    what: `${key} is ${type.isPrivate ? 'not what it must be' : short(written)}`,
    why: `it must be ${type.rule(written)}; ${used === undefined ? effect : `it counts as ${String(used)}`}`,
    fix: fixAt(origin, fallback === undefined ? undefined : toText(fallback)),
  });
  return { settings: value === undefined ? [] : [{ key, value, origin }], problems: [found] };
};

const LONGEST_GIVEN = 60; // characters

const short = (written: unknown): string => {
  const text = typeof written === 'number' ? String(written) : (JSON.stringify(written) ?? String(written));
  return text.length > LONGEST_GIVEN ? `${text.slice(0, LONGEST_GIVEN)}…` : text;
};

const nothing: ReadSettings = { settings: [], problems: [] };

const onlyProblem = (found: Problem): ReadSettings => ({ settings: [], problems: [found] });

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
