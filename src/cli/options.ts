import { Option, type Command } from 'commander';
import type { StatusLineWish } from '../agents/agent.js';
import { runtimes } from '../agents/index.js';
import type { Mode } from '../core/compaction/state.js';
import { keyNames, keyOf } from '../core/config/keys.js';
import {
  readControlKey,
  type ControlKey,
  boundIn,
  LEAST_TOKENS,
  MOST_TOKENS,
  tokensIn,
  footerItems,
  logLevels,
  defaultHotkey,
} from '../core/format.js';
import { focusText, LONGEST_FOCUS } from '../core/json.js';
import type { Preset, Bound } from '../core/ladder.js';
import { notificationKinds } from '../core/notifications.js';
import { badValue, unknownItem, nearest, longFocus, unknownChoice } from './messages.js';

/** The first name that is none of the items, and the item it may have been meant for. */
export interface WrongItem<T extends string> {
  readonly wrong: string;
  readonly nearest: T | undefined;
}

/** Items in the order they were named; one that is named twice stands where it was first. */
export const readItems = <T extends string>(
  names: readonly string[],
  items: readonly T[],
): readonly T[] | WrongItem<T> => {
  const isItem = (name: string): name is T => items.some((item) => item === name);
  const wrong = names.find((name) => !isItem(name));
  if (wrong === undefined) return [...new Set(names.filter(isItem))];
  const close = nearest(wrong, items);
  return { wrong, nearest: items.find((item) => item === close) };
};

/** A list as it is written behind an option: `bar,percent`. */
export const parseItems =
  <T extends string>(flag: string, items: readonly T[], example: string) =>
  (text: string): readonly T[] => {
    const names = text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    if (names.length === 0) throw badValue(flag, `a list of ${items.join(', ')}`, text, example);
    const read = readItems(names, items);
    if ('wrong' in read) throw unknownItem(flag, read, items);
    return read;
  };

/** The control byte of a key as people write it: `Ctrl-]`, `ctrl+g`, `C-g`, `^G`. */
export const parseHotkey = (text: string): ControlKey => {
  const key = readControlKey(text);
  if (typeof key === 'object') throw badValue('--hotkey', key.rule, text, 'Ctrl-]');
  return key;
};

// What the values of options mean. A wrong one is an error that says what would be right.

const modes: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

export const parseMode = (text: string): Mode => {
  const mode = modes.find((each) => each === text);
  if (mode === undefined) throw unknownChoice('--mode', text, modes);
  return mode;
};

const statusLineWishes: readonly StatusLineWish[] = ['auto', 'on', 'off'];

export const parseStatusLine = (text: string): StatusLineWish => {
  const wish = statusLineWishes.find((each) => each === text);
  if (wish === undefined) throw unknownChoice('--claude-status-line', text, statusLineWishes);
  return wish;
};

/** A runtime by its name, of ours or of the user's configuration, or the file that defines one; neither is looked up here. */
export type RuntimeOption = { readonly name: string } | { readonly file: string };

export const parseRuntime = (text: string): RuntimeOption =>
  text.endsWith('.json') || text.includes('/') ? { file: text } : { name: text };

export const parseWindow = (text: string): number => {
  const tokens = tokensIn(text);
  if (tokens >= LEAST_TOKENS && tokens <= MOST_TOKENS) return tokens;
  const better = tokens > MOST_TOKENS ? '10M' : tokens < LEAST_TOKENS ? '1k' : '200k';
  throw badValue('--window', 'a number of tokens from 1k to 10M', text, better);
};

export const parseBound =
  (flag: string) =>
  (text: string): Bound => {
    const bound = boundIn(text);
    if (bound) return bound;
    const bare = tokensIn(text); // 80 for 80%
    const better = bare >= 1 && bare <= 100 ? `${bare}%` : '80%';
    throw badValue(flag, 'a percentage from 1% to 100% or a number of tokens from 1k to 10M', text, better);
  };

const presets: readonly Preset[] = ['ladder', 'percent', 'handoff'];

export const parsePreset = (text: string): Preset => {
  const preset = presets.find((each) => each === text);
  if (preset === undefined) throw unknownChoice('--ladder', text, presets);
  return preset;
};

/** The words that an option takes, by the option; for shells that complete them. */
export const optionChoices: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    keyNames.map(keyOf).flatMap(
      ({ flag, type }) => (flag !== undefined && 'choices' in type ? [[flag, type.choices] as const] : []), // the first of a list
    ),
  ),
  '--runtime': Object.keys(runtimes),
};

const parseText =
  (flag: string, example: string) =>
  (text: string): string => {
    if (text.trim() === '') throw badValue(flag, 'a text', text, example);
    return text;
  };

