// What lowers the boundaries: the agent would compact before us, or the user wants to be earlier.
import { WARN_MARGIN_TOKENS } from './ladder-presets.js';
import type { TriggerRule } from './native.js';
import { besideAuto, grouped, percentOfTokens, percentRung, tokenRung } from './rung.js';
import type { Figure, Rungs } from './rung.js';

// We act this much before the agent would, so that it never compacts in the middle of work; in a small window less, or there would be
// nothing left of it.
const LEAD_TOKENS = 5_000;
const LEAD_PERCENT = 2;
const MOST_LEAD_PERCENT = 5; // unless that is less than `LEAD_PERCENT` in tokens
const WARN_MARGIN_PERCENT = 10;
const LEAST_AUTO_PERCENT = 10; // a compaction leaves about this much: below it one would follow the other

/** Lowers auto and warn so that we act before the agent does. `hard` stays: it says how close the end is. */
export const beforeNative = (rungs: Rungs, trigger: Figure, where: Where): Rungs => {
  const { auto } = rungs;
  const latest = latestBefore(trigger, where);
  if (!auto || latest === undefined || latest.tokens >= auto.value) return rungs;
  return lowered(rungs, latest, where.windowTokens);
};

/** The latest that auto may be to come before the agent; undefined where that would be too early to be of use. */
export const latestBefore = (trigger: Figure, { runtime, windowTokens }: Where): Mark | undefined => {
  const least = percentOfTokens(windowTokens, LEAST_AUTO_PERCENT);
  if (trigger.tokens <= least) return undefined;
  const tokens = Math.max(least, trigger.tokens - leadIn(windowTokens));
  const why = `${grouped(trigger.tokens - tokens)} before ${runtime} compacts by itself at ${grouped(trigger.tokens)}`;
  return { tokens, why };
};

const leadIn = (windowTokens: number): number =>
  Math.max(
    Math.ceil((windowTokens * LEAD_PERCENT) / 100),
    Math.min(LEAD_TOKENS, percentOfTokens(windowTokens, MOST_LEAD_PERCENT)),
  );

/** The same where only a percentage is known: what the agent keeps free in tokens cannot be told then. */
export const beforeNativePercent = (rungs: Rungs, native: TriggerRule, runtime: string): Rungs => {
  const { auto, warn } = rungs;
  const own = Math.round(native.share * 100);
  const percent = own - LEAD_PERCENT;
  if (!auto || percent < LEAST_AUTO_PERCENT || percent >= auto.value) return rungs;
  const below = Math.max(0, percent - WARN_MARGIN_PERCENT);
  const { reserveTokens, leastFreeTokens, mostTokens, mostWindowTokens } = native;
  const isLess = reserveTokens > 0 || (leastFreeTokens ?? mostTokens ?? mostWindowTokens) !== undefined;
  const at = isLess ? `${own}% at the latest` : `${own}%`;
  const why = `${LEAD_PERCENT} points before ${runtime} compacts by itself at ${at}`;
  return {
    ...rungs,
    auto: percentRung('auto', percent, why),
    warn:
      below >= warn.value ? warn : percentRung('warn', below, `${WARN_MARGIN_PERCENT} points before auto`),
  };
};

export interface Where {
  readonly runtime: string;
  /** as the agent counts it */
  readonly windowTokens: number;
}

/** A number of tokens with why it is there. */
export interface Mark {
  readonly tokens: number;
  readonly why: string;
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
  const margin = Math.min(WARN_MARGIN_PERCENT, percent / 2);
  const below = percent - margin;
  return {
    ...rungs,
    auto: percentRung('auto', percent, 'the most that auto may be'),
    warn: below >= warn.value ? warn : percentRung('warn', below, `${margin}% before auto`),
  };
};

const lowered = ({ warn, auto: usual, hard }: Rungs, auto: Mark, windowTokens: number): Rungs => {
  const margin = Math.min(
    WARN_MARGIN_TOKENS,
    Math.ceil((windowTokens * WARN_MARGIN_PERCENT) / 100),
    Math.floor(auto.tokens / 2), // a warning from the first token on says nothing
  );
  const tokens = auto.tokens - margin;
  const why = `${grouped(margin)} before auto ${grouped(auto.tokens)}`;
  const rung = tokenRung('auto', auto.tokens, auto.why);
  return {
    warn: tokens < warn.value ? tokenRung('warn', tokens, why) : besideAuto(warn, usual, rung),
    auto: rung,
    hard,
  };
};
