import { buildLadder } from '../core/build-ladder.js';
import { backendWindow } from '../core/config/backends.js';
import { ladderChoice, type Values } from '../core/config/keys.js';
import type { Settings } from '../core/config/merge.js';
import { tokensOfCharacters } from '../core/reading.js';
import { homeFolder } from '../storage/state-folder.js';
import { toCurrentSettings, readConfiguration } from './config/load.js';
import { workingFolder } from './print.js';

// The library for other programs: the settings in effect, under the names that CONTEXT_WINDOW_SIZE and related variables use, and an
// estimate from a character count.

export type Backend = 'claude' | 'openai' | 'gemini' | 'ollama' | 'vllm' | 'custom';

/** Where settings are looked up: the environment and the folder of the project. Both default to this process's. */
export interface Place {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const settingsAt = ({ env = process.env, cwd = workingFolder() }: Place): Settings =>
  readConfiguration({ flags: {} }, { env, home: homeFolder(env), cwd }).settings;

const valuesAt = (place: Place): Values => settingsAt(place).values;

/** `claude` when none is set. */
export const getBackendName = (place: Place = {}): Backend => valuesAt(place).backend ?? 'claude';

const windowIn = (values: Values): number => values.window ?? backendWindow(values);

// 85 % of the window unless configured otherwise. A running session uses its own ladder, which counts from the end of the window.
const thresholdIn = (values: Values): number | undefined => {
  const preset = values.ladder === 'handoff' ? 'handoff' : 'percent';
  const choice = ladderChoice({ ...values, ladder: preset });
  return buildLadder({ agent: '', windowTokens: windowIn(values), choice }).auto?.value;
};

/** In tokens: the user's setting, else the window of the backend's models. What a running agent reports is not known here. */
export const getContextWindowSize = (place: Place = {}): number => windowIn(valuesAt(place));

/**
 * In tokens: the window times COMPACTION_THRESHOLD_PCT or `auto` (85 % by default), rounded down; undefined when the settings have no auto.
 */
export const getCompactionThreshold = (place: Place = {}): number | undefined => thresholdIn(valuesAt(place));

/** Whether this many used tokens are at or above that threshold. */
export const shouldTriggerCompaction = (currentTokens: number, place: Place = {}): boolean =>
  currentTokens >= (getCompactionThreshold(place) ?? Infinity);

/** Whether ctxwrap types the command itself, rather than leaving it to the agent and the user. */
export const needsCustomCompaction = (place: Place = {}): boolean => {
  const { values, isModeGiven } = toCurrentSettings(settingsAt(place));
  const isSeen = values.footer || isModeGiven; // without a footer a countdown would be invisible
  return isSeen && values.mode === 'auto' && thresholdIn(values) !== undefined;
};

/** The default window in tokens. */
const CONTEXT_LIMIT = 200_000;

export interface ContextUsageResult {
  /** estimated at four characters per token, rounded up */
  readonly totalTokens: number;
  /** share of the window: 0.7 is 70 %; above 1 when it is over-full */
  readonly usageRatio: number;
  /** at or above the warning threshold; also true at critical */
  readonly isWarning: boolean;
  readonly isCritical: boolean;
  readonly action: 'none' | 'prepare_handoff' | 'force_return';
}

/**
 * Estimates how much of a window of `contextLimit` tokens a conversation of this many characters uses. Thresholds are shares of the window
 * (0.7 is 70 %) and inclusive: prepare a handoff at warning, hand over at critical.
 */
export const analyzeContextUsage = (
  cumulativeChars: number,
  warningThreshold = 0.7,
  criticalThreshold = 0.85,
  contextLimit = CONTEXT_LIMIT,
): ContextUsageResult => {
  const totalTokens = tokensOfCharacters({ ascii: cumulativeChars, wide: 0 });
  const usageRatio = totalTokens / contextLimit;
  const isWarning = usageRatio >= warningThreshold;
  const isCritical = usageRatio >= criticalThreshold;
  const action = isCritical ? 'force_return' : isWarning ? 'prepare_handoff' : 'none';
  return { totalTokens, usageRatio, isWarning, isCritical, action };
};
