import type { Entry, SourceRecord, Step, TouchedFile } from '../../core/conversation/conversation.js';
import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { toOneLine } from '../../core/text.js';
import { parseIsoTime } from '../../core/time.js';
import { growthOf, recordStep, textEntry } from '../entries.js';
import { mayHoldWork } from '../records.js';
import {
  headStep,
  makeSessionReader,
  SKIPPED,
  type LineClass,
  type RecordForm,
  type RecordMeaning,
  type SessionFormat,
  type StartReader,
} from '../session-format.js';
import { isOutput, itemEntries, textsIn } from './items.js';
import { windowAfter } from './percent.js';
import { fullWindow, guessOf, planLimits, readCount, windowIn, type KnownModel } from './usage.js';

// A Codex rollout (docs/facts/codex.md#rollouts, docs/facts/sessions.md#codex): what the model gets are the `response_item` records in the
// order of the file; `compacted` holds the whole history that replaces them. A rollout that begins inside another one (`history_base`,
// after a fork or a rewind) holds only the rest.

interface CodexSession extends KnownModel {
  readonly hasMeta: boolean;
  /** the turn that runs; absent between turns and in versions that mark none */
  readonly turn?: Turn;
  /** a recorded compaction; Codex's estimate of what is left follows a moment later */
  readonly pendingBoundary?: Boundary;
  /** the last answer that was shown, which Codex reuses when the model returns no summary */
  readonly shown?: string;
  /** the model's last message in this turn, if it was not shown: the summary of a compaction */
  readonly hidden?: { readonly line: number; readonly text: string };
  /** patches whose outcome Codex reported before the result of their call */
  readonly patches: readonly Patch[];
}

interface Turn {
  readonly line: number;
  /** the record says that the user started it; versions before 0.169 never do */
  readonly isUsers: boolean;
  /** it contains a message of the user */
  readonly hasPrompt: boolean;
  /** facts held back while the turn may be a compaction; dropped if it is one, because a compaction records its own request's usage */
  readonly held?: readonly Fact[];
}

interface Patch {
  readonly callId: string;
  /** none if it failed */
  readonly files: readonly TouchedFile[];
}

type Meaning = RecordMeaning<CodexSession>;

const TELLING =
  /"(?:session_meta|turn_context|thread_settings_applied|token_count|compacted|ContextCompaction|task_started|task_complete|turn_aborted|user_message|UserMessage|\w+_call_output)"|"type":"(?:AgentMessage|agent_message)"|"role":"(?:user|assistant)"/;

const CALLS = { call: '_call"', plan: 'update_plan' };

