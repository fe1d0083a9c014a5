import { footerItems, logLevels } from '../format.js';
import type { LadderChoice } from '../ladder.js';
import { notificationKinds } from '../notifications.js';
import { backendNames } from './backends.js';
import { theme, themeNames } from './theme.js';
import {
  bound,
  choice,
  definitions,
  endpoint,
  flag,
  flagFor,
  focus,
  hotkey,
  list,
  path,
  percent,
  text,
  tokens,
  type ValueOf,
  type ValueType,
} from './value-types.js';

// The table of all configuration keys. Files, environment and command line are read and checked with it, and the JSON Schema, the
// documentation, the file of `config init` and the options in --help are generated from it.

/** A value as written in a file. */
export type WrittenValue = boolean | number | string | readonly string[];

/** Another environment variable for a key, as other programs use it. */
export interface EnvAlias {
  readonly name: string;
  /** its format, if it differs from the key's */
  readonly type?: ValueType;
}

/** The command line option of a key. */
export interface KeyOption {
  /** `--no-NAME` sets false */
  readonly flag: string;
  readonly short?: string;
  /** name of its argument; absent for an option without one */
  readonly takes?: string;
  /** text for --help */
  readonly help: string;
}

export interface Key {
  readonly type: ValueType;
  /** the default value; absent if the agent reports the value, or if there is none */
  readonly fallback?: WrittenValue;
  /**
   * used in place of an invalid value if the default would do more than the user may have intended; otherwise an invalid value is ignored
   */
  readonly careful?: WrittenValue;
  /** used in place of any other text, with a warning only */
  readonly otherwise?: WrittenValue;
  /** one sentence for the user */
  readonly doc: string;
  /** a value for the example, if the default does not show the format */
  readonly example?: WrittenValue;
  readonly option?: KeyOption;
  readonly aliases?: readonly EnvAlias[];
  /** false if it cannot be set in the environment */
  readonly env?: false;
  /** values that a project's file may set, from the one that does most to the one that does least; it can only move towards the end */
  readonly project?: readonly WrittenValue[];
  /** reported by the running agent if nobody sets it */
  readonly isTold?: true;
  /** a change in the user's file takes effect in running sessions */
  readonly isLive?: true;
  /** known and checked, but not used yet */
  readonly isPending?: true;
}

// Keys about how full a window is and what to do about it.

