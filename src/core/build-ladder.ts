import { withCustom } from './ladder-custom.js';
import { beforeNative, beforeNativePercent, capped, nativeFigure } from './ladder-limits.js';
import { effectiveFigure, presetPercents, presetTokens } from './ladder-presets.js';
import type { Ladder, LadderChoice, NativeTrigger } from './ladder.js';

export interface LadderRequest {
  /** the agent's name, for the sentences */
  readonly runtime: string;
  readonly windowTokens?: number | undefined;
  readonly native?: NativeTrigger | undefined;
  readonly choice?: LadderChoice | undefined;
}

const LEAST_WINDOW_TOKENS = 1_000; // a smaller number is no window but a slip

/** The ladder for a window, or for percentages when the window is not known. */
export const ladderOf = ({ runtime, windowTokens, native, choice = {} }: LadderRequest): Ladder => {
  const preset = choice.preset ?? 'ladder';
  if (windowTokens === undefined || windowTokens < LEAST_WINDOW_TOKENS) {
    const plain = presetPercents(preset);
    const early = native ? beforeNativePercent(plain, native, runtime) : plain;
    const rungs = capped(early, choice.maxAutoPercent, undefined);
    return { preset, ...withCustom(rungs, choice, undefined) };
  }
  const trigger = native && nativeFigure(runtime, windowTokens, native);
  const plain = presetTokens(preset, windowTokens);
  const early = trigger ? beforeNative(plain, trigger, { runtime, windowTokens }) : plain;
  return {
    preset,
    windowTokens,
    effective: effectiveFigure(windowTokens),
    ...(trigger ? { native: trigger } : {}),
    ...withCustom(capped(early, choice.maxAutoPercent, windowTokens), choice, windowTokens),
  };
};
