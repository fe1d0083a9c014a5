import type { Boundary } from '../../core/event.js';
import {
  makeConversationReader,
  type ConversationReader,
  type Entry,
  type PlanChange,
  type SessionHead,
  type SourceRecord,
  type Step,
  type TouchedFile,
} from '../../core/conversation/conversation.js';
import {
  getCount,
  getList,
  getRecord,
  getText,
  isRecord,
  parseRecord,
  type JsonRecord,
} from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import { asCopies, planOf, recordStep, textEntry, toolEntries, withHead, type Tools } from '../entries.js';
import { patchedFiles } from '../patch.js';
import { callsInScript } from './code-mode.js';
import { codexToolEvents, withoutPrefix } from './log.js';

// A Codex rollout as a conversation (facts/codex.md §7, facts/sessions.md §A.2): what the model gets are the `response_item` records in the
// order of the file; `compacted` holds the whole history that replaces them. A rollout that begins inside another one (`history_base`, after
// a fork or a rewind) holds only the rest.

const CODE_MODE = 'exec';

const tools: Tools = {
  reads: { view_image: 'path', read_file: 'file_path' },
  edits: {},
  runs: { exec_command: 'cmd', shell: 'command', shell_command: 'command', local_shell: 'command' },
  plan: (name, input) => readPlan(name, input),
  files: (name, input) => filesOf(input, name),
  within: (name, input) =>
    name === CODE_MODE && typeof input === 'string' ? callsInScript(input) : undefined,
};

const readPlan = (name: string, input: JsonRecord): PlanChange | undefined =>
  name === 'update_plan' ? planOf(getList(input, 'plan'), 'step') : undefined;

/** The files of a patch, which is the input of `apply_patch`, or stands in a command. */
const filesOf = (input: unknown, name: string): readonly TouchedFile[] => {
  const command = getList(input, 'command').filter((word) => typeof word === 'string');
  const text = [typeof input === 'string' ? input : '', getText(input, 'input') ?? '']
    .concat([getText(input, 'patch') ?? '', getText(input, 'cmd') ?? '', getText(input, 'command') ?? ''])
    .concat(command)
    .join('\n');
  return name === 'apply_patch' || text.includes('*** Begin Patch') ? patchedFiles(text) : [];
};

interface CodexConversation {
  readonly head: SessionHead;
  readonly hasMeta: boolean;
  /** the turn that runs; absent between turns and in versions that mark none */
  readonly turn?: Turn;
  /** the last answer that was shown */
  readonly shown?: string;
  /** patches of which Codex has told the outcome before the result of their call */
  readonly patches: readonly Patch[];
  /** the model's last message in this turn, if it was not shown: the summary of a compaction */
  readonly hidden?: { readonly line: number; readonly text: string };
}

interface Patch {
  readonly callId: string;
  /** none if it failed */
  readonly files: readonly TouchedFile[];
}

interface Turn {
  readonly line: number;
  /** the record says that the user started it; versions before 0.169 never do */
  readonly isUsers: boolean;
  /** the user has said something in it */
  readonly hasPrompt: boolean;
}

/** The reader for the first line of a Codex rollout. */
export const codexConversation = (): ConversationReader =>
  makeConversationReader<CodexConversation>(
    { head: {}, hasMeta: false, patches: [] },
    (state, line, lineNumber) => {
      const record = parseRecord(line);
      if (!record) return { state, steps: [], misfit: 'not JSON' };
      const payload = getRecord(record, 'payload');
      if (getText(record, 'type') === undefined || !payload)
        return { state, steps: [], misfit: 'not a Codex record' };
      return readRecord(state, record, payload, lineNumber);
    },
  );

interface Read {
  readonly state: CodexConversation;
  readonly steps: readonly Step[];
}

const readRecord = (
  state: CodexConversation,
  record: JsonRecord,
  payload: JsonRecord,
  line: number,
): Read => {
  const at = parseIsoTime(getText(record, 'timestamp') ?? '');
  const source: SourceRecord = { line, ...present({ at }) };
  switch (record['type']) {
    case 'session_meta':
      return readMeta(state, record, payload, source);
    case 'turn_context': {
      const { head, steps } = withHead(state.head, { model: getText(payload, 'model') });
      return { state: { ...state, head }, steps: [...steps, settingsStep(record, source)] };
    }
    case 'world_state':
      return { state, steps: [settingsStep(record, source)] };
    case 'response_item':
      return readItem(state, payload, source);
    case 'compacted':
      return readCompacted(state, payload, source);
    case 'event_msg':
      return readEvent(state, payload, source);
    default:
      return { state, steps: [] };
  }
};

