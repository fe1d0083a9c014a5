import { agentWords } from '../agents/launches.js';
import { configKey, defaultValues, keyNames, type KeyName } from '../core/config/keys.js';
import type { ValueType } from '../core/config/value-types.js';
import type { AgentOption, Options, RunRequest } from './request.js';

// Reads `ctxwrap [options] AGENT …` and `ctxwrap [options] -- COMMAND …` without commander, which no launch should wait for. Whatever is not
// plainly right is left to commander: other commands and options, abbreviations, wrong values.

export const keysWithOption = keyNames.filter((key) => configKey(key).option !== undefined);

/** The value that this argument of an option gives a key; undefined where it is not valid. Paths are relative to the current folder. */
export const readArgument = (type: ValueType, text: string): unknown => {
  if (type.kind === 'path') return text === '' ? undefined : text;
  if (type.kind !== 'list') return type.read(text);
  const items = itemsIn(text);
  return items.length === 0 ? undefined : type.read(items);
};

/** Parses `bar,percent`. */
export const itemsIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** The options that have no key. */
type OtherOptions = Pick<Options, 'runtime' | 'record' | 'recordInput' | 'config' | 'control'>;

export const optionsOf = (
  flags: Options['flags'],
  { runtime, record, recordInput, config, control }: OtherOptions = {},
): Options => ({
  flags,
  values: { ...defaultValues, ...flags },
  isModeGiven: flags.mode !== undefined,
  runtime,
  record,
  recordInput,
  config,
  ...(control ? { control } : {}),
});

const keyOfFlag: ReadonlyMap<string, KeyName> = new Map(
  keysWithOption.flatMap((key) => {
    const { flag = '', short } = configKey(key).option ?? {};
    return [flag, ...(short === undefined ? [] : [short])].map((name) => [name, key] as const);
  }),
);

/** An agent by name, built in or configured, or the file that defines one. Neither is looked up here. */
export const parseAgent = (text: string): AgentOption =>
  text.endsWith('.json') || text.includes('/') ? { file: text } : { name: text };

const fileName = (text: string): string | undefined => (text === '' ? undefined : text);

/** How the argument of each is read; undefined where it is not valid. */
const otherFlags = new Map<
  string,
  { readonly name: keyof OtherOptions; readonly read: (text: string) => unknown }
>([
  ['--runtime', { name: 'runtime', read: parseAgent }],
  ['--record', { name: 'record', read: fileName }],
  ['--config', { name: 'config', read: fileName }],
]);

/** An option that is understood. */
interface Flag {
  readonly name: KeyName | keyof OtherOptions;
  readonly value: unknown;
  /** how many words give it */
  readonly words: number;
}

const readFlag = (word: string, next: string | undefined): Flag | undefined => {
  const other = otherFlags.get(word);
  if (other) return withArgument(other.name, other.read, next);
  const key = keyOfFlag.get(word);
  const { option, type } = key === undefined ? {} : configKey(key);
  if (key === undefined || !option || !type) return undefined;
  if (option.takes === undefined) return { name: key, value: !option.flag.startsWith('--no-'), words: 1 };
  return withArgument(key, (text) => readArgument(type, text), next);
};

const withArgument = (
  name: Flag['name'],
  read: (text: string) => unknown,
  argument: string | undefined,
): Flag | undefined => {
  const value = argument === undefined || argument === '--' ? undefined : read(argument);
  return value === undefined ? undefined : { name, value, words: 2 };
};

/** The launch that these arguments ask for; undefined where only commander can tell. */
export const readLaunch = (argv: readonly string[]): RunRequest | undefined => {
  const given = new Map<Flag['name'], unknown>();
  let at = 0;
  for (let word = argv[0]; word?.startsWith('-') && word !== '--'; word = argv[at]) {
    const found = readFlag(word, argv[at + 1]);
    if (!found) return undefined;
    given.set(found.name, found.value);
    at += found.words;
  }
  const anyCommand = argv[at] === '--';
  const [word, ...args] = argv.slice(anyCommand ? at + 1 : at);
  if (word === undefined || !(anyCommand || agentWords.includes(word))) return undefined;
  const valuesOf = (names: readonly Flag['name'][]): object =>
    Object.fromEntries(names.flatMap((name) => (given.has(name) ? [[name, given.get(name)]] : [])));
  const others = [...otherFlags.values()].map(({ name }) => name);
  return {
    kind: 'run',
    word,
    args,
    anyCommand,
    options: optionsOf(valuesOf(keysWithOption), valuesOf(others)),
  };
};
