import {
  makeConversationReader,
  type ConversationReader,
  type Entry,
  type PlanChange,
  type SessionHead,
  type SourceRecord,
  type Step,
} from '../../core/conversation/conversation.js';
import { getList, getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import {
  asCopies,
  FILES_START,
  type FoundHead,
  planOf,
  planStatus,
  recordStep,
  textEntry,
  toolEntries,
  withHead,
  type Tools,
} from '../entries.js';
import { geminiToolEvents, snapshotIn, textOf, ITS_OWN } from './log.js';

// A Gemini session file as a conversation (facts/gemini.md §7, facts/sessions.md §A.3): messages in order, each written again under its id
// when it has changed, and `$set` patches, which may replace all messages. A compaction is such a patch with a new `<state_snapshot>`.
// Before 0.29 the file is one document, in which a compaction leaves no trace.

const tools: Tools = {
  reads: { read_file: 'file_path' },
  edits: { write_file: 'file_path', replace: 'file_path', edit: 'file_path' },
  runs: { run_shell_command: 'command' },
  plan: (name, input) => readPlan(name, input),
  // versions before 0.20 call the argument so
  files: (name, input) => {
    const path = name === 'read_file' ? getText(input, 'absolute_path') : undefined;
    return path ? [{ path, access: 'read' }] : [];
  },
};

const readPlan = (name: string, input: JsonRecord): PlanChange | undefined => {
  if (name === 'write_todos') return planOf(getList(input, 'todos'), 'description');
  const text = getText(input, 'title');
  if (name === 'tracker_create_task') return { kind: 'added', item: { text: text ?? '', status: 'open' } };
  const id = getText(input, 'id');
  if (name !== 'tracker_update_task' || id === undefined) return undefined;
  const status = getText(input, 'status');
  const item = {
    ...present({ text }),
    ...(status === undefined ? {} : { status: planStatus(status) }),
  };
  return { kind: 'changed', id, item };
};

interface GeminiConversation {
  readonly head: SessionHead;
  /** the summaries of the compactions so far, in their order */
  readonly snapshots: readonly string[];
  /** the line before named the session again, as Gemini does before it compacts; the line's number */
  readonly renamedAt?: number;
  /** the line before was a compaction, and the next one may say who asked for it */
  readonly isJustCompacted?: true;
  /** ids of the messages that the last compaction has repeated */
  readonly copied: ReadonlySet<string>;
  /** the message that is being read, as far as it has been read, in an old version's document */
  readonly message?: string;
  /** messages of the document so far */
  readonly messages: number;
}

interface Read {
  readonly state: GeminiConversation;
  readonly steps: readonly Step[];
  readonly misfit?: string;
}

/** The reader for the first line of a Gemini session file. */
export const geminiConversation = (): ConversationReader =>
  makeConversationReader<GeminiConversation>(
    { head: {}, snapshots: [], copied: new Set(), messages: 0 },
    readLine,
  );

const readLine = (state: GeminiConversation, line: string, lineNumber: number): Read => {
  if (state.message !== undefined || DOCUMENT_LINE.test(line)) return readDocumentLine(state, line);
  const record = parseRecord(line);
  if (!record) return { state, steps: [], misfit: 'not JSON' };
  const patch = getRecord(record, '$set');
  if (patch) return readPatch(state, patch, lineNumber);
  const { renamedAt: _, isJustCompacted, ...after } = state;
  const toId = getText(record, '$rewindTo');
  if (toId !== undefined) return { state: after, steps: [{ kind: 'rewound', toId }] };
  if (getText(record, 'type') !== undefined) {
    const read = readMessage(after, record, lineNumber);
    const asked = isJustCompacted ? askedIn(record) : [];
    return { ...read, steps: [...asked, ...read.steps] };
  }
  if (getText(record, 'sessionId') === undefined) return { state, steps: [], misfit: 'not a Gemini record' };
  const { head, steps } = withHead(state.head, headIn(record, state.head));
  const { messages: document, ...session } = record;
  const settings = recordStep({ line: lineNumber }, [
    textEntry('context', { line: lineNumber }, '', { session }),
  ]);
  // a document on one line
  const messages = getList(record, 'messages').filter(isRecord);
  const entries = messages.flatMap((message, index) => entriesIn(message, sourceOf(message, index)));
  const written: readonly Step[] = document === undefined ? [] : [{ kind: 'rewritten', entries }];
  return { state: { ...after, head }, steps: [...steps, ...written, settings] };
};

/** Gemini's message right after a compaction: text for one of its own, none for one that the user asked for. */
const askedIn = ({ type, content }: JsonRecord): readonly Step[] => {
  if (type !== 'info' || typeof content !== 'string') return [];
  if (ITS_OWN.test(content)) return [{ kind: 'initiator', initiator: 'agent' }];
  return content === '' ? [{ kind: 'initiator', initiator: 'user' }] : [];
};

const headIn = (record: JsonRecord, known: SessionHead): FoundHead => ({
  id: getText(record, 'sessionId'),
  ...(known.startedAt === undefined ? { startedAt: parseIsoTime(getText(record, 'startTime') ?? '') } : {}),
});

const readMessage = (state: GeminiConversation, record: JsonRecord, line: number): Read => {
  const source = sourceOf(record, line);
  const { head, steps } = withHead(state.head, { model: getText(record, 'model') });
  return { state: { ...state, head }, steps: [...steps, recordStep(source, entriesIn(record, source))] };
};

const readPatch = (state: GeminiConversation, patch: JsonRecord, line: number): Read => {
  const { renamedAt, isJustCompacted: _, ...before } = state;
  const { head, steps } = withHead(before.head, { id: getText(patch, 'sessionId') });
  const after = { ...before, head };
  if (patch['messages'] === undefined) {
    const isNamed = getText(patch, 'sessionId') !== undefined;
    return { state: isNamed ? { ...after, renamedAt: line } : after, steps };
  }
  const messages = getList(patch, 'messages').filter(isRecord);
  const found = snapshotIn(patch);
  const { snapshots } = state;
  const place = found === undefined ? -1 : snapshots.lastIndexOf(found.text);
  if (found === undefined || found.answer || (place >= 0 && renamedAt === undefined)) {
    const entries = messages.flatMap((message) => {
      const own = entriesIn(message, sourceOf(message, line));
      return state.copied.has(getText(message, 'id') ?? '') ? asCopies(own) : own;
    });
    // the conversation of another summary, or of none: the user has gone back
    const isKnown = found === undefined || place >= 0;
    const inEffect = isKnown ? { inEffect: place + 1 } : {};
    return { state: after, steps: [...steps, { kind: 'rewritten', entries, ...inEffect }] };
  }
  const copied = new Set(messages.flatMap((message) => getText(message, 'id') ?? []));
  const at = parseIsoTime(found.timestamp ?? '');
  return {
    state: { ...after, snapshots: [...snapshots, found.text], copied, isJustCompacted: true },
    steps: [...steps, ...compactionSteps(messages, { line, ...present({ at }) }, renamedAt)],
  };
};

/** The compaction, then the messages that are left: the summary, its answer, and what was kept. */
const compactionSteps = (
  messages: readonly JsonRecord[],
  source: SourceRecord,
  renamedAt: number | undefined,
): readonly Step[] => {
  const compaction: Entry = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary: { at: source.at ?? 0 },
    startLine: renamedAt ?? source.line,
    keptIds: [],
  };
  let isAfterSummary = false;
  const left = messages.map((message) => {
    const own = sourceOf(message, source.line);
    const entries = entriesIn(message, own);
    const isSummary = entries.some(({ kind }) => kind === 'summary');
    // the summary, and the answer to it that Gemini makes up
    const isNew = isSummary || (isAfterSummary && message['type'] === 'gemini');
    isAfterSummary = isSummary;
    return recordStep(own, isNew ? entries : asCopies(entries));
  });
  return [recordStep(source, [compaction]), ...left];
};

