// What is configured, for other programs: the functions that the document of CONTEXT_WINDOW_SIZE and its kin asks for.
import { ladderOf } from '../core/build-ladder.js';
import { backendWindow } from '../core/config/backends.js';
import type { Values } from '../core/config/keys.js';
import { homeFolder } from '../storage/home-folder.js';
import { ladderChoice } from './ladder-choice.js';
import { readConfiguration } from './config/read-configuration.js';
import { workingFolder } from './working-folder.js';

export type Backend = 'claude' | 'openai' | 'gemini' | 'ollama' | 'vllm' | 'custom';

/** Where the settings are looked up: the environment, the user's file and that of the folder. Both are this process's when absent. */
export interface Place {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const valuesAt = ({ env = process.env, cwd = workingFolder() }: Place): Values =>
  readConfiguration({}, [], { env, home: homeFolder(env), cwd }).settings.values;

/** `claude` when nobody names one. */
export const getBackendName = (place: Place = {}): Backend => valuesAt(place).backend ?? 'claude';

const windowIn = ({ window, backend = 'claude', 'claude.million': isMillion }: Values): number =>
  window ?? backendWindow(backend, isMillion);

const thresholdIn = (values: Values): number | undefined =>
  ladderOf({ runtime: '', windowTokens: windowIn(values), choice: ladderChoice(values) }).auto?.value;

/** In tokens: the user's word, else the window of the backend's models. What an agent tells while it runs is not known here. */
export const getContextWindowSize = (place: Place = {}): number => windowIn(valuesAt(place));

/** In tokens: where auto begins in that window; undefined where the settings have no auto. */
export const getCompactionThreshold = (place: Place = {}): number | undefined => thresholdIn(valuesAt(place));

/** Whether so many used tokens have reached auto. */
export const shouldTriggerCompaction = (currentTokens: number, place: Place = {}): boolean =>
  currentTokens >= (getCompactionThreshold(place) ?? Infinity);

/** Whether ctxwrap types the command by itself, or leaves it to the agent and the user. */
export const needsCustomCompaction = (place: Place = {}): boolean => {
  const values = valuesAt(place);
  return (values.mode ?? 'auto') === 'auto' && thresholdIn(values) !== undefined;
};
