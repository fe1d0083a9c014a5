// What lowers the boundaries: the agent would compact before us, or the user wants to be earlier.
import { WARN_MARGIN_TOKENS } from './ladder-presets.js';
import type { NativeTrigger } from './ladder.js';
import { grouped, percentOfTokens, percentRung, tokenRung } from './rung.js';
import type { Figure, Rungs } from './rung.js';

// We act this much before the agent would, so that it never compacts in the middle of work.
const LEAD_TOKENS = 5_000;
const LEAD_PERCENT = 2;
const WARN_MARGIN_PERCENT = 10;
const LEAST_AUTO_PERCENT = 10; // a compaction leaves about this much: below it one would follow the other

/** The tokens at which the agent compacts by itself; undefined where the window is smaller than what it keeps free. */
export const nativeTokens = (windowTokens: number, native: NativeTrigger): number | undefined => {
  const tokens = Math.min(sharedTokens(windowTokens, native), freeTokens(windowTokens, native));
  return tokens > 0 ? tokens : undefined;
};

const sharedTokens = (windowTokens: number, { share, reserveTokens }: NativeTrigger): number =>
  Math.floor(windowTokens * share) - reserveTokens;

const freeTokens = (windowTokens: number, { leastFreeTokens }: NativeTrigger): number =>
  leastFreeTokens === undefined || windowTokens <= leastFreeTokens
    ? Infinity
    : windowTokens - leastFreeTokens;

export const nativeFigure = (runtime: string, windowTokens: number, native: NativeTrigger): Figure => {
  const tokens = nativeTokens(windowTokens, native) ?? 0;
  const isFree = freeTokens(windowTokens, native) < sharedTokens(windowTokens, native);
  const share =
    native.share === 1 || isFree
      ? `the window of ${grouped(windowTokens)}`
      : `${percentText(native.share)} of the window of ${grouped(windowTokens)}`;
  const kept = isFree ? (native.leastFreeTokens ?? 0) : native.reserveTokens;
  const less = kept > 0 ? ` less ${grouped(kept)}` : '';
  return { tokens, reason: `native ${grouped(tokens)}: ${runtime} compacts by itself at ${share}${less}` };
};

/** Lowers auto and warn so that we act before the agent does. `hard` stays: it says how close the end is. */
export const beforeNative = (rungs: Rungs, trigger: Figure, where: Where): Rungs => {
  const { auto } = rungs;
  const { runtime, windowTokens } = where;
  const least = percentOfTokens(windowTokens, LEAST_AUTO_PERCENT);
  // A window smaller than the agent's own reserve has no useful trigger: our boundaries stay.
  if (!auto || trigger.tokens <= least) return rungs;
  const lead = Math.max(LEAD_TOKENS, Math.ceil((windowTokens * LEAD_PERCENT) / 100));
  const tokens = Math.max(least, trigger.tokens - lead);
  if (tokens >= auto.value) return rungs;
  const why = `${grouped(trigger.tokens - tokens)} before ${runtime} compacts by itself at ${grouped(trigger.tokens)}`;
  return lowered(rungs, { tokens, why }, windowTokens);
};

/** The same where only a percentage is known: what the agent keeps free in tokens cannot be told then. */
export const beforeNativePercent = (rungs: Rungs, native: NativeTrigger, runtime: string): Rungs => {
  const { auto, warn } = rungs;
  const own = Math.round(native.share * 100);
  const percent = own - LEAD_PERCENT;
  if (!auto || percent < LEAST_AUTO_PERCENT || percent >= auto.value) return rungs;
  const below = Math.max(0, percent - WARN_MARGIN_PERCENT);
  const why = `${LEAD_PERCENT} points before ${runtime} compacts by itself at ${own}%`;
  return {
    ...rungs,
    auto: percentRung('auto', percent, why),
    warn:
      below >= warn.value ? warn : percentRung('warn', below, `${WARN_MARGIN_PERCENT} points before auto`),
  };
};

export interface Where {
  readonly runtime: string;
  readonly windowTokens: number;
}

/** The user's own cap on auto, in percent of the window. */
export const capped = (
  rungs: Rungs,
  percent: number | undefined,
  windowTokens: number | undefined,
): Rungs => {
  const { auto, warn } = rungs;
  if (!auto || percent === undefined) return rungs;
  if (windowTokens !== undefined) {
    const tokens = percentOfTokens(windowTokens, percent);
    const why = `${percent}% of the window of ${grouped(windowTokens)}, the most that auto may be`;
    return tokens >= auto.value ? rungs : lowered(rungs, { tokens, why }, windowTokens);
  }
  if (percent >= auto.value) return rungs;
  const below = Math.max(0, percent - WARN_MARGIN_PERCENT);
  return {
    ...rungs,
    auto: percentRung('auto', percent, 'the most that auto may be'),
    warn: below >= warn.value ? warn : percentRung('warn', below, `${WARN_MARGIN_PERCENT}% before auto`),
  };
};

const lowered = (
  { warn, hard }: Rungs,
  auto: { readonly tokens: number; readonly why: string },
  windowTokens: number,
): Rungs => {
  const margin = Math.min(WARN_MARGIN_TOKENS, Math.ceil((windowTokens * WARN_MARGIN_PERCENT) / 100));
  const tokens = Math.max(0, auto.tokens - margin);
  const why = `${grouped(margin)} before auto ${grouped(auto.tokens)}`;
  return {
    warn: tokens < warn.value ? tokenRung('warn', tokens, why) : warn,
    auto: tokenRung('auto', auto.tokens, auto.why),
    hard,
  };
};

const percentText = (share: number): string => `${Math.round(share * 1000) / 10}%`;
