import type { Compaction, Entry, SourceRecord } from '../../core/conversation/conversation.js';
import { readGiven } from '../../core/conversation/given-block.js';
import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { toOneLine } from '../../core/text.js';
import { isRecent } from '../compress.js';
import { planOf, recordStep, textEntry, toolEntries, type ToolEvent, type Tools } from '../entries.js';
import { patchedFiles } from '../patch.js';
import {
  headStep,
  makeSessionReader,
  type LineClass,
  type RecordForm,
  type RecordMeaning,
  type SessionFormat,
  type StartReader,
} from '../session-format.js';

// A session of opencode's (docs/facts/opencode.md), from the lines of its database: the session, then each message, with its parts where they
// are wanted. A row comes again whenever it has changed, so every fact is given once. A compaction is a message that asks for it and one with
// the summary; the last messages before it may stay in the window.

interface OpencodeSession {
  /** of the newest answer with its usage */
  readonly answeredAt: Millis;
  readonly usedTokens?: number | undefined;
  /** summaries that have ended, one way or the other */
  readonly ended: readonly string[];
  /**
   * the user has gone back: a part of the conversation is hidden, from the message `cutFrom` on, or this part of it, where that is known.
   * The ids of messages ascend
   */
  readonly isReverted: boolean;
  readonly cutFrom?: string | undefined;
  readonly cutFromPart?: string | undefined;
  /** the history has the compactions in it, too */
  readonly showsHidden: boolean;
  /** after each answer and each compaction, in order */
  readonly sizes: readonly Size[];
  /** without a summary so far: one that fails leaves its message behind */
  readonly asked: readonly Asked[];
  /** the last message that is neither such a one nor a summary */
  readonly lastId?: string | undefined;
}

/** What was in the window after a message; not known after a summary. */
interface Size {
  readonly id: string;
  readonly usedTokens: number | undefined;
}

/** A message that asks for a compaction. */
interface Asked {
  readonly id: string;
  readonly line: number;
  /** the first message after it that is not its summary: it stays in the window */
  readonly firstSaidId?: string;
}

interface Message {
  readonly record: JsonRecord;
  readonly data: JsonRecord;
  readonly source: SourceRecord & { readonly id: string };
}

type Meaning = RecordMeaning<OpencodeSession>;

const form: RecordForm<OpencodeSession> = {
  name: 'opencode',
  read: (state, record, { line, now }) => {
    if (record['type'] === 'session') return readSession(state, record);
    const data = getRecord(record, 'data');
    const id = getText(record, 'id');
    if (record['type'] !== 'message' || !data || id === undefined)
      return { state, misfit: 'not a row of opencode' };
    const message = { record, data, source: { line, id, at: createdAt(data) } };
    const meaning = readMessage(state, message, now);
    const isShown = state.showsHidden || !isHidden(state, id) || isCutWithin(state, id);
    return isShown ? meaning : { ...meaning, steps: () => [] };
  },
};

/** The reader for the first line of a session of opencode's. */
export const opencodeReader: StartReader = (_, wanted) => {
  const showsHidden = wanted?.conversation !== true;
  const start = { answeredAt: 0, ended: [], isReverted: false, showsHidden, sizes: [], asked: [] };
  return makeSessionReader(form, start, wanted);
};

/** `/undo` hides the end of the conversation, `/redo` shows it again: the number is that of another point. */
const readSession = (before: OpencodeSession, record: JsonRecord): Meaning => {
  const isReverted = record['isReverted'] === 1;
  const cutFrom = getText(record, 'cutFrom');
  const state = { ...before, isReverted, cutFrom, cutFromPart: getText(record, 'cutFromPart') };
  const [id, cwd, version] = ['id', 'cwd', 'version'].map((name) => getText(record, name));
  const steps = () => [headStep({ id, cwd, version })];
  if (isReverted === before.isReverted && cutFrom === before.cutFrom) return { state, steps };
  return { state: { ...state, answeredAt: 0 }, facts: [voidedAt(state)], steps };
};

const isHidden = ({ cutFrom }: OpencodeSession, id: string): boolean =>
  cutFrom !== undefined && id >= cutFrom;

const isCutWithin = ({ cutFrom, cutFromPart }: OpencodeSession, id: string): boolean =>
  cutFromPart !== undefined && id === cutFrom;

/** Voids the last number; the number of the last visible message counts until a new one arrives. */
const voidedAt = (state: OpencodeSession): Fact => {
  const { isReverted, cutFrom, sizes } = state;
  const isUnknown = isReverted && cutFrom === undefined;
  const leftTokens = isUnknown ? undefined : sizes.findLast(({ id }) => !isHidden(state, id))?.usedTokens;
  return { type: 'voided', ...present({ leftTokens }) };
};