const form: RecordForm<CodexSession> = {
  name: 'Codex',
  isOwn: /^\{.*?"type"/s,
  hasFacts: (line) => TELLING.test(line) || mayHoldWork(line, CALLS),
  read: (state, record, { line, now }) => {
    const payload = getRecord(record, 'payload');
    if (getText(record, 'type') === undefined || !payload) return { state, misfit: 'not a Codex record' };
    const at = parseIsoTime(getText(record, 'timestamp') ?? '');
    const source: SourceRecord = { line, ...present({ at }) };
    return { steps: () => [], ...readRecord(state, { record, payload, source, at: at ?? now }) };
  },
};

/** The reader for the first line of a Codex rollout. */
export const codexReader: StartReader = (_, wanted) =>
  makeSessionReader(form, { hasMeta: false, patches: [] }, wanted);

interface RecordParts {
  readonly record: JsonRecord;
  readonly payload: JsonRecord;
  readonly source: SourceRecord;
  readonly at: Millis;
}

const readRecord = (state: CodexSession, parts: RecordParts): Meaning => {
  const { record, payload, source } = parts;
  switch (record['type']) {
    case 'session_meta':
      return state.hasMeta
        ? { state }
        : { state: { ...state, hasMeta: true }, steps: () => metaSteps(parts) };
    case 'turn_context': {
      const model = getText(payload, 'model');
      return {
        state: { ...state, ...present({ model }) },
        steps: () => [headStep({ model }), settingsStep(record, source)],
      };
    }
    case 'world_state':
      return { state, steps: () => [settingsStep(record, source)] };
    case 'response_item':
      return readItem(state, payload, source);
    case 'compacted':
      return readCompacted(state, parts);
    case 'event_msg':
      return readEvent(state, parts);
    default:
      return { state };
  }
};

/** A record that only Codex reads. */
const settingsStep = (record: JsonRecord, source: SourceRecord): Step =>
  recordStep(source, [textEntry('context', source, '', record)]);

const CONTINUES = 'it continues another rollout, which holds the conversation before it';

/** Reads only the first head: a fork copies the records of its origin, so the origin's head comes second. */
const metaSteps = ({ record, payload, source }: RecordParts): readonly Step[] => {
  // subagents and `codex exec` write files of their own
  const isUsers = (getText(payload, 'thread_source') ?? 'user') === 'user' && !isRecord(payload['source']);
  const head = headStep({
    id: getText(payload, 'id'),
    cwd: getText(payload, 'cwd'),
    version: getText(payload, 'cli_version'),
    provider: getText(payload, 'model_provider'),
    startedAt: parseIsoTime(getText(payload, 'timestamp') ?? ''),
    isOther: isUsers ? undefined : true,
  });
  const incomplete: readonly Step[] = getRecord(payload, 'history_base')
    ? [{ kind: 'incomplete', reason: CONTINUES }]
    : [];
  return [head, ...incomplete, settingsStep(record, source)];
};

// An item of the history.

const readItem = (state: CodexSession, payload: JsonRecord, place: SourceRecord): Meaning => {
  const id = getText(payload, 'id');
  const source = { ...place, ...present({ id }) };
  // reading a script of code mode takes long and gives no facts
  if (payload['type'] !== 'message' && !isOutput(payload))
    return { state, steps: () => itemSteps(source, itemEntries(payload, source)) };
  const { entries, patches } = withPatches(itemEntries(payload, source), state.patches);
  const [first] = entries;
  const growth = payload['role'] === 'developer' ? [] : growthOf(entries);
  const isHidden = first?.kind === 'answer' && first.text !== state.shown;
  const hidden = isHidden ? { hidden: { line: source.line, text: first.text } } : {};
  const after = first?.kind === 'prompt' ? withPrompt(state) : { ...state, ...hidden, patches };
  return { ...withFacts(after, growth), steps: () => itemSteps(source, entries) };
};

const itemSteps = (source: SourceRecord, entries: readonly Entry[]): readonly Step[] =>
  entries.length === 0 ? [] : [recordStep(source, entries)];

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

// Turns.

/** Gives the facts, or holds them back until the turn shows whether it is a compaction, in which they do not count. */
const withFacts = (state: CodexSession, facts: readonly Fact[]): Meaning => {
  const { turn } = state;
  if (!turn?.held || facts.length === 0) return { state, facts };
  const isCount = facts.some(({ type }) => type === 'reading');
  return { state: { ...state, turn: { ...turn, held: isCount ? facts : [...turn.held, ...facts] } } };
};

const withoutHeld = (turn: Turn): Turn => {
  const { held: _, ...rest } = turn;
  return rest;
};

const withPrompt = (state: CodexSession): CodexSession =>
  state.turn?.hasPrompt === false ? { ...state, turn: { ...state.turn, hasPrompt: true } } : state;

/** Codex shows a message of the user, so the turn is no compaction. */
const release = (before: CodexSession): Meaning => {
  const state = withPrompt(before);
  const { turn } = state;
  return turn?.held ? { state: { ...state, turn: withoutHeld(turn) }, facts: turn.held } : { state };
};

const withoutTurn = (state: CodexSession): CodexSession => {
  const { turn: _, hidden: __, ...rest } = state;
  return rest;
};

/** A turn that could still be a compaction at its end is one, because every other turn begins with a message. */
const unfinished = ({ turn }: CodexSession, result: CompactResult): readonly Fact[] =>
  turn?.held ? [{ type: 'compact-result', result }] : [];

const beginTurn = (before: CodexSession, { payload, source }: RecordParts): Meaning => {
  const isUsers = getRecord(payload, 'turn_attribution') !== undefined;
  const turn: Turn = {
    line: source.line,
    isUsers,
    hasPrompt: false,
    ...(isUsers ? {} : { held: [] }),
  };
  return { state: { ...withoutTurn(before), ...windowIn(payload), turn } };
};

export const LONGEST_ERROR = 200; // characters; the server may send a whole page

// Versions before 0.154 record no error: a failed compaction leaves only an empty turn.
const SILENT_END: CompactResult = { kind: 'failed', failure: 'error', text: 'it ended without a summary' };

const endTurn = (before: CodexSession, { payload, at }: RecordParts): Meaning => {
  const state = withoutTurn(before);
  const error = getRecord(payload, 'error');
  if (!error) {
    const silent = payload['last_agent_message'] === null ? unfinished(before, SILENT_END) : [];
    return { state, facts: [...(before.turn?.held ?? []), ...silent] };
  }
  const text = toOneLine(getText(error, 'message') ?? 'error', LONGEST_ERROR);
  const facts = unfinished(before, { kind: 'failed', failure: 'error', text });
  const isFull = getText(error, 'codex_error_info') === 'context_window_exceeded';
  return {
    state,
    facts: isFull ? [{ type: 'reading', reading: fullWindow(state, at) }, ...facts] : facts,
  };
};

// Events.

/** A boundary is reported with Codex's own estimate of what is left, or without one when something else of the turn comes first. */
const readEvent = (before: CodexSession, parts: RecordParts): Meaning => {
  const { pendingBoundary, ...state } = before;
  const type = getText(parts.payload, 'type') ?? '';
  const kind = type === 'item_completed' ? (getText(getRecord(parts.payload, 'item'), 'type') ?? '') : type;
  const read = readTurn(state, kind, parts);
  if (!read) return readOther(before, kind, parts);
  if (!pendingBoundary) return read;
  const postTokens = guessOf(parts.payload);
  const boundary = { ...pendingBoundary, ...present({ postTokens }) };
  return { ...read, facts: [{ type: 'boundary', boundary }, ...(read.facts ?? [])] };
};

const readTurn = (state: CodexSession, kind: string, parts: RecordParts): Meaning | undefined => {
  switch (kind) {
    case 'task_started':
      return beginTurn(state, parts);
    case 'user_message':
    case 'UserMessage':
      return release(state);
    case 'turn_aborted':
      return {
        state: withoutTurn(state),
        facts: unfinished(state, { kind: 'interrupted', by: 'the user' }),
      };
    case 'task_complete':
      return endTurn(state, parts);
    case 'token_count':
      return readTokens(state, parts);
    default:
      return undefined;
  }
};

const readTokens = (state: CodexSession, { payload, at }: RecordParts): Meaning => {
  const { reading, misfit, ...window } = readCount(state, payload, at);
  const after = { ...state, ...window };
  const limits = planLimits(getRecord(payload, 'rate_limits'), at);
  const facts: readonly Fact[] = reading ? [{ type: 'reading', reading }] : [];
  // a full window is full, whatever the turn is
  const read: Meaning = reading?.usedTokens === undefined ? { state: after, facts } : withFacts(after, facts);
  return { ...read, facts: [...(read.facts ?? []), ...limits], ...present({ misfit }) };
};

const readOther = (state: CodexSession, kind: string, { payload, source }: RecordParts): Meaning => {
  switch (kind) {
    case 'thread_settings_applied':
      return readSettings(state, getRecord(payload, 'thread_settings'));
    case 'agent_message':
      return { state: { ...state, shown: getText(payload, 'message') ?? '' } };
    case 'AgentMessage':
      return { state: { ...state, shown: textsIn(getRecord(payload, 'item') ?? {}, 'content') } };
    case 'ContextCompaction':
      return { state, steps: () => [compactionEnd(payload)] };
    case 'patch_apply_end':
      return { state: { ...state, patches: [...state.patches, patchIn(payload)].slice(-MOST_PATCHES) } };
    case 'thread_rolled_back': {
      const turns = getCount(payload, 'num_turns') ?? 0;
      return { state, steps: () => [{ kind: 'rewound-turns', turns }] };
    }
    case 'error': {
      const text = getText(payload, 'message') ?? '';
      return { state, steps: () => [recordStep(source, [textEntry('notice', source, text, payload)])] };
    }
    default:
      return { state };
  }
};

/** Codex writes it when the user chooses a model, and repeats it before each turn. */
const readSettings = (state: CodexSession, settings: JsonRecord | undefined): Meaning => {
  const model = getText(settings, 'model');
  if (!model || !state.model || model === state.model) return { state };
  const windowTokens = windowAfter(state, model);
  const claim =
    windowTokens === undefined ? undefined : ({ windowTokens, windowSource: 'table', model } as const);
  const { windowTokens: _, ...rest } = state;
  return {
    state: { ...rest, model, ...present({ windowTokens }) },
    facts: [{ type: 'model', model, ...present({ claim }) }],
  };
};

// Compactions. When the model returns an empty summary, Codex uses the last answer in the conversation instead and reports success.

const readCompacted = (before: CodexSession, { payload, source, at }: RecordParts): Meaning => {
  const { turn, hidden, pendingBoundary, ...state } = before;
  const message = getText(payload, 'message') ?? '';
  const isOwnTurn = turn?.hasPrompt === false;
  const boundary: Boundary = {
    // one that the user asked for is a turn of its own; one inside a user's turn is Codex's own
    initiator: isOwnTurn && !turn.isUsers ? 'user' : 'agent',
    ...(isEmptySummary(message, state.shown) ? { summary: 'empty' } : {}),
    at,
  };
  const ownLine = isSummary(hidden?.text, message) ? hidden?.line : undefined;
  const startLine = isOwnTurn ? turn.line : (ownLine ?? source.line);
  const isOther = pendingBoundary !== undefined && pendingBoundary.at !== at; // not the same record, written twice
  return {
    state: { ...state, pendingBoundary: boundary, ...(turn ? { turn: withoutHeld(turn) } : {}) },
    facts: isOther ? [{ type: 'boundary', boundary: pendingBoundary }] : [],
    pendingBoundary: boundary,
    steps: () => compactionSteps(payload, { source, boundary, startLine }),
  };
};

// The fixed text before the summary, on a line of its own.
const PREFIX = /^Another language model started to solve this problem(?:[^\n]*\n|\.\s*)/;

const withoutPrefix = (message: string): string => message.replace(PREFIX, '');

/** A compaction on the model's server leaves an encrypted text and no message, so nothing is known about it. */
const isEmptySummary = (message: string, shown = ''): boolean =>
  message !== '' && ['', shown.trim()].includes(withoutPrefix(message).trim());

// Codex ends its own text with the summary as the model wrote it.
const isSummary = (text: string | undefined, message: string): boolean =>
  text !== undefined && text.trim() !== '' && message.trimEnd().endsWith(text.trim());

interface CompactionPlace {
  readonly source: SourceRecord;
  readonly boundary: Boundary;
  readonly startLine: number;
}

/** The compaction, then the history that it leaves, each item a record of its own. */
const compactionSteps = (
  payload: JsonRecord,
  { source, boundary, startLine }: CompactionPlace,
): readonly Step[] => {
  const message = getText(payload, 'message') ?? '';
  const uuid = getText(payload, 'window_id'); // until the following item gives an id of its own
  const history = getList(payload, 'replacement_history').filter(isRecord);
  const usage = getRecord(getRecord(payload, 'latest_token_usage_record'), 'usage');
  const compaction: Entry = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary: { ...boundary, ...present({ uuid }) },
    startLine,
    keptIds: [],
    ...(history.length > 0 ? {} : { keepsPrompts: true }),
    requestTokens: getCount(usage, 'total_tokens') ?? 0,
  };
  // without a history (before 0.98) Codex keeps the user's messages, which no record repeats
  const left = history.length > 0 ? history : [summaryItem(message)];
  const items = left.map((item) => itemEntries(item, { ...source }));
  const own = ownSummary(items.flat(), message);
  return [
    recordStep(source, [compaction]),
    ...items.map((entries) =>
      recordStep(
        source,
        entries.map((entry): Entry =>
          entry === own ? { ...own, kind: 'summary' } : { ...entry, isCopy: true },
        ),
      ),
    ),
  ];
};

