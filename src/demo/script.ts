import { countAt, isRecord, textAt, type JsonRecord } from '../core/json.js';
import { UserError } from '../core/user-error.js';
import { keyNames, type KeyName } from './keys.js';
import { modeNames, type ModeName } from './modes.js';
import { compactWays, ignorableKeys, type CompactWay, type IgnorableKey } from './quirks.js';

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
 * - `suspend-hang`: on Ctrl-Z prints what Claude prints and is deaf until SIGCONT
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
