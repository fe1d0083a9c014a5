import type { Fact } from '../../core/event.js';
import {
  getCount,
  isRecord,
  getList,
  parseRecord,
  getRecord,
  getText,
  type JsonRecord,
} from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import type { Millis } from '../../core/reading.js';
import { makeLineReader, type LineReader, type LineMeaning } from '../agent.js';
import { isRecent, failureIn } from '../compress.js';
import {
  makeContentReader,
  growthFacts,
  timeOfRecord,
  type ContentReader,
  type ToolEvent,
} from '../records.js';
import type { Refusal } from '../shown-text.js';

// Gemini's tokenLimit() of 0.61 (facts/gemini.md §10): a table in the agent itself, so it is what the agent uses.
const DEFAULT_TOKENS = 1_048_576;
const GEMMA_TOKENS = 256_000;
const GEMMA = ['gemma-4-31b-it', 'gemma-4-26b-a4b-it'];

export const geminiWindowTokens = (model: string): number =>
  GEMMA.includes(model) ? GEMMA_TOKENS : DEFAULT_TOKENS;

// What Gemini shows when a message does not fit (facts/gemini.md §2.6).

const REFUSED =
  /^Sending this message \([\d,]+ tokens\) might exceed the context window limit \((-?[\d,]+) tokens left\)/;
const ROUNDED_TO_FULL = 1_280; // tokens left that are half a percent of the smallest window; with more left, the message itself was too long

export const parseRefusal = (words: string): Refusal | undefined => {
  const left = REFUSED.exec(words)?.[1]?.replaceAll(',', '');
  return left !== undefined && Number(left) < ROUNDED_TO_FULL ? { usedPercent: 100 } : undefined;
};

// Before 0.29 Gemini wrote a session as one document, rewritten at each change (facts/sessions.md §F). It is indented with each text on one
// line, so it can be read line by line: the fields of a message are indented by six, its counts by eight. A compaction leaves no trace in
// it.

/** The fields of a message read so far. */
export type Message = Readonly<Record<string, string>>;

export interface DocumentResult {
  readonly message: Message;
  readonly facts: readonly Fact[];
}

const LINE = /^(?:[{}]| {2,}\S.*)$/;
const FIELD = /^ {6}"(type|timestamp|model)": "([^"\\]*)",?$/;
const COUNT = /^ {8}"(input|cached)": (\d+),?$/;
const START = '    {';
const END = /^ {4}\},?$/;

const OPENING = '{';
const HEAD = [/^ {2}"sessionId": "[^"\\]+",?$/, /^ {2}"projectHash": "[0-9a-f]+",?$/];

/** The first lines of such a document: it begins with the session's id and the hash of its folder. */
export const isDocumentHead = ([first, ...lines]: readonly string[]): boolean =>
  first === OPENING && HEAD.every((field) => lines.some((line) => field.test(line)));

const isDocumentLine = (line: string): boolean => LINE.test(line);

const readDocumentLine = (message: Message, line: string, now: Millis): DocumentResult => {
  if (line === START) return { message: {}, facts: [] };
  if (END.test(line)) return { message: {}, facts: answerIn(message, now) };
  const [, name, value] = FIELD.exec(line) ?? COUNT.exec(line) ?? [];
  if (name === undefined || value === undefined) return { message, facts: [] };
  return { message: { ...message, [name]: value }, facts: [] };
};

const answerIn = (message: Message, now: Millis): readonly Fact[] => {
  const { type, timestamp = '', input, cached, model = '' } = message;
  const usedTokens = Number(input ?? 0);
  if (type !== 'gemini' || usedTokens === 0) return [];
  const at = parseIsoTime(timestamp) ?? now;
  const window = { windowTokens: geminiWindowTokens(model), windowSource: 'table' as const };
  const cachedTokens = cached === undefined ? {} : { cachedTokens: Number(cached) };
  const reading = { usedTokens, ...cachedTokens, ...window, source: 'log' as const, model, at };
  return [{ type: 'reading', reading }];
};

// One line of a Gemini session file (facts/gemini.md §7). Lines are messages or `$set` patches of the whole document.

interface GeminiLog {
  /** the summaries that have replaced the conversation so far */
  readonly snapshots: readonly string[];
  /** the line before named the session again, which Gemini does only before a compaction */
  readonly renamed: boolean;
  /** when the conversation was compacted, until the file tells who asked for it or the next turn begins */
  readonly compactedAt?: Millis;
  /** the text of the last answer with a count */
  readonly counted?: string;
  /** the message being read, in an old version's document */
  readonly message?: Message;
}

