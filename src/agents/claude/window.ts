import type { NativeTrigger, TriggerException, TriggerRule } from '../../core/build-ladder.js';
import { present } from '../../core/present.js';
import type { PercentBasis, Reading, WindowClaim, WindowSource } from '../../core/reading.js';
import type { Env } from '../agent.js';
import { FULL, type Refusal } from '../shown-text.js';
import { isBefore } from '../tested.js';

// A canonical name for a model, and what a shown name says about the window.

const LARGE_MARK = /\s*(?:\(1m context\)|\[1m\])/i;

/** `Opus 4.8 (1M context)`, `claude-opus-4-8[1m]` and `us.anthropic.claude-opus-4-8-20260101-v1:0` are all `claude-opus-4-8`. */
export const modelKey = (name: string): string => {
  const plain = name.toLowerCase().replace(LARGE_MARK, '').trim();
  const [, family, major, minor] = /^([a-z]+) (\d+)(?:\.(\d+))?$/.exec(plain) ?? [];
  if (family !== undefined && major !== undefined)
    return minor === undefined ? `claude-${family}-${major}` : `claude-${family}-${major}-${minor}`;
  const id = /claude-[a-z0-9.-]+/.exec(plain)?.[0];
  if (id === undefined) return plain;
  return id
    .replace(/-(?:20\d{6}|v\d|latest).*$/, '')
    .replace(/^claude-(\d[\d-]*)-([a-z]+)$/, 'claude-$2-$1') // the order of the third generation
    .replace(/^(claude-[a-z]+-\d)-0$/, '$1');
};

/** The name is marked with the large window. */
const isMarkedLarge = (name: string): boolean => LARGE_MARK.test(name);

// Models whose shown name always determines their window: they have one million tokens only with the suffix (from the model table
// of 2.1.197). Opus 4.7 and newer have it without, and Sonnet 5 is never shown with a suffix.
const TOLD_BY_NAME = /^claude-(?:opus-4(?:-[156])?|sonnet-4(?:-[56])?|haiku-4-5)$/;

/** Without the mark the name means the standard window. */
const showsItsWindow = (key: string): boolean => TOLD_BY_NAME.test(key);

// What Claude says when another model was chosen, on its screen and in its session file.

/** A model that the user has chosen. */
export interface ChosenModel {
  /** undefined where the words name none, as `Opus in plan mode, else Sonnet` */
  readonly model?: string;
  /** its window, if the name determines it */
  readonly claim?: WindowClaim;
}

const CHOSEN = /^Set model to (\S.*)$/;
// `Opus 4.8 (1M context) (default) and saved as…`, or in old versions `haiku (claude-haiku-4-5-20251001)`.
const BEHIND_NAME = / (?:\(default\)|and saved as|for this session|·).*$/;

/** The name in these words, as shown. */
export const chosenName = (words: string): string | undefined => {
  const chosen = CHOSEN.exec(words)?.[1]?.replaceAll('`', '');
  return chosen === undefined
    ? undefined
    : (/\((claude-[^)]+)\)/.exec(chosen)?.[1] ?? chosen.replace(BEHIND_NAME, ''));
};

export const chosenModel = (name: string, runs: Runs): ChosenModel => {
  const model = modelKey(name);
  return model.startsWith('claude-') ? { model, ...present({ claim: windowOfModelName(name, runs) }) } : {};
};

// What Claude shows instead of an answer when the window is full (docs/facts/claude.md#activities).

const REFUSED = /^(?:Prompt is too long|Context limit reached)(?: ·|$)/;

export const parseRefusal = (words: string): Refusal | undefined => (REFUSED.test(words) ? FULL : undefined);

// How large Claude's context window is, and where it compacts. The session file does not say, so this follows from the model's name.

export const STANDARD_TOKENS = 200_000;
export const LARGE_TOKENS = 1_000_000;

