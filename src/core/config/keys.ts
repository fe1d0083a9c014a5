import { footerItems, logLevels } from '../format.js';
import type { LadderChoice } from '../ladder.js';
import { notificationKinds } from '../notifications.js';
import { backendNames } from './backends.js';
import { summariserKeys } from './summariser.js';
import { theme, themeNames } from './theme.js';
import {
  bound,
  bytes,
  choice,
  count,
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
  /** what sets it if nobody does: the running agent, or the ladder that is chosen */
  readonly setBy?: 'agent' | 'ladder';
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
    doc: 'When the window fills, `auto` compacts, `ask` suggests it, `warn` only displays; `off` disables ctxwrap and its footer. Without a footer (`--no-footer`) nothing is typed automatically unless you set `auto` here, with `--mode` or in the environment.',
    option: {
      flag: '--mode',
      takes: '<mode>',
      help: 'when the window fills: auto = compact, ask = suggest it, warn = display only, off = disable',
    },
    aliases: [{ name: 'CUSTOM_CONTEXT_COMPACTION', type: flagFor('auto', 'warn') }],
    project: ['auto', 'ask', 'warn', 'off'],
    isLive: true,
  },
  window: {
    type: tokens(),
    doc: 'The size of the context window in tokens: `200000`, `"200k"`, `"1M"`.',
    example: '200k',
    option: { flag: '--window', takes: '<tokens>', help: 'size of the context window: 200000, 200k, 1M' },
    aliases: [{ name: 'CONTEXT_WINDOW_SIZE', type: tokens(1_000, 2_000_000) }],
    setBy: 'agent',
    isLive: true,
  },
  ladder: {
    type: choice('ladder', 'percent', 'handoff'),
    fallback: 'ladder',
    doc: 'Where the tiers begin: `ladder` measures from the end of the window, `percent` uses 70/85/95 %, `handoff` uses 70/85 % and never types automatically.',
    option: {
      flag: '--ladder',
      takes: '<name>',
      help: 'where the tiers begin: ladder, percent (70/85/95%), handoff (70/85%)',
    },
    isLive: true,
  },
  warn: {
    type: bound,
    doc: 'Where the tier warn begins: `"80%"` of the window, or tokens such as `"150k"`.',
    example: '70%',
    option: { flag: '--warn', takes: '<bound>', help: 'where warn begins: 80%, 150k, 150000' },
    setBy: 'ladder',
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
    setBy: 'ladder',
    isLive: true,
  },
  hard: {
    type: bound,
    doc: 'Where the tier hard begins.',
    example: '95%',
    option: { flag: '--hard', takes: '<bound>', help: 'where hard begins' },
    setBy: 'ladder',
    isLive: true,
  },
  idle: {
    type: choice('off', 'compact'),
    fallback: 'off',
    doc: 'When the agent is idle with at least 60 % of the window used and its prompt cache is about to expire, `compact` compacts at the last warm moment, once until your next turn. This needs the mode `auto` and an agent that reports when the cache expires.',
    option: {
      flag: '--idle',
      takes: '<what>',
      help: 'before the prompt cache of an idle agent expires: off, compact (from 60% on)',
    },
    project: ['compact', 'off'],
    isLive: true,
  },
  draft: {
    type: choice('hold', 'stash'),
    fallback: 'hold',
    doc: 'With unsent text in the prompt, `hold` waits until it is gone; `stash` sets it aside if the agent can.',
    option: {
      flag: '--draft',
      takes: '<what>',
      help: 'with unsent text in the prompt: hold = wait, stash = set it aside if the agent can',
    },
    project: ['stash', 'hold'],
  },
  whenBusy: {
    type: choice('wait', 'queue'),
    fallback: 'wait',
    doc: "While the agent works, `wait` for it, or `queue` the command in the agent's own queue if it has one.",
    option: {
      flag: '--when-busy',
      takes: '<what>',
      help: "while the agent works: wait, or queue = use the agent's own queue",
    },
    project: ['queue', 'wait'],
    isLive: true,
  },
  focus: {
    type: focus,
    doc: 'What the summary must keep. It is typed after the compact command if the agent accepts a text there.',
    example: 'the failing tests',
    option: {
      flag: '--focus',
      takes: '<text>',
      help: 'what the summary must keep, if the agent accepts a text',
    },
    isLive: true,
  },
  proactive: {
    type: flag,
    fallback: true,
    careful: false,
    doc: 'At warn, also count the text since the last number: if both together reach auto, compact, at most once every ten minutes.',
    option: { flag: '--no-proactive', help: "don't treat a burst of new text at warn as auto" },
    project: [true, false],
    isLive: true,
  },
  'hold.native': {
    type: flag,
    fallback: false,
    doc: 'Keep Claude from compacting on its own, which can happen in the middle of a turn, until hard is reached.',
    project: [true, false],
  },
  'handoff.after': {
    type: count(0, 100),
    fallback: 4,
    doc: 'After this many compactions in a session, the footer offers a handoff to a new one (`ctxwrap handoff`), and again after as many more; `0` never does.',
  },
  strategy: {
    type: choice('auto', 'summarize', 'truncate', 'clustering'),
    fallback: 'auto',
    doc: "How a conversation is shortened: `auto` uses the agent's own command.",
    aliases: [{ name: 'COMPACTION_STRATEGY' }],
    isPending: true,
  },
  blackbox: {
    type: choice('on', 'off'),
    fallback: 'on',
    careful: 'off', // it holds what was said
    doc: "Keep the agent's session file, and a copy of it before each compaction, readable only by you; see docs/blackbox.md.",
    aliases: [{ name: 'CHECKPOINT_BEFORE_COMPACTION', type: flagFor('on', 'off') }],
    project: ['on', 'off'],
    isLive: true,
  },
  'blackbox.limit': {
    type: bytes(10_000_000, 10_000_000_000_000),
    fallback: '2GB',
    doc: 'The disk space that the black box may use; one session may use a quarter of it. The oldest copies are removed first.',
    example: '500MB',
    isLive: true,
  },
  checkpoint: {
    type: flag,
    fallback: true,
    careful: false,
    doc: 'Another name for `blackbox`: `false` disables it.',
    project: [true, false],
    isLive: true,
  },
  backend: {
    type: choice(...backendNames),
    otherwise: 'custom',
    doc: 'The kind of model that answers. Its window, marked `?`, is used only if nothing else reports one, and never triggers anything by itself.',
    example: 'ollama',
    aliases: [{ name: 'BACKEND' }],
  },
  'claude.million': {
    type: flag,
    fallback: false,
    doc: "Assume a window of one million tokens, marked `?`, for Claude's models if nothing else reports one.",
    aliases: [{ name: 'ANTHROPIC_1M_CONTEXT' }],
  },
  'claude.statusLine': {
    type: choice('auto', 'on', 'off'),
    fallback: 'auto',
    doc: "Get exact numbers through Claude's status line: `auto` if you have one of your own or nothing else reports the window, `on`, `off`.",
    option: {
      flag: '--claude-status-line',
      takes: '<when>',
      help: "get exact numbers through Claude's status line: auto = if you have one or the window is unknown, on, off",
    },
    project: ['on', 'auto', 'off'],
  },
} as const satisfies Readonly<Record<string, Key>>;

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
    type: flag,
    fallback: true,
    doc: 'Show the footer. `false` leaves every row to the agent; ctxwrap then compacts automatically only if you have set `mode` to `auto`.',
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
    doc: 'Notify you through the terminal when the window reaches auto or hard, a compaction fails, the agent waits in a dialog, or it compacts three times without a turn of yours.',
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
    doc: "A dotenv file of yours that sets environment variables from this table. A project's `.env` is never read automatically.",
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
    doc: 'Your own agents by name, and changes to the built-in ones; see docs/configuration.md.',
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
