import {
  type Compaction,
  type ConversationReader,
  type Entry,
  makeConversationReader,
  type SessionHead,
  type SourceRecord,
  type Step,
} from '../../core/conversation/conversation.js';
import { getCount, getList, getRecord, getText, type JsonRecord, parseRecord } from '../../core/json.js';
import {
  planOf,
  recordStep,
  textEntry,
  toolEntries,
  withHead,
  type FoundHead,
  type Tools,
} from '../entries.js';
import { summaryText, textsIn } from './history.js';
import { boundaryIn, toolEventsIn, type KimiLog } from './log.js';
import { present } from '../../core/present.js';

// A session file of Kimi Code as a conversation (docs/facts/kimi.md), in the order of the file. It names neither its session nor all of its records.
// A compaction leaves the user's messages, as far as they fit, then the summary.

const tools: Tools = {
  reads: { Read: 'path', ReadMediaFile: 'path' },
  edits: { Write: 'path', Edit: 'path' },
  runs: { Bash: 'command' },
  plan: (name, input) =>
    name === 'TodoList' && 'todos' in input ? planOf(getList(input, 'todos'), 'title') : undefined,
};

interface KimiConversation {
  readonly head: SessionHead;
  /** the size that was measured last, and the compaction that has begun, at this line */
  readonly log: Pick<KimiLog, 'usedTokens' | 'begun'>;
  readonly begunLine?: number | undefined;
  /** ids of the user's messages in the window */
  readonly prompts: readonly string[];
}

/** The reader for the first line of a session file of Kimi's. */
export const kimiConversation = (): ConversationReader =>
  makeConversationReader<KimiConversation>({ head: {}, log: {}, prompts: [] }, (before, line, lineNumber) => {
    const record = parseRecord(line);
    if (!record) return { state: before, steps: [], misfit: 'not JSON' };
    const type = getText(record, 'type');
    if (type === undefined) return { state: before, steps: [], misfit: 'not a Kimi record' };
    const { head, steps } = withHead(before.head, headIn(record, type));
    const state = head === before.head ? before : { ...before, head };
    const at = getCount(record, 'time');
    const id = getText(getRecord(record, 'message'), 'id') ?? `line-${lineNumber}`;
    const source = { line: lineNumber, id, ...present({ at }) };
    const read = readRecord(state, record, type, source);
    return { state: read.state, steps: [...steps, ...read.steps] };
  });

const headIn = (record: JsonRecord, type: string): FoundHead => {
  if (type === 'metadata') return { startedAt: getCount(record, 'created_at') };
  if (type !== 'profile.bind') return {};
  return {
    cwd: getText(getRecord(record, 'environmentDisclosure'), 'cwd'),
    model: getText(record, 'modelAlias'),
  };
};

interface Read {
  readonly state: KimiConversation;
  readonly steps: readonly Step[];
}

const readRecord = (
  state: KimiConversation,
  record: JsonRecord,
  type: string,
  source: SourceRecord,
): Read => {
  const { log, prompts } = state;
  switch (type) {
    case 'context.append_message':
      return readMessage(state, record, source);
    case 'context.append_loop_event':
      return { state, steps: [recordStep(source, eventEntries(record, source))] };
    case 'token_counting.measured':
      return { state: { ...state, log: { ...log, usedTokens: getCount(record, 'tokens') } }, steps: [] };
    case 'full_compaction.begin': {
      const begun = { source: getText(record, 'source') ?? '', at: source.at ?? 0 };
      return { state: { ...state, log: { ...log, begun }, begunLine: source.line }, steps: [] };
    }
    case 'full_compaction.cancel':
      return { state: { ...state, log: { ...log, begun: undefined }, begunLine: undefined }, steps: [] };
    case 'context.apply_compaction':
      return readCompaction(state, record, source);
    case 'context.clear':
      return {
        state: { ...state, log: {}, prompts: [] },
        steps: [{ kind: 'rewritten', entries: [] }],
      };
    case 'context.undo': {
      const turns = getCount(record, 'count') ?? 0;
      const left = prompts.slice(0, Math.max(0, prompts.length - turns));
      return { state: { ...state, log: {}, prompts: left }, steps: [{ kind: 'rewound-turns', turns }] };
    }
    default:
      return { state, steps: [] };
  }
};

/** What was said while a compaction ran is not before its beginning. */
const SAID = ['prompt', 'answer', 'call', 'result'];

const readMessage = (state: KimiConversation, record: JsonRecord, source: SourceRecord): Read => {
  const message = getRecord(record, 'message');
  const native = { record };
  const text = textsIn(message).join('\n');
  const kind = kindOf(message);
  const entry = textEntry(kind, source, text, native);
  const prompts = kind === 'prompt' ? [...state.prompts, source.id ?? ''] : state.prompts;
  const begunLine = SAID.includes(kind) ? undefined : state.begunLine;
  return { state: { ...state, prompts, begunLine }, steps: [recordStep(source, [entry])] };
};

/** By what a message comes from, as Kimi itself decides which ones are the user's. */
const kindOf = (message: JsonRecord | undefined): 'prompt' | 'answer' | 'summary' | 'context' => {
  if (getText(message, 'role') === 'assistant') return 'answer';
  const origin = getRecord(message, 'origin');
  switch (origin?.['kind']) {
    case undefined:
    case 'user':
      return 'prompt';
    case 'skill_activation':
    case 'plugin_command':
      return origin?.['trigger'] === 'user-slash' ? 'prompt' : 'context';
    case 'compaction_summary':
      return 'summary';
    default:
      return 'context';
  }
};

const eventEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const event = getRecord(record, 'event');
  const native = { record };
  if (event?.['type'] === 'content.part') {
    const part = getRecord(event, 'part');
    const thought = getText(part, 'think');
    if (thought !== undefined) return [textEntry('reasoning', source, thought, native)];
    const text = getText(part, 'text');
    return text === undefined ? [] : [textEntry('answer', source, text, native)];
  }
  return toolEventsIn(record).flatMap((each) => toolEntries(each, source, tools, native));
};

const readCompaction = (state: KimiConversation, record: JsonRecord, source: SourceRecord): Read => {
  const { log, prompts, begunLine } = state;
  const kept = keptOf(prompts, record);
  const native = { record };
  const compaction: Compaction = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary: boundaryIn(log, record, source.at ?? 0),
    startLine: begunLine ?? source.line,
    keptIds: kept,
    ...present({ keptAfterId: source.id }),
    native,
  };
  const summary = textEntry('summary', source, summaryText(record), native);
  return {
    state: { ...state, log: {}, begunLine: undefined, prompts: kept },
    steps: [recordStep(source, [compaction, summary])],
  };
};

/** The first ones and the last ones, as the record says; one of them may be shortened. */
const keptOf = (prompts: readonly string[], record: JsonRecord): readonly string[] => {
  const count = getCount(record, 'keptUserMessageCount') ?? 0;
  const first = getCount(record, 'keptHeadUserMessageCount') ?? 0;
  const last = Math.max(0, count - first);
  const split = Math.max(first, prompts.length - last);
  return [...prompts.slice(0, first), ...prompts.slice(split)];
};
