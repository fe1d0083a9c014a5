import { countAt, isRecord, textAt, type JsonRecord, UserError } from '../core/json.js';
import { modeNames, type ModeName } from './draw.js';
import { keyNames, type KeyName, type Key } from './keys.js';
import {
  compactWays,
  ignorableKeys,
  type CompactWay,
  type IgnorableKey,
  lastPrompt,
  prompts,
} from './state.js';

/**
 * What the demo agent plays, one step after the other, from a JSON file: `[{"step":"type","text":"hi"}, …]`.
 * After the last step it stays and can be used by hand. Keys of the real keyboard work at any time besides.
 *
 * Steps of the user:
 * - `type`: types `text` key by key, one every `everyMs` (45)
 * - `key`: presses `key`, one of `keyNames`
 * - `wait`: `ms` milliseconds, or `until` the agent is `idle`, shows a `dialog`, or is `busy`
 *
 * Steps of the agent, the ordinary ones first:
 * - `say`: streams `text`, as after a prompt, and ends the turn with a log record
 * - `fill`: the next turn ends with `usedTokens` in the window
 * - `compact`: compacts; `trigger` is what the log says, `agent` or `user`
 * - `dialog`: asks for permission to run `command`; with `stuck` no key closes it
 * - `write`: sends `text` as it is to the terminal
 * - `log`: appends `line` as it is to the session log
 * - `exit`: leaves tidily with `code`
 * - `auto-compact`: compacts by itself after each turn that ends with `usedTokens` or more
 * - `never-idle`: is busy for ever; Ctrl-C twice still leaves
 * - `no-log`: writes no session log from here on
 * - `ignore`: ignores these `signals`
 * - `suspend-hang`: on Ctrl-Z prints that it is suspended and is deaf until SIGCONT
 * - `burst`: writes `megabytes` of numbered 64-byte lines as fast as the terminal takes them
 * - `modes`: turns terminal modes on and never off: all, or those in `names`
 * - `crash`: turns all modes on, then dies of `signal` or with `code` and restores nothing; `half` ends in the middle of a sequence
 * - `on-compact`: what becomes of `/compact` from here on, `how`: one of `compactWays`; `text` is the error of `fail`
 * - `ignore-keys`: these `keys`, of `ignorableKeys`, do nothing; none of them for an agent that hears again
 * - `dialog-behind`: asks for permission to run `command` as soon as `/compact` stands in the prompt, before Enter
 * - `close-output`: closes stdout and stderr and lives on for `ms`
 */
export type Step = UserStep | AgentStep;

type UserStep =
  | { readonly step: 'type'; readonly text: string; readonly everyMs: number }
  | { readonly step: 'key'; readonly key: KeyName }
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'wait'; readonly until: 'idle' | 'dialog' | 'busy' };

export type AgentStep =
  | { readonly step: 'say'; readonly text: string }
  | { readonly step: 'write'; readonly text: string }
  | { readonly step: 'log'; readonly line: string }
  | { readonly step: 'fill'; readonly usedTokens: number }
  | { readonly step: 'compact'; readonly trigger: 'agent' | 'user' }
  | { readonly step: 'dialog'; readonly command: string; readonly stuck: boolean }
  | { readonly step: 'exit'; readonly code: number }
  | { readonly step: 'never-idle' | 'no-log' | 'suspend-hang' }
  | { readonly step: 'ignore'; readonly signals: readonly string[] }
  | { readonly step: 'burst'; readonly megabytes: number }
  | { readonly step: 'modes'; readonly names: readonly ModeName[] }
  | { readonly step: 'crash'; readonly end: Crash; readonly half: boolean }
  | { readonly step: 'auto-compact'; readonly usedTokens: number }
  | { readonly step: 'on-compact'; readonly how: CompactWay; readonly text: string }
  | { readonly step: 'ignore-keys'; readonly keys: readonly IgnorableKey[] }
  | { readonly step: 'dialog-behind'; readonly command: string }
  | { readonly step: 'close-output'; readonly ms: number };

