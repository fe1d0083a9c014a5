import {
  type ControlKey,
  LEAST_TOKENS,
  MOST_TOKENS,
  controlKeyName,
  defaultHotkey,
  footerItems,
  logLevels,
} from '../format.js';
import type { JsonRecord } from '../json.js';
import type { Bound } from '../ladder.js';
import { notificationKinds } from '../notifications.js';

// What a key of the configuration is. The keys themselves are in keys.ts.

/** What may stand there, as data: the check, the JSON Schema and the documentation follow from it. */
export type ValueType =
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly otherwise?: string }
  | { readonly kind: 'flag' }
  /** a number of tokens, also as `200k` or `1M` */
  | { readonly kind: 'tokens'; readonly least: number; readonly most: number }
  /** a boundary of a tier: `80%` of the window, or tokens */
  | { readonly kind: 'bound' }
  /** a percentage, which becomes a boundary */
  | { readonly kind: 'percent'; readonly least: number; readonly most: number }
  | { readonly kind: 'text'; readonly longest: number }
  /** what a prompt may be given */
  | { readonly kind: 'focus' }
  /** the absolute path of a file, or one below `~/` */
  | { readonly kind: 'path' }
  | { readonly kind: 'hotkey' }
  /** several of these, each once */
  | { readonly kind: 'list'; readonly choices: readonly string[] }
  /** agents by name; what they may hold is the affair of the runtimes */
  | { readonly kind: 'definitions' };

/** A value as it is used. */
export type ValueOf<T extends ValueType> = T extends {
  kind: 'choice' | 'list';
  choices: readonly (infer C)[];
}
  ? T extends { kind: 'list' }
    ? readonly C[]
    : C
  : T extends { kind: 'flag' }
    ? boolean
    : T extends { kind: 'tokens' }
      ? number
      : T extends { kind: 'bound' | 'percent' }
        ? Bound
        : T extends { kind: 'hotkey' }
          ? ControlKey
          : T extends { kind: 'definitions' }
            ? Readonly<Record<string, JsonRecord>>
            : string;

/** A value as it is written in a file. */
export type Written = boolean | number | string | readonly string[];

/** Another name in the environment, as other programs and the documents before this one use it. */
export interface Alias {
  readonly name: string;
  /** how it is written there, where that is not as for the key */
  readonly type?: ValueType;
  /** what its values mean for the key */
  readonly means?: Readonly<Record<string, Written>>;
  /** what a wrong value counts as; the name is passed over when absent */
  readonly otherwise?: Written;
}

export interface Key {
  readonly type: ValueType;
  /** what holds when nobody says anything; absent where the agent itself tells, or there is nothing */
  readonly fallback?: Written;
  /** what a wrong value counts as, where the fallback would do more than the user may have wanted; otherwise it is passed over */
  readonly careful?: Written;
  /** one sentence for the user */
  readonly doc: string;
  /** a value that shows what is meant, where the fallback does not */
  readonly example?: Written;
  /** as on the command line; absent where there is none */
  readonly flag?: string;
  readonly aliases?: readonly Alias[];
  /** false where a text cannot hold it */
  readonly env?: false;
  /** what a project's file may set, from the value that does most to the one that does least; it can only go towards the end */
  readonly project?: readonly Written[];
  /** the agent tells while it runs, when nobody sets it */
  readonly isTold?: true;
  /** a change in the user's file holds for sessions that run, too */
  readonly isLive?: true;
  /** known and checked, but nothing uses it yet */
  readonly isPending?: true;
}

/** A key that is not used any more. */
export interface DeprecatedKey {
  /** what to write now; absent where nothing takes its place */
  readonly instead?: string;
  /** one sentence: since when, and what holds now */
  readonly doc: string;
}

// Kinds of models and the windows that they are taken to have, as the document that names BACKEND has them (verified there 2026-01-28).
// Agents tell better: these numbers are used only where nobody else gives one.

const backends = {
  claude: 200_000,
  openai: 128_000,
  gemini: 1_000_000,
  ollama: 8_192,
  vllm: 32_768,
  custom: 32_768,
} as const;

export type BackendName = keyof typeof backends;

const backendNames = Object.keys(backends) as readonly BackendName[];

const MILLION = 1_000_000;

// what their models have at most, as far as it is known; the models of the others are the user's own
const capacities: Readonly<Record<string, number>> = {
  claude: MILLION,
  openai: 1_047_576,
  gemini: 1_048_576,
};