const sourceOf = (message: JsonRecord, line: number): SourceRecord => {
  const id = getText(message, 'id');
  const at = parseIsoTime(getText(message, 'timestamp') ?? '');
  return { line, ...present({ id, at }) };
};

const entriesIn = (message: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const native = { message };
  switch (message['type']) {
    case 'user':
      return userEntries(message, source);
    case 'gemini':
      return answerEntries(message, source);
    case 'info':
    case 'warning':
    case 'error': {
      const text = textOf(message['content']);
      return text === '' ? [] : [textEntry('notice', source, text, native)];
    }
    default:
      return [];
  }
};

const OWN_WORDS = /^\s*<(?:session_context|hook_context)>/;
// once a turn was cancelled, the first message of the user stands behind the context, in one text
const CONTEXT = /^\s*<session_context>[^]*?<\/session_context>\s*/;
const SUMMARY = /<state_snapshot>/;
const HOOK = /^\s*<hook_context>/;
// commands of Gemini's own, which never go to the model
const COMMAND = /^\s*[/?]/;

const userEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const native = { message };
  const { content } = message;
  const text = textOf(content);
  // results also stand in the answer that has called the tools
  if (text === '' && getList(message, 'content').some((part) => getRecord(part, 'functionResponse')))
    return [];
  const [context = ''] = CONTEXT.exec(text) ?? [];
  if (context === '' || context === text)
    return partEntries(message, source) ?? [textEntry(kindOf(text), source, text, native)];
  const rest = text.slice(context.length);
  return [textEntry('context', source, context), textEntry(kindOf(rest), source, rest)];
};

