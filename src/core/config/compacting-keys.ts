// The keys that say how full a window is, and what is done about it.
import { LEAST_TOKENS, MOST_TOKENS } from '../amount.js';
import { backendNames } from './backends.js';
import type { Key } from './key.js';

const bound = { kind: 'bound' } as const;
const flag = { kind: 'flag' } as const;

export const compactingKeys = {
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
    doc: 'At warn, text since the last number counts: when both together reach auto, that is auto.',
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
