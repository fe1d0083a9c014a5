// A reading put against its window: which of its numbers hold, and what they are in tokens.
import { ladderOf } from './build-ladder.js';
import { effectiveTokens } from './ladder-presets.js';
import { tierOf } from './ladder.js';
import type { Ladder, LadderChoice, Tier } from './ladder.js';
import { nativeTokens, ruleFor } from './native.js';
import type { NativeTrigger } from './native.js';
import type { Reading } from './reading.js';
import { ownTokens, windowOf } from './windows.js';
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
  /**
   * what counts for the tiers: tokens in use, the agent's last answer included, counted by the agent or converted from its percentage;
   * absent where there is nothing to convert with
   */
  readonly tokens?: number;
  readonly tier?: Tier;
  /** by the user's own bounds in tokens alone, whatever the window is */
  readonly ownTier?: Tier;
}

export const measure = (scale: Scale, reading: Reading): Measured => {
  const window = windowFor(scale, reading);
  const own = inWindow(reading, window);
  const counted = countedIn(own);
  const tokens = counted ?? convertedTokens(scale, own, window);
  const tier = tierOf(withTokens(own, tokens), ladderFor(scale, { reading: own, window, tokens }));
  const { source, at } = own;
  const ownTier =
    counted === undefined
      ? undefined
      : tierOf({ usedTokens: counted, source, at }, ladderFor(scale, { reading: own }));
  return {
    reading: own,
    ...(window ? { window } : {}),
    ...(tokens === undefined ? {} : { tokens }),
    ...(tier ? { tier } : {}),
    ...(ownTier ? { ownTier } : {}),
  };
};

/** What the agent's own trigger compares, too (facts/claude.md §2): its last answer is in the window, and not in its percentage. */
export const countedIn = ({
  usedTokens,
  answerTokens = 0,
}: Pick<Reading, 'usedTokens' | 'answerTokens'>): number | undefined =>
  usedTokens === undefined ? undefined : usedTokens + answerTokens;

const withTokens = (reading: Reading, tokens: number | undefined): Reading =>
  tokens === undefined ? reading : { ...reading, usedTokens: tokens };

// after a switch the old number counts in the window of the model that runs now
const modelOf = ({ windows }: Scale, reading?: Pick<Reading, 'model'>): string | undefined =>
  windows.model ?? reading?.model;

const windowFor = (scale: Scale, reading: Reading): KnownWindow | undefined =>
  windowOf(scale.windows, modelOf(scale, reading), reading.usedTokens);

/** What a ladder is to judge. */
export interface Judged {
  readonly reading?: Reading;
  readonly window?: KnownWindow | undefined;
  readonly tokens?: number | undefined;
}

/** The ladder that judges a number in its window, or the one before there is a number; the one for percentages where there are no tokens. */
export const ladderFor = (scale: Scale, { reading, window, tokens }: Judged): Ladder => {
  const { runtime, native, ladder: choice, windows } = scale;
  const model = modelOf(scale, reading);
  const known = reading && tokens === undefined ? undefined : window;
  const isTold = known?.windowSource === 'user' || known?.windowSource === 'default';
  // where the agent compacts is a share of the window alone
  const isShare = known !== undefined || (reading?.basis ?? 'window') === 'window';
  const byUser = isTold ? { ownTokens: ownTokens(windows, model, reading?.usedTokens) } : undefined;
  return ladderOf({
    runtime,
    windowTokens: known?.windowTokens,
    native: isShare ? native : undefined,
    model,
    byUser,
    choice,
  });
};

/**
 * Tokens behind a percentage. An uncertain window converts nothing: the percentage is the agent's own and needs none. What lies below
 * a baseline is in use, too (facts/codex.md §2.3).
 */
const convertedTokens = (
  scale: Scale,
  reading: Reading,
  window: KnownWindow | undefined,
): number | undefined => {
  const { usedPercent, basis = 'window' } = reading;
  if (usedPercent === undefined || !window?.certain) return undefined;
  const whole = basisTokens(scale, reading);
  if (whole === undefined) return undefined;
  const windowTokens = basisWindow(scale, reading) ?? whole;
  const fixed = basis === 'baseline' ? Math.max(0, windowTokens - whole) : 0;
  return Math.round(fixed + (Math.min(100, usedPercent) * whole) / 100);
};

/** The window that the agent's percentages count in: its own; the user's word only where nobody else has said anything. */
const basisWindow = (scale: Scale, reading: Reading): number | undefined => {
  const own = ownTokens(scale.windows, modelOf(scale, reading), reading.usedTokens);
  if (own !== undefined) return own;
  const window = windowFor(scale, reading);
  return window?.certain ? window.windowTokens : undefined;
};

/** The tokens that are 100 % of a reading's basis; undefined where nobody knows. `other` was counted at the same time. */
export const basisTokens = (scale: Scale, reading: Reading, other: Reading = reading): number | undefined => {
  const { basis = 'window', basisTokens: told } = reading;
  if (told !== undefined) return told;
  const windowTokens = basisWindow(scale, other);
  switch (basis) {
    case 'window':
      return windowTokens;
    case 'effective':
      return windowTokens === undefined ? undefined : effectiveTokens(windowTokens);
    case 'auto-compact':
      return ownTrigger(scale, other);
    case 'baseline':
      return undefined;
  }
};

// An agent that counts down to it has it, also with a model that usually has none. A window of the user's moves nothing of the agent's.
const ownTrigger = (scale: Scale, reading: Reading): number | undefined => {
  const { native } = scale;
  const model = modelOf(scale, reading);
  const own = ownTokens(scale.windows, model, reading.usedTokens);
  if (!native || own === undefined) return undefined;
  return nativeTokens(own, ruleFor(native, model, own) ?? native);
};

const inWindow = (reading: Reading, window: KnownWindow | undefined): Reading => {
  const { windowTokens: own, windowSource: _, ...rest } = reading;
  const { usedPercent, ...counted } = rest;
  // a percentage is recounted where the tokens behind it are known and it was counted against another window
  const holds = rest.usedTokens === undefined || own === undefined || own === window?.windowTokens;
  const kept = holds || usedPercent === undefined ? rest : counted;
  return window ? { ...kept, windowTokens: window.windowTokens, windowSource: window.windowSource } : kept;
};