type Said = Extract<Entry, { kind: 'prompt' | 'summary' }>;

/** The summary of this compaction: an earlier one may be among what is left. */
const ownSummary = (entries: readonly Entry[], message: string): Said | undefined => {
  const all = entries.filter((entry) => entry.kind === 'prompt' || entry.kind === 'summary');
  if (message === '') return all.findLast((entry) => entry.kind === 'summary' && entry.isEncrypted);
  // the item with the record's own text, whoever wrote it
  return all.findLast(({ text }) => text === message) ?? all.findLast(({ kind }) => kind === 'summary');
};

const summaryItem = (text: string): JsonRecord => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

/** The record of a compaction has no id of its own, but this item of it has. */
const compactionEnd = (payload: JsonRecord): Step => {
  const uuid = getText(getRecord(payload, 'item'), 'id');
  const [from, to] = [getCount(payload, 'started_at_ms'), getCount(payload, 'completed_at_ms')];
  const durationMs = from === undefined || to === undefined || to < from ? undefined : to - from;
  return { kind: 'amended', boundary: present({ uuid, durationMs }) };
};

// How much of each line has to be read.

const READ: LineClass = { read: 'whole' };
const STEPS: LineClass = { read: 'whole', hasSteps: true };

const kinds: Readonly<Record<string, LineClass>> = {
  token_count: READ,
  task_started: { read: 'whole', turn: 'begins' },
  turn_aborted: { read: 'whole', turn: 'ends' },
  user_message: READ,
  agent_message: READ,
  UserMessage: READ,
  AgentMessage: READ,
  ContextCompaction: STEPS,
};
const speakers: Readonly<Record<string, LineClass>> = {
  user: { message: '', ...STEPS },
  assistant: { message: '', ...READ },
};

