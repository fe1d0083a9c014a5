// An agent also records a compaction that left nothing of the conversation, or more than there was: that is no success.
import type { Boundary } from '../event.js';
import { tokensText } from '../figures.js';
import type { Fill, Outcome } from './outcome.js';

/** How the compaction failed by its own record; undefined where nothing in it speaks against it. */
export const faultOf = (
  { summary, preTokens, postTokens }: Boundary,
  before?: Fill,
): Extract<Outcome, { kind: 'failed' }> | undefined => {
  const wasTokens = preTokens ?? before?.usedTokens; // not every record tells what there was
  if (summary === 'empty') return { kind: 'failed', failure: summary, text: 'the summary is empty' };
  if (summary === 'truncated') return { kind: 'failed', failure: summary, text: 'the summary is cut off' };
  if (wasTokens === undefined || postTokens === undefined || postTokens < wasTokens) return undefined;
  const text = `not smaller: ${tokensText(wasTokens)} → ${tokensText(postTokens)}`;
  return { kind: 'failed', failure: 'inflated', text };
};