type Crash = { readonly signal: string } | { readonly code: number };

const usualTypingMs = 45;
const usualCommand = 'npm test';
const usualFailure = 'the model is overloaded';

export const parseScript = (text: string): readonly Step[] => {
  const steps = parseList(text);
  return steps.map((step, index) => {
    const parsed = isRecord(step) ? readStep(step) : undefined;
    if (parsed) return parsed;
    throw new UserError(`step ${index + 1} of the script is not understood: ${JSON.stringify(step)}`, {
      exitCode: 2,
    });
  });
};

const parseList = (text: string): readonly unknown[] => {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // the same message serves a text that is no JSON and JSON that is no list
  }
  throw new UserError('the script must be a JSON list of steps', { exitCode: 2 });
};

const readStep = (from: JsonRecord): Step | undefined =>
  readUserStep(from) ?? readAgentStep(from) ?? readMisbehaviour(from) ?? readQuirk(from);

const readUserStep = (from: JsonRecord): UserStep | undefined => {
  const text = textAt(from, 'text');
  switch (from['step']) {
    case 'type':
      return text === undefined
        ? undefined
        : { step: 'type', text, everyMs: countAt(from, 'everyMs') ?? usualTypingMs };
    case 'key': {
      const key = oneOf(keyNames, from['key']);
      return key && { step: 'key', key };
    }
    case 'wait': {
      const until = oneOf(['idle', 'dialog', 'busy'] as const, from['until']);
      const ms = countAt(from, 'ms');
      if (until) return { step: 'wait', until };
      return ms === undefined ? undefined : { step: 'wait', ms };
    }
    default:
      return undefined;
  }
};

const readAgentStep = (from: JsonRecord): AgentStep | undefined => {
  const text = textAt(from, 'text');
  const line = textAt(from, 'line');
  const usedTokens = countAt(from, 'usedTokens');
  switch (from['step']) {
    case 'say':
    case 'write':
      return text === undefined ? undefined : { step: from['step'], text };
    case 'log':
      return line === undefined ? undefined : { step: 'log', line };
    case 'fill':
      return usedTokens === undefined ? undefined : { step: 'fill', usedTokens };
    case 'compact':
      return { step: 'compact', trigger: oneOf(['agent', 'user'] as const, from['trigger']) ?? 'agent' };
    case 'dialog':
      return {
        step: 'dialog',
        command: textAt(from, 'command') ?? usualCommand,
        stuck: from['stuck'] === true,
      };
    case 'exit':
      return { step: 'exit', code: countAt(from, 'code') ?? 0 };
    default:
      return undefined;
  }
};

const readMisbehaviour = (from: JsonRecord): AgentStep | undefined => {
  const megabytes = countAt(from, 'megabytes');
  switch (from['step']) {
    case 'never-idle':
    case 'no-log':
    case 'suspend-hang':
      return { step: from['step'] };
    case 'ignore':
      return { step: 'ignore', signals: texts(from['signals']) };
    case 'burst':
      return megabytes === undefined ? undefined : { step: 'burst', megabytes };
    case 'modes': {
      const names = texts(from['names']);
      return { step: 'modes', names: modeNames.filter((name) => names.length === 0 || names.includes(name)) };
    }
    case 'crash':
      return { step: 'crash', end: readCrash(from), half: from['half'] === true };
    case 'close-output':
      return { step: 'close-output', ms: countAt(from, 'ms') ?? 0 };
    default:
      return undefined;
  }
};

const readQuirk = (from: JsonRecord): AgentStep | undefined => {
  const usedTokens = countAt(from, 'usedTokens');
  const how = oneOf(compactWays, from['how']);
  switch (from['step']) {
    case 'auto-compact':
      return usedTokens === undefined ? undefined : { step: 'auto-compact', usedTokens };
    case 'on-compact':
      return how && { step: 'on-compact', how, text: textAt(from, 'text') ?? usualFailure };
    case 'ignore-keys': {
      const names = texts(from['keys']);
      return { step: 'ignore-keys', keys: ignorableKeys.filter((key) => names.includes(key)) };
    }
    case 'dialog-behind':
      return { step: 'dialog-behind', command: textAt(from, 'command') ?? usualCommand };
    default:
      return undefined;
  }
};

