import { tokensOf, userMessagesIn, type Conversation, type Summary } from '../conversation/conversation.js';
import { estimateTokens } from '../reading.js';
import { divideWithBlock, withoutBlock } from './evidence-block.js';
import { joined, type Division, type KeepLimits } from './keep.js';
import type { Strategy } from './strategy.js';

// The last messages stay; what was before them goes, but for its evidence and the summary that an earlier compaction has left. Where no message
// of the user is left, that summary stays whole, and the oldest work goes.

const SUMMARY_SHARE = 1 / 4; // of the budget, for an earlier summary

export const truncate: Strategy = async (conversation, { keepRecent, budgetTokens }) => {
  const most = Math.floor(budgetTokens * SUMMARY_SHARE);
  const limits = { keepRecent, budgetTokens: budgetTokens - HEAD_TOKENS };
  const { division, block, earlier } = divideWithSummary(conversation, limits, most);
  const text = [headText(division), earlier, block].filter((part) => part !== '').join('\n\n');
  return joined(conversation, division, text);
};

const HEAD_TOKENS = 100; // of the sentences below

/** What the model reads instead of what was taken out. */
const headText = ({ dropped, isUnattended }: Division): string => {
  const prompts = userMessagesIn(dropped).length;
  const calls = dropped.filter(({ kind }) => kind === 'call').length;
  const counts = [
    ...(isUnattended ? [] : [count(prompts, 'message of the user', 'messages of the user')]),
    count(calls, 'tool call', 'tool calls'),
  ];
  return `The earlier part of this conversation was removed to make room (${counts.join(', ')}). What follows is the rest of it, word for word. Files may have changed since they were read: read them again where that matters.`;
};

const count = (many: number, one: string, more: string): string => `${many} ${many === 1 ? one : more}`;

/**
 * The division with its block and the earlier summary, all within the budget if possible. The summary is '' where it needs more than
 * `most` tokens; but where nothing else says what the agent works at, it stays whatever it needs.
 */
export const divideWithSummary = (
  conversation: Conversation,
  limits: KeepLimits,
  most: number,
): { readonly division: Division; readonly block: string; readonly earlier: string } => {
  const first = divideWithBlock(conversation, limits);
  const earlier = earlierSummary(first.division, first.division.isUnattended ? Infinity : most);
  if (earlier === '') return { ...first, earlier };
  const budgetTokens = limits.budgetTokens - estimateTokens(earlier);
  return { ...divideWithBlock(conversation, { ...limits, budgetTokens }), earlier };
};

/** The readable summaries that go, without their blocks; '' where they need more than `most` tokens. */
export const earlierSummary = ({ dropped }: Pick<Division, 'dropped'>, most = Infinity): string => {
  const summaries = dropped.filter((entry): entry is Summary => entry.kind === 'summary');
  if (tokensOf(summaries) > most) return '';
  return summaries
    .map(({ text }) => withoutBlock(text))
    .filter((text) => text !== '')
    .join('\n\n');
};
