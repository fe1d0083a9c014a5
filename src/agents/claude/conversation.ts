import {
  makeConversationReader,
  type ConversationReader,
  type Entry,
  type PlanChange,
  type SessionHead,
  type SourceRecord,
} from '../../core/conversation/conversation.js';
import { getList, getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import {
  type FoundHead,
  planOf,
  planStatus,
  recordStep,
  textEntry,
  toolEntries,
  withHead,
  type Tools,
} from '../entries.js';
import { outputText } from '../records.js';
import { boundaryIn, claudeToolEvents, keptIdsIn } from './log.js';

// A Claude Code session file as a conversation (facts/claude.md §7, facts/sessions.md §A.1): records that name the one before, in no certain
// order, with the branches that the user has left. A compaction starts a new chain; `logicalParentUuid` names the last record before it, and
// `preservedMessages` what it has kept.

const tools: Tools = {
  reads: { Read: 'file_path', NotebookRead: 'notebook_path' },
  edits: { Edit: 'file_path', MultiEdit: 'file_path', Write: 'file_path', NotebookEdit: 'notebook_path' },
  runs: { Bash: 'command', PowerShell: 'command' },
  plan: (name, input) => readPlan(name, input),
};

const readPlan = (name: string, input: JsonRecord): PlanChange | undefined => {
  if (name === 'TodoWrite') return planOf(getList(input, 'todos'), 'content');
  const text = getText(input, 'subject');
  if (name === 'TaskCreate') return { kind: 'added', item: { text: text ?? '', status: 'open' } };
  const id = getText(input, 'taskId');
  if (name !== 'TaskUpdate' || id === undefined) return undefined;
  const status = getText(input, 'status');
  const item = {
    ...present({ text }),
    ...(status === undefined ? {} : { status: planStatus(status) }),
  };
  return { kind: 'changed', id, item };
};

interface ClaudeConversation {
  readonly head: SessionHead;
}

/** The reader for the first line of a Claude Code session file. */
export const claudeConversation = (): ConversationReader =>
  makeConversationReader<ClaudeConversation>({ head: {} }, (state, line, lineNumber) => {
    const record = parseRecord(line);
    if (!record) return { state, steps: [], misfit: 'not JSON' };
    const type = getText(record, 'type');
    if (type === undefined) return { state, steps: [], misfit: 'not a Claude record' };
    if (record['isSidechain'] === true) return { state, steps: [] };
    const { head, steps } = withHead(state.head, headIn(record, state.head));
    const after = steps.length === 0 ? state : { head };
    const id = getText(record, 'uuid');
    // titles, modes, snapshots of files: not part of the chain
    if (id === undefined) return { state: after, steps };
    const source = sourceOf(record, id, lineNumber);
    return { state: after, steps: [...steps, recordStep(source, entriesIn(record, type, source))] };
  });

const headIn = (record: JsonRecord, known: SessionHead): FoundHead => {
  const model = getText(getRecord(record, 'message'), 'model');
  return {
    id: getText(record, 'sessionId'),
    cwd: getText(record, 'cwd'),
    version: getText(record, 'version'),
    model: model === SYNTHETIC ? undefined : model,
    startedAt: known.startedAt ?? parseIsoTime(getText(record, 'timestamp') ?? ''),
  };
};

const SYNTHETIC = '<synthetic>'; // Claude's own text in place of an answer

const sourceOf = (record: JsonRecord, id: string, line: number): SourceRecord => {
  const parentId = record['parentUuid'] === null ? null : getText(record, 'parentUuid');
  const at = parseIsoTime(getText(record, 'timestamp') ?? '');
  const answerId = record['type'] === 'assistant' ? getText(getRecord(record, 'message'), 'id') : undefined;
  return {
    line,
    id,
    parentId: parentId ?? null,
    ...present({ at, answerId }),
  };
};

const entriesIn = (record: JsonRecord, type: string, source: SourceRecord): readonly Entry[] => {
  switch (type) {
    case 'user':
      return userEntries(record, source);
    case 'assistant':
      return answerEntries(record, source);
    case 'attachment':
      return [textEntry('context', source, outputText(record['attachment']), { record })];
    case 'system':
      return systemEntries(record, source);
    default:
      return [];
  }
};

/** A part of a record as Claude wrote it: the whole record, and which block of its message this is. */
interface Native {
  readonly record: JsonRecord;
  /** absent for a message that is one text, and for records without a message */
  readonly block?: number;
}

const userEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const message = getRecord(record, 'message');
  const text = getText(message, 'content');
  if (text !== undefined) return [textEntry(kindOf(record, text), source, text, { record })];
  return getList(message, 'content').flatMap((block, index): readonly Entry[] => {
    const native: Native = { record, block: index };
    if (!isRecord(block)) return [];
    const events = claudeToolEvents(block);
    if (events.length > 0) return events.flatMap((event) => toolEntries(event, source, tools, native));
    const words = getText(block, 'text') ?? '';
    return [textEntry(kindOf(record, words), source, words, native)];
  });
};

// What Claude itself puts into a message of the user: reminders, its commands and their output, the mark of an interruption.
const OWN_WORDS =
  /^\s*<(?:command-\w+|local-command-\w+|bash-\w+|system-reminder|task-notification|user-prompt-submit-hook|user-memory-input)>|^\[Request interrupted by user|^Caveat: The messages below/;

const kindOf = (record: JsonRecord, text: string): 'prompt' | 'context' | 'summary' => {
  if (record['isCompactSummary'] === true) return 'summary';
  return record['isMeta'] === true || OWN_WORDS.test(text) ? 'context' : 'prompt';
};

const answerEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const message = getRecord(record, 'message');
  const model = getText(message, 'model');
  if (record['isApiErrorMessage'] === true)
    return [textEntry('notice', source, outputText(message?.['content']), { record })];
  return getList(message, 'content').flatMap((block, index): readonly Entry[] => {
    const native: Native = { record, block: index };
    if (!isRecord(block)) return [];
    const events = claudeToolEvents(block);
    if (events.length > 0) return events.flatMap((event) => toolEntries(event, source, tools, native));
    const thought = getText(block, 'thinking');
    if (thought !== undefined || block['type'] === 'redacted_thinking')
      return [textEntry('reasoning', source, thought ?? '', native)];
    const answer = textEntry('answer', source, getText(block, 'text') ?? '', native);
    return [model === undefined || model === SYNTHETIC ? answer : { ...answer, model }];
  });
};

const systemEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  if (record['subtype'] === 'compact_boundary') return [compactionIn(record, source)];
  const text = getText(record, 'content');
  if (text === undefined) return [];
  // its own commands and their output go to the model, too
  return [textEntry(record['subtype'] === 'local_command' ? 'context' : 'notice', source, text, { record })];
};

const compactionIn = (record: JsonRecord, source: SourceRecord): Entry => {
  const metadata = getRecord(record, 'compactMetadata');
  const segment = getRecord(metadata, 'preservedSegment');
  const [firstId, lastId] = [getText(segment, 'headUuid'), getText(segment, 'tailUuid')];
  const keptAfterId = getText(getRecord(metadata, 'preservedMessages') ?? segment, 'anchorUuid');
  const previousId = getText(record, 'logicalParentUuid');
  return {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary: boundaryIn(record, source.at ?? 0),
    startLine: source.line,
    ...(firstId === undefined || lastId === undefined ? {} : { keptSpan: { firstId, lastId } }),
    keptIds: keptIdsIn(metadata) ?? [],
    ...present({ keptAfterId, previousId }),
    native: { record },
  };
};