// Models sold only with the standard window (2026-11). Others may run with one million tokens, which the name in the file does not show:
// the `[1m]` of the model setting is not in message.model.
const STANDARD_ONLY = /^claude-(?:[a-z]+-3(?:-\d+)?|haiku-4-5|opus-4(?:-[15])?)$/;

// Models with one million tokens under any name, from the model table of 2.1.332 (2026-11-27), in which `/context` says so of all of them.
// In older versions some have that only where they are served in a certain way, or with `[1m]`.
const LARGE_BY_ITSELF =
  /^claude-(?:haiku-5-5|sonnet-5(?:-5)?|opus-(?:4-[78]|5(?:-5)?)|(?:fable|mythos)-5(?:-[12])?)$/;
const LARGE_BY_ITSELF_SINCE = '2.1.332';

// Models that have one million tokens with `[1m]` only, by the model table of 2.1.332. Not certain: a transcript does not have the suffix,
// which most plans give Opus 4.6 since 2.1.75 (its changelog).
const USUALLY_STANDARD = /^claude-(?:sonnet-4(?:-[56])?|opus-4-6)$/;

// Claude reserves at most this much for its answer and compacts 13 000 tokens before that (docs/facts/claude.md#windows-and-reserves).
const ANSWER_TOKENS = 20_000;
const COMPACT_MARGIN_TOKENS = 13_000;
const EARLIEST_COMPACTION = 155_000; // before 2.1.25 it reserved 32 000 for the answer
const SURELY_LARGE = 2 * 200_000; // the size at a compaction is the last count plus an estimate of what came after it, seen up to 26 000

const SMALLEST_COMPACTION_WINDOW = 100_000;
const SONNET_5_TOKENS = 967_000; // its default window

export interface Window {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
}

/** More tokens than fit into a standard window. */
export const provesLarge = (tokens: number): boolean => tokens > STANDARD_TOKENS;

/**
 * The window, from the size at a compaction. `isOwn`: an automatic one, of a session that has ended. In a standard window that comes
 * at 167k, before 2.1.25 at 155k, and after a large answer later. Settings can move it there in a window of one million, which Claude then
 * treats as if it ended at 200k; so that is what filled up, but it says nothing about a session that may have other settings by now.
 */
export const windowOfCompaction = (preTokens: number, isOwn: boolean): number | undefined => {
  if (preTokens >= SURELY_LARGE) return LARGE_TOKENS;
  return isOwn && preTokens >= EARLIEST_COMPACTION && !provesLarge(preTokens) ? STANDARD_TOKENS : undefined;
};

/** What is known about the program that runs a model. */
export interface Runs {
  readonly env: Env;
  /** undefined while it is not known */
  readonly version?: string | undefined;
}

const isLargeByItself = (key: string, { env, version }: Runs): boolean =>
  version !== undefined &&
  !isBefore(version, LARGE_BY_ITSELF_SINCE) &&
  !isLargeOff(env) &&
  LARGE_BY_ITSELF.test(key);

/**
 * The window of a model by its key, from the table and the environment; undefined where nothing is known. `provenTokens`: what the session
 * file proves of it.
 */
export const modelWindow = (
  key: string,
  provenTokens: number | undefined,
  { env, version }: Runs,
): Window | undefined => {
  if (isLargeByItself(key, { env, version })) return largeByTable(env);
  if (provenTokens === LARGE_TOKENS)
    return sessionWindow({ windowTokens: provenTokens, windowSource: 'derived' }, env);
  const standard = { windowTokens: STANDARD_TOKENS };
  if (isLargeOff(env) || STANDARD_ONLY.test(key))
    return sessionWindow({ ...standard, windowSource: 'table' }, env);
  if (provenTokens !== undefined) return sessionWindow({ ...standard, windowSource: 'derived' }, env);
  if (USUALLY_STANDARD.test(key)) return sessionWindow({ ...standard, windowSource: 'default' }, env);
  const limit = compactionWindow(env) ?? Infinity;
  return limit > STANDARD_TOKENS ? undefined : { windowTokens: limit, windowSource: 'table' };
};

