import { formatTokens } from '../format.js';
import { sizeForBudget } from './keep.js';
import {
  tokensOf,
  userMessagesIn,
  windowOf,
  type Conversation,
  type Entry,
} from '../conversation/conversation.js';

// What must hold for a shortened conversation, whoever shortened it. Otherwise nothing is written, and the agent keeps what it has.

export interface CheckOptions {
  readonly keepRecent: number;
  /** as in `StrategyOptions` */
  readonly budgetTokens: number;
}

/** Why this conversation cannot be shortened safely; undefined if it can. A sentence without a full stop. */
export const obstacleIn = (conversation: Conversation): string | undefined => {
  if (conversation.incomplete !== undefined) return conversation.incomplete;
  const damaged = conversation.damaged - (conversation.isCutOff ? 1 : 0);
  if (damaged > 0) {
    const lines = damaged === 1 ? '1 line' : `${damaged} lines`;
    return `${lines} of its session file cannot be read`;
  }
  return sizeForBudget(conversation) === 0 ? 'the conversation is empty' : undefined;
};

/** Nothing of `before` was taken out of the window. */
export const isSameWindow = (before: Conversation, after: Conversation): boolean => {
  const left = new Set(windowOf(after));
  return windowOf(before).every(
    (entry) => left.has(entry) || (entry.kind === 'summary' && !entry.isEncrypted),
  );
};

/** Why `after` must not take the place of `before`; undefined if it may. A sentence without a full stop. */
export const checkShortened = (
  before: Conversation,
  after: Conversation,
  { keepRecent, budgetTokens }: CheckOptions,
): string | undefined => {
  const [was, is] = [windowOf(before), windowOf(after)];
  const [tokens, least] = [sizeForBudget(after), sizeForBudget(before)];
  const wanted = userMessagesIn(was).slice(-Math.max(1, keepRecent)).flat();
  const last = userMessagesIn(is).flat().slice(-wanted.length);
  if (!wanted.every(({ text }, index) => text === last[index]?.text))
    return 'it would change your last messages';
  // in the middle of its work the agent goes by the summary
  if (wanted.length === 0 && !is.some(({ kind }) => kind === 'summary')) return 'it would hold no summary';
  const orphan = orphanIn(is);
  if (orphan !== undefined) return orphan;
  if (tokens >= least) return 'it would be no shorter';
  return tokens > budgetTokens ? tooLong(tokensOf(wanted), tokens, budgetTokens) : undefined;
};

const tooLong = (ownTokens: number, tokens: number, budgetTokens: number): string => {
  const [own, all, most] = [ownTokens, tokens, budgetTokens].map(formatTokens);
  return ownTokens > budgetTokens
    ? `your last messages alone take about ${own} tokens, more than ${most}`
    : `it would still take about ${all} tokens, more than ${most}`;
};

const orphanIn = (window: readonly Entry[]): string | undefined => {
  const open = new Set<string>();
  for (const entry of window) {
    if (entry.kind === 'call') open.add(entry.callId);
    if (entry.kind === 'result' && !open.delete(entry.callId))
      return 'it would hold a tool result without its call';
  }
  return open.size > 0 ? 'it would hold a tool call without its result' : undefined;
};

/** What became of the parts of a conversation. */
export interface Change {
  readonly keptMessages: number;
  readonly droppedMessages: number;
  readonly keptCalls: number;
  readonly droppedCalls: number;
  /** of the text that replaces the rest */
  readonly summaryTokens: number;
  /** without what must stay in any case, such as the agent's instructions */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Counts what `after` has kept of `before`. */
export const changeBetween = (before: Conversation, after: Conversation): Change => {
  const [was, is] = [windowOf(before), windowOf(after)];
  const kept = new Set(is);
  const count = (kind: 'call', isKept: boolean): number =>
    was.filter((entry) => entry.kind === kind && kept.has(entry) === isKept).length;
  return {
    keptMessages: userMessagesIn(was.filter((entry) => kept.has(entry))).length,
    droppedMessages: userMessagesIn(was.filter((entry) => !kept.has(entry))).length,
    keptCalls: count('call', true),
    droppedCalls: count('call', false),
    summaryTokens: tokensOf(is.filter((entry) => entry.kind === 'summary' && !was.includes(entry))),
    tokensBefore: sizeForBudget(before),
    tokensAfter: sizeForBudget(after),
  };
};