/** The largest window in tokens that the models of this backend have; undefined where that is not known. */
export const backendCapacity = (backend: unknown): number | undefined =>
  typeof backend === 'string' && Object.hasOwn(capacities, backend) ? capacities[backend] : undefined;

/** The window in tokens that this backend's models are taken to have. */
export const backendWindow = (backend: BackendName, isMillion = false): number =>
  isMillion && backend === 'claude' ? MILLION : backends[backend];

interface Assumption {
  /** the agent is one whose own windows are known */
  readonly isKnown: boolean;
  /** the window in tokens that the user says its models have, where there is such a setting */
  readonly ownTokens?: number | undefined;
}

/** The window in tokens that is used where nobody tells one; undefined where the user has said nothing of it. */
export const assumedWindow = (
  backend: BackendName | undefined,
  { isKnown, ownTokens }: Assumption,
): number | undefined => {
  if (ownTokens !== undefined) return ownTokens;
  // what is custom about an agent that we know cannot be told from a variable of another program
  if (backend === undefined || (backend === 'custom' && isKnown)) return undefined;
  return backends[backend];
};

// The keys that say how full a window is, and what is done about it.

const bound = { kind: 'bound' } as const;
const flag = { kind: 'flag' } as const;

const compactingKeys = {
  mode: {
    type: { kind: 'choice', choices: ['auto', 'ask', 'warn', 'off'] },
    fallback: 'auto',
    careful: 'warn', // nothing is typed where what was meant has to be guessed
    doc: 'At a full window `auto` compacts, `ask` proposes, `warn` shows; `off` observes nothing and has no footer. Without a footer (`--no-footer`) nothing is typed by itself unless you set `auto` here, by `--mode` or in the environment.',
    flag: '--mode',
    aliases: [
      {
        name: 'CUSTOM_CONTEXT_COMPACTION',
        type: flag,
        means: { true: 'auto', false: 'warn' },
        otherwise: 'warn',
      },
    ],
    project: ['auto', 'ask', 'warn', 'off'],
    isLive: true,
  },
  window: {
    type: { kind: 'tokens', least: LEAST_TOKENS, most: MOST_TOKENS },
    doc: 'The size of the context window in tokens: `200000`, `"200k"`, `"1M"`.',
    example: '200k',
    flag: '--window',
    aliases: [{ name: 'CONTEXT_WINDOW_SIZE', type: { kind: 'tokens', least: 1_000, most: 2_000_000 } }],
    isTold: true,
    isLive: true,
  },
  ladder: {
    type: { kind: 'choice', choices: ['ladder', 'percent', 'handoff'] },
    fallback: 'ladder',
    doc: "Where the tiers begin: `ladder` counts from the window's end, `percent` is 70/85/95 %, `handoff` 70/85 % and never types by itself.",
    flag: '--ladder',
    isLive: true,
  },
  warn: {
    type: bound,
    doc: 'Where the tier warn begins: `"80%"` of the window, or tokens such as `"150k"`.',
    example: '70%',
    flag: '--warn',
    isTold: true,
    isLive: true,
  },
  auto: {
    type: bound,
    doc: 'Where the tier auto begins.',
    example: '85%',
    flag: '--auto',
    aliases: [
      // where the agent compacts before that by itself it gives way: it was not set for an agent with a compaction of its own
      { name: 'COMPACTION_THRESHOLD_PCT', type: { kind: 'percent', least: 50, most: 99 } },
    ],
    isTold: true,
    isLive: true,
  },
  hard: {
    type: bound,
    doc: 'Where the tier hard begins.',
    example: '95%',
    flag: '--hard',
    isTold: true,
    isLive: true,
  },
  draft: {
    type: { kind: 'choice', choices: ['hold', 'stash'] },
    fallback: 'hold',
    doc: 'A draft in the prompt: `hold` waits until it is gone, `stash` puts it aside where the agent can.',
    flag: '--draft',
    project: ['stash', 'hold'],
  },
  whenBusy: {
    type: { kind: 'choice', choices: ['wait', 'queue'] },
    fallback: 'wait',
    doc: "While the agent works: `wait`, or `queue` in the agent's own queue where it has one.",
    flag: '--when-busy',
    project: ['queue', 'wait'],
    isLive: true,
  },
  focus: {
    type: { kind: 'focus' },
    doc: 'What the summary must keep, where the agent takes that; it is typed behind the command.',
    example: 'the failing tests',
    flag: '--focus',
    isLive: true,
  },
  proactive: {
    type: flag,
    fallback: true,
    careful: false,
    doc: 'At warn, text since the last number counts: when both together reach auto, that is auto, at most every ten minutes.',
    flag: '--no-proactive',
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
    type: { kind: 'choice', choices: ['auto', 'summarize', 'truncate', 'clustering'] },
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
    type: { kind: 'choice', choices: backendNames, otherwise: 'custom' },
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
    type: { kind: 'choice', choices: ['auto', 'on', 'off'] },
    fallback: 'auto',
    doc: 'Ask Claude for exact numbers through its status line: `auto` where you have one of your own or nothing else tells the window, `on`, `off`.',
    flag: '--claude-status-line',
    project: ['on', 'auto', 'off'],
  },
} as const satisfies Readonly<Record<string, Key>>;

