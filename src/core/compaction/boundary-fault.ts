// An agent also records a compaction that left nothing of the conversation, or more than there was: that is no success.
import type { Boundary } from '../event.js';
import { tokensText } from '../figures.js';
import type { Outcome } from './outcome.js';

/** How the compaction failed by its own record; undefined where nothing in it speaks against it. */
export const faultOf = ({
  summary,
  preTokens,
  postTokens,
}: Boundary): Extract<Outcome, { kind: 'failed' }> | undefined => {
  if (summary === 'empty') return { kind: 'failed', failure: summary, text: 'the summary is empty' };
  if (summary === 'truncated') return { kind: 'failed', failure: summary, text: 'the summary is cut off' };
  if (preTokens === undefined || postTokens === undefined || postTokens < preTokens) return undefined;
  const text = `not smaller: ${tokensText(preTokens)} → ${tokensText(postTokens)}`;
  return { kind: 'failed', failure: 'inflated', text };
};