const compactingKeys = {
  mode: {
    type: choice('auto', 'ask', 'warn', 'off'),
    fallback: 'auto',
    careful: 'warn', // if the intended value is unclear, nothing is typed
    doc: 'At a full window `auto` compacts, `ask` proposes, `warn` shows; `off` observes nothing and has no footer. Without a footer (`--no-footer`) nothing is typed by itself unless you set `auto` here, by `--mode` or in the environment.',
    option: {
      flag: '--mode',
      takes: '<mode>',
      help: 'at a full window: auto compacts, ask asks, warn shows; off: nothing is observed',
    },
    aliases: [{ name: 'CUSTOM_CONTEXT_COMPACTION', type: flagFor('auto', 'warn') }],
    project: ['auto', 'ask', 'warn', 'off'],
    isLive: true,
  },
  window: {
    type: tokens(),
    doc: 'The size of the context window in tokens: `200000`, `"200k"`, `"1M"`.',
    example: '200k',
    option: { flag: '--window', takes: '<tokens>', help: 'the size of the context window: 200000, 200k, 1M' },
    aliases: [{ name: 'CONTEXT_WINDOW_SIZE', type: tokens(1_000, 2_000_000) }],
    isTold: true,
    isLive: true,
  },
  ladder: {
    type: choice('ladder', 'percent', 'handoff'),
    fallback: 'ladder',
    doc: "Where the tiers begin: `ladder` counts from the window's end, `percent` is 70/85/95 %, `handoff` 70/85 % and never types by itself.",
    option: {
      flag: '--ladder',
      takes: '<name>',
      help: 'where the tiers begin: ladder, percent (70/85/95), handoff (70/85)',
    },
    isLive: true,
  },
  warn: {
    type: bound,
    doc: 'Where the tier warn begins: `"80%"` of the window, or tokens such as `"150k"`.',
    example: '70%',
    option: { flag: '--warn', takes: '<bound>', help: 'where warn begins: 80%, 150k, 150000' },
    isTold: true,
    isLive: true,
  },
  auto: {
    type: bound,
    doc: 'Where the tier auto begins.',
    example: '85%',
    option: { flag: '--auto', takes: '<bound>', help: 'where auto begins' },
    aliases: [
      // lowered if the agent compacts earlier: it was set for agents that do not compact by themselves
      { name: 'COMPACTION_THRESHOLD_PCT', type: percent(50, 99) },
    ],
    isTold: true,
    isLive: true,
  },
  hard: {
    type: bound,
    doc: 'Where the tier hard begins.',
    example: '95%',
    option: { flag: '--hard', takes: '<bound>', help: 'where hard begins' },
    isTold: true,
    isLive: true,
  },
  idle: {
    type: choice('off', 'compact'),
    fallback: 'off',
    doc: 'While the agent rests with 60 % of the window used and more, and its prompt cache is about to go cold: `compact` compacts at the last warm moment, once until your next turn. Only where the agent states that moment, and in the mode `auto`.',
    option: {
      flag: '--idle',
      takes: '<what>',
      help: 'before the prompt cache of a resting agent goes cold: off, compact (from 60% on)',
    },
    project: ['compact', 'off'],
    isLive: true,
  },
  draft: {
    type: choice('hold', 'stash'),
    fallback: 'hold',
    doc: 'A draft in the prompt: `hold` waits until it is gone, `stash` puts it aside where the agent can.',
    option: {
      flag: '--draft',
      takes: '<what>',
      help: 'a draft in the prompt: hold (wait until it is gone), stash (put it aside, where the agent can)',
    },
    project: ['stash', 'hold'],
  },
  whenBusy: {
    type: choice('wait', 'queue'),
    fallback: 'wait',
    doc: "While the agent works: `wait`, or `queue` in the agent's own queue where it has one.",
    option: {
      flag: '--when-busy',
      takes: '<what>',
      help: "while the agent works: wait, queue (in the agent's own queue)",
    },
    project: ['queue', 'wait'],
    isLive: true,
  },
  focus: {
    type: focus,
    doc: 'What the summary must keep, where the agent takes that; it is typed behind the command.',
    example: 'the failing tests',
    option: {
      flag: '--focus',
      takes: '<text>',
      help: 'what the summary must keep, where the agent takes that',
    },
    isLive: true,
  },
  proactive: {
    type: flag,
    fallback: true,
    careful: false,
    doc: 'At warn, text since the last number counts: when both together reach auto, that is auto, at most every ten minutes.',
    option: { flag: '--no-proactive', help: 'at warn, text since the last number does not count' },
    project: [true, false],
    isLive: true,
  },
  'hold.native': {
    type: flag,
    fallback: false,
    doc: "Claude's own compaction, which may come in the middle of a turn, is held back until hard is reached.",
    project: [true, false],
  },
  strategy: {
    type: choice('auto', 'summarize', 'truncate', 'clustering'),
    fallback: 'auto',
    doc: "How a conversation is made shorter: `auto` is the agent's own command.",
    aliases: [{ name: 'COMPACTION_STRATEGY' }],
    isPending: true,
  },
  checkpoint: {
    type: flag,
    fallback: true,
    doc: 'Keep what is needed to undo a compaction before one is asked for.',
    aliases: [{ name: 'CHECKPOINT_BEFORE_COMPACTION' }],
    project: [false, true],
    isPending: true,
  },
  backend: {
    type: choice(...backendNames),
    otherwise: 'custom',
    doc: 'What kind of model answers. Its window is used, marked `?`, only where nothing else tells one; it starts nothing by itself.',
    example: 'ollama',
    aliases: [{ name: 'BACKEND' }],
  },
  'claude.million': {
    type: flag,
    fallback: false,
    doc: "Claude's models have a window of one million tokens, marked `?`, where nothing else tells one.",
    aliases: [{ name: 'ANTHROPIC_1M_CONTEXT' }],
  },
  'claude.statusLine': {
    type: choice('auto', 'on', 'off'),
    fallback: 'auto',
    doc: 'Ask Claude for exact numbers through its status line: `auto` where you have one of your own or nothing else tells the window, `on`, `off`.',
    option: {
      flag: '--claude-status-line',
      takes: '<when>',
      help: 'ask Claude for exact numbers through its status line: auto (where you have one, or the window is not known), on, off',
    },
    project: ['on', 'auto', 'off'],
  },
} as const satisfies Readonly<Record<string, Key>>;

// Keys about what a session displays, accepts, writes and runs.