/** The words of the user, and what Gemini adds to them in parts of their own: files that they name, words of a hook. */
const partEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] | undefined => {
  const texts = getList(message, 'content').map((part) => getText(part, 'text') ?? '');
  const start = texts.findIndex((text) => FILES_START.test(text) || HOOK.test(text));
  if (start <= 0) return undefined;
  const [words, added] = [texts.slice(0, start), texts.slice(start)].map((each) => each.join(''));
  const native = { message };
  return [
    textEntry(kindOf(words ?? ''), source, words ?? '', native),
    textEntry('context', source, added ?? '', native),
  ];
};

const kindOf = (text: string): 'summary' | 'context' | 'notice' | 'prompt' => {
  if (OWN_WORDS.test(text)) return 'context';
  if (SUMMARY.test(text)) return 'summary';
  return COMMAND.test(text) ? 'notice' : 'prompt';
};

const answerEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const native = { message };
  const model = getText(message, 'model');
  const thoughts = getList(message, 'thoughts').map((thought) =>
    [getText(thought, 'subject'), getText(thought, 'description')].filter(Boolean).join(': '),
  );
  const text = textOf(message['content']);
  const answer = textEntry('answer', source, text, native);
  return [
    ...thoughts.map((thought) => textEntry('reasoning', source, thought, native)),
    ...(text === '' ? [] : [model === undefined ? answer : { ...answer, model }]),
    ...callEvents(message).flatMap((event) => toolEntries(event, source, tools, native)),
  ];
};

/** Calls that still run have no result. */
const callEvents = (message: JsonRecord): ReturnType<typeof geminiToolEvents> => {
  const running = getList(message, 'toolCalls')
    .filter(isRecord)
    .filter(({ result }) => result === undefined)
    .map(
      (call) =>
        ({
          kind: 'call',
          id: getText(call, 'id') ?? '',
          name: getText(call, 'name'),
          input: call['args'],
        }) as const,
    );
  return [...geminiToolEvents(message), ...running];
};

// The document of versions before 0.29: indented, the messages by four blanks, their lines collected until one is complete.

const DOCUMENT_LINE = /^(?:[{}]| {2,}\S.*| {2}\]?,?)$/;
const MESSAGE_START = '    {';
const MESSAGE_END = /^ {4}\},?$/;
const HEAD_FIELD = /^ {2}"(sessionId|startTime)": "([^"\\]*)",?$/;
const LONGEST_MESSAGE = 64 * 1024 * 1024; // characters

const readDocumentLine = (state: GeminiConversation, line: string): Read => {
  const { message, ...rest } = state;
  if (line === MESSAGE_START) return { state: { ...rest, message: '{' }, steps: [] };
  if (message !== undefined) {
    if (!DOCUMENT_LINE.test(line) || message.length > LONGEST_MESSAGE)
      return { state: rest, steps: [], misfit: 'a message without an end' };
    if (!MESSAGE_END.test(line)) return { state: { ...rest, message: `${message}\n${line}` }, steps: [] };
    const record = parseRecord(`${message}}`);
    if (!record) return { state: rest, steps: [], misfit: 'a message that is not JSON' };
    return readMessage({ ...rest, messages: rest.messages + 1 }, record, rest.messages);
  }
  const [, name = '', value] = HEAD_FIELD.exec(line) ?? [];
  const { head, steps } = withHead(state.head, {
    id: name === 'sessionId' ? value : undefined,
    startedAt: name === 'startTime' ? parseIsoTime(value ?? '') : undefined,
  });
  return { state: { ...rest, head }, steps };
};