// The keys that say what a session shows, hears, writes and runs.

const path = { kind: 'path' } as const;

const sessionKeys = {
  'watch.omc': {
    type: flag,
    fallback: false,
    doc: "OMC's `.omc/state/compact-requested.json` in the session's folder counts as a request to compact.",
    flag: '--watch-omc',
    project: [true, false],
  },
  footer: {
    type: flag,
    fallback: true,
    doc: 'Show the footer; `false` leaves all rows to the agent, and compacts by itself only with a `mode` that you have set to `auto`.',
    flag: '--no-footer',
  },
  'footer.items': {
    type: { kind: 'list', choices: footerItems },
    doc: 'What the footer shows, in this order.',
    example: ['bar', 'percent', 'tier', 'message'],
    flag: '--footer-items',
  },
  theme: {
    type: { kind: 'choice', choices: ['auto', 'light', 'dark', 'mono'] },
    fallback: 'auto',
    doc: 'The colours of the footer.',
    flag: '--theme',
  },
  tips: {
    type: flag,
    fallback: true,
    doc: 'Seldom, a fact about the window in the footer.',
    flag: '--no-tips',
    project: [true, false],
  },
  'notify.on': {
    type: { kind: 'list', choices: notificationKinds },
    doc: 'Call you through the terminal when the window reaches auto or hard, a compaction fails, or the agent waits in a dialog.',
    example: ['hard', 'failure', 'permission'],
    flag: '--notify',
  },
  'notify.command': {
    type: { kind: 'text', longest: 1_000 },
    doc: 'With `notify.on`, run this, too, with the notification as JSON on its standard input.',
    example: 'notify-send ctxwrap',
    flag: '--notify-command',
  },
  hotkey: {
    type: { kind: 'hotkey' },
    fallback: controlKeyName(defaultHotkey),
    doc: 'The key that is ours: `Ctrl-G`, `^G`, or `none`. Pressed twice it goes to the agent.',
    flag: '--hotkey',
  },
  log: {
    type: path,
    doc: 'Append what ctxwrap does to this file. After 5 MB it becomes the old one, with `.1` behind its name.',
    example: '~/ctxwrap.log',
    flag: '--log',
  },
  'log.level': {
    type: { kind: 'choice', choices: logLevels },
    fallback: 'info',
    doc: 'What the log has: `info` everything, `warn` what did not go as it should, `error` what failed.',
    flag: '--log-level',
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
    flag: '--quiet',
  },
  'env.file': {
    type: path,
    doc: "A dotenv file of yours from which the environment names of this table are read; a project's `.env` never is by itself.",
    example: '~/.config/ctxwrap/env',
    flag: '--env-file',
  },
  runtimes: {
    type: { kind: 'definitions' },
    env: false,
    doc: 'Agents of your own by name, and changes to ours, as docs/configuration.md has them.',
  },
} as const satisfies Readonly<Record<string, Key>>;

// All keys of the configuration, once. Checks, the JSON Schema, the documentation, the file of `config init`, environment names and
// defaults are made of this table.

export const keys = { ...compactingKeys, ...sessionKeys } as const;

export type KeyName = keyof typeof keys;

/** Every value that somebody set, or that holds by itself. */
export type Values = { readonly [K in KeyName]?: ValueOf<(typeof keys)[K]['type']> };

export const keyNames = Object.keys(keys) as readonly KeyName[];

export const keyOf = (name: KeyName): Key => keys[name];

export const isKeyName = (name: string): name is KeyName => Object.hasOwn(keys, name);

/** Keys of earlier versions. They are ignored, and said once. */
export const deprecatedKeys: Readonly<Record<string, DeprecatedKey>> = {};
