import { tokensOf, windowOf, type Conversation } from '../conversation.js';

// How long a shortened conversation may be, in the tokens that `estimateTokens` counts. The agent counts its instructions and tools, too, and
// counts otherwise: what it reported for the whole window tells both.

/** What is known of the window. */
export interface KnownWindow {
  /** where the tier warn begins, in tokens */
  readonly warnTokens?: number | undefined;
  /** what the agent reported, in tokens */
  readonly usedTokens?: number | undefined;
}

const DEFAULT_WARN = 140_000; // of a window of 200k
const SHARE = 1 / 2; // of what lies below warn: a conversation that is full again at once helps nobody
const MOST_OVERHEAD = 30_000; // tokens of the agent's instructions and tools
const LEAST = 4_000;

/** The budget of this conversation, so that the window is well below warn afterwards. */
export const budgetFor = (
  conversation: Conversation,
  { warnTokens = DEFAULT_WARN, usedTokens }: KnownWindow,
): number => {
  const target = warnTokens * SHARE;
  const estimated = tokensOf(windowOf(conversation));
  if (usedTokens === undefined || usedTokens <= 0 || estimated === 0)
    return Math.max(LEAST, Math.floor(target));
  const overhead = Math.min(MOST_OVERHEAD, target / 2, Math.max(0, usedTokens - estimated));
  const perToken = Math.max(1, usedTokens - overhead) / estimated; // of the agent's, for one of ours
  return Math.max(LEAST, Math.floor((target - overhead) / perToken));
};