const SNAPSHOT = /<state_snapshot>(?:[\s\S]*?<\/state_snapshot>|[\s\S]*)/;
const KNOWN = /"(?:type|sessionId|\$set|\$rewindTo)"/;

export const geminiReader = (): LineReader =>
  makeLineReader<GeminiLog>({ snapshots: [], renamed: false }, readLine);

const readLine = (state: GeminiLog, line: string, now: Millis): LineMeaning<GeminiLog> => {
  if (isDocumentLine(line)) {
    const { message, facts } = readDocumentLine(state.message ?? {}, line, now);
    return { state: { ...state, message }, facts };
  }
  if (!line.startsWith('{') || !KNOWN.test(line)) return { state, facts: [], misfit: 'not a Gemini record' };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  const patch = getRecord(record, '$set');
  if (patch) return readPatch(state, patch, now);
  const after = state.renamed ? { ...state, renamed: false } : state;
  if (record['type'] === 'info') return readInfo(after, record, now);
  const next = after.compactedAt === undefined ? after : withoutCompaction(after);
  return readMessage(next, record, now);
};

const withoutCompaction = (state: GeminiLog): GeminiLog => {
  const { compactedAt: _, ...rest } = state;
  return rest;
};

const readMessage = (state: GeminiLog, record: JsonRecord, now: Millis): LineMeaning<GeminiLog> => {
  if (getText(record, '$rewindTo') !== undefined) return { state, facts: [{ type: 'voided' }] };
  switch (record['type']) {
    case 'gemini':
      return { state: { ...state, ...countedIn(record) }, ...readAnswer(record, now) };
    case 'user':
      return { state, facts: growthFacts(textOf(record['content'])) };
    case 'error':
      return { state, facts: readError(record, now) };
    default:
      return { state, facts: [] };
  }
};

// Of the possible ends of a compaction only an error is recorded.
const readError = (record: JsonRecord, now: Millis): readonly Fact[] => {
  const text = getText(record, 'content') ?? '';
  const at = timeOfRecord(record, now);
  const result = text.startsWith('Failed to compress') && isRecent(at, now) ? failureIn(text) : undefined;
  return result ? [{ type: 'compact-result', result }] : [];
};

/** How Gemini begins to tell of a compaction of its own. */
export const ITS_OWN = /^Context compressed from /;

/** Gemini's message directly after the record of a compaction: text for one of its own, none for one that the user asked for. */
const readInfo = (state: GeminiLog, record: JsonRecord, now: Millis): LineMeaning<GeminiLog> => {
  const { compactedAt } = state;
  const text = getText(record, 'content');
  const refusal = parseRefusal(text ?? '');
  const at = timeOfRecord(record, now);
  if (refusal) return { state, facts: [{ type: 'reading', reading: { ...refusal, source: 'log', at } }] };
  const isOwn = ITS_OWN.test(text ?? '');
  if (compactedAt === undefined || (!isOwn && text !== '')) return { state, facts: [] };
  const initiator = isOwn ? 'agent' : 'user';
  return { state: withoutCompaction(state), facts: [{ type: 'initiator', at: compactedAt, initiator }] };
};

const readAnswer = (
  record: JsonRecord,
  now: Millis,
): { readonly facts: readonly Fact[]; readonly misfit?: string } => {
  // Answers of a rewritten history have `tokens: null`.
  if (record['tokens'] === null) return { facts: [] };
  const tokens = getRecord(record, 'tokens');
  const usedTokens = getCount(tokens, 'input');
  const cachedTokens = getCount(tokens, 'cached');
  if (usedTokens === undefined) return { facts: [], misfit: 'an answer without tokens' };
  if (usedTokens === 0) return { facts: [] };
  const model = getText(record, 'model') ?? '';
  const window = { windowTokens: geminiWindowTokens(model), windowSource: 'table' as const };
  const at = timeOfRecord(record, now);
  const cached = cachedTokens === undefined ? {} : { cachedTokens };
  const reading = { usedTokens, ...cached, ...window, source: 'log' as const, model, at };
  return { facts: [{ type: 'reading', reading }, ...growthFacts(resultsOf(record))] };
};

// An answer is written again with its tool calls after they ran: their results are not in its count.
const resultsOf = (record: JsonRecord): string =>
  getList(record, 'toolCalls')
    .flatMap((call) => getList(call, 'result'))
    .map((part) => getRecord(getRecord(part, 'functionResponse'), 'response'))
    .map((response) => getText(response, 'output') ?? getText(response, 'error') ?? '')
    .join('');

