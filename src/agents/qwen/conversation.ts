import {
  makeConversationReader,
  type ConversationReader,
  type Entry,
  type SessionHead,
  type SourceRecord,
  type Step,
} from '../../core/conversation/conversation.js';
import type { Boundary } from '../../core/event.js';
import { getList, getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import {
  asCopies,
  FILES_START,
  planOf,
  recordStep,
  textEntry,
  toolEntries,
  withHead,
  type Tools,
} from '../entries.js';
import { compressionIn, qwenToolEvents } from './log.js';

// A Qwen Code session file as a conversation (facts/qwen.md): records that name the one before. A `chat_compression` record holds the whole
// history that it leaves.

const tools: Tools = {
  reads: { read_file: 'file_path' },
  edits: { write_file: 'file_path', edit: 'file_path', notebook_edit: 'notebook_path' },
  runs: { run_shell_command: 'command' },
  plan: (name, input) => (name === 'todo_write' ? planOf(getList(input, 'todos'), 'content') : undefined),
  // versions before 0.24 call the argument so
  files: (name, input) => {
    const path = name === 'read_file' ? getText(input, 'absolute_path') : undefined;
    return path ? [{ path, access: 'read' }] : [];
  },
};

interface QwenConversation {
  readonly head: SessionHead;
  /** the user's last message, while nothing was said after it */
  readonly unanswered?: JsonRecord | undefined;
}

/** The reader for the first line of a Qwen Code session file. */
export const qwenConversation = (): ConversationReader =>
  makeConversationReader<QwenConversation>({ head: {} }, (state, line, lineNumber) => {
    const record = parseRecord(line);
    if (!record) return { state, steps: [], misfit: 'not JSON' };
    const type = getText(record, 'type');
    const id = getText(record, 'uuid');
    if (type === undefined || id === undefined) return { state, steps: [], misfit: 'not a Qwen record' };
    if (record['isSidechain'] === true) return { state, steps: [] };
    const { head, steps } = withHead(state.head, {
      id: getText(record, 'sessionId'),
      cwd: getText(record, 'cwd'),
      version: getText(record, 'version'),
      model: getText(record, 'model'),
      startedAt: state.head.startedAt ?? parseIsoTime(getText(record, 'timestamp') ?? ''),
    });
    const source = sourceOf(record, id, lineNumber);
    const { unanswered } = state;
    const after = SAID.includes(type)
      ? isTyped(record)
        ? getRecord(record, 'message')
        : undefined
      : unanswered;
    return {
      state: steps.length === 0 && after === unanswered ? state : { head, unanswered: after },
      steps: [...steps, ...recordSteps(record, type, source, unanswered)],
    };
  });

// Notifications of tasks and of the clock have a subtype; versions before 0.22 do not say where a message comes from.
const isTyped = (record: JsonRecord): boolean =>
  record['type'] === 'user' &&
  (record['provenance'] ?? 'real_user') === 'real_user' &&
  (record['subtype'] ?? TYPED_MEANWHILE) === TYPED_MEANWHILE;

const TYPED_MEANWHILE = 'mid_turn_user_message';

const sourceOf = (record: JsonRecord, id: string, line: number): SourceRecord => {
  const at = parseIsoTime(getText(record, 'timestamp') ?? '');
  return {
    line,
    id,
    parentId: getText(record, 'parentUuid') ?? null,
    ...present({ at }),
  };
};

const recordSteps = (
  record: JsonRecord,
  type: string,
  source: SourceRecord,
  unanswered: JsonRecord | undefined,
): readonly Step[] => {
  if (type !== 'system') return [recordStep(source, messageEntries(record, source))];
  const boundary = compressionIn(record, source.at ?? 0);
  if (!boundary) return [recordStep(source, systemEntries(record, source))];
  const compaction: Entry = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    startLine: source.line,
    keptIds: [],
    native: { record },
  };
  const history = getList(getRecord(record, 'systemPayload'), 'compressedHistory').filter(isRecord);
  const left = history.flatMap((message) => {
    const entries = partEntries(message, { ...source }, getText(message, 'role') === 'user', { message });
    return entries.some(({ kind }) => kind === 'summary') ? entries : asCopies(entries);
  });
  return [recordStep(source, [compaction, ...left, ...sentAfter(boundary, left, source, unanswered)])];
};

/** Qwen compacts before it sends a message: one that it has recorded, and that the new history does not hold, comes after that. */
const sentAfter = (
  { initiator }: Boundary,
  left: readonly Entry[],
  source: SourceRecord,
  unanswered: JsonRecord | undefined,
): readonly Entry[] => {
  if (initiator === 'user' || !unanswered) return [];
  const entries = partEntries(unanswered, { ...source }, true, { message: unanswered });
  const texts = left.flatMap((entry) => (entry.kind === 'prompt' ? [entry.text] : []));
  return asCopies(entries.filter((entry) => entry.kind === 'prompt' && !texts.includes(entry.text)));
};

const SAID = ['user', 'tool_result', 'assistant'];

const messageEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const type = getText(record, 'type') ?? '';
  const message = getRecord(record, 'message');
  if (!SAID.includes(type) || !message) return [];
  const model = getText(record, 'model');
  return partEntries(message, source, isTyped(record), { record }).map((entry) =>
    entry.kind === 'answer' && model !== undefined ? { ...entry, model } : entry,
  );
};

const systemEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const payload = getRecord(record, 'systemPayload');
  const text = record['subtype'] === 'slash_command' ? getText(payload, 'rawCommand') : undefined;
  return text === undefined ? [] : [textEntry('notice', source, text, { record })];
};

const OWN_WORDS =
  /^\s*<(?:session_context|hook_context|qwen:user-prompt-submit-context|system-reminder|task-notification)>|^This is the Qwen Code\./;
const SUMMARY = /<state_snapshot>|^<summary>/;

/** The parts of one message; `native` says where they stand. Files that the user names come after the words, in parts of their own. */
const partEntries = (
  message: JsonRecord,
  source: SourceRecord,
  isTyped: boolean,
  native: Readonly<Record<string, unknown>>,
): readonly Entry[] => {
  const parts = getList(message, 'parts');
  const files = parts.findIndex((part) => FILES_START.test(getText(part, 'text') ?? ''));
  return parts.flatMap((part, index): readonly Entry[] => {
    if (!isRecord(part)) return [];
    const own = { ...native, part: index };
    const events = qwenToolEvents(part);
    if (events.length > 0) return events.flatMap((event) => toolEntries(event, source, tools, own));
    const text = getText(part, 'text') ?? '';
    if (part['thought'] === true) return [textEntry('reasoning', source, text, own)];
    if (getText(message, 'role') === 'model') return [textEntry('answer', source, text, own)];
    const isUsers = isTyped && !OWN_WORDS.test(text) && (files < 0 || index < files);
    return [textEntry(SUMMARY.test(text) ? 'summary' : isUsers ? 'prompt' : 'context', source, text, own)];
  });
};
