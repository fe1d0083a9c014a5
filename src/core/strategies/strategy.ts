import type { Conversation } from '../conversation/conversation.js';
import type { StrategyName } from './names.js';
import { clustering } from './clustering.js';
import { summarize } from './summarize.js';
import { truncate } from './truncate.js';

// A strategy shortens a conversation without the agent. `auto` is none: it leaves that to the agent's own command.

/** Writes a summary of `text` as `instructions` say. Rejects with an error whose message is a sentence without a full stop. */
export type Summarise = (
  request: { readonly instructions: string; readonly text: string },
  signal: AbortSignal,
) => Promise<string>;

export interface StrategyOptions {
  /** this many of the user's last messages stay word for word; at least 1 */
  readonly keepRecent: number;
  /** for the conversation afterwards, estimated as `estimateTokens` does */
  readonly budgetTokens: number;
  /** writes summaries, where one is set */
  readonly summarise?: Summarise | undefined;
  readonly signal: AbortSignal;
}

/**
 * The conversation as it goes on. Whatever it returns is checked (`checkShortened`), so a user's own may be anything. Rejects with an error
 * whose message is a sentence without a full stop.
 */
export type Strategy = (conversation: Conversation, options: StrategyOptions) => Promise<Conversation>;

export const strategies: Readonly<Record<StrategyName, Strategy>> = { truncate, summarize, clustering };
