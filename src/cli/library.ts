import { buildLadder } from '../core/build-ladder.js';
import { backendWindow } from '../core/config/backends.js';
import { ladderChoice, type Values } from '../core/config/keys.js';
import type { Settings } from '../core/config/merge.js';
import { tokensOfCharacters } from '../core/reading.js';
import { homeFolder } from '../storage/state-folder.js';
import { toCurrentSettings, readConfiguration } from './config/load.js';
import { workingFolder } from './print.js';

// For other programs: what is configured, as the document of CONTEXT_WINDOW_SIZE and its kin asks for it, and an estimate by characters.

export type Backend = 'claude' | 'openai' | 'gemini' | 'ollama' | 'vllm' | 'custom';

/** Where the settings are looked up: the environment, the user's file and that of the folder. Both are this process's when absent. */
export interface Place {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const settingsAt = ({ env = process.env, cwd = workingFolder() }: Place): Settings =>
  readConfiguration({ flags: {} }, { env, home: homeFolder(env), cwd }).settings;

const valuesAt = (place: Place): Values => settingsAt(place).values;

/** `claude` when nobody names one. */
export const getBackendName = (place: Place = {}): Backend => valuesAt(place).backend ?? 'claude';

const windowIn = (values: Values): number => values.window ?? backendWindow(values);

// 85 % of the window where nobody says another share, as that document has it; a session's own ladder counts from the window's end.
const thresholdIn = (values: Values): number | undefined => {
  const preset = values.ladder === 'handoff' ? 'handoff' : 'percent';
  const choice = ladderChoice({ ...values, ladder: preset });
  return buildLadder({ agent: '', windowTokens: windowIn(values), choice }).auto?.value;
};

/** In tokens: the user's word, else the window of the backend's models. What an agent tells while it runs is not known here. */
export const getContextWindowSize = (place: Place = {}): number => windowIn(valuesAt(place));

/**
 * In tokens: the window times COMPACTION_THRESHOLD_PCT or `auto`, rounded down, 85 % where nobody sets one; undefined where the settings
 * have no auto.
 */
export const getCompactionThreshold = (place: Place = {}): number | undefined => thresholdIn(valuesAt(place));

/** Whether so many used tokens have reached that threshold, which counts as reached. */
export const shouldTriggerCompaction = (currentTokens: number, place: Place = {}): boolean =>
  currentTokens >= (getCompactionThreshold(place) ?? Infinity);

/** Whether ctxwrap types the command by itself, or leaves it to the agent and the user. */
export const needsCustomCompaction = (place: Place = {}): boolean => {
  const { values, isModeGiven } = toCurrentSettings(settingsAt(place));
  const isSeen = values.footer || isModeGiven; // nobody sees a countdown without a footer
  return isSeen && values.mode === 'auto' && thresholdIn(values) !== undefined;
};

/** The window in tokens that characters are measured against where nobody gives another. */
const CONTEXT_LIMIT = 200_000;

export interface ContextUsageResult {
  /** estimated: four characters are one, rounded up */
  readonly totalTokens: number;
  /** of the window: 0.7 is 70 %; more than 1 where it is over-full */
  readonly usageRatio: number;
  /** at the warning threshold or above; stays true at critical */
  readonly isWarning: boolean;
  readonly isCritical: boolean;
  readonly action: 'none' | 'prepare_handoff' | 'force_return';
}

/**
 * What so many characters of a conversation mean for a window of `contextLimit` tokens. Thresholds are shares of the window (0.7 is 70 %)
 * and inclusive: at warning the handoff is to be prepared, at critical it is to be handed over.
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
