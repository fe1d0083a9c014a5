import type { Fused } from '../fusion.js';

/** What is wrong with a number that starts nothing: its window is assumed or uncertain, it is an estimate, or sources differ. */
export type Doubt = 'assumed' | 'window' | 'estimate' | 'sources';

/** Why a number that is shown at auto or hard starts nothing. */
export const doubtOf = (fused: Fused): Doubt | undefined => {
  const { tier, actingTier } = fused;
  const isFull = tier === 'auto' || tier === 'hard';
  return !isFull || actingTier === 'auto' || actingTier === 'hard' ? undefined : uncertaintyOf(fused);
};

/** What would have to be mended first; an estimate of everything stays one in any window. */
export const uncertaintyOf = ({ reading, raised, window, counted }: Fused): Doubt | undefined => {
  if (reading.source === 'estimate' && !counted) return 'estimate';
  if (window && !window.certain) return window.windowSource === 'default' ? 'assumed' : 'window';
  if (reading.source === 'estimate') return 'estimate';
  return raised ? 'sources' : undefined;
};
