import { withCustom } from './ladder-custom.js';
import { beforeNative, beforeNativePercent, capped, latestBefore } from './ladder-limits.js';
import { effectiveFigure, presetPercents, presetTokens } from './ladder-presets.js';
import type { Ladder, LadderChoice } from './ladder.js';
import { countedTokens, nativeFigure, ruleFor } from './native.js';
import type { NativeTrigger } from './native.js';

export interface LadderRequest {
  /** the agent's name, for the sentences */
  readonly runtime: string;
  readonly windowTokens?: number | undefined;
  readonly native?: NativeTrigger | undefined;
  /** the one that runs, as readings name it */
  readonly model?: string | undefined;
  /**
   * the window is the user's word: the agent goes on compacting where its own has it, as far as that one is known. Where both are the same
   * the user has overridden nothing
   */
  readonly byUser?: { readonly ownTokens: number | undefined } | undefined;
  readonly choice?: LadderChoice | undefined;
}

const LEAST_WINDOW_TOKENS = 1_000; // a smaller number is no window but a slip

/** The ladder for a window, or for percentages when the window is not known. */
export const ladderOf = (request: LadderRequest): Ladder => {
  const { runtime, windowTokens, native, model, byUser, choice = {} } = request;
  const preset = choice.preset ?? 'ladder';
  if (windowTokens === undefined || windowTokens < LEAST_WINDOW_TOKENS) {
    const rule = native && ruleFor(native, model, Infinity);
    const plain = presetPercents(preset);
    const early = rule ? beforeNativePercent(plain, rule, runtime) : plain;
    const rungs = capped(early, choice.maxAutoPercent, undefined);
    return { preset, ...withCustom(rungs, choice, {}) };
  }
  const own = nativePoint(request);
  const plain = presetTokens(preset, windowTokens);
  const isOverride = byUser !== undefined && byUser.ownTokens !== windowTokens;
  const early = own && !isOverride ? beforeNative(plain, own.native, own.where) : plain;
  const rungs = capped(early, choice.maxAutoPercent, windowTokens);
  return {
    preset,
    windowTokens,
    effective: effectiveFigure(windowTokens),
    ...(own ? { native: own.native } : {}),
    ...withCustom(rungs, choice, { windowTokens, latest: own && latestBefore(own.native, own.where) }),
  };
};

/** Where the agent compacts by itself, and the window as it counts it. */
const nativePoint = ({ runtime, windowTokens, native, model, byUser }: LadderRequest) => {
  const ownTokens = byUser ? byUser.ownTokens : windowTokens;
  const rule = native && ownTokens !== undefined ? ruleFor(native, model, ownTokens) : undefined;
  if (!rule || ownTokens === undefined) return undefined;
  const figure = nativeFigure(runtime, ownTokens, rule);
  return figure && { native: figure, where: { runtime, windowTokens: countedTokens(ownTokens, rule) } };
};
