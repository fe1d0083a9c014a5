import {
  compactionsOf,
  type Compaction,
  type Conversation,
  type Entry,
  type Step,
} from '../core/conversation/conversation.js';
import { buildConversation } from '../core/conversation/build-conversation.js';
import type { RecordedCompaction } from '../core/conversation/boundary-record.js';
import { LimitError } from '../core/errors.js';
import { formatBytes } from '../core/format.js';
import type { RecordSource } from './session-records.js';
import { readSteps, type RecordSteps } from './session-steps.js';

// Reads the part of a session file that is the conversation before a compaction.

/** Of a session file: all that was said in a larger one would fill the memory. */
export const MOST_BYTES = 64 * 1024 * 1024;

/**
 * The whole conversation of a session file; the rest as `readConversationBefore`. Rejects with a LimitError for one with more bytes than
 * these, which a packed file does not show by its size.
 */
export const readWholeConversation = (
  source: RecordSource,
  mostBytes = Infinity,
): Promise<Conversation | undefined> => readPart(source, Infinity, withoutNative, mostBytes);

/** The same with the agent's own form of each part, so that it can be written again; it takes twice the memory. */
export const readWritableConversation = (source: RecordSource): Promise<Conversation | undefined> =>
  readPart(source, Infinity, (step) => step);

/** A record's line, from 0, and its steps. */
interface PlacedSteps {
  readonly line: number;
  readonly isMoved: boolean;
  readonly steps: readonly Step[];
}

/**
 * The conversation as it was before this compaction; undefined if this agent's conversations cannot be read. Memory grows with what was
 * in it. Rejects when the file cannot be read.
 */
export const readConversationBefore = (
  source: RecordSource,
  { line }: Pick<RecordedCompaction, 'line'>,
): Promise<Conversation | undefined> => readPart(source, line, withoutNative);

const readPart = async (
  source: RecordSource,
  end: number,
  keep: (step: Step) => Step,
  mostBytes = Infinity,
): Promise<Conversation | undefined> => {
  if (!source.agent.log?.conversation) return undefined;
  let isOver = false;
  let damaged = 0;
  let lastLine: Pick<Conversation, 'isCutOff'> = {};
  const read: PlacedSteps[] = [];
  const take = ({ record, text, steps, isDamaged }: RecordSteps): void => {
    const { line, isMoved = false } = record;
    isOver ||= line > end && !isMoved;
    if (isOver || text?.trim() === '') return;
    if (isDamaged) damaged += 1;
    lastLine = isDamaged ? { isCutOff: true } : {};
    if (steps.length > 0) read.push({ line: line - 1, isMoved, steps: steps.map(keep) });
  };
  let bytes = 0;
  for await (const count of readSteps(source, take, { want: 'everything' })) {
    bytes += count;
    if (bytes > mostBytes) throw new LimitError(`it holds more than ${formatBytes(mostBytes)}`);
    if (isOver) break;
  }
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
const stepsBefore = (read: readonly PlacedSteps[], compactionLine: number): readonly Step[] => {
  const place = read.findIndex((each) => each.line === compactionLine && compactionsIn(each).length > 0);
  const own = place < 0 ? undefined : read[place];
  const starts = own ? compactionsIn(own).flatMap(({ startLine }) => startLine ?? []) : [];
  const first = Math.min(compactionLine, ...starts);
  return read
    .slice(0, place < 0 ? read.length : place)
    .filter(({ line, isMoved }) => line < first || isMoved || (own !== undefined && line === compactionLine))
    .flatMap(({ steps }) => steps);
};

const compactionsIn = ({ steps }: PlacedSteps): readonly Compaction[] =>
  steps.flatMap((step) =>
    step.kind === 'record' || step.kind === 'rewritten' ? compactionsOf({ entries: step.entries }) : [],
  );
