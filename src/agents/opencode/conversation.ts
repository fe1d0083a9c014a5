import {
  type Compaction,
  type ConversationReader,
  type Entry,
  makeConversationReader,
  type SessionHead,
  type SourceRecord,
  type Step,
} from '../../core/conversation/conversation.js';
import { getList, getRecord, getText, type JsonRecord, parseRecord } from '../../core/json.js';
import {
  type FoundHead,
  planOf,
  recordStep,
  textEntry,
  toolEntries,
  type Tools,
  withHead,
} from '../entries.js';
import { patchedFiles } from '../patch.js';
import { partsIn, toolEvents } from './contents.js';
import { boundaryIn, createdAt, usedTokensIn } from './log.js';

// A session of opencode's as a conversation (docs/facts/opencode.md), from the lines of its database: the session, then each message with its
// parts. A compaction is a message that asks for it and one with the summary; the last messages before it may stay in the window.

const tools: Tools = {
  reads: { read: 'filePath' },
  edits: { write: 'filePath', edit: 'filePath', multiedit: 'filePath' },
  runs: { bash: 'command' },
  plan: (name, input) =>
    name === 'todowrite' && 'todos' in input ? planOf(getList(input, 'todos'), 'content') : undefined,
  files: (name, input) => (name === 'apply_patch' ? patchedFiles(getText(input, 'patchText') ?? '') : []),
};

/** A message that asks for a compaction. */
interface Asked {
  readonly id: string;
  readonly line: number;
  /** the first message after it that is not its summary: it stays in the window */
  readonly firstSaidId?: string;
}

interface OpencodeConversation {
  readonly head: SessionHead;
  /** the user has gone back: from this message on, or this part of it, nothing is in the conversation */
  readonly cutFrom?: string | undefined;
  readonly cutFromPart?: string | undefined;
  readonly isCut: boolean;
  /** without a summary so far: one that fails leaves its message behind */
  readonly asked: readonly Asked[];
  /** the last message that is neither such a one nor a summary */
  readonly lastId?: string | undefined;
  readonly usedTokens?: number | undefined;
}

const START: OpencodeConversation = { head: {}, isCut: false, asked: [] };

/** The reader for the first line of a session of opencode's. */
export const opencodeConversation = (): ConversationReader =>
  makeConversationReader(START, (before, line, lineNumber) => {
    const record = parseRecord(line);
    if (!record) return { state: before, steps: [], misfit: 'not JSON' };
    if (record['type'] === 'session') return readSession(before, record);
    const data = getRecord(record, 'data');
    const id = getText(record, 'id');
    if (record['type'] !== 'message' || !data || id === undefined)
      return { state: before, steps: [], misfit: 'not a row of opencode' };
    if (before.isCut) return { state: before, steps: [] };
    const isCut = id === before.cutFrom;
    const state = isCut ? { ...before, isCut } : before;
    if (isCut && state.cutFromPart === undefined) return { state, steps: [] };
    return readMessage(state, { record, data, source: { line: lineNumber, id, at: createdAt(data) } });
  });

interface Read {
  readonly state: OpencodeConversation;
  readonly steps: readonly Step[];
}

const readSession = (state: OpencodeConversation, record: JsonRecord): Read => {
  const { head, steps } = withHead(state.head, {
    id: getText(record, 'id'),
    cwd: getText(record, 'cwd'),
    version: getText(record, 'version'),
  });
  const [cutFrom, cutFromPart] = [getText(record, 'cutFrom'), getText(record, 'cutFromPart')];
  return { state: { ...state, head, cutFrom, cutFromPart }, steps };
};

interface Message {
  readonly record: JsonRecord;
  readonly data: JsonRecord;
  readonly source: SourceRecord & { readonly id: string };
}

const readMessage = (state: OpencodeConversation, message: Message): Read => {
  const { record, data, source } = message;
  if (record['asks'] === 1) {
    const asked = [...state.asked, { id: source.id, line: source.line }];
    return { state: { ...state, asked }, steps: [recordStep(source, [])] };
  }
  if (data['summary'] === true) return readSummary(state, message);
  const { head, steps } = withHead(state.head, modelIn(data));
  const entries = partsOf(state, message).flatMap((part) => entriesOf(part, message));
  const asked = state.asked.map((each) => ({ firstSaidId: source.id, ...each }));
  const usedTokens = usedTokensIn(data) ?? state.usedTokens;
  return {
    state: { ...state, head, asked, usedTokens, lastId: source.id },
    steps: [...steps, recordStep(source, entries)],
  };
};

const modelIn = (data: JsonRecord): FoundHead => ({
  model: getText(data, 'modelID'),
  provider: getText(data, 'providerID'),
});

/** Those before the place that the user has gone back to. */
const partsOf = (
  { isCut, cutFromPart }: OpencodeConversation,
  { record }: Message,
): readonly JsonRecord[] => {
  const parts = partsIn(record);
  const end = isCut ? parts.findIndex((part) => part['id'] === cutFromPart) : -1;
  return end < 0 ? parts : parts.slice(0, end);
};

const entriesOf = (part: JsonRecord, { data, source }: Message): readonly Entry[] => {
  const text = getText(part, 'text') ?? '';
  switch (part['type']) {
    case 'text': {
      if (part['ignored'] === true) return []; // the model does not get it
      const isUsers = data['role'] === 'user';
      // what opencode itself adds to a message: files that the user names, and how to go on after a compaction
      return [
        textEntry(!isUsers ? 'answer' : part['synthetic'] === true ? 'context' : 'prompt', source, text),
      ];
    }
    case 'reasoning':
      return [textEntry('reasoning', source, text)];
    case 'tool':
      return toolEvents(part).flatMap((event) => toolEntries(event, source, tools));
    default:
      return [];
  }
};

const readSummary = (state: OpencodeConversation, { record, data, source }: Message): Read => {
  const boundary = boundaryIn(record, state.usedTokens);
  if (!boundary) return { state, steps: [recordStep(source, [])] };
  const asked = state.asked.find(({ id }) => id === getText(data, 'parentID'));
  const firstId = getText(record, 'keptFrom') ?? asked?.firstSaidId;
  const { lastId } = state;
  const compaction: Compaction = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    // what was said after it was asked for comes before its end
    startLine: asked && asked.firstSaidId === undefined ? asked.line : source.line,
    keptIds: [],
    ...(firstId === undefined || lastId === undefined ? {} : { keptSpan: { firstId, lastId } }),
  };
  const summary = textEntry('summary', source, getText(record, 'text') ?? '');
  return {
    state: { ...state, asked: [], usedTokens: undefined },
    steps: [recordStep(source, [compaction, summary])],
  };
};
