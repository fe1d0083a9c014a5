// A reading put against its window: which of its numbers hold, and what they are in tokens.
import { ladderOf } from './build-ladder.js';
import { nativeTokens } from './ladder-limits.js';
import { effectiveTokens } from './ladder-presets.js';
import { tierOf } from './ladder.js';
import type { Ladder, LadderChoice, NativeTrigger, Tier } from './ladder.js';
import type { Basis, Reading } from './reading.js';
import { windowOf } from './windows.js';
import type { KnownWindow, Windows } from './windows.js';

/** What readings of one session are measured with. */
export interface Scale {
  readonly runtime: string;
  readonly windows: Windows;
  readonly native?: NativeTrigger;
  readonly ladder: LadderChoice;
}

/** A reading with the window that holds for it; its percentage is absent where it was counted against another window. */
export interface Measured {
  readonly reading: Reading;
  readonly window?: KnownWindow;
  /** tokens in use, counted by the agent or converted from its percentage; absent where there is nothing to convert with */
  readonly tokens?: number;
  readonly tier?: Tier;
  /** by the user's own bounds in tokens alone, whatever the window is */
  readonly ownTier?: Tier;
}

export const measure = (scale: Scale, reading: Reading): Measured => {
  // after a switch the old number counts in the window of the model that runs now
  const { windows } = scale;
  const window = windowOf(windows, windows.model ?? reading.model, reading.usedTokens);
  const own = inWindow(reading, window);
  const tokens = own.usedTokens ?? convertedTokens(own, window, scale.native);
  const ladder = ladderFor(scale, tokens === undefined ? undefined : window, own.basis);
  const tier = tierOf(tokens === undefined ? own : { ...own, usedTokens: tokens }, ladder);
  const { usedTokens } = own;
  const ownTier =
    usedTokens === undefined
      ? undefined
      : tierOf({ usedTokens, source: own.source, at: own.at }, ladderFor(scale, undefined));
  return {
    reading: own,
    ...(window ? { window } : {}),
    ...(tokens === undefined ? {} : { tokens }),
    ...(tier ? { tier } : {}),
    ...(ownTier ? { ownTier } : {}),
  };
};

/** The ladder for a window, or the one for percentages on this basis: where the agent compacts is a share of the window alone. */
export const ladderFor = (
  { runtime, native, ladder }: Scale,
  window: Pick<KnownWindow, 'windowTokens'> | undefined,
  basis: Basis = 'window',
): Ladder => {
  const counts = window !== undefined || basis === 'window';
  const own = counts ? native : undefined;
  return ladderOf({ runtime, windowTokens: window?.windowTokens, native: own, choice: ladder });
};

/**
 * Tokens behind a percentage. An uncertain window converts nothing: the percentage is the agent's own and needs none. What lies below
 * a baseline is in use, too (facts/codex.md §2.3).
 */
const convertedTokens = (
  { usedPercent, basis = 'window', basisTokens }: Reading,
  window: KnownWindow | undefined,
  native: NativeTrigger | undefined,
): number | undefined => {
  if (usedPercent === undefined || !window?.certain) return undefined;
  const { windowTokens } = window;
  const whole = basisTokens ?? basisOf(basis, windowTokens, native);
  if (whole === undefined) return undefined;
  const fixed = basis === 'baseline' ? Math.max(0, windowTokens - whole) : 0;
  return Math.round(fixed + (Math.min(100, usedPercent) * whole) / 100);
};

/** The tokens that are 100 % on a basis, where a window alone tells. */
export const basisOf = (
  basis: NonNullable<Reading['basis']>,
  windowTokens: number,
  native: NativeTrigger | undefined,
): number | undefined => {
  switch (basis) {
    case 'window':
      return windowTokens;
    case 'effective':
      return effectiveTokens(windowTokens);
    case 'auto-compact':
      return native && nativeTokens(windowTokens, native);
    case 'baseline':
      return undefined;
  }
};

const inWindow = (reading: Reading, window: KnownWindow | undefined): Reading => {
  const { windowTokens: own, windowSource: _, ...rest } = reading;
  const { usedPercent, ...counted } = rest;
  // a percentage is recounted where the tokens behind it are known and it was counted against another window
  const holds = rest.usedTokens === undefined || own === undefined || own === window?.windowTokens;
  const kept = holds || usedPercent === undefined ? rest : counted;
  return window ? { ...kept, windowTokens: window.windowTokens, windowSource: window.windowSource } : kept;
};
