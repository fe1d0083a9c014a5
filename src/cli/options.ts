import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { launches } from '../agents/launches.js';
import { defaultValueOf, configKey, type keys, type KeyName, type Values } from '../core/config/keys.js';
import { type UserError } from '../core/errors.js';
import { MAX_FOCUS_LENGTH, quoteForCopying } from '../core/text.js';
import type { ControlPlace } from '../storage/control-place.js';
import { badValue, unknownChoice, unknownItem } from './messages.js';
import { workingFolder } from './print.js';
import { itemsIn, keysWithOption, optionsOf, parseAgent, readArgument } from './read-launch.js';
import type { Options } from './request.js';
import { fieldNames } from './template.js';
import { usageError } from './usage-error.js';

// The options before an agent's name: one for each key of the settings table that has a flag, and a few more. A wrong value throws an error
// that suggests the closest valid one.

/** The option that sets this key, from the table. */
export const keyOption = (key: KeyName): Option => {
  const { fallback, option, type } = configKey(key);
  const { flag = '', short, takes, help } = option ?? {};
  const name = short === undefined ? flag : `${short}, ${flag}`;
  if (takes === undefined) return new Option(name, help);
  const made = new Option(`${name} ${takes}`, help).argParser((text) => {
    const value = readArgument(type, text);
    if (value === undefined) throw wrongValue(key, flag, text);
    return value;
  });
  return fallback === undefined ? made : made.default(defaultValueOf(key), String(fallback));
};

/** Reads the argument of an option of one command as a key's value. */
export const parseValue =
  <K extends KeyName>(key: K, flag: string) =>
  (text: string): NonNullable<Values[K]> => {
    const { type } = configKey(key);
    const value = type.read(/^\d+$/.test(text) ? Number(text) : text);
    if (value === undefined) throw wrongValue(key, flag, text);
    return value as NonNullable<Values[K]>;
  };

const wrongValue = (key: KeyName, flag: string, text: string): UserError => {
  const { type, example, fallback = example } = configKey(key);
  const { choices = [], kind } = type;
  const right = String(fallback);
  switch (kind) {
    case 'choice':
      return unknownChoice(flag, text, choices);
    case 'list': {
      const wrong = itemsIn(text).find((item) => !choices.includes(item));
      return wrong === undefined
        ? badValue(flag, type.rule(), text, right)
        : unknownItem(flag, wrong, choices);
    }
    case 'path':
      return badValue(flag, 'the name of a file', text, right.replace(/.*\//, ''));
    case 'text':
      return badValue(flag, type.rule(), text, quoteForCopying(right));
    case 'focus': {
      const { length } = [...text.trim()];
      return length > MAX_FOCUS_LENGTH
        ? usageError(`--focus must be at most ${MAX_FOCUS_LENGTH} characters, got ${length}`, 'shorten it')
        : badValue(flag, type.rule(), text, quoteForCopying(right));
    }
    default:
      return badValue(flag, type.rule(text), text, type.nearest?.(text) ?? right);
  }
};

const parseFile =
  (flag: string, example: string) =>
  (text: string): string => {
    if (text === '') throw badValue(flag, 'the name of a file', text, example);
    return text;
  };

/** Accepts one of a few words. */
export const parseChoice =
  <T extends string>(flag: string, ...choices: readonly T[]) =>
  (text: string): T => {
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw unknownChoice(flag, text, choices);
    return choice;
  };

/** The words that a key takes, of a list for each item; none if any text may be right. */
export const valueChoices = (key: KeyName): readonly string[] => {
  const { kind, choices = [] } = configKey(key).type;
  return kind === 'flag' && choices.length === 0 ? ['true', 'false'] : choices;
};

/** The words an option takes, by option; for shell completion. */
export const optionChoices: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    keysWithOption.map(configKey).map(({ option, type }) => [option?.flag, type.choices ?? []]), // the first of a list
  ),
  '--runtime': launches.map(({ name }) => name),
  '--format': fieldNames.map((name) => `{${name}}`),
};

