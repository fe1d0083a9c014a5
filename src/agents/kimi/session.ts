import type { Compaction, Entry, SourceRecord } from '../../core/conversation/conversation.js';
import type { Boundary } from '../../core/event.js';
import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import {
  growthOf,
  planOf,
  recordStep,
  textEntry,
  toolEntries,
  type ToolEvent,
  type Tools,
} from '../entries.js';
import { idListOf, idsIn, withId, withoutLast, type IdList } from '../id-list.js';
import { LONGEST_GROWTH, mayHoldWork } from '../records.js';
import {
  headStep,
  makeSessionReader,
  SKIPPED,
  type LineClass,
  type RecordForm,
  type RecordMeaning,
  type RecordPlace,
  type SessionFormat,
  type StartReader,
} from '../session-format.js';
import { idInPath } from './files.js';

// A session file of Kimi Code (docs/facts/kimi.md), in the order of the file. It names neither its session nor all of its records. The size of
// the conversation is `token_counting.measured`: prompt and answer as the server counted them. What `token_counting.rebased` and
// `context.apply_compaction` say is Kimi's estimate from the characters, also of the size before. A compaction is a `context.apply_compaction`
// record between `full_compaction.begin` and `.complete`; it leaves the messages of the user that fit, then the summary.

interface KimiSession {
  /** by the last request of a turn: Kimi's name for the model, and what of the prompt came from the cache, and the whole prompt */
  readonly model?: string | undefined;
  readonly cachedTokens?: number | undefined;
  readonly inputTokens?: number | undefined;
  /** before protocol 1.5 nothing is measured: there the requests tell the size */
  readonly isUnmeasured?: boolean;
  /** the last measured size */
  readonly usedTokens?: number | undefined;
  readonly begun?: Begun | undefined;
  /** ids of the user's messages in the window */
  readonly prompts: IdList;
}

/** The compaction that has begun. */
interface Begun {
  readonly source: string;
  readonly at: Millis;
  /** of its record; absent after a later message, which is not part of the compaction */
  readonly line?: number | undefined;
}

type Meaning = RecordMeaning<KimiSession>;

const TELLING =
  /"(?:metadata|usage\.record|token_counting\.(?:measured|truncated)|full_compaction\.(?:begin|cancel)|context\.(?:apply_compaction|clear|undo|append_message)|tool\.result)"/;

const CALLS = { call: '"tool.call"', plan: 'TodoList' };

