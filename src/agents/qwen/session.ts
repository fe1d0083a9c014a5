import type { Entry, SourceRecord, Step } from '../../core/conversation/conversation.js';
import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import { failureIn, isRecent } from '../compress.js';
import { asCopies, growthOf, recordStep, textEntry, toolEntries, type ToolEvent } from '../entries.js';
import { familyTools, FILES_START, OWN_WORDS } from '../gemini-family.js';
import { uuidInPath } from '../files.js';
import { LONGEST_GROWTH } from '../records.js';
import { countSource } from '../own-estimate.js';
import {
  headStep,
  makeSessionReader,
  SKIPPED,
  type RecordForm,
  type RecordMeaning,
  type RecordPlace,
  type SessionFormat,
  type StartReader,
} from '../session-format.js';

// A Qwen Code session file (docs/facts/qwen.md#session-files): records that name the one before. Every answer reports its window;
// `ui_telemetry` repeats the usage of all calls, including those beside the conversation, so it is not a reading. A `chat_compression`
// record holds the whole history that it leaves.

interface QwenSession {
  /** the user's last message, while it is unanswered */
  readonly unanswered?: JsonRecord | undefined;
}

const TELLING = /"(?:assistant|user|tool_result|chat_compression|rewind|slash_command)"/;

const form: RecordForm<QwenSession> = {
  name: 'Qwen',
  isOwn: /^\{.*?"type"/s,
  hasFacts: (line) => TELLING.test(line),
  read: (state, record, place) => {
    if (getText(record, 'type') === undefined) return { state, misfit: 'not a Qwen record' };
    // subagents write files of their own and mark their records
    if (record['isSidechain'] === true) return { state, steps: () => [] };
    const source = sourceOf(record, place.line);
    const { state: after, entries, facts, misfit } = readRecord(state, record, { ...place, source });
    const steps = (): readonly Step[] => [
      headStep({
        id: getText(record, 'sessionId'),
        cwd: getText(record, 'cwd'),
        version: getText(record, 'version'),
        model: getText(record, 'model'),
        startedAt: source.at,
      }),
      ...(source.id === undefined ? [] : [recordStep(source, entries?.() ?? [])]),
    ];
    return { state: after, facts, misfit, steps };
  },
};

/** The reader for the first line of a Qwen Code session file. */
export const qwenReader: StartReader = (_, wanted) => makeSessionReader(form, {}, wanted);

const sourceOf = (record: JsonRecord, line: number): SourceRecord => {
  const id = getText(record, 'uuid');
  const at = parseIsoTime(getText(record, 'timestamp') ?? '');
  return { line, parentId: getText(record, 'parentUuid') ?? null, ...present({ id, at }) };
};

interface Place extends RecordPlace {
  readonly source: SourceRecord;
}

interface Meaning extends RecordMeaning<QwenSession> {
  readonly entries?: () => readonly Entry[];
}

const readRecord = (state: QwenSession, record: JsonRecord, { source, now, length }: Place): Meaning => {
  const at = source.at ?? now;
  switch (record['type']) {
    case 'assistant':
      return { state: {}, ...readAnswer(record, at), entries: () => messageEntries(record, source) };
    case 'user':
    case 'tool_result': {
      const after = isTyped(record) ? { unanswered: getRecord(record, 'message') } : {};
      if (length > LONGEST_GROWTH) return { state: after, entries: () => messageEntries(record, source) };
      const entries = messageEntries(record, source);
      return { state: after, facts: growthOf(entries), entries: () => entries };
    }
    case 'system': {
      const boundary = compressionIn(record, at);
      if (!boundary)
        return { state, facts: readSystem(record, at, now), entries: () => systemEntries(record, source) };
      const entries = () => compactionEntries(record, boundary, source, state);
      return { state, facts: [{ type: 'boundary', boundary }], entries };
    }
    default:
      return { state };
  }
};

const readAnswer = (record: JsonRecord, at: Millis): Pick<Meaning, 'facts' | 'misfit'> => {
  const usage = getRecord(record, 'usageMetadata');
  // an interrupted answer has none
  if (!usage) return {};
  const usedTokens = getCount(usage, 'promptTokenCount');
  if (usedTokens === undefined) return { misfit: 'usage without promptTokenCount' };
  if (usedTokens === 0) return {};
  const cachedTokens = getCount(usage, 'cachedContentTokenCount');
  const windowTokens = getCount(record, 'contextWindowSize');
  const reading = {
    usedTokens,
    ...present({ cachedTokens }),
    ...(windowTokens ? { windowTokens, windowSource: 'agent' as const } : {}),
    source: countSource(usage),
    model: getText(record, 'model') ?? '',
    at,
  };
  return { facts: [{ type: 'reading', reading }] };
};

const readSystem = (record: JsonRecord, at: Millis, now: Millis): readonly Fact[] => {
  if (record['subtype'] === 'rewind') return [{ type: 'voided' }];
  if (record['subtype'] !== 'slash_command' || !isRecent(at, now)) return [];
  const result = commandResult(getRecord(record, 'systemPayload'));
  return result ? [{ type: 'compact-result', result }] : [];
};

// The record of a finished `/compress`: Qwen writes what it showed, with a status number (docs/facts/qwen.md#session-files).

const SMALL_TOKENS = 50_000; // below this, Qwen does not call it a failure that nothing became smaller
const NOT_WORTH_IT = 'Compression was not beneficial for this history size.';

/** By CompressionStatus; 1 is success, which has a record of its own. */
const WORDS: Readonly<Record<number, string>> = {
  2: 'Chat history compression did not reduce size.',
  3: 'Could not compress chat history due to a token counting error.',
  4: 'Could not compress chat history because the compression summary was empty.',
  5: 'Nothing to compress.',
  6: 'Could not compress chat history because the compression summary was truncated.',
  7: 'Could not compress chat history due to an API error.',
};

/** The result of an unsuccessful compaction in the record of a command; undefined for other records. */
const commandResult = (payload: JsonRecord | undefined): CompactResult | undefined => {
  if (!payload || getText(payload, 'phase') !== 'result') return undefined;
  const shown = getList(payload, 'outputHistoryItems').filter(isRecord);
  const compression = shown.map((item) => getRecord(item, 'compression')).find(Boolean);
  if (compression) return byStatus(compression);
  const error = shown.find((item) => getText(item, 'type') === 'error');
  const words = getText(error, 'text') ?? '';
  return words.startsWith('Failed to compress') ? failureIn(words) : undefined;
};

const byStatus = (compression: JsonRecord): CompactResult | undefined => {
  const status = getCount(compression, 'compressionStatus') ?? 0;
  const isSmall = (getCount(compression, 'originalTokenCount') ?? 0) < SMALL_TOKENS;
  const words = status === 2 && isSmall ? NOT_WORTH_IT : WORDS[status];
  return words === undefined ? undefined : failureIn(words);
};

const COMPRESSED = 1; // CompressionStatus.COMPRESSED; all others are failures or "nothing to compress"

/** The compaction in a record; undefined for any other record, and for one that changed nothing. */
const compressionIn = (record: JsonRecord, at: Millis): Boundary | undefined => {
  const info = getRecord(getRecord(record, 'systemPayload'), 'info');
  if (record['subtype'] !== 'chat_compression' || info?.['compressionStatus'] !== COMPRESSED)
    return undefined;
  const preTokens = getCount(info, 'originalTokenCount');
  const postTokens = getCount(info, 'newTokenCount');
  // versions before 0.16 do not say who asked for it
  const reason = getText(info, 'triggerReason');
  const initiator =
    reason === undefined ? {} : ({ initiator: reason === 'manual' ? 'user' : 'agent' } as const);
  // Qwen's estimate of what is left may be 0, which is impossible.
  const sizes = { ...(preTokens ? { preTokens } : {}), ...(postTokens ? { postTokens } : {}) };
  const uuid = getText(record, 'uuid');
  return { ...initiator, ...sizes, ...present({ uuid }), at };
};

// The conversation.

// Notifications of tasks and of the clock have a subtype; versions before 0.22 do not say where a message comes from.
const isTyped = (record: JsonRecord): boolean =>
  record['type'] === 'user' &&
  (record['provenance'] ?? 'real_user') === 'real_user' &&
  (record['subtype'] ?? TYPED_MEANWHILE) === TYPED_MEANWHILE;

const TYPED_MEANWHILE = 'mid_turn_user_message';

const compactionEntries = (
  record: JsonRecord,
  boundary: Boundary,
  source: SourceRecord,
  state: QwenSession,
): readonly Entry[] => {
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
  return [compaction, ...left, ...sentAfter(boundary, left, source, state)];
};

/** Qwen compacts before it sends a message: one that it has recorded, and that the new history does not hold, comes after that. */
const sentAfter = (
  { initiator }: Boundary,
  left: readonly Entry[],
  source: SourceRecord,
  { unanswered }: QwenSession,
): readonly Entry[] => {
  if (initiator === 'user' || !unanswered) return [];
  const entries = partEntries(unanswered, { ...source }, true, { message: unanswered });
  const texts = left.flatMap((entry) => (entry.kind === 'prompt' ? [entry.text] : []));
  return asCopies(entries.filter((entry) => entry.kind === 'prompt' && !texts.includes(entry.text)));
};

const messageEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const message = getRecord(record, 'message');
  if (!message) return [];
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
    const event = toolEventIn(part);
    if (event) return toolEntries(event, source, familyTools, own);
    const text = getText(part, 'text') ?? '';
    if (part['thought'] === true) return [textEntry('reasoning', source, text, own)];
    if (getText(message, 'role') === 'model') return [textEntry('answer', source, text, own)];
    const isUsers = isTyped && !OWN_WORDS.test(text) && (files < 0 || index < files);
    return [textEntry(SUMMARY.test(text) ? 'summary' : isUsers ? 'prompt' : 'context', source, text, own)];
  });
};

