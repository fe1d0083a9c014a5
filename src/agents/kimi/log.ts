import type { Boundary, Fact } from '../../core/event.js';
import { getCount, getRecord, getText, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { makeLineReader, type LineMeaning, type LineReader } from '../agent.js';
import {
  growthFacts,
  makeContentReader,
  type ContentReader,
  type ToolEvent,
  LONGEST_GROWTH,
} from '../records.js';
import { timeOfKimi } from './files.js';
import { summaryText, textsIn } from './history.js';

// One line of a Kimi Code session file (docs/facts/kimi.md). The size of the conversation is `token_counting.measured`: prompt and answer as the server counted
// them. What `token_counting.rebased` and `context.apply_compaction` say is Kimi's estimate from the characters, also of the size before.

export interface KimiLog {
  /** by the last request of a turn: Kimi's name for the model, and what of the prompt came from the cache, and the whole prompt */
  readonly model?: string | undefined;
  readonly cachedTokens?: number | undefined;
  readonly inputTokens?: number | undefined;
  /** before protocol 1.5 nothing is measured: there the requests tell the size */
  readonly isUnmeasured?: boolean;
  /** the last measured size */
  readonly usedTokens?: number | undefined;
  /** of the compaction that has begun */
  readonly begun?: { readonly source: string; readonly at: Millis } | undefined;
}

const TELLING =
  /"(?:metadata|usage\.record|token_counting\.(?:measured|truncated)|full_compaction\.(?:begin|cancel)|context\.(?:apply_compaction|clear|append_message)|tool\.result)"/;

export const kimiReader = (): LineReader => makeLineReader<KimiLog>({}, readLine);

const readLine = (state: KimiLog, line: string, now: Millis): LineMeaning<KimiLog> => {
  if (!line.startsWith('{') || !line.includes('"type"'))
    return { state, facts: [], misfit: 'not a Kimi record' };
  if (!TELLING.test(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  const at = timeOfKimi(record, now);
  switch (record['type']) {
    case 'metadata':
      return {
        state: { ...state, isUnmeasured: UNMEASURED.test(getText(record, 'protocol_version') ?? '') },
        facts: [],
      };
    case 'usage.record':
      return readUsage(state, record, at);
    case 'token_counting.measured':
      return readMeasured(state, record, at);
    case 'token_counting.truncated':
    case 'context.clear':
      return { state: { ...state, usedTokens: undefined }, facts: [{ type: 'voided' }] };
    case 'full_compaction.begin':
      return { state: { ...state, begun: { source: getText(record, 'source') ?? '', at } }, facts: [] };
    case 'full_compaction.cancel':
      return { state: { ...state, begun: undefined }, facts: [] };
    case 'context.apply_compaction': {
      const boundary = boundaryIn(state, record, at);
      const after = { ...state, begun: undefined, usedTokens: undefined };
      return { state: after, facts: [{ type: 'boundary', boundary }] };
    }
    default:
      return { state, facts: line.length > LONGEST_GROWTH ? [] : readGrowth(record) };
  }
};

const UNMEASURED = /^1\.[0-4]$/;

/** The summary's own request is of the session, not of a turn. */
const readUsage = (state: KimiLog, record: JsonRecord, at: Millis): LineMeaning<KimiLog> => {
  if (record['usageScope'] !== 'turn') return { state, facts: [] };
  const usage = getRecord(record, 'usage');
  const known = { ...state, model: getText(record, 'model'), ...promptIn(usage) };
  const { inputTokens = 0 } = known;
  if (!state.isUnmeasured || inputTokens === 0) return { state: known, facts: [] };
  return withSize(known, inputTokens + (getCount(usage, 'output') ?? 0), at);
};

const promptIn = (usage: JsonRecord | undefined): Pick<KimiLog, 'cachedTokens' | 'inputTokens'> => {
  const cachedTokens = getCount(usage, 'inputCacheRead');
  const fresh = getCount(usage, 'inputOther');
  const created = getCount(usage, 'inputCacheCreation') ?? 0;
  const inputTokens = fresh === undefined ? undefined : fresh + created + (cachedTokens ?? 0);
  return { cachedTokens, inputTokens };
};

const readMeasured = (state: KimiLog, record: JsonRecord, at: Millis): LineMeaning<KimiLog> => {
  const usedTokens = getCount(record, 'tokens');
  if (usedTokens === undefined) return { state, facts: [], misfit: 'a size without tokens' };
  if (usedTokens === 0) return { state, facts: [] };
  return withSize(state, usedTokens, at);
};

const withSize = (state: KimiLog, usedTokens: number, at: Millis): LineMeaning<KimiLog> => {
  const { model = '', cachedTokens, inputTokens } = state;
  const cached = cachedTokens === undefined ? {} : { cachedTokens, ...present({ inputTokens }) };
  const reading = { usedTokens, ...cached, source: 'log' as const, model, at };
  return { state: { ...state, usedTokens }, facts: [{ type: 'reading', reading }] };
};

/** The compaction that a `context.apply_compaction` record tells of. */
export const boundaryIn = (
  { usedTokens, begun }: Pick<KimiLog, 'usedTokens' | 'begun'>,
  record: JsonRecord,
  at: Millis,
): Boundary => {
  const preTokens = usedTokens ?? getCount(record, 'tokensBefore');
  const postTokens = getCount(record, 'tokensAfter');
  return {
    ...(begun === undefined ? {} : { initiator: begun.source === 'manual' ? 'user' : 'agent' }),
    ...(begun === undefined ? {} : { durationMs: Math.max(0, at - begun.at) }),
    ...(preTokens ? { preTokens } : {}),
    ...(postTokens ? { postTokens } : {}),
    ...(summaryText(record).trim() === '' ? { summary: 'empty' } : {}),
    at,
  };
};

const readGrowth = (record: JsonRecord): readonly Fact[] => {
  if (record['type'] === 'context.append_message')
    return growthFacts(textsIn(getRecord(record, 'message')).join(''));
  const event = getRecord(record, 'event');
  if (event?.['type'] !== 'tool.result') return [];
  return growthFacts(getText(getRecord(event, 'result'), 'output') ?? '');
};

// Tool results: a `tool.call` event with its arguments, then a `tool.result` event, linked by `toolCallId`.

const CONTENTS_TELLING = /"tool\.(?:call|result)"|"context\.(?:apply_compaction|clear)"/;

export const kimiContents = (): ContentReader =>
  makeContentReader(CONTENTS_TELLING, (record): readonly ToolEvent[] =>
    record['type'] === 'context.apply_compaction' || record['type'] === 'context.clear'
      ? [{ kind: 'cleared' }]
      : toolEventsIn(record),
  );

/** The tool call or result in a record that has one. */
export const toolEventsIn = (record: JsonRecord): readonly ToolEvent[] => {
  const event = getRecord(record, 'event');
  const id = getText(event, 'toolCallId');
  if (record['type'] !== 'context.append_loop_event' || !event || id === undefined) return [];
  if (event['type'] === 'tool.call')
    return [{ kind: 'call', id, name: getText(event, 'name'), input: event['args'] }];
  if (event['type'] !== 'tool.result') return [];
  const result = getRecord(event, 'result');
  return [{ kind: 'result', id, output: result?.['output'], isError: result?.['isError'] === true }];
};
