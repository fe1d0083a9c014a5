import type { Entry, SourceRecord, Step } from '../../core/conversation/conversation.js';
import type { Boundary, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import type { Outline } from '../../core/conversation/outline.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import { failureIn, isRecent } from '../compress.js';
import { asCopies, growthOf, recordStep, textEntry } from '../entries.js';
import { timeOfRecord } from '../records.js';
import { countSource } from '../own-estimate.js';
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
import type { Refusal } from '../shown-text.js';
import { geminiDocument, withDocument } from './document.js';
import {
  entriesIn,
  initiatorIn,
  messageSteps,
  readingOf,
  resultEntries,
  sourceOf,
  messageText,
  userEntries,
} from './message.js';

// A Gemini session file (docs/facts/gemini.md#session-files, docs/facts/sessions.md#gemini-cli): messages in order, each written again
// under its id when it has changed, and `$set` patches, which may replace all messages. A compaction is such a patch with a new
// `<state_snapshot>`.

interface GeminiSession {
  /** the summaries of the compactions so far, in their order */
  readonly snapshots: readonly string[];
  /** those of other conversations that were resumed in this file */
  readonly resumed: readonly string[];
  /** the line before named the session again, which Gemini does only before a compaction; the line's number */
  readonly renamedAt?: number;
  /** when the conversation was compacted, until the file shows who asked for it or the next turn begins */
  readonly compactedAt?: Millis;
  /** the text of the last answer with a count */
  readonly counted?: string;
  /** ids of the messages that the last compaction has repeated */
  readonly copied: ReadonlySet<string>;
}

type Meaning = RecordMeaning<GeminiSession>;

const form: RecordForm<GeminiSession> = {
  name: 'Gemini',
  isOwn: /^\{.*?"(?:type|sessionId|\$set|\$rewindTo)"/s,
  read: (before, record, place) => {
    const { renamedAt, ...named } = before;
    const patch = getRecord(record, '$set');
    if (patch) return readPatch(named, patch, { ...place, renamedAt });
    const state = renamedAt === undefined ? before : named;
    if (record['type'] === 'info') return readInfo(state, record, place);
    const { compactedAt, ...later } = state;
    return readRecord(compactedAt === undefined ? state : later, record, place);
  },
};

/** The reader for the first line of a Gemini session file. */
export const geminiReader: StartReader = (_, wanted) =>
  withDocument(makeSessionReader(form, START, wanted), wanted);

const START: GeminiSession = { snapshots: [], resumed: [], copied: new Set() };

const readRecord = (state: GeminiSession, record: JsonRecord, { line, now }: RecordPlace): Meaning => {
  const toId = getText(record, '$rewindTo');
  if (toId !== undefined)
    return { state, facts: [{ type: 'voided' }], steps: () => [{ kind: 'rewound', toId }] };
  const source = sourceOf(record, line);
  const steps = (): readonly Step[] => messageSteps(record, source);
  switch (record['type']) {
    case 'gemini':
      return { state: { ...state, ...countedIn(record) }, ...readAnswer(record, source, now), steps };
    case 'user': {
      const entries = userEntries(record, source);
      return { state, facts: growthOf(entries), steps: () => messageSteps(record, source, entries) };
    }
    case 'error':
      return { state, facts: readError(record, now), steps };
    default:
      return getText(record, 'type') === undefined ? readHead(state, record, line) : { state, steps };
  }
};

const countedIn = (record: JsonRecord): Pick<GeminiSession, 'counted'> => {
  const text = messageText(record['content']);
  return record['tokens'] && text !== '' ? { counted: text } : {};
};

const readAnswer = (
  record: JsonRecord,
  source: SourceRecord,
  now: Millis,
): Pick<Meaning, 'facts' | 'misfit'> => {
  // answers of a rewritten history have `tokens: null`
  if (record['tokens'] === null) return {};
  const tokens = getRecord(record, 'tokens');
  const usedTokens = getCount(tokens, 'input');
  if (usedTokens === undefined) return { misfit: 'an answer without tokens' };
  const facts = readingOf({
    usedTokens,
    cachedTokens: getCount(tokens, 'cached'),
    model: getText(record, 'model'),
    at: timeOfRecord(record, now),
    source: countSource(tokens),
  });
  // it is written again with its tool calls after they ran: their results are not in its count
  return facts.length === 0 ? {} : { facts: [...facts, ...growthOf(resultEntries(record, source))] };
};

// Of the possible ends of a compaction only an error is recorded.
const readError = (record: JsonRecord, now: Millis): readonly Fact[] => {
  const text = getText(record, 'content') ?? '';
  const at = timeOfRecord(record, now);
  const result = text.startsWith('Failed to compress') && isRecent(at, now) ? failureIn(text) : undefined;
  return result ? [{ type: 'compact-result', result }] : [];
};

// What Gemini shows when a message does not fit (docs/facts/gemini.md#a-message-that-does-not-fit).

const REFUSED =
  /^Sending this message \([\d,]+ tokens\) might exceed the context window limit \((-?[\d,]+) tokens left\)/;
const ROUNDED_TO_FULL = 1_280; // tokens left that are half a percent of the smallest window; with more left, the message itself was too long

export const parseRefusal = (words: string): Refusal | undefined => {
  const left = REFUSED.exec(words)?.[1]?.replaceAll(',', '');
  return left !== undefined && Number(left) < ROUNDED_TO_FULL ? { usedPercent: 100 } : undefined;
};

/** Reads Gemini's notices, also the one right after a compaction. */
const readInfo = (state: GeminiSession, record: JsonRecord, { line, now }: RecordPlace): Meaning => {
  const steps = (): readonly Step[] => messageSteps(record, sourceOf(record, line));
  const { compactedAt, ...rest } = state;
  const text = getText(record, 'content');
  const refusal = parseRefusal(text ?? '');
  if (refusal) {
    const reading = { ...refusal, source: 'log' as const, at: timeOfRecord(record, now) };
    return { state, facts: [{ type: 'reading', reading }], steps };
  }
  const initiator = initiatorIn(text);
  if (compactedAt === undefined || initiator === undefined) return { state, steps };
  return {
    state: rest,
    facts: [{ type: 'initiator', at: compactedAt, initiator }],
    steps: () => [{ kind: 'amended', boundary: { initiator } }, ...steps()],
  };
};

/** The first record; in a document on one line it holds the messages, too. */
const readHead = (state: GeminiSession, record: JsonRecord, line: number): Meaning => {
  const id = getText(record, 'sessionId');
  if (id === undefined) return { state, misfit: 'not a Gemini record' };
  const steps = (): readonly Step[] => {
    const { messages: document, ...session } = record;
    const startedAt = parseIsoTime(getText(record, 'startTime') ?? '');
    const isSubagents = (getText(record, 'kind') ?? 'main') !== 'main';
    const messages = getList(record, 'messages').filter(isRecord);
    const entries = messages.flatMap((message, index) => entriesIn(message, sourceOf(message, index)));
    const source = { line };
    return [
      headStep({ id, startedAt, ...(isSubagents ? { isOther: true } : {}) }),
      ...(document === undefined ? [] : [{ kind: 'rewritten' as const, entries }]),
      recordStep(source, [textEntry('context', source, '', { session })]),
    ];
  };
  return { state, steps };
};

interface PatchPlace extends RecordPlace {
  readonly renamedAt: number | undefined;
}

const readPatch = (state: GeminiSession, patch: JsonRecord, place: PatchPlace): Meaning => {
  const id = getText(patch, 'sessionId');
  const head = headStep({ id });
  if (patch['messages'] === undefined) {
    const after = id === undefined ? state : { ...state, renamedAt: place.line };
    return { state: after, steps: () => [head] };
  }
  const messages = getList(patch, 'messages').filter(isRecord);
  const found = snapshotIn(messages);
  // After a cancelled turn Gemini rewrites the whole history, and so it does when it goes back to a conversation that was compacted before:
  // the summary in it is then already known.
  const known = [...state.snapshots, ...state.resumed];
  const isNew = found !== undefined && (!known.includes(found.text) || place.renamedAt !== undefined);
  const read =
    isNew && !found.answer
      ? readCompaction(state, { messages, found }, place)
      : readRewritten(state, { messages, found, isNew }, place);
  return { ...read, steps: () => [head, ...(read.steps?.() ?? [])] };
};

interface Rewritten {
  readonly messages: readonly JsonRecord[];
  readonly found: Snapshot | undefined;
  readonly isNew: boolean;
}

/** The same conversation, or one that the user has gone back to. */
const readRewritten = (
  before: GeminiSession,
  { messages, found, isNew }: Rewritten,
  { line, now }: RecordPlace,
): Meaning => {
  const { compactedAt: _, ...state } = before;
  const place = found ? state.snapshots.lastIndexOf(found.text) : -1;
  // a resumed conversation was renamed before, too; its answers since the summary have kept their tokens
  const read =
    isNew && found?.answer
      ? readAnswer(found.answer, sourceOf(found.answer, line), now)
      : { facts: isOfAnother(state, messages) ? [{ type: 'voided' as const }] : [] };
  const isResumed = found !== undefined && place < 0 && !state.resumed.includes(found.text);
  const entries = (message: JsonRecord): readonly Entry[] => {
    const own = entriesIn(message, sourceOf(message, line));
    return state.copied.has(getText(message, 'id') ?? '') ? asCopies(own) : own;
  };
  return {
    ...read,
    state: isResumed ? { ...state, resumed: [...state.resumed, found.text] } : state,
    steps: () => [
      {
        kind: 'rewritten',
        entries: messages.flatMap(entries),
        ids: messages.map((message) => getText(message, 'id') ?? ''),
        // the conversation of another summary, or of none: the user has gone back
        ...(found === undefined || place >= 0 ? { inEffect: place + 1 } : {}),
      },
    ],
  };
};

/** `/chat resume` puts another conversation into the same file: the answer that was counted last is not in it. */
const isOfAnother = ({ counted }: GeminiSession, messages: readonly JsonRecord[]): boolean =>
  counted !== undefined &&
  !messages.some(({ type, content }) => type === 'gemini' && messageText(content).includes(counted));

const readCompaction = (
  state: GeminiSession,
  { messages, found }: { readonly messages: readonly JsonRecord[]; readonly found: Snapshot },
  { line, now, renamedAt }: PatchPlace,
): Meaning => {
  const { id: uuid, text } = found;
  const at = parseIsoTime(found.timestamp ?? '');
  const boundary: Boundary = { ...present({ uuid }), at: at ?? now };
  const source = { line, ...present({ at }) };
  const compaction: Entry = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    startLine: renamedAt ?? line,
    keptIds: [],
  };
  return {
    state: {
      ...state,
      snapshots: [...state.snapshots, text],
      copied: new Set(messages.flatMap((message) => getText(message, 'id') ?? [])),
      compactedAt: boundary.at,
    },
    facts: [{ type: 'boundary', boundary, text }],
    steps: () => [recordStep(source, [compaction]), ...leftSteps(messages, line)],
  };
};

/** The messages that a compaction leaves: the summary, its answer, and what was kept. */
const leftSteps = (messages: readonly JsonRecord[], line: number): readonly Step[] => {
  let isAfterSummary = false;
  return messages.map((message) => {
    const own = sourceOf(message, line);
    const entries = entriesIn(message, own);
    const isSummary = entries.some(({ kind }) => kind === 'summary');
    // the summary, and the answer to it that Gemini makes up
    const isNew = isSummary || (isAfterSummary && message['type'] === 'gemini');
    isAfterSummary = isSummary;
    return recordStep(own, isNew ? entries : asCopies(entries));
  });
};

const SNAPSHOT = /<state_snapshot>(?:[\s\S]*?<\/state_snapshot>|[\s\S]*)/;

interface Snapshot {
  /** of the message that holds it */
  readonly id: string | undefined;
  readonly text: string;
  readonly timestamp: string | undefined;
  /** the last counted answer after it; right after a compaction there is none yet */
  readonly answer: JsonRecord | undefined;
}

/** The summary in a conversation that is written anew, if there is one. */
const snapshotIn = (messages: readonly JsonRecord[]): Snapshot | undefined => {
  for (const [index, message] of messages.entries()) {
    if (message['type'] !== 'user') continue;
    const text = SNAPSHOT.exec(messageText(message['content']))?.[0];
    if (text === undefined) continue;
    const answer = messages.slice(index).findLast((later) => isRecord(later['tokens']));
    return { id: getText(message, 'id'), text, timestamp: getText(message, 'timestamp'), answer };
  }
  return undefined;
};

// How much of each line has to be read.

const PATCH: LineClass = { read: 'whole', hasSteps: true };

const classify: SessionFormat['classify'] = (line) => {
  switch (line.get('type')) {
    case 'user':
    case 'gemini':
      return { message: line.get('id') ?? '', read: 'reduced' };
    case 'info':
      return { read: 'whole' };
    case undefined:
      return isOfTime(line) ? SKIPPED : PATCH; // or the first line
    default:
      return { read: 'reduced' };
  }
};

/** After each message comes a patch that only notes the time. */
const isOfTime = (line: Outline): boolean =>
  line.has('$set.lastUpdated') && !line.has('$set.messages') && !line.has('$set.sessionId');

export const geminiSession: SessionFormat = {
  fields: {
    fields: ['type', 'id', '$set.lastUpdated', '$set.messages', '$set.sessionId'],
    bulky: ['content', 'toolCalls', 'thoughts', 'displayContent'],
  },
  classify,
  summaryWords: (text) =>
    (SNAPSHOT.exec(text)?.[0] ?? text).replace(/^<state_snapshot>|<\/state_snapshot>$/g, ''),
  messages: 'rewritable',
  document: geminiDocument,
};