const classify: SessionFormat['classify'] = (line) => {
  const kind = line.get('payload.type') ?? '';
  switch (line.get('type')) {
    case 'compacted':
      return STEPS;
    case 'session_meta':
      return { read: 'reduced', hasSteps: true };
    case 'response_item':
      return kind === 'message' ? (speakers[line.get('payload.role') ?? ''] ?? SKIPPED) : SKIPPED;
    case 'event_msg':
      if (kind === 'item_completed') return kinds[line.get('payload.item.type') ?? ''] ?? SKIPPED;
      return kind === 'task_complete' ? turnEnd(line.get('payload.duration_ms')) : (kinds[kind] ?? SKIPPED);
    default:
      return SKIPPED;
  }
};

const turnEnd = (duration: string | undefined): LineClass => ({
  read: 'whole',
  turn: 'ends',
  turnMs: Number(duration ?? Number.NaN),
});

export const codexSession: SessionFormat = {
  fields: {
    fields: ['type', 'payload.type', 'payload.role', 'payload.item.type', 'payload.duration_ms'],
    bulky: ['payload.base_instructions', 'payload.user_instructions', 'payload.dynamic_tools'],
  },
  classify,
  summaryWords: withoutPrefix,
  // the ids of what is kept are new in some versions
  messages: 'by-text',
};
