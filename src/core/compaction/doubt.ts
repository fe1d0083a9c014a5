import type { Fused } from '../fusion.js';

/** What is wrong with a number that starts nothing: its window is assumed or uncertain, it is an estimate, or sources differ. */
export type Doubt = 'assumed' | 'window' | 'estimate' | 'sources';

/** Why a number that is shown at auto or hard starts nothing. */
export const doubtOf = ({ tier, actingTier, reading, raised, window }: Fused): Doubt | undefined => {
  const isFull = tier === 'auto' || tier === 'hard';
  if (!isFull || actingTier === 'auto' || actingTier === 'hard') return undefined;
  if (window && !window.certain) return window.windowSource === 'default' ? 'assumed' : 'window';
  if (reading.source === 'estimate') return 'estimate';
  return raised ? 'sources' : undefined;
};
