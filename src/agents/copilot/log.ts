import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, type JsonRecord, parseRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { type LineMeaning, type LineReader, makeLineReader } from '../agent.js';
import { isRecent } from '../compress.js';
import {
  type ContentReader,
  growthFacts,
  makeContentReader,
  outputText,
  timeOfRecord,
  type ToolEvent,
  LONGEST_GROWTH,
} from '../records.js';

// One line of a session file of GitHub Copilot CLI (docs/facts/copilot.md). Only `session.usage_record` has what the model's server counted: the
// sizes in records of compactions are Copilot's own guess, and those of `session.shutdown` add up over the whole session.

type CopilotLog = undefined; // no line depends on earlier ones

// `model.…` records repeat whole requests, up to the size of the conversation, and hold nothing that is needed
const TELLING =
  /^\{"type":"(?:session\.(?:usage_record|compaction_complete|truncation)|user\.message|tool\.execution_complete)"/;
const OWN = /^\{"type":"[a-z_]+[.a-z_]*"/;
/** subagents and side questions have other names */
const CONVERSATION = 'conversation-agent';

export const copilotReader = (): LineReader => makeLineReader<CopilotLog>(undefined, readLine);

const readLine = (state: CopilotLog, line: string, now: Millis): LineMeaning<CopilotLog> => {
  if (!OWN.test(line)) return { state, facts: [], misfit: 'not a Copilot record' };
  if (!TELLING.test(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  if (isSubagents(record)) return { state, facts: [] };
  const at = timeOfRecord(record, now);
  const data = getRecord(record, 'data');
  switch (record['type']) {
    case 'session.usage_record':
      return { state, ...readUsage(getRecord(data, 'usage'), at) };
    case 'session.compaction_complete':
      return { state, facts: readCompaction(record, at, now) };
    case 'session.truncation':
      return { state, facts: [{ type: 'voided' }] };
    default:
      return { state, facts: line.length > LONGEST_GROWTH ? [] : readGrowth(data) };
  }
};

const isSubagents = (record: JsonRecord): boolean => getText(record, 'agentId') !== undefined;

const readUsage = (
  usage: JsonRecord | undefined,
  at: Millis,
): { readonly facts: readonly Fact[]; readonly misfit?: string } => {
  if ((getText(usage, 'interactionType') ?? CONVERSATION) !== CONVERSATION) return { facts: [] };
  const usedTokens = getCount(usage, 'inputTokens');
  if (usedTokens === undefined) return { facts: [], misfit: 'usage without inputTokens' };
  if (usedTokens === 0) return { facts: [] };
  const answerTokens = getCount(usage, 'outputTokens');
  const cachedTokens = getCount(usage, 'cacheReadTokens');
  const windowTokens = getCount(usage, 'maxPromptTokens');
  const reading = {
    usedTokens,
    ...(answerTokens ? { answerTokens } : {}),
    ...present({ cachedTokens }),
    ...(windowTokens ? { windowTokens, windowSource: 'agent' as const } : {}),
    source: 'log' as const,
    model: getText(usage, 'model') ?? '',
    at,
  };
  return { facts: [{ type: 'reading', reading }] };
};

const readCompaction = (record: JsonRecord, at: Millis, now: Millis): readonly Fact[] => {
  const boundary = compactionIn(record, at);
  if (boundary) return [{ type: 'boundary', boundary }];
  const data = getRecord(record, 'data');
  const isUsers = getText(data, 'trigger') === 'manual';
  if (!isUsers || !isRecent(at, now)) return [];
  return [{ type: 'compact-result', result: resultOf(data) }];
};

/** The compaction that a record tells of; undefined for any other record, and for one that changed nothing. */
export const compactionIn = (record: JsonRecord, at: Millis): Boundary | undefined => {
  const data = getRecord(record, 'data');
  if (record['type'] !== 'session.compaction_complete' || data?.['success'] !== true) return undefined;
  const durationMs = getCount(getRecord(data, 'compactionTokensUsed'), 'duration');
  const uuid = getText(record, 'id');
  return {
    initiator: getText(data, 'trigger') === 'manual' ? 'user' : 'agent',
    ...present({ uuid, durationMs }),
    ...faultOf(data),
    at,
  };
};

/** Its two sizes are a guess of their own kind, not to be mixed with other numbers, but may be compared with each other. */
const faultOf = (data: JsonRecord): Pick<Boundary, 'summary'> => {
  if ((getText(data, 'summaryContent') ?? '').trim() === '') return { summary: 'empty' };
  const [pre, post] = [getCount(data, 'preCompactionTokens'), getCount(data, 'postCompactionTokens')];
  return pre !== undefined && post !== undefined && post >= pre ? { summary: 'longer' } : {};
};

const resultOf = (data: JsonRecord | undefined): CompactResult => {
  const text = getText(data, 'error') ?? 'Compaction failed';
  if (getText(data, 'failureReason') === 'empty_response') return { kind: 'failed', failure: 'empty', text };
  return compactResult(text);
};

/** How a compaction that changed nothing ended, in Copilot's words. */
export const compactResult = (text: string): CompactResult => {
  if (/^Nothing to compact\b/.test(text)) return { kind: 'noop', text };
  if (/^Compaction Cancelled\b/i.test(text)) return { kind: 'interrupted', by: 'the user' };
  const isEmpty = /received empty response/.test(text);
  return { kind: 'failed', failure: isEmpty ? 'empty' : 'error', text: text.slice(0, LONGEST_WORDS) };
};

const LONGEST_WORDS = 160;

const readGrowth = (data: JsonRecord | undefined): readonly Fact[] =>
  growthFacts(getText(data, 'content') ?? outputText(contentOf(data)));

const contentOf = (data: JsonRecord | undefined): unknown => getRecord(data, 'result')?.['content'];

// Tool results: `toolRequests` of an answer, then `tool.execution_complete`, linked by id.

const CONTENTS_TELLING =
  /^\{"type":"(?:assistant\.message|tool\.execution_complete|session\.compaction_complete)"/;

export const copilotContents = (): ContentReader =>
  makeContentReader(CONTENTS_TELLING, (record) => (isSubagents(record) ? [] : toolEvents(record)));

/** The tool calls and results in a record that has some. */
export const toolEvents = (record: JsonRecord): readonly ToolEvent[] => {
  const data = getRecord(record, 'data');
  switch (record['type']) {
    case 'session.compaction_complete':
      return data?.['success'] === true ? [{ kind: 'cleared' }] : [];
    case 'assistant.message':
      return getList(data, 'toolRequests').map((each) => ({
        kind: 'call',
        id: getText(each, 'toolCallId') ?? '',
        name: getText(each, 'name'),
        input: getRecord(each, 'arguments') ?? getText(each, 'arguments'),
      }));
    default: {
      const isError = data?.['success'] !== true;
      const output = contentOf(data) ?? getText(getRecord(data, 'error'), 'message') ?? '';
      return [{ kind: 'result', id: getText(data, 'toolCallId') ?? '', output, isError }];
    }
  }
};

/** A record that only Copilot CLI writes. */
export const isCopilotRecord = (record: JsonRecord): boolean =>
  typeof record['id'] === 'string' &&
  'parentId' in record &&
  getRecord(record, 'data') !== undefined &&
  /^(?:session|user|assistant|system|tool|permission|model|abort)(?:\.|$)/.test(
    getText(record, 'type') ?? '',
  );