const readPatch = (state: GeminiLog, patch: JsonRecord, now: Millis): LineMeaning<GeminiLog> => {
  const found = snapshotIn(patch);
  const renamed = getText(patch, 'sessionId') !== undefined && patch['messages'] === undefined;
  const facts = isOfAnother(state, patch) ? [{ type: 'voided' } as const] : [];
  if (!found) return { state: { ...state, renamed }, facts };
  // After a cancelled turn Gemini rewrites the whole history, and so it does when it goes back to a conversation that was compacted before:
  // the summary in it is then already known.
  const isKnown = state.snapshots.includes(found.text);
  const isNew = !isKnown || state.renamed;
  const snapshots = isKnown ? state.snapshots : [...state.snapshots, found.text];
  const { counted } = state;
  const after: GeminiLog = { snapshots, renamed: false, ...present({ counted }) };
  if (!isNew) return { state: after, facts };
  // A resumed conversation is also rewritten, and was renamed before; its answers since the summary have kept their tokens.
  if (found.answer) return { state: after, ...readAnswer(found.answer, now) };
  const at = parseIsoTime(found.timestamp ?? '') ?? now;
  return { state: { ...after, compactedAt: at }, facts: [{ type: 'boundary', boundary: { at } }] };
};

const countedIn = (record: JsonRecord): Pick<GeminiLog, 'counted'> => {
  const text = textOf(record['content']);
  return record['tokens'] && text !== '' ? { counted: text } : {};
};

/** `/chat resume` puts another conversation into the same file: the answer that was counted last is not in it. */
const isOfAnother = ({ counted }: GeminiLog, { messages }: JsonRecord): boolean =>
  counted !== undefined &&
  Array.isArray(messages) &&
  !messages.some(
    (message) =>
      isRecord(message) && message['type'] === 'gemini' && textOf(message['content']).includes(counted),
  );

interface Snapshot {
  /** of the message that holds it */
  readonly id: string | undefined;
  readonly text: string;
  readonly timestamp: string | undefined;
  /** the last counted answer after it; right after a compaction there is none yet */
  readonly answer: JsonRecord | undefined;
}

/** The summary in a conversation that is written anew, if there is one. */
export const snapshotIn = (patch: JsonRecord): Snapshot | undefined => {
  const messages = getList(patch, 'messages').filter(isRecord);
  for (const [index, message] of messages.entries()) {
    if (message['type'] !== 'user') continue;
    const text = SNAPSHOT.exec(textOf(message['content']))?.[0];
    if (text === undefined) continue;
    const answer = messages.slice(index).findLast((later) => isRecord(later['tokens']));
    return { id: getText(message, 'id'), text, timestamp: getText(message, 'timestamp'), answer };
  }
  return undefined;
};

/** A text, or the texts of the parts of a message. */
export const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => getText(part, 'text') ?? '').join('');
};

// Tool results in a Gemini session file (facts/gemini.md §7): the `toolCalls` of an answer hold arguments and result together. The answer
// is written first without and then with them; a result already seen is not counted twice. A `$set` of all messages replaces the
// conversation.

const TELLING = /"toolCalls"|^\{"\$set":\{.*"messages"/;

export const geminiContents = (): ContentReader =>
  makeContentReader(TELLING, (record) => {
    const set = getRecord(record, '$set');
    if (!set) return geminiToolEvents(record);
    return set['messages'] === undefined
      ? []
      : [{ kind: 'cleared' }, ...getList(set, 'messages').flatMap(geminiToolEvents)];
  });

export const geminiToolEvents = (message: unknown): readonly ToolEvent[] =>
  getList(message, 'toolCalls')
    .filter(isRecord)
    .filter(({ result }) => result !== undefined)
    .map((call) => ({
      kind: 'call-with-result',
      id: getText(call, 'id') ?? '',
      name: getText(call, 'name'),
      input: call['args'],
      output: responsesOf(call['result']),
      timestamp: getText(message, 'timestamp'),
      isError: call['status'] === 'error' || call['status'] === 'cancelled',
    }));

// The model gets the `response` of each part; the rest names the call again.
const responsesOf = (result: unknown): unknown =>
  Array.isArray(result)
    ? result.map((part: unknown) => getRecord(getRecord(part, 'functionResponse'), 'response') ?? part)
    : result;
