import type { Conversation } from '../conversation/conversation.js';
import { sizeForBudget } from './keep.js';

// How long a shortened conversation may be. Agents count their instructions and tools, too, and count otherwise than `estimateTokens`: what the
// agent reported for the whole window tells both.

/** What is known of the window, in the agent's tokens. */
export interface KnownWindow {
  /** where the tier warn begins */
  readonly warnTokens?: number | undefined;
  /** what the agent reported */
  readonly usedTokens?: number | undefined;
  /** `usedTokens` is an estimate */
  readonly isEstimated?: boolean;
}

export interface Budget {
  /** for the conversation, as `estimateTokens` counts */
  readonly budgetTokens: number;
  /** the size of the window with a conversation of so many estimated tokens, in the agent's tokens */
  readonly toWindow: (estimatedTokens: number) => number;
}

const DEFAULT_WARN = 140_000; // of a window of 200k
const SHARE = 1 / 2; // of what lies below warn: a window that is full again at once helps nobody
const MOST_OVERHEAD = 30_000; // tokens of the agent's instructions and tools
const MOST_PER_TOKEN = 3; // the agent's tokens for one of ours: beyond that, what it counted is not in the text, such as pictures
const LEAST = 500;

/** The budget of this conversation, so that the window is well below warn afterwards. */
export const budgetFor = (
  conversation: Conversation,
  { warnTokens = DEFAULT_WARN, usedTokens }: KnownWindow,
): Budget => {
  const target = warnTokens * SHARE;
  const estimated = sizeForBudget(conversation);
  if (usedTokens === undefined || usedTokens <= 0 || estimated === 0)
    return { budgetTokens: Math.max(LEAST, Math.floor(target)), toWindow: (tokens) => tokens };
  const overhead = Math.min(MOST_OVERHEAD, target / 2, Math.max(0, usedTokens - estimated));
  const perToken = Math.min(MOST_PER_TOKEN, Math.max(1, usedTokens - overhead) / estimated);
  return {
    budgetTokens: Math.max(LEAST, Math.floor((target - overhead) / perToken)),
    toWindow: (tokens) => Math.round(overhead + tokens * perToken),
  };
};
