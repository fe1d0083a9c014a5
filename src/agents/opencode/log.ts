import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { getCount, getRecord, getText, type JsonRecord, parseRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { toOneLine } from '../../core/text.js';
import { type LineMeaning, type LineReader, makeLineReader } from '../agent.js';
import { isRecent } from '../compress.js';
import { SKIPPED, summaryOf, type HistoryFormat, type LineClass } from '../history.js';

// One row of opencode's database (docs/facts/opencode.md), as a line. A row comes again whenever it has changed, so every fact is given once.

interface OpencodeLog {
  /** of the newest answer with its usage */
  readonly answeredAt: Millis;
  readonly usedTokens?: number | undefined;
  /** summaries that have ended, one way or the other */
  readonly ended: readonly string[];
  /** a part of the conversation is hidden: from the message `cutFrom` on, where that is known. The ids of messages ascend */
  readonly isReverted: boolean;
  readonly cutFrom?: string | undefined;
  /** after each answer and each compaction, in order */
  readonly sizes: readonly Size[];
}

/** What was in the window after a message; not known after a summary. */
interface Size {
  readonly id: string;
  readonly usedTokens: number | undefined;
}

const START: OpencodeLog = { answeredAt: 0, ended: [], isReverted: false, sizes: [] };

const MOST_SIZES = 1_000; // the point that the user goes back to is not older

export const opencodeReader = (): LineReader => makeLineReader(START, readLine);

const readLine = (state: OpencodeLog, line: string, now: Millis): LineMeaning<OpencodeLog> => {
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  if (record['type'] === 'session') return readSession(state, record);
  const data = getRecord(record, 'data');
  if (record['type'] !== 'message' || !data) return { state, facts: [], misfit: 'not a row of opencode' };
  if (data['role'] !== 'assistant') return { state, facts: [] };
  return data['summary'] === true ? readSummary(state, record, data, now) : readAnswer(state, record, data);
};

/** `/undo` hides the end of the conversation, `/redo` shows it again: the number is that of another point. */
const readSession = (before: OpencodeLog, record: JsonRecord): LineMeaning<OpencodeLog> => {
  const isReverted = record['isReverted'] === 1;
  const cutFrom = getText(record, 'cutFrom');
  if (isReverted === before.isReverted && cutFrom === before.cutFrom) return { state: before, facts: [] };
  const state = { ...before, isReverted, cutFrom, answeredAt: 0 };
  return { state, facts: [voidedAt(state)] };
};

const isHidden = ({ cutFrom }: OpencodeLog, id: string): boolean => cutFrom !== undefined && id >= cutFrom;

/** The last number is void; that of the last message which is not hidden counts until there is a new one. */
const voidedAt = (state: OpencodeLog): Fact => {
  const { isReverted, cutFrom, sizes } = state;
  const isUnknown = isReverted && cutFrom === undefined;
  const leftTokens = isUnknown ? undefined : sizes.findLast(({ id }) => !isHidden(state, id))?.usedTokens;
  return { type: 'voided', ...present({ leftTokens }) };
};

const withSize = (sizes: readonly Size[], size: Size): readonly Size[] => {
  const isNewest = (sizes.at(-1)?.id ?? '') < size.id;
  const others = isNewest ? sizes : sizes.filter(({ id }) => id < size.id);
  const later = isNewest ? [] : sizes.filter(({ id }) => id > size.id);
  return [...others.slice(-MOST_SIZES), size, ...later];
};

export const createdAt = (data: JsonRecord): Millis => getCount(getRecord(data, 'time'), 'created') ?? 0;

/** Everything of an answer that has an output; undefined for one without. */
export const usedTokensIn = (data: JsonRecord): number | undefined => {
  const tokens = getRecord(data, 'tokens');
  const output = getCount(tokens, 'output') ?? 0;
  if (output === 0) return undefined;
  return output + (getCount(tokens, 'reasoning') ?? 0) + inputTokensIn(tokens);
};

/** What the request has read, from the cache or not. */
const inputTokensIn = (tokens: JsonRecord | undefined): number => {
  const cache = getRecord(tokens, 'cache');
  return (getCount(tokens, 'input') ?? 0) + (getCount(cache, 'read') ?? 0) + (getCount(cache, 'write') ?? 0);
};

/** As opencode counts what is in the window: by the last answer that has an output. */
const readAnswer = (state: OpencodeLog, record: JsonRecord, data: JsonRecord): LineMeaning<OpencodeLog> => {
  const id = getText(record, 'id') ?? '';
  const usedTokens = usedTokensIn(data);
  const tokens = getRecord(data, 'tokens');
  const cachedTokens = getCount(getRecord(tokens, 'cache'), 'read');
  const at = createdAt(data);
  const isOld = at < state.answeredAt || (at === state.answeredAt && usedTokens === state.usedTokens);
  if (usedTokens === undefined || isOld) return { state, facts: [] };
  const sizes = withSize(state.sizes, { id, usedTokens });
  const reading = {
    usedTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens, inputTokens: inputTokensIn(tokens) }),
    source: 'log' as const,
    model: getText(data, 'modelID') ?? '',
    at: getCount(getRecord(data, 'time'), 'completed') ?? at,
  };
  const fact: Fact = { type: 'reading', reading };
  if (isHidden(state, id)) return { state: { ...state, sizes }, facts: [fact, voidedAt(state)] };
  return { state: { ...state, sizes, answeredAt: at, usedTokens }, facts: [fact] };
};

