import { percentOf } from './reading.js';
import type { Reading } from './reading.js';
import type { CustomBounds, Figure, Rung, Rungs } from './rung.js';

/** How full the window is, in four steps. */
export type Tier = 'safe' | 'warn' | 'auto' | 'hard';

/** `ladder` counts down from the window's end, `percent` is 70/85/95, `handoff` is 70/85 and never types. */
export type Preset = 'ladder' | 'percent' | 'handoff';

/** How the user wants the boundaries. Every field may be left out. */
export interface LadderChoice extends CustomBounds {
  /** `ladder` when absent */
  readonly preset?: Preset;
  /** auto is never above this percentage of the window, unless the user set auto itself */
  readonly maxAutoPercent?: number;
}

/**
 * The boundaries between the tiers, each with the sentence that explains it. In tokens where the window is known, otherwise in percent
 * of whatever percentage there is; a custom bound in tokens stays in tokens.
 */
export interface Ladder extends Rungs {
  readonly preset: Preset;
  /** absent where it is not known */
  readonly windowTokens?: number;
  /** what the window leaves beside the agent's own answer; only where the window is known */
  readonly effective?: Figure;
  /** where the agent compacts by itself; only where that and its own window are known */
  readonly native?: Figure;
}

/** The tier of a reading; undefined when it does not hold the numbers the ladder asks for. */
export const tierOf = (reading: Reading, ladder: Rungs): Tier | undefined => {
  const reached = (rung: Rung | undefined): boolean | undefined => {
    const used = rung?.unit === 'tokens' ? reading.usedTokens : percentOf(reading);
    return rung && used !== undefined ? used >= rung.value : undefined;
  };
  if (isOwnHard(ladder) && reached(ladder.hard)) return 'hard';
  if (reached(ladder.auto)) return 'auto';
  const isWarn = reached(ladder.warn);
  if (isWarn) return 'warn';
  // without a window warn can be a percentage of nothing, and auto the user's own in tokens
  return isWarn === false || reached(ladder.auto) === false ? 'safe' : undefined;
};

/** In a small window hard is where auto is: reaching it asks for no more than auto does. The user's own word stands. */
export const isOwnHard = ({ auto, hard }: Rungs): boolean =>
  hard.custom || !auto || hard.unit !== auto.unit || hard.value > auto.value;