const parseFile =
  (flag: string, example: string) =>
  (text: string): string => {
    if (text === '') throw badValue(flag, 'the name of a file', text, example);
    return text;
  };

/** One of a few words. */
export const parseChoice =
  <T extends string>(flag: string, ...choices: readonly T[]) =>
  (text: string): T => {
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw unknownChoice(flag, text, choices);
    return choice;
  };

export const parseFocus = (text: string): string => {
  const focus = focusText(text);
  if (focus === undefined) throw badValue('--focus', 'a text', text, '"the failing tests"');
  const { length } = [...text.trim()];
  if (length > LONGEST_FOCUS) throw longFocus(length, LONGEST_FOCUS);
  return focus;
};

// The options that stand before an agent's name.

/** Adds them; a wrong value throws what is wrong, and the nearest right one. */
export const addOptions = (program: Command): Command =>
  addOwn(addFooter(addCompacting(addReading(program))));

const addReading = (program: Command): Command =>
  program
    .option(
      '--mode <mode>',
      'at a full window: auto compacts, ask asks, warn shows; off: nothing is observed',
      parseMode,
      'auto',
    )
    .option('--window <tokens>', 'the size of the context window: 200000, 200k, 1M', parseWindow)
    .option(
      '--ladder <name>',
      'where the tiers begin: ladder, percent (70/85/95), handoff (70/85)',
      parsePreset,
    )
    .option('--warn <bound>', 'where warn begins: 80%, 150k, 150000', parseBound('--warn'))
    .option('--auto <bound>', 'where auto begins', parseBound('--auto'))
    .option('--hard <bound>', 'where hard begins', parseBound('--hard'))
    .option('--runtime <name|file>', 'which agent a command is, or a JSON file that defines it', parseRuntime)
    .option(
      '--claude-status-line <when>',
      'ask Claude for exact numbers through its status line: auto (where you have one, or the window is not known), on, off',
      parseStatusLine,
      'auto',
    );

const addCompacting = (program: Command): Command =>
  program
    .option(
      '--draft <what>',
      'a draft in the prompt: hold (wait until it is gone), stash (put it aside, where the agent can)',
      parseChoice('--draft', 'hold', 'stash'),
    )
    .option(
      '--when-busy <what>',
      "while the agent works: wait, queue (in the agent's own queue)",
      parseChoice('--when-busy', 'wait', 'queue'),
    )
    .option('--focus <text>', 'what the summary must keep, where the agent takes that', parseFocus)
    .option('--no-proactive', 'at warn, text since the last number does not count')
    .option('--watch-omc', "also compact when OMC asks for it in the session's folder");

const addFooter = (program: Command): Command =>
  program
    .option(
      '--notify <list>',
      `call you through the terminal: ${notificationKinds.join(',')}`,
      parseItems('--notify', notificationKinds, 'hard,failure,permission'),
    )
    .option(
      '--notify-command <command>',
      'run this, too, with the notification as JSON on its standard input',
      parseText('--notify-command', "'notify-send ctxwrap'"),
    )
    .option('--no-tips', 'no tips in the footer')
    .option(
      '--no-footer',
      'leave all rows to the agent; compacts by itself only with an explicit --mode auto',
    )
    .option(
      '--footer-items <list>',
      `what the footer shows, in this order: ${footerItems.join(',')}`,
      parseItems('--footer-items', footerItems, 'bar,percent,tier'),
    )
    .option(
      '--theme <name>',
      'colours of the footer: auto, light, dark, mono',
      parseChoice('--theme', 'auto', 'light', 'dark', 'mono'),
    );

const addOwn = (program: Command): Command =>
  program
    .option('--record <file>', 'record the session (asciicast v2)', parseFile('--record', 'session.cast'))
    .option('--record-input', 'record the keys, too')
    .addOption(
      new Option('--hotkey <key>', 'the key that opens the overview: Ctrl-G, ^G, none')
        .argParser(parseHotkey)
        .default(defaultHotkey, 'Ctrl-]'),
    )
    .option('--log <file>', 'append what the wrapper does to a file', parseFile('--log', 'ctxwrap.log'))
    .option(
      '--log-level <level>',
      'what the log has: info (everything), warn, error',
      parseChoice('--log-level', ...logLevels),
    )
    .option(
      '--config <file>',
      'your configuration, in place of ~/.config/ctxwrap/config.jsonc',
      parseFile('--config', 'config.jsonc'),
    )
    .option(
      '--env-file <file>',
      'a dotenv file with names of the environment, such as CONTEXT_WINDOW_SIZE',
      parseFile('--env-file', 'ctxwrap.env'),
    )
    .option('-q, --quiet', 'say nothing but errors');
