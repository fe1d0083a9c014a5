import {
  compactionsOf,
  type Compaction,
  type Conversation,
  type ConversationReader,
  type Entry,
  type Step,
} from '../core/conversation/conversation.js';
import { buildConversation } from '../core/conversation/build-conversation.js';
import type { RecordedCompaction } from '../core/conversation/boundary-record.js';
import { LimitError } from '../core/errors.js';
import { formatBytes } from '../core/format.js';
import { readStored } from '../storage/session-store.js';
import { MAX_LINE_BYTES, type SessionSource } from './read-history.js';
import { makeRecordReader, type SessionRecord } from './session-records.js';

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

/** A record's line, from 0, and its steps. */
interface RecordSteps {
  readonly line: number;
  readonly isMoved: boolean;
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
  let isOver = false;
  let damaged = 0;
  let lastLine: Pick<Conversation, 'isCutOff'> = {};
  const read: RecordSteps[] = [];
  const take = ({ bytes, line, isMoved }: SessionRecord): void => {
    isOver ||= line > end && !isMoved;
    if (isOver) return;
    const text = bytes?.toString('utf8');
    if (text?.trim() === '') return;
    const result = text === undefined ? undefined : reader(text, line - 1);
    const isDamaged = result === undefined || result.misfit !== undefined;
    if (isDamaged) damaged += 1;
    lastLine = isDamaged ? { isCutOff: true } : {};
    if (!result) return;
    reader = result.next;
    if (result.steps.length > 0)
      read.push({ line: line - 1, isMoved: isMoved === true, steps: result.steps.map(keep) });
  };
  const records = makeRecordReader(source.agent.log?.history, take, MAX_LINE_BYTES);
  let bytes = 0;
  for await (const chunk of source.open?.('everything') ?? readStored(source.path)) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new LimitError(`it holds more than ${formatBytes(mostBytes)}`);
    records.push(chunk);
    if (isOver) break;
  }
  records.end();
  const steps = stepsBefore(read, end - 1);
  return { ...buildConversation(steps), damaged, ...lastLine };
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

/** All before the compaction of this line. Some agents write records of it before the one that says so, such as the request for the summary. */
const stepsBefore = (read: readonly RecordSteps[], compactionLine: number): readonly Step[] => {
  const place = read.findIndex((each) => each.line === compactionLine && compactionsIn(each).length > 0);
  const own = place < 0 ? undefined : read[place];
  const starts = own ? compactionsIn(own).flatMap(({ startLine }) => startLine ?? []) : [];
  const first = Math.min(compactionLine, ...starts);
  return read
    .slice(0, place < 0 ? read.length : place)
    .filter(({ line, isMoved }) => line < first || isMoved || (own !== undefined && line === compactionLine))
    .flatMap(({ steps }) => steps);
};

const compactionsIn = ({ steps }: RecordSteps): readonly Compaction[] =>
  steps.flatMap((step) =>
    step.kind === 'record' || step.kind === 'rewritten' ? compactionsOf({ entries: step.entries }) : [],
  );