const form: RecordForm<KimiSession> = {
  name: 'Kimi',
  isOwn: /^\{.*?"type"/s,
  hasFacts: (line) => TELLING.test(line) || mayHoldWork(line, CALLS),
  read: (state, record, place) => {
    if (getText(record, 'type') === undefined) return { state, misfit: 'not a Kimi record' };
    const at = getCount(record, 'time');
    const id = getText(getRecord(record, 'message'), 'id') ?? `line-${place.line}`;
    const source = { line: place.line, id, ...present({ at }) };
    return { steps: () => [], ...readRecord(state, record, source, place) };
  },
};

/** The reader for the first line of a session file of Kimi's. */
export const kimiReader: StartReader = (_, wanted) => makeSessionReader(form, { prompts: undefined }, wanted);

type Source = SourceRecord & { readonly id: string };

const readRecord = (
  state: KimiSession,
  record: JsonRecord,
  source: Source,
  { now, length }: RecordPlace,
): Meaning => {
  const { at = now, line } = source;
  const unsized = { ...state, usedTokens: undefined, begun: undefined };
  switch (record['type']) {
    case 'metadata': {
      const isUnmeasured = UNMEASURED.test(getText(record, 'protocol_version') ?? '');
      const startedAt = getCount(record, 'created_at');
      return { state: { ...state, isUnmeasured }, steps: () => [headStep({ startedAt })] };
    }
    case 'profile.bind':
      return { state, steps: () => [headOf(record)] };
    case 'usage.record':
      return readUsage(state, record, at);
    case 'token_counting.measured':
      return readMeasured(state, record, at);
    case 'token_counting.truncated':
      return { state: { ...state, usedTokens: undefined }, facts: [{ type: 'voided' }] };
    case 'full_compaction.begin':
      return { state: { ...state, begun: { source: getText(record, 'source') ?? '', at, line } } };
    case 'full_compaction.cancel':
      return { state: { ...state, begun: undefined } };
    case 'context.apply_compaction':
      return readCompaction(state, record, source, at);
    case 'context.clear':
      return {
        state: { ...unsized, prompts: undefined },
        facts: [{ type: 'voided' }],
        steps: () => [{ kind: 'rewritten', entries: [] }],
      };
    case 'context.undo': {
      const turns = getCount(record, 'count') ?? 0;
      const prompts = withoutLast(state.prompts, turns);
      return { state: { ...unsized, prompts }, steps: () => [{ kind: 'rewound-turns', turns }] };
    }
    case 'context.append_message':
      return readMessage(state, record, source, length);
    case 'context.append_loop_event':
      return readEvent(state, record, source, length);
    default:
      return { state };
  }
};

const headOf = (record: JsonRecord) =>
  headStep({
    cwd: getText(getRecord(record, 'environmentDisclosure'), 'cwd'),
    model: getText(record, 'modelAlias'),
  });

const UNMEASURED = /^1\.[0-4]$/;

/** The summary's own request is of the session, not of a turn. */
const readUsage = (state: KimiSession, record: JsonRecord, at: Millis): Meaning => {
  if (record['usageScope'] !== 'turn') return { state };
  const usage = getRecord(record, 'usage');
  const known = { ...state, model: getText(record, 'model'), ...promptIn(usage) };
  const { inputTokens = 0 } = known;
  if (!state.isUnmeasured || inputTokens === 0) return { state: known };
  return withSize(known, inputTokens + (getCount(usage, 'output') ?? 0), at);
};

const promptIn = (usage: JsonRecord | undefined): Pick<KimiSession, 'cachedTokens' | 'inputTokens'> => {
  const cachedTokens = getCount(usage, 'inputCacheRead');
  const fresh = getCount(usage, 'inputOther');
  const created = getCount(usage, 'inputCacheCreation') ?? 0;
  const inputTokens = fresh === undefined ? undefined : fresh + created + (cachedTokens ?? 0);
  return { cachedTokens, inputTokens };
};

const readMeasured = (state: KimiSession, record: JsonRecord, at: Millis): Meaning => {
  const usedTokens = getCount(record, 'tokens');
  if (usedTokens === undefined) return { state, misfit: 'a size without tokens' };
  if (usedTokens === 0) return { state };
  return withSize(state, usedTokens, at);
};

const withSize = (state: KimiSession, usedTokens: number, at: Millis): Meaning => {
  const { model = '', cachedTokens, inputTokens } = state;
  const cached = cachedTokens === undefined ? {} : { cachedTokens, ...present({ inputTokens }) };
  const reading = { usedTokens, ...cached, source: 'log' as const, model, at };
  return { state: { ...state, usedTokens }, facts: [{ type: 'reading', reading }] };
};

// Compactions.

const readCompaction = (state: KimiSession, record: JsonRecord, source: Source, at: Millis): Meaning => {
  const boundary = boundaryIn(state, record, at);
  const keptIds = keptOf(idsIn(state.prompts), record);
  const native = { record };
  const compaction: Compaction = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    startLine: state.begun?.line ?? source.line,
    keptIds,
    keptAfterId: source.id,
    native,
  };
  return {
    state: { ...state, usedTokens: undefined, begun: undefined, prompts: idListOf(keptIds) },
    facts: [{ type: 'boundary', boundary }],
    steps: () => [
      recordStep(source, [compaction, textEntry('summary', source, summaryText(record), native)]),
    ],
  };
};

const boundaryIn = ({ usedTokens, begun }: KimiSession, record: JsonRecord, at: Millis): Boundary => {
  const preTokens = usedTokens ?? getCount(record, 'tokensBefore');
  const postTokens = getCount(record, 'tokensAfter');
  return {
    ...(begun === undefined
      ? {}
      : {
          initiator: begun.source === 'manual' ? 'user' : 'agent',
          durationMs: Math.max(0, at - begun.at),
        }),
    ...(preTokens ? { preTokens } : {}),
    ...(postTokens ? { postTokens } : {}),
    ...(summaryText(record).trim() === '' ? { summary: 'empty' } : {}),
    at,
  };
};

/** The model's words; older records hold them in a message. */
const summaryText = (record: JsonRecord): string =>
  getText(record, 'summary') ?? getText(record, 'contextSummary') ?? textIn(getRecord(record, 'summary'));

