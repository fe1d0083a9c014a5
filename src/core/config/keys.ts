import { footerItems, logLevels } from '../format.js';
import type { LadderChoice } from '../ladder.js';
import { notificationKinds } from './notification-kinds.js';
import { compactingKeys } from './compacting-keys.js';
import type { Key, WrittenValue } from './key.js';
import { summariserKeys } from './summariser.js';
import { theme, themeNames } from './theme.js';
import {
  choice,
  definitions,
  endpoint,
  flag,
  flagOr,
  escapeOrControlKey,
  hotkey,
  list,
  path,
  text,
  type ValueOf,
  type ValueType,
} from './value-types.js';
import { present } from '../present.js';

// The table of all configuration keys. Files, environment and command line are read and checked with it, and the JSON Schema, the
// documentation, the file of `config init` and the options in --help are generated from it.

// Keys about what a session displays, accepts, writes and runs.

const sessionKeys = {
  'watch.omc': {
    type: flag,
    fallback: false,
    doc: "Treat OMC's `.omc/state/compact-requested.json` in the session's folder as a request to compact.",
    option: { flag: '--watch-omc', help: "also compact when OMC requests it in the session's folder" },
    project: [true, false],
  },
  footer: {
    type: flagOr('quiet'),
    fallback: true,
    doc: 'Show the footer. `quiet` redraws it only when the tier or the kind of message changes, for screen readers. `false` leaves every row to the agent; ctxwrap then compacts automatically only if you have set `mode` to `auto`.',
    option: {
      flag: '--no-footer',
      help: 'leave every row to the agent; compact automatically only with an explicit --mode auto',
    },
  },
  'footer.items': {
    type: list(footerItems),
    doc: 'What the footer shows, in this order.',
    example: ['bar', 'percent', 'tier', 'message'],
    option: {
      flag: '--footer-items',
      takes: '<list>',
      help: `what the footer shows, in this order: ${footerItems.join(', ')}`,
    },
  },
  theme: {
    type: theme,
    fallback: 'auto',
    doc: 'Colours: `auto` asks the terminal for its background, `light`, `dark` and `contrast` are fixed, `mono` uses none. In a file, also an object with your own colours and bar cells.',
    option: { flag: '--theme', takes: '<name>', help: `colours: ${themeNames.join(', ')}` },
  },
  'metrics.textfile': {
    type: path,
    env: false,
    doc: "An existing folder in which each session keeps a file for Prometheus (node_exporter's textfile collector). Only numbers and names, no text and no paths.",
    example: '/var/lib/prometheus/node-exporter',
  },
  'metrics.otlp': {
    type: endpoint,
    env: false,
    doc: 'An OpenTelemetry collector (OTLP over HTTP) that gets the same numbers every 15 s. Nothing is sent unless you set this.',
    example: 'http://localhost:4318',
  },
  summary: {
    type: flag,
    fallback: true,
    doc: 'After a session with compactions, print one line about them.',
    option: { flag: '--no-summary', help: 'print no line about compactions after the session' },
  },
  tips: {
    type: flag,
    fallback: true,
    doc: 'Show an occasional tip about the window in the footer.',
    option: { flag: '--no-tips', help: 'show no tips in the footer' },
    project: [true, false],
  },
  'notify.on': {
    type: list(notificationKinds),
    doc: 'Notify you through the terminal when the window reaches auto or hard, a compaction fails, the agent waits in a dialog, or it compacts three times without a turn by you.',
    example: ['hard', 'failure', 'permission'],
    option: {
      flag: '--notify',
      takes: '<list>',
      help: `notify you through the terminal: ${notificationKinds.join(', ')}`,
    },
  },
  'notify.command': {
    type: text(1_000),
    doc: 'With `notify.on`, also run this command, with the notification as JSON on its standard input.',
    example: 'notify-send ctxwrap',
    option: {
      flag: '--notify-command',
      takes: '<command>',
      help: 'also run this command, with the notification as JSON on its standard input',
    },
  },
  hotkey: {
    type: hotkey,
    fallback: 'Ctrl-]', // not used by any agent or shell
    doc: 'The key that opens the overview, such as `Ctrl-G` or `^G`; `none` disables it. Press it twice to send it to the agent.',
    option: {
      flag: '--hotkey',
      takes: '<key>',
      help: 'key that opens the overview, e.g. ^G or C-g; none disables it',
    },
  },
  notNow: {
    type: escapeOrControlKey,
    fallback: 'Esc',
    doc: 'The key that says "not now" to a countdown. With any other key than `Esc`, such as `Ctrl-G`, Esc always reaches the agent, which vim users need.',
    option: {
      flag: '--not-now',
      takes: '<key>',
      help: 'key that says "not now" to a countdown; with any other key than Esc, Esc always reaches the agent',
    },
  },
  log: {
    type: path,
    doc: 'Append what ctxwrap does to this file. After 5 MB the file is renamed, with `.1` added to its name, and a new one begins.',
    example: '~/ctxwrap.log',
    option: { flag: '--log', takes: '<file>', help: 'append what ctxwrap does to a file' },
  },
  'log.level': {
    type: choice(...logLevels),
    fallback: 'info',
    doc: 'How much to log: `info` is everything, `warn` only problems, `error` only failures.',
    option: {
      flag: '--log-level',
      takes: '<level>',
      help: 'how much to log: info = everything, warn = problems, error = failures',
    },
  },
  'debug.text': {
    type: flag,
    fallback: false,
    doc: 'For debugging: also log the rows of the screen, and so parts of your conversation, whenever the number or the activity changes.',
    project: [true, false],
  },
  quiet: {
    type: flag,
    fallback: false,
    doc: 'Print nothing but errors.',
    option: { flag: '--quiet', short: '-q', help: 'print nothing but errors' },
  },
  'env.file': {
    type: path,
    doc: "A dotenv file that sets environment variables from this table. A project's `.env` is never read automatically.",
    example: '~/.config/ctxwrap/env',
    option: {
      flag: '--env-file',
      takes: '<file>',
      help: 'a dotenv file with variables such as CONTEXT_WINDOW_SIZE',
    },
  },
  runtimes: {
    type: definitions,
    env: false,
    doc: 'Your own agents by name, and changes to the built-in ones; see docs/internals/another-agent.md.',
  },
} as const satisfies Readonly<Record<string, Key>>;