type KeyWithOption = {
  [K in KeyName]: (typeof keys)[K] extends { readonly option: object } ? K : never;
}[KeyName];

/** The headings of the options in --help and in the manual page, in their order. */
const topics = {
  compacting: 'Compacting:',
  window: 'Window and tiers:',
  display: 'Footer and overview:',
  notifying: 'Notifications:',
  recording: 'Recordings and logs:',
  general: 'General:',
} as const;

/** Every key that has an option belongs to one. */
const topicOf: Readonly<Record<KeyWithOption, keyof typeof topics>> = {
  mode: 'compacting',
  idle: 'compacting',
  draft: 'compacting',
  whenBusy: 'compacting',
  focus: 'compacting',
  strategy: 'compacting',
  proactive: 'compacting',
  'watch.omc': 'compacting',
  window: 'window',
  ladder: 'window',
  warn: 'window',
  auto: 'window',
  hard: 'window',
  atHard: 'compacting',
  'claude.statusLine': 'window',
  footer: 'display',
  'footer.items': 'display',
  theme: 'display',
  tips: 'display',
  summary: 'display',
  hotkey: 'display',
  notNow: 'display',
  'notify.on': 'notifying',
  'notify.command': 'notifying',
  log: 'recording',
  'log.level': 'recording',
  'env.file': 'general',
  quiet: 'general',
};

const inTopics = Object.keys(topicOf) as readonly KeyWithOption[];

/** The options with a key and those without, by topic; --version and --help come last. */
export const addOptions = (program: Command, version: string): Command => {
  for (const [topic, heading] of Object.entries(topics)) {
    program.optionsGroup(heading);
    if (topic === 'recording') addRecording(program);
    if (topic === 'general') addAgent(program);
    for (const key of inTopics) if (topicOf[key] === topic) program.addOption(keyOption(key));
  }
  return program
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help');
};

const addRecording = (program: Command): void => {
  program
    .option('--record <file>', 'record the session (asciicast v2)', parseFile('--record', 'session.cast'))
    .option('--record-input', 'also record your keys, passwords included');
};

/** A descriptor by its number, otherwise the path of a socket. */
const parseControl = (text: string): ControlPlace => {
  if (text === '') throw badValue('--control', 'a descriptor or the path of a socket', text, '3');
  return /^\d+$/.test(text) ? { fd: Number(text) } : { path: resolve(workingFolder(), text) };
};

const addAgent = (program: Command): void => {
  program
    .option(
      '--runtime <name|file>',
      'the agent that a command runs, or a JSON file that describes one',
      parseAgent,
    )
    .option(
      '--config <file>',
      'use this configuration instead of ~/.config/ctxwrap/config.jsonc',
      parseFile('--config', 'config.jsonc'),
    )
    .option(
      '--control <fd|socket>',
      'let the program that starts the session control it: docs/internals/events.md',
      parseControl,
    );
};

/** The same options after a command; they win over those before it. */
export type CommandOptions = Pick<Options, 'runtime'> & Pick<Options['flags'], 'window'>;

/** Parses the options on the command line. */
export const parseOptions = (program: Command, { runtime: agent, window }: CommandOptions = {}): Options => {
  const given = keysWithOption.flatMap((key) => {
    const attribute = keyOption(key).attributeName();
    const isGiven = program.getOptionValueSource(attribute) === 'cli';
    return isGiven ? [[key, program.getOptionValue(attribute) as unknown] as const] : [];
  });
  const flags: Options['flags'] = {
    ...Object.fromEntries(given),
    ...(window === undefined ? {} : { window }),
  };
  const own = program.opts<Omit<Options, 'flags' | 'values' | 'isModeGiven' | 'configured'>>();
  return optionsOf(flags, { ...own, runtime: agent ?? own.runtime });
};
