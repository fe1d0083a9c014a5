import { backendNames } from './backends.js';
import type { Key } from './key.js';
import { strategyNames } from '../strategies/names.js';
import {
  bound,
  bounds,
  bytes,
  choice,
  count,
  flag,
  flagFor,
  focus,
  modules,
  percent,
  strategyName,
  tokens,
} from './value-types.js';

// Keys about how full a window is and what to do about it.

export const compactingKeys = {
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
    doc: 'Where the tiers begin: `ladder` measures from the end of the window, `percent` uses 70/85/95 %; `handoff` uses 70/85 %, never types automatically, and writes a handoff at 85 %. With a `backend` other than `custom`, and without `auto`, the default is `percent`, as the documentation of BACKEND says.',
    example: 'percent',
    setBy: 'backend',
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
    doc: "A limit of your own: the tier auto begins there, so the conversation stays below it in any window. If the window is smaller, or the agent compacts earlier on its own, the ladder's auto applies. `warn` and `hard` follow it at 20k or 10 %, unless you set them.",
    example: '300k',
    option: {
      flag: '--auto',
      takes: '<bound>',
      help: 'a limit of your own, where auto begins: 300k, 85%; warn and hard follow it',
    },
    aliases: [
      // lowered if the agent compacts earlier: it was set for agents that do not compact by themselves
      { name: 'COMPACTION_THRESHOLD_PCT', type: percent(50, 99) },
    ],
    setBy: 'ladder',
    isLive: true,
  },
  limits: {
    type: bounds,
    outrankedBy: 'auto',
    doc: 'Limits that replace `auto` for some models: an object with a limit for each model name, in which `*` matches any characters. The first match counts. `auto` given as an option or in the environment overrides them all.',
    example: { '*opus*': '300k' },
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
  atHard: {
    type: choice('pass', 'hold'),
    fallback: 'pass',
    doc: 'When you press Enter at hard, `pass` sends your message as usual; `hold` holds Enter back once, if the footer is visible, and asks: Enter again sends, `Ctrl-] c` compacts first and sets your message aside if the agent can.',
    option: {
      flag: '--at-hard',
      takes: '<what>',
      help: 'when you send a message at hard: pass, hold = hold Enter back once and ask whether to compact first',
    },
  },
  idle: {
    type: choice('off', 'compact'),
    fallback: 'off',
    doc: 'When the agent is idle with at least 60 % of the window used, or warn reached, and its prompt cache is about to expire, `compact` compacts just before it does, once until your next turn. This needs mode `auto` and an agent that reports when the cache expires.',
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
  via: {
    type: choice('keys', 'channel'),
    fallback: 'keys',
    doc: 'How the agent is told to compact: `keys` types its command into the prompt; `channel` uses an interface of the agent (opencode: its server; codex: its background server), so that a draft stays in the prompt. If that does not answer, the command is typed. See docs/internals/channel.md.',
    project: ['channel', 'keys'],
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
  recall: {
    type: choice('ask', 'rules', 'off'),
    fallback: 'ask',
    doc: 'After a compaction: `ask` says in the footer what was forgotten, and you choose what the agent gets back; `rules` also gives back your rules and the open plan items automatically, once and in at most 1,000 tokens, if the agent accepts them without typing; `off` says nothing. See docs/memory.md.',
    project: ['rules', 'ask', 'off'],
  },
  focus: {
    type: focus,
    doc: 'What the summary must keep. It is typed after the compact command if the agent accepts a text there. `evidence` takes your rules, word for word, and the open plan items from the conversation; any other text is typed as it is.',
    example: 'evidence',
    option: {
      flag: '--focus',
      takes: '<text>',
      help: 'what the summary must keep, if the agent accepts a text; evidence = your rules and the open plan items',
    },
    isLive: true,
  },
  proactive: {
    type: flag,
    fallback: true,
    careful: false,
    doc: 'At warn, count new text that the last number does not include yet: if the sum reaches auto, compact, at most once every ten minutes.',
    option: { flag: '--no-proactive', help: "don't treat a burst of new text at warn as auto" },
    project: [true, false],
    isLive: true,
  },
  'hold.native': {
    type: flag,
    fallback: false,
    doc: 'Keep Claude from compacting on its own, possibly in the middle of a turn, until hard is reached.',
    project: [true, false],
  },
  'handoff.after': {
    type: count(0, 100),
    fallback: 4,
    doc: 'After every so many compactions of a conversation, the footer offers a handoff to a new one (`ctxwrap handoff`); `0` disables the offer.',
  },
  strategy: {
    type: strategyName('auto', ...strategyNames),
    doc: "How a conversation is shortened: `auto`, the default unless `backend` and `CUSTOM_CONTEXT_COMPACTION` say otherwise, uses the agent's own command; `truncate`, `summarize` (with a `summariser.url`), `clustering` and your own `strategies` work without it; see docs/internals/strategies.md.",
    example: 'truncate',
    option: {
      flag: '--strategy',
      takes: '<name>',
      help: "how a conversation is shortened: auto = the agent's own command, truncate, summarize, clustering, or your own",
    },
    aliases: [{ name: 'COMPACTION_STRATEGY' }],
  },
  strategies: {
    type: modules,
    env: false,
    doc: 'Your own strategies by name: JavaScript modules that export `compact`; see docs/internals/strategies.md.',
    example: { mine: '~/.config/ctxwrap/mine.js' },
  },
  keepRecent: {
    type: count(1, 1_000),
    fallback: 20,
    doc: 'How many of your last messages a strategy keeps word for word.',
  },
  apply: {
    type: choice('switch', 'restart'),
    fallback: 'switch',
    doc: 'How a running agent continues with the conversation that a strategy has shortened: `switch` uses its own command for another session; `restart` quits it with its own command and starts it again with the new session.',
  },
  onExhausted: {
    type: choice('offer', 'rescue'),
    fallback: 'offer',
    doc: 'When the agent cannot compact any more: `offer` shows the key that shortens the conversation without the agent, `rescue` does it, at most three times an hour.',
  },
  blackbox: {
    type: choice('on', 'off'),
    fallback: 'on',
    careful: 'off', // it holds what was said
    doc: "Keep the agent's session file, and a copy of it before each compaction, readable only by you; see docs/safety.md.",
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
    doc: 'The kind of model that answers. Its window, marked `?`, is used only if nothing else reports one, and never triggers anything.',
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