const readCrash = (from: JsonRecord): Crash => {
  const signal = textAt(from, 'signal');
  return signal === undefined ? { code: countAt(from, 'code') ?? 1 } : { signal };
};

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

const oneOf = <T extends string>(allowed: readonly T[], value: unknown): T | undefined =>
  allowed.find((item) => item === value);

/** Somebody who plays a script: the user's keys and what the agent is told to do. */
export interface Player {
  readonly steps: readonly Step[];
  /** characters of the current `type` step that are typed already */
  readonly typed: number;
  /** nothing happens before; virtual milliseconds like every time of the demo */
  readonly notBefore: number;
}

/** What a player can see of the agent. */
export type Mood = 'idle' | 'busy' | 'dialog';

export type Move =
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'told'; readonly step: AgentStep };

export const playerOf = (steps: readonly Step[]): Player => ({ steps, typed: 0, notBefore: 0 });

export interface Played {
  readonly player: Player;
  readonly move?: Move;
}

/** The next move that is due, or the same player when there is none. At most one, so that the agent can answer it. */
export const play = (player: Player, mood: Mood, now: number): Played => {
  const [step] = player.steps;
  if (!step || now < player.notBefore) return { player };
  switch (step.step) {
    case 'type':
      return typeOne(player, step, now);
    case 'key':
      return { player: next(player), move: { type: 'key', key: { name: step.key } } };
    case 'wait':
      if ('ms' in step) return { player: { ...next(player), notBefore: now + step.ms } };
      return { player: mood === step.until ? next(player) : player };
    default:
      return { player: next(player), move: { type: 'told', step } };
  }
};

/** When the player wants to be asked again; undefined if it waits for the agent or has ended. */
export const playerDeadline = (player: Player, mood: Mood): number | undefined => {
  const [step] = player.steps;
  if (!step || (step.step === 'wait' && 'until' in step && step.until !== mood)) return undefined;
  return player.notBefore;
};

const typeOne = (player: Player, step: Extract<Step, { step: 'type' }>, now: number): Played => {
  const text = Array.from(step.text)[player.typed];
  if (text === undefined) return { player: next(player) };
  return {
    player: { ...player, typed: player.typed + 1, notBefore: now + step.everyMs },
    move: { type: 'key', key: { name: 'text', text } },
  };
};

const next = (player: Player): Player => ({ ...player, steps: player.steps.slice(1), typed: 0 });

const ask = (text: string): readonly Step[] => [
  { step: 'key', key: 'ctrl-u' }, // whatever somebody typed besides must not become part of the prompt
  { step: 'type', text, everyMs: 45 },
  { step: 'wait', ms: 350 },
  { step: 'key', key: 'enter' },
];

const answered: readonly Step[] = [
  { step: 'wait', until: 'idle' },
  { step: 'wait', ms: 1300 },
];

const approve: readonly Step[] = [
  { step: 'wait', until: 'dialog' },
  { step: 'wait', ms: 1800 },
  { step: 'key', key: 'enter' },
];

/** The minute that `ctxwrap demo` shows: eight turns up to hard, a compaction, one more turn, goodbye. */
export const story: readonly Step[] = [
  { step: 'wait', ms: 1500 },
  ...prompts.flatMap((prompt) => [
    ...ask(prompt),
    ...(prompt.startsWith('run ') ? approve : []),
    ...answered,
  ]),
  ...ask('/compact'),
  ...answered,
  ...ask(lastPrompt),
  ...answered,
  { step: 'wait', ms: 3000 },
  ...ask('/quit'),
];
