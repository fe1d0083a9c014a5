import { compactionsOf } from '../core/conversation.js';
import { receiptOf, type Receipt } from '../core/receipt.js';
import { readWholeConversation, type ConversationSource } from './read-conversation.js';

/** Which compaction: its record's line in the file, from 1, or the last one of the file that was not undone in it. */
export type WantedCompaction = { readonly line: number } | 'last';

export interface ReadReceipt {
  readonly receipt: Receipt;
  /** the agent's id of the conversation */
  readonly sessionId?: string;
}

/**
 * The receipt of a compaction, from its session file; undefined where the agent's conversations cannot be read, or the file no longer holds
 * what was before. Rejects when the file cannot be read.
 */
export const readReceipt = async (
  source: ConversationSource,
  wanted: WantedCompaction,
): Promise<ReadReceipt | undefined> => {
  const conversation = await readWholeConversation(source);
  if (!conversation) return undefined;
  const all = compactionsOf(conversation);
  const compaction =
    wanted === 'last'
      ? all.findLast(({ isUndone }) => isUndone !== true)
      : all.find((each) => each.source.line === wanted.line - 1);
  const receipt = compaction && receiptOf(conversation, compaction);
  if (!receipt) return undefined;
  const { id } = conversation.head;
  return { receipt, ...(id === undefined ? {} : { sessionId: id }) };
};
