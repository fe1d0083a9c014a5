import type { Ended } from '../../src/core/compaction/outcome.js';

/** An attempt of ours that worked. */
export const anEnded = (more: Partial<Ended> = {}): Ended => ({
  initiator: 'ctxwrap',
  startedAt: 1_000,
  endedAt: 15_000,
  before: { usedTokens: 166_000 },
  outcome: { kind: 'verified', after: { usedTokens: 12_000 } },
  evidence: ['typed /compact', 'its record of the compaction'],
  ...more,
});
