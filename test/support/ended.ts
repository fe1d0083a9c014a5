import type { EndedCompaction } from '../../src/core/compaction/outcome.js';

/** A successful attempt of the wrapper. */
export const successfulEnd = (more: Partial<EndedCompaction> = {}): EndedCompaction => ({
  initiator: 'ctxwrap',
  startedAt: 1_000,
  endedAt: 15_000,
  before: { usedTokens: 166_000 },
  outcome: { kind: 'verified', after: { usedTokens: 12_000 } },
  evidence: ['typed /compact', 'its record of the compaction'],
  ...more,
});
