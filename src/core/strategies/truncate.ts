import { tokensOf, userMessagesIn, type Entry, type Summary } from '../conversation/conversation.js';
import { estimateTokens } from '../reading.js';
import { divideWithBlock, withoutBlock } from './evidence-block.js';
import { joined, type Division } from './keep.js';
import type { Strategy } from './strategy.js';

// The last messages stay; what was before them goes, but for its evidence and the summary that an earlier compaction has left.

const SUMMARY_SHARE = 1 / 4; // of the budget, for an earlier summary

export const truncate: Strategy = async (conversation, { keepRecent, budgetTokens }) => {
  const most = Math.floor(budgetTokens * SUMMARY_SHARE);
  const limits = { keepRecent, budgetTokens: budgetTokens - HEAD_TOKENS };
  const first = divideWithBlock(conversation, limits);
  const earlier = earlierSummary(first.division.dropped, most);
  const { division, block } =
    earlier === ''
      ? first
      : divideWithBlock(conversation, {
          keepRecent,
          budgetTokens: limits.budgetTokens - estimateTokens(earlier),
        });
  const text = [headText(division), earlier, block].filter((part) => part !== '').join('\n\n');
  return joined(conversation, division, text);
};

const HEAD_TOKENS = 100; // of the sentences below

/** What the model reads instead of what was taken out. */
const headText = ({ dropped }: Pick<Division, 'dropped'>): string => {
  const prompts = userMessagesIn(dropped).length;
  const calls = dropped.filter(({ kind }) => kind === 'call').length;
  const counts = [
    count(prompts, 'message of the user', 'messages of the user'),
    count(calls, 'tool call', 'tool calls'),
  ];
  return `The earlier part of this conversation was removed to make room (${counts.join(', ')}). What follows is the rest of it, word for word. Files may have changed since they were read: read them again where that matters.`;
};

const count = (many: number, one: string, more: string): string => `${many} ${many === 1 ? one : more}`;

/** The readable summaries among these entries, without their blocks; '' where they need more than `most` tokens. */
export const earlierSummary = (entries: readonly Entry[], most = Infinity): string => {
  const summaries = entries.filter((entry): entry is Summary => entry.kind === 'summary');
  if (tokensOf(summaries) > most) return '';
  return summaries
    .map(({ text }) => withoutBlock(text))
    .filter((text) => text !== '')
    .join('\n\n');
};