/** Its own tokens are those of the request for the summary, not what is left. */
const readSummary = (
  state: OpencodeLog,
  record: JsonRecord,
  data: JsonRecord,
  now: Millis,
): LineMeaning<OpencodeLog> => {
  const id = getText(record, 'id') ?? '';
  const completed = getCount(getRecord(data, 'time'), 'completed');
  if (completed === undefined || state.ended.includes(id)) return { state, facts: [] };
  const after = { ...state, ended: [...state.ended, id] };
  const error = getRecord(data, 'error');
  if (error) {
    const result = resultOf(error);
    return { state: after, facts: isRecent(completed, now) ? [{ type: 'compact-result', result }] : [] };
  }
  const boundary = boundaryIn(record, state.sizes.findLast((size) => size.id < id)?.usedTokens);
  if (!boundary) return { state, facts: [] };
  const { usedTokens, ...rest } = { ...after, sizes: withSize(state.sizes, { id, usedTokens: undefined }) };
  const isUndone = isHidden(state, id);
  return {
    state: isUndone ? { ...rest, usedTokens } : { ...rest, answeredAt: createdAt(data) },
    facts: [{ type: 'boundary', boundary }, ...(isUndone ? [voidedAt(rest)] : [])],
  };
};

/** The compaction that a record tells of; undefined for any other record, and for one that runs or has failed. */
export const boundaryIn = (record: JsonRecord, preTokens: number | undefined): Boundary | undefined => {
  const data = getRecord(record, 'data');
  const completed = getCount(getRecord(data, 'time'), 'completed');
  const hasEnded = completed !== undefined && getText(data, 'finish') !== undefined;
  if (data?.['summary'] !== true || !hasEnded || data['error'] !== undefined) return undefined;
  const uuid = getText(record, 'id');
  return {
    initiator: record['isAuto'] === 0 ? 'user' : 'agent',
    ...present({ preTokens }),
    ...leftOf(preTokens, data),
    ...(getCount(record, 'characters') === 0 ? { summary: 'empty' } : {}),
    ...present({ uuid }),
    durationMs: Math.max(0, completed - createdAt(data)),
    at: completed,
  };
};

/** What is left is not recorded. At least the summary is, so a summary as large as the conversation has made nothing smaller. */
const leftOf = (preTokens: number | undefined, data: JsonRecord): Pick<Boundary, 'postTokens'> => {
  const written = getCount(getRecord(data, 'tokens'), 'output');
  return preTokens === undefined || written === undefined || written < preTokens
    ? {}
    : { postTokens: written };
};

const LONGEST = 160; // characters of a server's error, which may be a page of JSON

const resultOf = (error: JsonRecord): CompactResult => {
  const name = getText(error, 'name') ?? 'error';
  if (name === 'MessageAbortedError') return { kind: 'interrupted', by: 'the user' };
  const text = toOneLine(getText(getRecord(error, 'data'), 'message') ?? name, LONGEST);
  return { kind: 'failed', failure: 'error', text };
};

// Compactions among the lines that `opencodeDatabase` gives of a session (docs/facts/opencode.md): an answer that is a summary.

const SUMMARY: LineClass = { facts: 'whole', details: 'whole' };
const YES = '1'; // SQLite has no true

const classify: HistoryFormat['classify'] = (line) => {
  if (line.get('type') !== 'message') return { facts: 'whole', details: 'whole' };
  if (line.get('asks') === YES) return SKIPPED;
  return line.get('isSummary') === YES ? SUMMARY : { message: line.get('id') ?? '', facts: 'whole' };
};

const details: HistoryFormat['details'] = (record) => {
  if (record['type'] === 'session')
    return [
      {
        kind: 'session',
        id: getText(record, 'id'),
        project: getText(record, 'cwd'),
        version: getText(record, 'version'),
      },
    ];
  const completed = getCount(getRecord(getRecord(record, 'data'), 'time'), 'completed');
  return completed === undefined ? [] : [compactedAt(record, completed)];
};

const compactedAt = (record: JsonRecord, at: number) => {
  const from = getText(record, 'keptFrom');
  return {
    kind: 'compacted',
    at,
    isCertain: false, // the line reader decides
    uuid: getText(record, 'id'),
    summary: summaryOf(getText(record, 'text') ?? ''),
    kept: from === undefined ? { keys: [] } : { from },
  } as const;
};

export const opencodeHistory: HistoryFormat = {
  fields: { fields: ['type', 'id', 'asks', 'isSummary'] },
  classify,
  details,
  messages: 'appended',
};