/** A record that only Codex reads. */
const settingsStep = (record: JsonRecord, source: SourceRecord): Step =>
  recordStep(source, [textEntry('context', source, '', record)]);

const CONTINUES = 'it continues another rollout, which holds the conversation before it';

/** A fork copies the records of its origin, whose own head then comes second. */
const readMeta = (
  state: CodexConversation,
  record: JsonRecord,
  payload: JsonRecord,
  source: SourceRecord,
): Read => {
  if (state.hasMeta) return { state, steps: [] };
  const { head, steps } = withHead(state.head, {
    id: getText(payload, 'id'),
    cwd: getText(payload, 'cwd'),
    version: getText(payload, 'cli_version'),
    provider: getText(payload, 'model_provider'),
    startedAt: parseIsoTime(getText(payload, 'timestamp') ?? ''),
  });
  const incomplete: readonly Step[] = getRecord(payload, 'history_base')
    ? [{ kind: 'incomplete', reason: CONTINUES }]
    : [];
  return {
    state: { ...state, head, hasMeta: true },
    steps: [...steps, ...incomplete, settingsStep(record, source)],
  };
};

const readItem = (state: CodexConversation, payload: JsonRecord, source: SourceRecord): Read => {
  const found = itemEntries(payload, withId(source, payload));
  const { entries, patches } = withPatches(found, state.patches);
  const [first] = entries;
  const turn = state.turn && first?.kind === 'prompt' ? { ...state.turn, hasPrompt: true } : state.turn;
  const isHidden = first?.kind === 'answer' && first.text !== state.shown;
  const hidden = isHidden ? { hidden: { line: source.line, text: first.text } } : {};
  return {
    state: { ...state, patches, ...present({ turn }), ...hidden },
    steps: entries.length === 0 ? [] : [recordStep(withId(source, payload), entries)],
  };
};

// Patches within a script have ids of their own.
const INNER_CALL = /^exec-/;

/** A result with the files that were changed before it was written, and the patches that are left. */
const withPatches = (
  entries: readonly Entry[],
  patches: readonly Patch[],
): { readonly entries: readonly Entry[]; readonly patches: readonly Patch[] } => {
  const [result] = entries;
  if (result?.kind !== 'result' || patches.length === 0) return { entries, patches };
  const isOwn = ({ callId }: Patch): boolean => callId === result.callId || INNER_CALL.test(callId);
  const own = patches.filter(isOwn);
  if (own.length === 0) return { entries, patches };
  const files = own.flatMap((patch) => patch.files);
  return { entries: [{ ...result, files }], patches: patches.filter((patch) => !isOwn(patch)) };
};

const MOST_PATCHES = 200; // without a result yet

const patchIn = (payload: JsonRecord): Patch => {
  const changes = Object.entries(getRecord(payload, 'changes') ?? {});
  const paths = changes.flatMap(([path, change]) => [path, getText(change, 'move_path') ?? path]);
  const isApplied = payload['success'] === true;
  return {
    callId: getText(payload, 'call_id') ?? '',
    files: isApplied ? [...new Set(paths)].map((path) => ({ path, access: 'edit' })) : [],
  };
};

const withId = (source: SourceRecord, payload: JsonRecord): SourceRecord => {
  const id = getText(payload, 'id');
  return id === undefined ? source : { ...source, id };
};

/** One item of the history that the model gets. */
const itemEntries = (item: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const type = getText(item, 'type') ?? '';
  if (type === 'message') return [messageEntry(item, source)];
  if (type === 'reasoning') return [textEntry('reasoning', source, textsIn(item, 'summary'), item)];
  if (type === 'compaction' || type === 'compaction_summary')
    return [{ ...textEntry('summary', source, '', item), isEncrypted: true }];
  const events = codexToolEvents(item);
  if (events.length > 0) return events.flatMap((event) => toolEntries(event, source, tools, item));
  // searches and pictures of the model's server; the rest (snapshots of the files) never goes to the model
  return type.endsWith('_call') ? [textEntry('answer', source, '', item)] : [];
};

const textsIn = (from: JsonRecord, key: string): string =>
  getList(from, key)
    .map((block) => getText(block, 'text') ?? '')
    .join('\n');

// What Codex itself puts into a message of the user. Since 0.154 the record says so.
const SUMMARY = /^Another language model started to solve this problem/;
const OWN_WORDS =
  /^\s*<(?:environment_context|user_instructions|user_action|user_shell_command|turn_aborted|skill|recommended_plugins|(?:subagent|codex|hook|goal|realtime)_\w+)(?=[\s>])|^# AGENTS\.md instructions|^Warning: apply_patch was requested/;