const largeByTable = (env: Env): Window =>
  sessionWindow({ windowTokens: LARGE_TOKENS, windowSource: 'table' }, env);

/** The window that a name in the banner or after `/model` implies; undefined where the name leaves it open. */
export const windowOfModelName = (name: string, { env, version }: Runs): WindowClaim | undefined => {
  const model = modelKey(name);
  if (isMarkedLarge(name) && !isLargeOff(env))
    return { ...sessionWindow({ windowTokens: LARGE_TOKENS, windowSource: 'agent' }, env), model };
  if (isLargeByItself(model, { env, version })) return { ...largeByTable(env), model };
  if (!isLargeOff(env) && (!showsItsWindow(model) || env['ANTHROPIC_BETAS']?.includes('context-1m')))
    return undefined;
  return { ...sessionWindow({ windowTokens: STANDARD_TOKENS, windowSource: 'agent' }, env), model };
};

/** The window of a session that has ended, by the words with which its user chose a model. */
export const chosenWindowTokens = (name: string): number | undefined => {
  if (isMarkedLarge(name)) return LARGE_TOKENS;
  return showsItsWindow(modelKey(name)) ? STANDARD_TOKENS : undefined;
};

/** With CLAUDE_CODE_AUTO_COMPACT_WINDOW Claude treats a larger window as if it ended there. */
const sessionWindow = (window: Window, env: Env): Window => {
  const limit = compactionWindow(env);
  if (limit === undefined) return window;
  if (limit <= STANDARD_TOKENS) return { windowTokens: limit, windowSource: 'table' };
  return window.windowTokens > limit ? { ...window, windowTokens: limit } : window;
};

/**
 * The only window with which the screen's percentage and the session file's tokens agree; undefined when none or several do. Claude also
 * counts text after its last answer, so its percentage may be slightly higher.
 */
export const deriveWindow = (screen: Reading, log: Reading, env: Env): WindowClaim | undefined => {
  const { usedPercent, basis } = screen;
  const { usedTokens, answerTokens = 0, model } = log;
  if (usedPercent === undefined || usedTokens === undefined || !usedTokens) return undefined;
  if (usedPercent <= 0 || usedPercent >= 100) return undefined; // clamped, so larger values look the same
  const agreeing = possibleWindows(basis, env).filter((windowTokens) => {
    const whole = tokensOfBasis(basis, windowTokens, env);
    if (whole === undefined) return false;
    const ahead = usedPercent - ((usedTokens + answerTokens) * 100) / whole;
    return ahead >= -0.5 && ahead <= 1.5; // percentage points for rounding and for text after the answer
  });
  const [windowTokens, another] = agreeing;
  if (windowTokens === undefined || another !== undefined) return undefined;
  return { windowTokens, windowSource: 'derived', ...present({ model }) };
};

/** How many tokens are 100 % on one of Claude's own scales. */
export const tokensOfBasis = (
  basis: PercentBasis | undefined,
  windowTokens: number,
  env: Env,
): number | undefined => {
  const effective = windowTokens - answerReserve(env);
  if (basis === 'effective') return effective;
  if (basis !== 'auto-compact') return undefined;
  const percent = loweringPercent(env);
  const point = effective - COMPACT_MARGIN_TOKENS;
  return percent === undefined ? point : Math.min(point, Math.floor((effective * percent) / 100));
};

/** The window for compactions in Claude's settings, in tokens. */
export interface OwnWindows {
  readonly all?: number;
  /** by `modelKey` */
  readonly byModel?: Readonly<Record<string, number>>;
}

