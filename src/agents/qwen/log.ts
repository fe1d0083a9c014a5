import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import {
  getCount,
  isRecord,
  getList,
  getRecord,
  getText,
  type JsonRecord,
  parseRecord,
} from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { makeLineReader, type LineReader, type LineMeaning } from '../agent.js';
import { failureIn, isRecent } from '../compress.js';
import {
  makeContentReader,
  growthFacts,
  timeOfRecord,
  type ContentReader,
  type ToolEvent,
  LONGEST_GROWTH,
} from '../records.js';

// The record of a finished `/compress`: Qwen writes what it showed, with a status number (facts/qwen.md).

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

// One line of a Qwen Code session file (facts/qwen.md). Every answer reports its window. `ui_telemetry` repeats the usage of all calls,
// including those beside the conversation, so it is not a reading.

type QwenLog = undefined; // no line depends on earlier ones

const TELLING = /"(?:assistant|user|tool_result|chat_compression|rewind|slash_command)"/;
const SAID = ['user', 'tool_result'];
const COMPRESSED = 1; // CompressionStatus.COMPRESSED; all others are failures or "nothing to compress"

export const qwenReader = (): LineReader => makeLineReader<QwenLog>(undefined, readLine);

const readLine = (state: QwenLog, line: string, now: Millis): LineMeaning<QwenLog> => {
  if (!line.startsWith('{') || !line.includes('"type"'))
    return { state, facts: [], misfit: 'not a Qwen record' };
  if (!TELLING.test(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  // Subagents write files of their own and mark their records.
  if (record['isSidechain'] === true) return { state, facts: [] };
  const at = timeOfRecord(record, now);
  const type = getText(record, 'type') ?? '';
  if (type === 'assistant') return { state, ...readAnswer(record, at) };
  if (SAID.includes(type)) return { state, facts: line.length > LONGEST_GROWTH ? [] : readGrowth(record) };
  return { state, facts: type === 'system' ? readSystem(record, at, now) : [] };
};

const readAnswer = (
  record: JsonRecord,
  at: Millis,
): { readonly facts: readonly Fact[]; readonly misfit?: string } => {
  const usage = getRecord(record, 'usageMetadata');
  // An interrupted answer has none.
  if (!usage) return { facts: [] };
  const usedTokens = getCount(usage, 'promptTokenCount');
  if (usedTokens === undefined) return { facts: [], misfit: 'usage without promptTokenCount' };
  if (usedTokens === 0) return { facts: [] };
  const cachedTokens = getCount(usage, 'cachedContentTokenCount');
  const windowTokens = getCount(record, 'contextWindowSize');
  const reading = {
    usedTokens,
    ...present({ cachedTokens }),
    ...(windowTokens ? { windowTokens, windowSource: 'agent' as const } : {}),
    source: 'log' as const,
    model: getText(record, 'model') ?? '',
    at,
  };
  return { facts: [{ type: 'reading', reading }] };
};

const readSystem = (record: JsonRecord, at: Millis, now: Millis): readonly Fact[] => {
  if (record['subtype'] === 'rewind') return [{ type: 'voided' }];
  if (record['subtype'] === 'slash_command') {
    const result = isRecent(at, now) ? commandResult(getRecord(record, 'systemPayload')) : undefined;
    return result ? [{ type: 'compact-result', result }] : [];
  }
  const boundary = compressionIn(record, at);
  return boundary ? [{ type: 'boundary', boundary }] : [];
};

/** The compaction that a record tells of; undefined for any other record, and for one that changed nothing. */
export const compressionIn = (record: JsonRecord, at: Millis): Boundary | undefined => {
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
  return { ...initiator, ...sizes, at };
};

const readGrowth = (record: JsonRecord): readonly Fact[] =>
  growthFacts(textsIn(getList(getRecord(record, 'message'), 'parts')).join(''));

const textsIn = (parts: readonly unknown[]): readonly string[] =>
  parts.filter(isRecord).flatMap((part) => {
    const response = getRecord(getRecord(part, 'functionResponse'), 'response');
    return [getText(part, 'text') ?? getText(response, 'output') ?? getText(response, 'error') ?? ''];
  });

// Tool results in a Qwen Code session file: a `functionCall` part of an answer, then a `functionResponse` part, linked by id.

const CONTENTS_TELLING = /"functionCall"|"functionResponse"|"chat_compression"/;

export const qwenContents = (): ContentReader =>
  makeContentReader(CONTENTS_TELLING, (record) => {
    if (record['subtype'] === 'chat_compression') {
      const info = getRecord(getRecord(record, 'systemPayload'), 'info');
      return info?.['compressionStatus'] === COMPRESSED ? [{ kind: 'cleared' }] : [];
    }
    return getList(getRecord(record, 'message'), 'parts').flatMap(qwenToolEvents);
  });

export const qwenToolEvents = (part: unknown): readonly ToolEvent[] => {
  const asked = getRecord(part, 'functionCall');
  if (asked) return [{ kind: 'call', id: idOf(asked), name: getText(asked, 'name'), input: asked['args'] }];
  const answered = getRecord(part, 'functionResponse');
  if (!answered) return [];
  const output = answered['response'];
  const isError = getText(output, 'error') !== undefined;
  return [{ kind: 'result', id: idOf(answered), name: getText(answered, 'name'), output, isError }];
};

// Some models give no ids; then the name links the two.
const idOf = (part: JsonRecord): string => getText(part, 'id') ?? getText(part, 'name') ?? '';