const toolEventIn = (part: JsonRecord): ToolEvent | undefined => {
  const asked = getRecord(part, 'functionCall');
  if (asked) return { kind: 'call', id: idOf(asked), name: getText(asked, 'name'), input: asked['args'] };
  const answered = getRecord(part, 'functionResponse');
  if (!answered) return undefined;
  const output = answered['response'];
  const isError = getText(output, 'error') !== undefined;
  return { kind: 'result', id: idOf(answered), name: getText(answered, 'name'), output, isError };
};

// Some models give no ids; then the name links the two.
const idOf = (part: JsonRecord): string => getText(part, 'id') ?? getText(part, 'name') ?? '';

// How much of each line has to be read.

const classify: SessionFormat['classify'] = (line) => {
  if (line.get('isSidechain') === 'true') return SKIPPED;
  switch (line.get('type')) {
    case 'assistant':
      return { message: line.get('uuid') ?? '', read: 'reduced' };
    case 'user':
    case 'tool_result':
      return { message: line.get('uuid') ?? '' };
    case 'system':
      if (line.get('subtype') === 'chat_compression') return { read: 'whole', hasSteps: true };
      return line.get('subtype') === 'rewind' ? { read: 'whole' } : SKIPPED;
    default:
      return SKIPPED;
  }
};

// Qwen's own words around the summary.
const AFTER = /\n+Resume the prior task using the summary above[\s\S]*$/;
const TAGS = /^<state_snapshot>((?:(?!<state_snapshot>)[\s\S])*)<\/state_snapshot>$/;

export const qwenSession: SessionFormat = {
  fields: {
    fields: ['type', 'subtype', 'uuid', 'isSidechain', 'sessionId', 'cwd', 'version'],
    bulky: ['message', 'toolCallResult'],
  },
  session: (line) => ({
    id: line.get('sessionId'),
    project: line.get('cwd'),
    version: line.get('version'),
  }),
  idInPath: uuidInPath,
  classify,
  summaryWords: (text) => text.replace(AFTER, '').trim().replace(TAGS, '$1'),
  messages: 'unnamed',
};