/** Where Claude compacts by itself, with the environment variables and settings that move it; undefined when disabled. */
export const nativeTrigger = (env: Env, windows: OwnWindows = {}): NativeTrigger | undefined => {
  if (isCompactionOff(env)) return undefined;
  const rule = usualRule(env);
  const inWindow = (mostWindowTokens: number): NativeTrigger => ({ ...rule, mostWindowTokens });
  const limit = compactionWindow(env);
  if (limit !== undefined) return inWindow(limit);
  const { all, byModel = {} } = windows;
  const own = Object.entries(byModel).map(([model, tokens]) => ({
    model: `^${model.replace(/[^\w-]/g, '\\$&')}$`,
    rule: inWindow(tokens),
  }));
  const exceptions = [...own, ...(all === undefined ? lateModels(rule) : [])];
  return { ...(all === undefined ? rule : inWindow(all)), ...(exceptions.length > 0 ? { exceptions } : {}) };
};

const usualRule = (env: Env): TriggerRule => {
  const answer = answerReserve(env);
  const kept = answer + COMPACT_MARGIN_TOKENS;
  const percent = loweringPercent(env);
  if (percent === undefined) return { share: 1, reserveTokens: kept };
  const share = percent / 100;
  return { share, reserveTokens: Math.ceil(answer * share), leastFreeTokens: kept }; // this setting can only lower it
};

// Without a configured window for compactions, many models continue until the server refuses (docs/facts/claude.md#compaction); generations
// after the fourth do not.
const lateModels = (rule: TriggerRule): readonly TriggerException[] => [
  { model: '^claude-(?:sonnet|opus)-4-6$', aboveTokens: STANDARD_TOKENS },
  { model: '^claude-(?:sonnet|opus)-4-6$', rule },
  { model: '^claude-[a-z]+-[34](?:-|$)' },
  { model: '^claude-sonnet-5$', rule: { ...rule, mostWindowTokens: SONNET_5_TOKENS } },
];

/** CLAUDE_CODE_AUTO_COMPACT_WINDOW as Claude parses it; undefined where it has no effect. */
export const compactionWindow = (env: Env): number | undefined => {
  const asked = positive(env['CLAUDE_CODE_AUTO_COMPACT_WINDOW']);
  return asked === undefined || isCompactionOff(env) ? undefined : clampWindow(asked);
};

export const clampWindow = (asked: number): number =>
  Math.min(LARGE_TOKENS, Math.max(SMALLEST_COMPACTION_WINDOW, Math.floor(asked)));

const possibleWindows = (basis: PercentBasis | undefined, env: Env): readonly number[] => {
  const sizes = isLargeOff(env) ? [STANDARD_TOKENS] : [STANDARD_TOKENS, LARGE_TOKENS];
  const limit = compactionWindow(env);
  if (limit === undefined) return sizes;
  const limited = sizes.map((size) => Math.min(size, limit));
  return [...new Set(basis === 'auto-compact' ? limited : [...sizes, ...limited])];
};

const answerReserve = (env: Env): number =>
  Math.min(positive(env['CLAUDE_CODE_MAX_OUTPUT_TOKENS']) ?? ANSWER_TOKENS, ANSWER_TOKENS);

const isLargeOff = (env: Env): boolean => isOn(env['CLAUDE_CODE_DISABLE_1M_CONTEXT']);

const loweringPercent = (env: Env): number | undefined => {
  const percent = positive(env['CLAUDE_AUTOCOMPACT_PCT_OVERRIDE']);
  return percent !== undefined && percent <= 100 ? percent : undefined;
};

const isCompactionOff = (env: Env): boolean =>
  isOn(env['DISABLE_AUTO_COMPACT']) || isOn(env['DISABLE_COMPACT']);

/** Parsed as Claude parses its switches. */
export const isOn = (text: string | undefined): boolean => /^(?:1|true|yes|on)$/i.test(text?.trim() ?? '');

/** The environment makes windows smaller than the models' own. */
export const limitsWindows = (env: Env): boolean => isLargeOff(env) || compactionWindow(env) !== undefined;

const positive = (text: string | undefined): number | undefined => {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
};