export const keys = { ...compactingKeys, ...summariserKeys, ...sessionKeys } as const;

export type KeyName = keyof typeof keys;

type KeyWithFallback = {
  [K in KeyName]: (typeof keys)[K] extends { fallback: WrittenValue } ? K : never;
}[KeyName];
type Value<K extends KeyName> = ValueOf<(typeof keys)[K]['type']>;

/** The effective values by key. A key without a default is absent if nobody sets it. */
export type Values = { readonly [K in KeyWithFallback]: Value<K> } & {
  readonly [K in Exclude<KeyName, KeyWithFallback>]?: Value<K>;
};

export const keyNames = Object.keys(keys) as readonly KeyName[];

export const configKey = (name: KeyName): Key => keys[name];

export const isKeyName = (name: string): name is KeyName => Object.hasOwn(keys, name);

/** The default of a key, as used by the program. */
export const defaultValueOf = (name: KeyName): unknown => {
  const { type, fallback } = configKey(name);
  return fallback === undefined ? undefined : type.read(fallback);
};

/** A value as a file would contain it. */
export const toWritten = (name: KeyName, value: unknown): unknown => {
  const { type } = configKey(name);
  return value !== undefined && type.write ? type.write(value) : value;
};

/** The values of these keys; each was read with its key's type. */
export const toValues = (pairs: readonly (readonly [KeyName, unknown])[]): Values =>
  Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) as unknown as Values;

/** The values if nobody sets anything. */
export const defaultValues: Values = toValues(keyNames.map((name) => [name, defaultValueOf(name)]));

/** The current settings, which may change during a session. */
export interface CurrentSettings {
  readonly values: Values;
  /** the user has set the mode: by an option, in the environment, or in the user's file */
  readonly isModeGiven: boolean;
}

/** Whether copies of session files are kept: both names of the setting must allow it. */
export const isBlackBoxOn = ({ blackbox, checkpoint }: Values): boolean => blackbox === 'on' && checkpoint;

/**
 * The boundaries of the tiers from these values. Who names a backend has the 85 % of its documentation (8,192 tokens → 6,963). `custom` may
 * be any other program's BACKEND, and decides nothing.
 */
export const ladderChoice = ({
  ladder,
  warn,
  auto,
  hard,
  limits,
  backend = 'custom',
}: Values): LadderChoice => ({
  preset: ladder ?? (backend === 'custom' || auto !== undefined ? 'ladder' : 'percent'),
  ...present({ warn, auto, hard, limits }),
});

// Environment variables.

/** An environment variable and how it is read. */
export interface EnvName {
  readonly name: string;
  readonly key: KeyName;
  readonly type: ValueType;
}

/** `claude.statusLine` as CTXWRAP_CLAUDE_STATUS_LINE. */
export const ownEnvName = (key: KeyName): string =>
  `CTXWRAP_${key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase()}`;

/** All variables by precedence: ctxwrap's own before those of other programs. */
export const envNames: readonly EnvName[] = keyNames.flatMap((key) => {
  const { type, aliases = [], env } = configKey(key);
  if (env === false) return [];
  return [{ name: ownEnvName(key), key, type }, ...aliases.map((alias) => ({ type, ...alias, key }))];
});

/** Variables of ctxwrap that are not keys. */
export const otherEnvNames: readonly string[] = [
  'CTXWRAP_CONFIG',
  'CTXWRAP_DEMO_LOG',
  'CTXWRAP_DISABLE',
  'CTXWRAP_LEVEL',
  'CTXWRAP_SESSION',
  'CTXWRAP_SHELL',
];