const readMessage = (before: OpencodeSession, message: Message, now: Millis): Meaning => {
  const { record, data, source } = message;
  const { id, line } = source;
  if (record['asks'] === 1)
    return {
      state: { ...before, asked: [...before.asked, { id, line }] },
      steps: () => [recordStep(source, [])],
    };
  if (data['summary'] === true) return readSummary(before, message, now);
  const asked = before.asked.map((each) => ({ firstSaidId: id, ...each }));
  const state = { ...before, asked, lastId: id };
  return {
    ...(data['role'] === 'assistant' ? readAnswer(state, message) : { state }),
    steps: () => [
      headStep({ model: getText(data, 'modelID'), provider: getText(data, 'providerID') }),
      recordStep(
        source,
        partsBeforeCut(before, message).flatMap((part) => entriesOf(part, message)),
      ),
    ],
  };
};

// The facts of answers and summaries.

/** As opencode counts what is in the window: by the last answer that has an output. */
const readAnswer = (state: OpencodeSession, { data, source: { id } }: Message): Meaning => {
  const usedTokens = usedTokensIn(data);
  const tokens = getRecord(data, 'tokens');
  const cachedTokens = getCount(getRecord(tokens, 'cache'), 'read');
  const at = createdAt(data);
  const isOld = at < state.answeredAt || (at === state.answeredAt && usedTokens === state.usedTokens);
  if (usedTokens === undefined || isOld) return { state };
  const sizes = withSize(state.sizes, { id, usedTokens });
  const reading = {
    usedTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens, inputTokens: inputTokensIn(tokens) }),
    source: 'log' as const,
    model: getText(data, 'modelID') ?? '',
    at: completedAt(data) ?? at,
  };
  const fact: Fact = { type: 'reading', reading };
  if (isHidden(state, id)) return { state: { ...state, sizes }, facts: [fact, voidedAt(state)] };
  return { state: { ...state, sizes, answeredAt: at, usedTokens }, facts: [fact] };
};