const USERS = /^user\.(?:text|image|audio)$/; // not `user.goal` and `user.heartbeat`, by which Codex goes on by itself
// an editor puts what it shows before what the user typed
const REQUEST =
  /^# (?:Context from my IDE setup|Files mentioned by the user):[^]*?\n## My request for Codex:\s*/;

const messageEntry = (item: JsonRecord, source: SourceRecord): Entry => {
  const text = textsIn(item, 'content');
  const role = getText(item, 'role');
  if (role === 'assistant') return textEntry('answer', source, text, item);
  if (role !== 'user') return textEntry('context', source, text, item);
  if (SUMMARY.test(text)) return textEntry('summary', source, text, item);
  const kinds = getList(getRecord(item, 'internal_chat_message_metadata_passthrough'), 'content_item_kinds');
  const isUsers =
    kinds.length > 0
      ? kinds.some((kind) => typeof kind === 'string' && USERS.test(kind))
      : !OWN_WORDS.test(text);
  if (!isUsers) return textEntry('context', source, text, item);
  return { ...textEntry('prompt', source, text, item), text: text.replace(REQUEST, '') };
};

/** The compaction, then the history that it leaves, each item a record of its own. */
const readCompacted = (state: CodexConversation, payload: JsonRecord, source: SourceRecord): Read => {
  const { turn, hidden, ...rest } = state;
  const message = getText(payload, 'message') ?? '';
  const isOwnTurn = turn?.hasPrompt === false;
  const ownLine = isSummary(hidden?.text, message) ? hidden?.line : undefined;
  const startLine = isOwnTurn ? turn.line : (ownLine ?? source.line);
  const history = getList(payload, 'replacement_history').filter(isRecord);
  const boundary: Boundary = {
    initiator: isOwnTurn && !turn.isUsers ? 'user' : 'agent',
    ...(message !== '' && withoutPrefix(message).trim() === '' ? { summary: 'empty' } : {}),
    at: source.at ?? 0,
  };
  const compaction: Entry = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    startLine,
    keptIds: [],
    ...(history.length > 0 ? {} : { keepsPrompts: true }),
  };
  // without a history (before 0.98) Codex keeps what the user said, which no record repeats
  const left = history.length > 0 ? history : [summaryItem(message)];
  return {
    state: { ...rest, ...present({ turn }) },
    steps: [
      recordStep(source, [compaction]),
      ...left.map((item) => {
        const entries = itemEntries(item, { ...source }).map((entry) => asSummary(entry, message));
        return recordStep(source, leftEntries(entries));
      }),
    ],
  };
};

// Codex ends its own text with the summary as the model wrote it.
const isSummary = (text: string | undefined, message: string): boolean =>
  text !== undefined && text.trim() !== '' && message.trimEnd().endsWith(text.trim());

/** The item with the record's own text is the summary, whoever wrote it. */
const asSummary = (entry: Entry, message: string): Entry =>
  entry.kind === 'prompt' && entry.text === message ? { ...entry, kind: 'summary' } : entry;

const leftEntries = (entries: readonly Entry[]): readonly Entry[] =>
  entries.some(({ kind }) => kind === 'summary') ? entries : asCopies(entries);

const summaryItem = (text: string): JsonRecord => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

const readEvent = (state: CodexConversation, payload: JsonRecord, source: SourceRecord): Read => {
  switch (payload['type']) {
    case 'task_started': {
      const { hidden: _, ...rest } = state;
      const isUsers = getRecord(payload, 'turn_attribution') !== undefined;
      return { state: { ...rest, turn: { line: source.line, isUsers, hasPrompt: false } }, steps: [] };
    }
    case 'task_complete':
    case 'turn_aborted': {
      const { turn: _, hidden: __, ...rest } = state;
      return { state: rest, steps: [] };
    }
    case 'patch_apply_end':
      return {
        state: { ...state, patches: [...state.patches, patchIn(payload)].slice(-MOST_PATCHES) },
        steps: [],
      };
    case 'agent_message':
      return { state: { ...state, shown: getText(payload, 'message') ?? '' }, steps: [] };
    case 'item_completed': {
      const item = getRecord(payload, 'item');
      if (item?.['type'] !== 'AgentMessage') return { state, steps: [] };
      return { state: { ...state, shown: textsIn(item, 'content') }, steps: [] };
    }
    case 'thread_rolled_back':
      return { state, steps: [{ kind: 'rewound-turns', turns: getCount(payload, 'num_turns') ?? 0 }] };
    case 'error': {
      const text = getText(payload, 'message') ?? '';
      return { state, steps: [recordStep(source, [textEntry('notice', source, text, payload)])] };
    }
    default:
      return { state, steps: [] };
  }
};
