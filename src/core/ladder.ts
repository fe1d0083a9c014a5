import { percentOf } from './reading.js';
import type { Reading } from './reading.js';

/** How full the window is, in four steps. */
export type Tier = 'safe' | 'warn' | 'auto' | 'hard';

/** The three boundaries between the tiers, inclusive: at `warn` the tier is already warn. */
export interface Ladder {
  readonly unit: 'tokens' | 'percent';
  readonly warn: number;
  readonly auto: number;
  readonly hard: number;
}

/** Where the agent compacts by itself: `share` of the window, less `reserveTokens`. Data, so that the core knows no agent. */
export interface NativeTrigger {
  /** 0…1 of the effective window */
  readonly share: number;
  readonly reserveTokens: number;
}

// What an agent keeps free for its answer and for the summary, as Claude Code does (facts/claude.md §10).
const RESERVED_TOKENS = 20_000;
const AUTO_MARGIN_TOKENS = 13_000;
const WARN_MARGIN_TOKENS = 20_000;
const HARD_MARGIN_TOKENS = 3_000;
// We act this much before the agent would, so that it never compacts in the middle of work.
const NATIVE_LEAD_TOKENS = 5_000;

/** Boundaries when only a percentage is known. */
export const percentLadder: Ladder = { unit: 'percent', warn: 70, auto: 85, hard: 95 };

/** The window less what is kept free for the agent's own answer, in tokens, never negative. */
export const effectiveTokens = (windowTokens: number): number => Math.max(0, windowTokens - RESERVED_TOKENS);

/** Boundaries in tokens for a known window, lowered where the agent would act before us. */
export const tokenLadder = (windowTokens: number, native?: NativeTrigger): Ladder => {
  const effective = effectiveTokens(windowTokens);
  const auto = Math.max(part(windowTokens, 70), effective - AUTO_MARGIN_TOKENS);
  const warn = Math.max(part(windowTokens, 60), auto - WARN_MARGIN_TOKENS);
  const hard = Math.max(effective - HARD_MARGIN_TOKENS, auto);
  return native
    ? clamp({ unit: 'tokens', warn, auto, hard }, windowTokens, native)
    : { unit: 'tokens', warn, auto, hard };
};

/** The ladder that fits what the reading knows. */
export const ladderFor = (reading: Reading, native?: NativeTrigger): Ladder =>
  reading.usedTokens !== undefined && reading.windowTokens !== undefined
    ? tokenLadder(reading.windowTokens, native)
    : percentLadder;

/** The tier of a reading, or undefined when it does not hold the number the ladder asks for. */
export const tierOf = (reading: Reading, ladder: Ladder): Tier | undefined => {
  const used = ladder.unit === 'tokens' ? reading.usedTokens : percentOf(reading);
  if (used === undefined) return undefined;
  if (used >= ladder.hard) return 'hard';
  if (used >= ladder.auto) return 'auto';
  return used >= ladder.warn ? 'warn' : 'safe';
};

const clamp = (ladder: Ladder, windowTokens: number, native: NativeTrigger): Ladder => {
  const trigger = Math.floor(windowTokens * native.share) - native.reserveTokens;
  const auto = Math.min(ladder.auto, trigger - Math.max(NATIVE_LEAD_TOKENS, part(windowTokens, 2)));
  // A window smaller than the agent's own reserve has no useful trigger: our boundaries stay.
  if (auto <= 0) return ladder;
  const warn = Math.min(ladder.warn, auto - Math.min(WARN_MARGIN_TOKENS, part(windowTokens, 10)));
  return { ...ladder, warn: Math.max(0, warn), auto };
};

// Whole-number arithmetic: 0.7 · w in floating point would miss a boundary by one.
const part = (windowTokens: number, percent: number): number => Math.floor((windowTokens * percent) / 100);