const sessionKeys = {
  'watch.omc': {
    type: flag,
    fallback: false,
    doc: "OMC's `.omc/state/compact-requested.json` in the session's folder counts as a request to compact.",
    option: { flag: '--watch-omc', help: "also compact when OMC asks for it in the session's folder" },
    project: [true, false],
  },
  footer: {
    type: flag,
    fallback: true,
    doc: 'Show the footer; `false` leaves all rows to the agent, and compacts by itself only with a `mode` that you have set to `auto`.',
    option: {
      flag: '--no-footer',
      help: 'leave all rows to the agent; compacts by itself only with an explicit --mode auto',
    },
  },
  'footer.items': {
    type: list(footerItems),
    doc: 'What the footer shows, in this order.',
    example: ['bar', 'percent', 'tier', 'message'],
    option: {
      flag: '--footer-items',
      takes: '<list>',
      help: `what the footer shows, in this order: ${footerItems.join(',')}`,
    },
  },
  theme: {
    type: theme,
    fallback: 'auto',
    doc: 'The colours: `auto` asks the terminal for its background; `light`, `dark`, `contrast`; `mono` has none. In a file also an object with your own colours and bar cells.',
    option: { flag: '--theme', takes: '<name>', help: `colours: ${themeNames.join(', ')}` },
  },
  'metrics.textfile': {
    type: path,
    env: false,
    doc: "An existing folder, in which each session keeps a file for Prometheus: node_exporter's textfile collector reads it. Numbers alone, no text and no paths.",
    example: '/var/lib/prometheus/node-exporter',
  },
  'metrics.otlp': {
    type: endpoint,
    env: false,
    doc: 'An OpenTelemetry collector (OTLP over HTTP) that gets the same numbers every 15 s. Nothing is sent anywhere unless you set this.',
    example: 'http://localhost:4318',
  },
  summary: {
    type: flag,
    fallback: true,
    doc: 'After a session with compactions, print one line about them.',
    option: { flag: '--no-summary', help: 'print no line about the compactions after the session' },
  },
  tips: {
    type: flag,
    fallback: true,
    doc: 'Seldom, a fact about the window in the footer.',
    option: { flag: '--no-tips', help: 'no tips in the footer' },
    project: [true, false],
  },
  'notify.on': {
    type: list(notificationKinds),
    doc: 'Call you through the terminal when the window reaches auto or hard, a compaction fails, the agent waits in a dialog, or it compacts three times without a turn of yours.',
    example: ['hard', 'failure', 'permission'],
    option: {
      flag: '--notify',
      takes: '<list>',
      help: `call you through the terminal: ${notificationKinds.join(',')}`,
    },
  },
  'notify.command': {
    type: text(1_000),
    doc: 'With `notify.on`, run this, too, with the notification as JSON on its standard input.',
    example: 'notify-send ctxwrap',
    option: {
      flag: '--notify-command',
      takes: '<command>',
      help: 'run this, too, with the notification as JSON on its standard input',
    },
  },
  hotkey: {
    type: hotkey,
    fallback: 'Ctrl-]', // not used by any agent or shell
    doc: 'The key that is ours: `Ctrl-G`, `^G`, or `none`. Pressed twice it goes to the agent.',
    option: { flag: '--hotkey', takes: '<key>', help: 'the key that opens the overview: Ctrl-G, ^G, none' },
  },
  log: {
    type: path,
    doc: 'Append what ctxwrap does to this file. After 5 MB it becomes the old one, with `.1` behind its name.',
    example: '~/ctxwrap.log',
    option: { flag: '--log', takes: '<file>', help: 'append what the wrapper does to a file' },
  },
  'log.level': {
    type: choice(...logLevels),
    fallback: 'info',
    doc: 'What the log has: `info` everything, `warn` what did not go as it should, `error` what failed.',
    option: {
      flag: '--log-level',
      takes: '<level>',
      help: 'what the log has: info (everything), warn, error',
    },
  },
  'debug.text': {
    type: flag,
    fallback: false,
    doc: 'To find a fault: the log also holds the rows of the screen, and so what was said, whenever the number or the activity changes.',
    project: [true, false],
  },
  quiet: {
    type: flag,
    fallback: false,
    doc: 'Say nothing but errors.',
    option: { flag: '--quiet', short: '-q', help: 'say nothing but errors' },
  },
  'env.file': {
    type: path,
    doc: "A dotenv file of yours from which the environment names of this table are read; a project's `.env` never is by itself.",
    example: '~/.config/ctxwrap/env',
    option: {
      flag: '--env-file',
      takes: '<file>',
      help: 'a dotenv file with names of the environment, such as CONTEXT_WINDOW_SIZE',
    },
  },
  runtimes: {
    type: definitions,
    env: false,
    doc: 'Agents of your own by name, and changes to ours, as docs/configuration.md has them.',
  },
} as const satisfies Readonly<Record<string, Key>>;

export const keys = { ...compactingKeys, ...sessionKeys } as const;

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

/** The boundaries of the tiers from these values. */
export const ladderChoice = ({ ladder, warn, auto, hard }: Values): LadderChoice => ({
  preset: ladder,
  ...(warn ? { warn } : {}),
  ...(auto ? { auto } : {}),
  ...(hard ? { hard } : {}),
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
