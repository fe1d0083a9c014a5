import { checkValue } from './check.js';
import { envNames, otherEnvNames, writtenIn, type EnvName } from './env-names.js';
import { type DeprecatedKey, type Written, deprecatedKeys, isKeyName, keyOf, type KeyName } from './keys.js';
import type { Origin, Position, Problem, Read, Setting } from './merge.js';

// From what stands in a file or in the environment to settings. What is wrong becomes a problem, never an exception.

/** One pair of a file. */
export interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly at?: Position;
}

const SCHEMA = '$schema'; // for editors

/** The settings of a file. */
export const readEntries = (
  layer: 'user' | 'project',
  place: string,
  entries: readonly Entry[],
  deprecated: Readonly<Record<string, DeprecatedKey>> = deprecatedKeys,
): Read =>
  joined(
    entries
      .filter(({ key }) => key !== SCHEMA)
      .map(({ key, value, at }) => {
        const origin: Origin = { layer, place, ...(at ? { at } : {}) };
        if (isKeyName(key)) return readValue(key, { type: keyOf(key).type, written: value, origin });
        const old = Object.hasOwn(deprecated, key) ? deprecated[key] : undefined;
        return problem(
          old
            ? { kind: 'deprecated', level: 'warning', key, origin, ...old }
            : { kind: 'unknown', level: 'error', key, origin },
        );
      }),
  );

type Env = Readonly<Record<string, string | undefined>>;

/** The settings of an environment, or of a dotenv file. An empty text is as good as none. */
export const readEnv = (env: Env, file?: string): Read => {
  const known = envNames.map((each) => {
    const text = env[each.name];
    return text === undefined || text.trim() === '' ? nothing : readEnvName(each, text, file);
  });
  const unknown = Object.keys(env)
    .filter((name) => name.startsWith('CTXWRAP_') && !knownNames.has(name))
    .map((name) => problem({ kind: 'unknown', level: 'warning', key: name, origin: envOrigin(name, file) }));
  return joined([...known, ...unknown]);
};

const knownNames: ReadonlySet<string> = new Set([...envNames.map(({ name }) => name), ...otherEnvNames]);

const envOrigin = (name: string, file: string | undefined): Origin => ({
  layer: 'env',
  place: name,
  ...(file === undefined ? {} : { file }),
});

const readEnvName = (name: EnvName, text: string, file: string | undefined): Read => {
  const { key, type, means, otherwise } = name;
  const origin = envOrigin(name.name, file);
  const written = writtenIn(type, text);
  if (means === undefined) {
    return readValue(key, { type, written, origin, ...(otherwise === undefined ? {} : { otherwise }) });
  }
  const checked = checkValue(type, written);
  if ('rule' in checked) return wrong(key, { written, origin, rule: checked.rule, otherwise });
  return readValue(key, { type: keyOf(key).type, written: means[String(checked.value)], origin });
};

interface Found {
  readonly type: Parameters<typeof checkValue>[0];
  readonly written: unknown;
  readonly origin: Origin;
  readonly otherwise?: Written;
}

const readValue = (key: KeyName, { type, written, origin, otherwise }: Found): Read => {
  const checked = checkValue(type, written);
  if ('value' in checked) {
    const setting = { key, value: checked.value, origin };
    const { isPending, project } = keyOf(key);
    const isRefused = origin.layer === 'project' && project === undefined; // which is told later
    const pending: readonly Problem[] =
      isPending && !isRefused ? [{ kind: 'pending', level: 'warning', key, origin }] : [];
    return { settings: [setting], problems: pending };
  }
  const choice = type.kind === 'choice' && typeof written === 'string' ? type.otherwise : undefined;
  return wrong(key, { written, origin, rule: checked.rule, otherwise: otherwise ?? choice });
};

interface WrongValue {
  readonly written: unknown;
  readonly origin: Origin;
  readonly rule: string;
  readonly otherwise: Written | undefined;
}

const wrong = (key: KeyName, { written, origin, rule, otherwise }: WrongValue): Read => {
  const { type, careful } = keyOf(key);
  const used = otherwise ?? careful;
  const checked = used === undefined ? undefined : checkValue(type, used);
  const settings: readonly Setting[] =
    checked && 'value' in checked ? [{ key, value: checked.value, origin }] : [];
  const isOnlyNamed = otherwise !== undefined && type.kind === 'choice' && type.otherwise === otherwise;
  const found: Problem = {
    kind: 'wrong',
    level: isOnlyNamed ? 'warning' : 'error',
    key,
    origin,
    given: short(written),
    rule,
    ...(used === undefined ? {} : { used: String(used) }),
  };
  return { settings, problems: [found] };
};

const LONGEST_GIVEN = 60; // characters

const short = (written: unknown): string => {
  const text = typeof written === 'number' ? String(written) : (JSON.stringify(written) ?? String(written));
  return text.length > LONGEST_GIVEN ? `${text.slice(0, LONGEST_GIVEN)}…` : text;
};

const nothing: Read = { settings: [], problems: [] };

const problem = (found: Problem): Read => ({ settings: [], problems: [found] });

const joined = (reads: readonly Read[]): Read => ({
  settings: reads.flatMap(({ settings }) => settings),
  problems: reads.flatMap(({ problems }) => problems),
});

// The names and values of a dotenv file: `NAME=value`, also after `export`, with quotes and comments. Nothing in it is expanded or run.

const PAIR = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([^]*)$/;
const NOTHING = /^\s*(?:#.*)?$/;

export interface Dotenv {
  /** the last one of a name holds */
  readonly values: Readonly<Record<string, string>>;
  /** the lines that are neither pairs nor comments nor empty, with their numbers from 1; they are passed over */
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

/** Where a value ends that begins in the line `from`: there, too, where its quote is never closed. */
const lastLineOf = (rest: string, lines: readonly string[], from: number): number => {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined || rest.indexOf(quote, 1) > 0) return from;
  for (let at = from + 1; at < lines.length; at += 1) if (lines[at]?.includes(quote)) return at;
  return from;
};

const valueIn = (rest: string): string => quotedIn(rest) ?? withoutComment(rest).trim();

/** Up to the first quote behind which there is nothing but a comment. Each character is looked at once, whatever the text is. */
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

/** A comment is one in the last line, at its begin or behind a blank. */
const withoutComment = (rest: string): string => {
  const lastLine = rest.lastIndexOf('\n') + 1;
  const at = rest.slice(lastLine).search(/(?:^|\s)#/);
  return at < 0 ? rest : rest.slice(0, lastLine + at);
};
