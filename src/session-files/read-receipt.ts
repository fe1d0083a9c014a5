import { evidenceIn, type EvidenceItem } from '../core/conversation/conversation-evidence.js';
import { compactionsOf, windowOf } from '../core/conversation/conversation.js';
import { LimitError } from '../core/errors.js';
import type { RecordedCompaction } from '../core/conversation/boundary-record.js';
import { givenSince, keptCounts, receiptOf, type Receipt } from '../core/conversation/receipt.js';
import type { SessionSource } from './read-history.js';
import { readWholeConversation } from './read-conversation.js';
import type { RecordSource } from './session-records.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';

/** Of a session file: all that was said in a larger one would fill the memory. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** Which compaction: its record's line in the file, from 1, or the last one of the file that was not undone in it. */
export type WantedCompaction = { readonly line: number } | 'last';

export interface ReadReceipt {
  readonly receipt: Receipt;
  /** the keys (`givenKey`) of all that was given back since: also of what an earlier compaction has lost */
  readonly given: ReadonlySet<string>;
  /** of the compaction's record in the file, from 1 */
  readonly line: number;
  /** when the agent had compacted */
  readonly at: Millis;
  /** the agent's id of the conversation */
  readonly sessionId?: string;
}

/**
 * The receipt of a compaction, from its session file; undefined where the agent's conversations cannot be read, or the file no longer holds
 * what was before. Rejects when the file cannot be read.
 */
export const readReceipt = async (
  source: RecordSource,
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
  return {
    receipt,
    given: givenSince(conversation, compaction),
    line: compaction.source.line + 1,
    at: compaction.boundary.at,
    ...present({ sessionId: id }),
  };
};

/** The session file has a compaction that was not undone, with or without what was before it. Rejects when the file cannot be read. */
export const isCompacted = async (source: RecordSource): Promise<boolean> => {
  const conversation = await readWholeConversation(source);
  return conversation !== undefined && compactionsOf(conversation).some(({ isUndone }) => isUndone !== true);
};

/** What is in the window now that a summary should keep; nothing where that cannot be known. Rejects when the file cannot be read. */
export const readWindowEvidence = async (source: SessionSource): Promise<readonly EvidenceItem[]> => {
  const conversation =
    source.size > MOST_BYTES ? undefined : await readWholeConversation(source, MOST_BYTES).catch(ignoreLimit);
  return conversation ? evidenceIn(windowOf(conversation), conversation.head.cwd, conversation.entries) : [];
};

const ignoreLimit = (error: unknown): undefined => {
  if (!(error instanceof LimitError)) throw error;
};

/** What a receipt says in figures; `kept` is absent where the summary cannot be read. */
export type KeptFacts = Pick<RecordedCompaction, 'kept' | 'notUnderstood'>;

/**
 * How much each compaction of a session file has kept, by the line of its record from 1; without those of which that is not known. Empty for
 * a file that is too large. Rejects when it cannot be read.
 */
export const readKeptCounts = async (source: SessionSource): Promise<ReadonlyMap<number, KeptFacts>> => {
  const conversation =
    source.size > MOST_BYTES ? undefined : await readWholeConversation(source, MOST_BYTES).catch(ignoreLimit);
  const found = new Map<number, KeptFacts>();
  for (const compaction of conversation ? compactionsOf(conversation) : []) {
    const receipt = conversation && receiptOf(conversation, compaction);
    if (!receipt) continue;
    const { notUnderstood, isUnreadable } = receipt;
    const kept = isUnreadable ? {} : { kept: keptCounts(receipt) };
    found.set(compaction.source.line + 1, { ...kept, notUnderstood });
  }
  return found;
};
