import { evidenceIn, type EvidenceItem } from '../core/conversation/conversation-evidence.js';
import { compactionsOf, windowOf, type Compaction } from '../core/conversation/conversation.js';
import { LimitError } from '../core/errors.js';
import type { RecordedCompaction } from '../core/conversation/boundary-record.js';
import {
  givenSince,
  keptCounts,
  receiptOf,
  shortenedReceipt,
  type Receipt,
} from '../core/conversation/receipt.js';
import type { SessionSource } from './read-history.js';
import { MOST_BYTES, readWholeConversation } from './read-conversation.js';
import type { RecordSource } from './session-records.js';
import { readLonger, type LongerSession } from './shortened-from.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';

/**
 * Which compaction: its record's line in the file, from 1, or the last one of the file that was not undone in it. 0 for a shortening of
 * ctxwrap of which the agent's file has no record.
 */
export type WantedCompaction = { readonly line: number } | 'last';

export interface ReadReceipt {
  readonly receipt: Receipt;
  /** the keys (`givenKey`) of all that was given back since: also of what an earlier compaction has lost */
  readonly given: ReadonlySet<string>;
  /** of the compaction's record in the file, from 1; 0 where there is none */
  readonly line: number;
  /** when the agent had compacted */
  readonly at: Millis;
  /** the agent's id of the conversation */
  readonly sessionId?: string;
  /** the file that the receipt's lines are of, where that is the one with the conversation before */
  readonly from?: string;
}

/**
 * The receipt of a compaction, from its session file, and the one that ctxwrap has shortened into it; undefined where the agent's conversations
 * cannot be read, or the file no longer holds what was before. Rejects when a file cannot be read.
 */
export const readReceipt = async (
  source: RecordSource,
  wanted: WantedCompaction,
  longer?: LongerSession,
): Promise<ReadReceipt | undefined> => {
  const conversation = await readWholeConversation(source);
  if (!conversation) return undefined;
  const all = compactionsOf(conversation);
  const compaction =
    wanted === 'last'
      ? all.findLast(({ isUndone }) => isUndone !== true)
      : all.find((each) => each.source.line === wanted.line - 1);
  const { id: sessionId } = conversation.head;
  const line = compaction ? compaction.source.line + 1 : 0;
  if (longer && isItsShortening(longer, compaction, wanted)) {
    const { whole, source: from } = await readLonger(longer);
    const read = shortenedReceipt(conversation, { whole, at: longer.at });
    return { ...read, line, at: longer.at, from: from.path, ...present({ sessionId }) };
  }
  const receipt = compaction && receiptOf(conversation, compaction);
  if (!receipt) return undefined;
  const given = givenSince(conversation, compaction);
  return { receipt, given, line, at: compaction.boundary.at, ...present({ sessionId }) };
};

/** The agent may have no record of it. */
const isItsShortening = (
  { at }: LongerSession,
  compaction: Compaction | undefined,
  wanted: WantedCompaction,
): boolean => (compaction ? compaction.boundary.at === at : wanted === 'last' || wanted.line === 0);

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
 * How much each compaction of a session file has kept, by the line of its record as in `ReadReceipt`; without those of which that is not known.
 * Empty for a file that is too large. Rejects when it cannot be read.
 */
export const readKeptCounts = async (
  source: SessionSource,
  longer?: LongerSession,
): Promise<ReadonlyMap<number, KeptFacts>> => {
  const conversation =
    source.size > MOST_BYTES ? undefined : await readWholeConversation(source, MOST_BYTES).catch(ignoreLimit);
  const found = new Map<number, KeptFacts>();
  if (!conversation) return found;
  const all = compactionsOf(conversation);
  for (const compaction of all) {
    const receipt = receiptOf(conversation, compaction);
    if (receipt) found.set(compaction.source.line + 1, keptFacts(receipt));
  }
  const before = longer && (await readLonger(longer).catch(() => undefined));
  if (!before) return found;
  const { whole } = before;
  const record = all.find(({ boundary }) => boundary.at === longer.at);
  const { receipt } = shortenedReceipt(conversation, { whole, at: longer.at });
  return found.set(record ? record.source.line + 1 : 0, keptFacts(receipt));
};

const keptFacts = (receipt: Receipt): KeptFacts => ({
  ...(receipt.isUnreadable ? {} : { kept: keptCounts(receipt) }),
  notUnderstood: receipt.notUnderstood,
});