/** Everything of an answer that has an output; undefined for one without. */
const usedTokensIn = (data: JsonRecord): number | undefined => {
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

const MOST_SIZES = 1_000; // the point that the user goes back to is not older

const withSize = (sizes: readonly Size[], size: Size): readonly Size[] => {
  const isNewest = (sizes.at(-1)?.id ?? '') < size.id;
  const others = isNewest ? sizes : sizes.filter(({ id }) => id < size.id);
  const later = isNewest ? [] : sizes.filter(({ id }) => id > size.id);
  return [...others.slice(-MOST_SIZES), size, ...later];
};

const createdAt = (data: JsonRecord): Millis => getCount(getRecord(data, 'time'), 'created') ?? 0;
const completedAt = (data: JsonRecord): Millis | undefined => getCount(getRecord(data, 'time'), 'completed');

/** Its own tokens are those of the request for the summary, not what is left. */
const readSummary = (before: OpencodeSession, message: Message, now: Millis): Meaning => {
  const { record, data, source } = message;
  const { id } = source;
  const completed = completedAt(data);
  const steps = () => [recordStep(source, [])];
  if (before.ended.includes(id)) return { state: before, steps: () => [] }; // the row comes again
  if (completed === undefined) return { state: before, steps };
  const ended = [...before.ended, id];
  const error = getRecord(data, 'error');
  if (error) {
    const facts: readonly Fact[] = [{ type: 'compact-result', result: resultOf(error) }];
    return { state: { ...before, ended }, facts: isRecent(completed, now) ? facts : [], steps };
  }
  if (getText(data, 'finish') === undefined || data['error'] !== undefined) return { state: before, steps };
  const boundary = boundaryIn(before, message, completed);
  const sizes = withSize(before.sizes, { id, usedTokens: undefined });
  const state = { ...before, ended, sizes, asked: [] };
  const isUndone = isHidden(before, id);
  const fact: Fact = { type: 'boundary', boundary };
  return {
    state: isUndone ? state : { ...state, usedTokens: undefined, answeredAt: createdAt(data) },
    facts: isUndone ? [fact, voidedAt(state)] : [fact],
    steps: () => [
      recordStep(source, [
        compactionIn(before, message, boundary),
        textEntry('summary', source, getText(record, 'text') ?? ''),
      ]),
    ],
  };
};

const boundaryIn = ({ sizes }: OpencodeSession, message: Message, completed: Millis): Boundary => {
  const { record, data, source } = message;
  const preTokens = sizes.findLast(({ id }) => id < source.id)?.usedTokens;
  return {
    initiator: record['isAuto'] === 0 ? 'user' : 'agent',
    ...present({ preTokens }),
    ...leftOf(preTokens, data),
    ...(getCount(record, 'characters') === 0 ? { summary: 'empty' } : {}),
    uuid: source.id,
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

// The conversation.

const compactionIn = (
  { asked, lastId }: OpencodeSession,
  { record, data, source }: Message,
  boundary: Boundary,
): Compaction => {
  const request = asked.find(({ id }) => id === getText(data, 'parentID'));
  const firstId = getText(record, 'keptFrom') ?? request?.firstSaidId;
  return {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    // messages sent after the request for it come before its end
    startLine: request && request.firstSaidId === undefined ? request.line : source.line,
    keptIds: [],
    ...(firstId === undefined || lastId === undefined ? {} : { keptSpan: { firstId, lastId } }),
  };
};

/** The parts before the point that the user has gone back to. */
const partsBeforeCut = (state: OpencodeSession, { record, source }: Message): readonly JsonRecord[] => {
  const parts = getList(record, 'parts').filter(isRecord);
  const end = isCutWithin(state, source.id) ? parts.findIndex(({ id }) => id === state.cutFromPart) : -1;
  return end < 0 ? parts : parts.slice(0, end);
};

const entriesOf = (part: JsonRecord, { data, source }: Message): readonly Entry[] => {
  const text = getText(part, 'text') ?? '';
  switch (part['type']) {
    case 'text': {
      if (part['ignored'] === true) return []; // the model does not get it
      const isUsers = data['role'] === 'user';
      // what opencode itself adds to a message: files that the user names, and how to go on after a compaction
      if (!isUsers || part['synthetic'] !== true)
        return [textEntry(isUsers ? 'prompt' : 'answer', source, text)];
      const given = isGivenPart(part) ? readGiven(text)?.lines : undefined;
      return [{ ...textEntry('context', source, text), ...present({ given }) }];
    }
    case 'reasoning':
      return [textEntry('reasoning', source, text)];
    case 'tool':
      return toolEvents(part).flatMap((event) => toolEntries(event, source, tools));
    default:
      return [];
  }
};

/** How ctxwrap knows its own text again: opencode keeps the metadata of a part, and no tool can write it. */
export const GIVEN_MARK = { ctxwrap: 'context' };

export const isGivenPart = (part: unknown): boolean =>
  isRecord(part) &&
  part['synthetic'] === true &&
  getText(getRecord(part, 'metadata'), 'ctxwrap') === GIVEN_MARK.ctxwrap;

const REMOVED = '[Old tool result content cleared]'; // what opencode sends in its place

/** The call and the result in a part that has them. */
const toolEvents = (part: JsonRecord): readonly ToolEvent[] => {
  const state = getRecord(part, 'state');
  if (!state) return [];
  const call = { id: getText(part, 'callID') ?? '', name: getText(part, 'tool'), input: state['input'] };
  const isRefused = state['status'] === 'error';
  if (!isRefused && state['status'] !== 'completed') return [{ kind: 'call', ...call }];
  const isRemoved = getCount(getRecord(state, 'time'), 'compacted') !== undefined;
  const output = isRemoved ? REMOVED : isRefused ? (getText(state, 'error') ?? '') : state['output'];
  const isError = isRefused || (getCount(getRecord(state, 'metadata'), 'exit') ?? 0) > 0;
  const at = getCount(getRecord(state, 'time'), 'end');
  return [{ kind: 'call-with-result', ...call, output, isError, at }];
};

const tools: Tools = {
  reads: { read: 'filePath' },
  edits: { write: 'filePath', edit: 'filePath', multiedit: 'filePath' },
  runs: { bash: 'command' },
  plan: (name, input) =>
    name === 'todowrite' && 'todos' in input ? planOf(getList(input, 'todos'), 'content') : undefined,
  files: (name, input) => (name === 'apply_patch' ? patchedFiles(getText(input, 'patchText') ?? '') : []),
};

// How much of each line has to be read.

const READ: LineClass = { read: 'whole', hasSteps: true };
const YES = '1'; // SQLite has no true

export const opencodeSession: SessionFormat = {
  fields: { fields: ['type', 'id', 'asks', 'isSummary'] },
  classify: (line) => {
    if (line.get('type') !== 'message' || line.get('isSummary') === YES) return READ;
    return line.get('asks') === YES ? { read: 'whole' } : { message: line.get('id') ?? '', read: 'whole' };
  },
  messages: 'by-id',
};