/** The first ones and the last ones, as the record says; one of them may be shortened. */
const keptOf = (prompts: readonly string[], record: JsonRecord): readonly string[] => {
  const count = getCount(record, 'keptUserMessageCount') ?? 0;
  const first = getCount(record, 'keptHeadUserMessageCount') ?? 0;
  const last = Math.max(0, count - first);
  const split = Math.max(first, prompts.length - last);
  return [...prompts.slice(0, first), ...prompts.slice(split)];
};

// The conversation: messages, and events of the agent's steps; a `tool.call` with its arguments, then a `tool.result`, linked by
// `toolCallId`.

const readMessage = (state: KimiSession, record: JsonRecord, source: Source, length: number): Meaning => {
  const message = getRecord(record, 'message');
  const entry = textEntry(kindOf(message), source, textIn(message), { record });
  const prompts = entry.kind === 'prompt' ? withId(state.prompts, source.id) : state.prompts;
  const isSaid = entry.kind === 'prompt' || entry.kind === 'answer';
  const begun = isSaid && state.begun ? { ...state.begun, line: undefined } : state.begun;
  return {
    state: { ...state, prompts, begun },
    facts: length > LONGEST_GROWTH ? [] : growthOf([entry]),
    steps: () => [recordStep(source, [entry])],
  };
};

/** The texts of a message. */
const textIn = (message: JsonRecord | undefined): string =>
  getList(message, 'content')
    .filter(isRecord)
    .map((part) => getText(part, 'text') ?? '')
    .join('\n');

/** Judged by the origin of the message, which is how Kimi finds the user's messages. */
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

const readEvent = (state: KimiSession, record: JsonRecord, source: Source, length: number): Meaning => {
  const event = getRecord(record, 'event');
  const isGrowth = event?.['type'] === 'tool.result' && length <= LONGEST_GROWTH;
  const result = isGrowth ? eventEntries(event, source, { record }) : undefined;
  return {
    state,
    facts: growthOf(result ?? []),
    steps: () => [recordStep(source, result ?? eventEntries(event, source, { record }))],
  };
};

const eventEntries = (
  event: JsonRecord | undefined,
  source: SourceRecord,
  native: { readonly record: JsonRecord },
): readonly Entry[] => {
  if (event?.['type'] !== 'content.part')
    return toolEventsIn(event).flatMap((each) => toolEntries(each, source, tools, native));
  const part = getRecord(event, 'part');
  const thought = getText(part, 'think');
  if (thought !== undefined) return [textEntry('reasoning', source, thought, native)];
  const text = getText(part, 'text');
  return text === undefined ? [] : [textEntry('answer', source, text, native)];
};

const toolEventsIn = (event: JsonRecord | undefined): readonly ToolEvent[] => {
  const id = getText(event, 'toolCallId');
  if (!event || id === undefined) return [];
  if (event['type'] === 'tool.call')
    return [{ kind: 'call', id, name: getText(event, 'name'), input: event['args'] }];
  if (event['type'] !== 'tool.result') return [];
  const result = getRecord(event, 'result');
  return [{ kind: 'result', id, output: result?.['output'], isError: result?.['isError'] === true }];
};

const tools: Tools = {
  reads: { Read: 'path', ReadMediaFile: 'path' },
  edits: { Write: 'path', Edit: 'path' },
  runs: { Bash: 'command' },
  plan: (name, input) =>
    name === 'TodoList' && 'todos' in input ? planOf(getList(input, 'todos'), 'title') : undefined,
};

// How much of each line has to be read.

const FACTS: LineClass = { read: 'whole' };

const classify: SessionFormat['classify'] = (line) => {
  switch (line.get('type')) {
    case 'context.append_message':
      return { message: '', read: 'reduced' };
    case 'turn.prompt':
      return { turn: 'begins' };
    case 'turn.ended':
      return { turn: 'ends' };
    case 'context.apply_compaction':
      return { read: 'whole', hasSteps: true };
    case 'metadata':
    case 'usage.record':
    case 'token_counting.measured':
    case 'token_counting.truncated':
    case 'full_compaction.begin':
    case 'full_compaction.cancel':
    case 'context.clear':
    case 'context.undo':
      return FACTS;
    default:
      return SKIPPED;
  }
};

/** Its path and `state.json` name the session and the folder. */
export const kimiSession: SessionFormat = {
  fields: { fields: ['type'], bulky: ['message.content', 'event', 'input'] },
  classify,
  idInPath: (path) => idInPath(path) || undefined,
  messages: 'unnamed',
};
