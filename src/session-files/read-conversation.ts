import type { Conversation, ConversationReader, Entry, Step } from '../core/conversation/conversation.js';
import { buildConversation } from '../core/conversation/build-conversation.js';
import type { RecordedCompaction } from '../core/conversation/boundary-record.js';
import { LimitError } from '../core/errors.js';
import { formatBytes } from '../core/format.js';
import { readStored } from '../storage/session-store.js';
import { makeByteSplitter } from '../storage/tail.js';
import { MAX_LINE_BYTES, type SessionSource } from './read-history.js';

// Reads the part of a session file that is the conversation before a compaction.

/**
 * The whole conversation of a session file; the rest as `readConversationBefore`. Rejects with a LimitError for one with more bytes than
 * these, which a packed file does not show by its size.
 */
export const readWholeConversation = (
  source: ConversationSource,
  mostBytes = Infinity,
): Promise<Conversation | undefined> => readPart(source, Infinity, withoutNative, mostBytes);

/** The same with the agent's own form of each part, so that it can be written again; it takes twice the memory. */
export const readWritableConversation = (source: ConversationSource): Promise<Conversation | undefined> =>
  readPart(source, Infinity, (step) => step);

/** A session file, or a copy of one. */
export type ConversationSource = Pick<SessionSource, 'agent' | 'path' | 'open'>;

interface LineSteps {
  readonly line: number;
  readonly steps: readonly Step[];
}

/**
 * The conversation as it was before this compaction; undefined if this agent's conversations cannot be read. Memory grows with what was
 * in it. Rejects when the file cannot be read.
 */
export const readConversationBefore = (
  source: ConversationSource,
  { line }: Pick<RecordedCompaction, 'line'>,
): Promise<Conversation | undefined> => readPart(source, line, withoutNative);

const readPart = async (
  source: ConversationSource,
  end: number,
  keep: (step: Step) => Step,
  mostBytes = Infinity,
): Promise<Conversation | undefined> => {
  const start = source.agent.log?.conversation?.();
  if (!start) return undefined;
  let reader: ConversationReader = start;
  let line = 0;
  let damaged = 0;
  const read: LineSteps[] = [];
  const take = (bytes: Buffer | undefined): void => {
    line += 1;
    if (line > end) return;
    const text = bytes?.toString('utf8');
    const result = text === undefined ? undefined : reader(text, line - 1);
    if (result === undefined || result.misfit !== undefined) damaged += text?.trim() === '' ? 0 : 1;
    if (!result) return;
    reader = result.next;
    if (result.steps.length > 0) read.push({ line: line - 1, steps: result.steps.map(keep) });
  };
  const splitter = makeByteSplitter(take, { maxBytes: MAX_LINE_BYTES });
  let bytes = 0;
  for await (const chunk of source.open?.('everything') ?? readStored(source.path)) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new LimitError(`it holds more than ${formatBytes(mostBytes)}`);
    splitter.push(chunk);
    if (line >= end) break;
  }
  const rest = end === Infinity ? splitter.rest() : undefined; // one document has no newline at its end
  if (rest) take(rest);
  const first = firstLineOf(read, end - 1);
  const steps = read.filter((each) => each.line < first).flatMap((each) => each.steps);
  return { ...buildConversation(steps), damaged };
};

/** Without the agent's own form of the parts, which takes as much memory as all the rest. */
const withoutNative = (step: Step): Step =>
  step.kind === 'record' || step.kind === 'rewritten'
    ? { ...step, entries: step.entries.map(plainEntry) }
    : step;

const plainEntry = (entry: Entry): Entry => {
  const { native: _, ...plain } = entry;
  return plain as Entry;
};

/** Some agents write records of a compaction before the one that says so, such as the request for the summary. */
const firstLineOf = (read: readonly LineSteps[], compactionLine: number): number => {
  const entries = read
    .filter(({ line }) => line === compactionLine)
    .flatMap(({ steps }) => steps)
    .flatMap((step) => (step.kind === 'record' || step.kind === 'rewritten' ? step.entries : []));
  const starts = entries.flatMap((entry) => (entry.kind === 'compaction' ? (entry.startLine ?? []) : []));
  return Math.min(compactionLine, ...starts);
};
