import type { Entry, SourceRecord } from '../../core/conversation/conversation.js';
import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import { isRecent } from '../compress.js';
import { growthOf, recordStep, textEntry, toolEntries, type ToolEvent, type Tools } from '../entries.js';
import { patchedFiles } from '../patch.js';
import { LONGEST_GROWTH } from '../records.js';
import { idsIn, withId, type IdList } from '../id-list.js';
import {
  headStep,
  makeSessionReader,
  SKIPPED,
  type FoundHead,
  type LineClass,
  type RecordForm,
  type RecordMeaning,
  type RecordPlace,
  type SessionFormat,
  type StartReader,
} from '../session-format.js';

// A session file of GitHub Copilot CLI (docs/facts/copilot.md), in the order of the file. Only `session.usage_record` has what the model's
// server counted: the sizes in records of compactions are Copilot's own guess, and those of `session.shutdown` add up over the whole
// session. A compaction has a record of its beginning; one that Copilot begins by itself runs beside the turn, and messages that come
// meanwhile stay in the window. Beside every summary stand the first and the last messages of the user, word for word; the record of it
// does not say so.

/** The compaction that runs: the line of its beginning, and the ids of the messages since. */
type Begun = { readonly line: number; readonly ids: IdList } | undefined;

interface CopilotSession {
  readonly begun: Begun;
  /** ids of the user's messages */
  readonly prompts: IdList;
}

const SAID: readonly string[] = ['user.message', 'assistant.message', 'tool.execution_complete'];

// `model.…` records repeat whole requests, up to the size of the conversation, and hold nothing that is needed
const TELLING =
  /^\{(?!"type":")|^\{"type":"(?:session\.(?:start|resume|usage_record|compaction_\w+|truncation)|(?:user|assistant)\.message|tool\.execution_complete)"/;

const form: RecordForm<CopilotSession> = {
  name: 'Copilot',
  isOwn: /^\{.*?"type"/s,
  hasFacts: (line) => TELLING.test(line),
  read: (session, record, place) => {
    const type = getText(record, 'type');
    const id = getText(record, 'id');
    if (type === undefined) return { state: session, misfit: 'not a Copilot record' };
    if (record['agentId'] !== undefined) return { state: session, steps: () => [] }; // a subagent's
    const at = parseIsoTime(getText(record, 'timestamp') ?? '');
    const source = { line: place.line, ...present({ id, at }) };
    const isPrompt = id !== undefined && type === 'user.message' && isUsers(getRecord(record, 'data'));
    const state = {
      begun: begunAfter(session.begun, type, source),
      prompts: isPrompt ? withId(session.prompts, id) : session.prompts,
    };
    return { state, steps: () => [], ...readRecord(session, record, source, place) };
  },
};

/** The reader for the first line of a session file of Copilot's. */
export const copilotReader: StartReader = (_, wanted) =>
  makeSessionReader(form, { begun: undefined, prompts: undefined }, wanted);

const begunAfter = (begun: Begun, type: string, { line, id }: SourceRecord): Begun => {
  if (type === 'session.compaction_start') return { line, ids: undefined };
  if (type === 'session.compaction_complete' || type === 'session.resume') return undefined;
  return begun && id !== undefined && SAID.includes(type) ? { ...begun, ids: withId(begun.ids, id) } : begun;
};

type Meaning = Omit<RecordMeaning<CopilotSession>, 'state'>;

const readRecord = (
  session: CopilotSession,
  record: JsonRecord,
  source: SourceRecord,
  { now, length }: RecordPlace,
): Meaning => {
  const data = getRecord(record, 'data');
  const at = source.at ?? now;
  switch (record['type']) {
    case 'session.start':
      return { steps: () => [headStep(headIn(data))] };
    case 'session.usage_record':
      return readUsage(getRecord(data, 'usage'), at);
    case 'session.truncation':
      return { facts: [{ type: 'voided' }] };
    case 'session.compaction_complete':
      return data?.['success'] === true
        ? readCompaction(session, record, data, { source, at })
        : { facts: resultFacts(data, at, now) };
    case 'user.message':
      return messageMeaning([userEntry(record, source)], source, length);
    case 'assistant.message':
      return {
        steps: () => [
          headStep({ model: getText(data, 'model') }),
          recordStep(source, answerEntries(record, source)),
        ],
      };
    case 'tool.execution_complete':
      return messageMeaning(resultEntries(record, source), source, length);
    default:
      return {};
  }
};

const headIn = (data: JsonRecord | undefined): FoundHead => ({
  id: getText(data, 'sessionId'),
  cwd: getText(getRecord(data, 'context'), 'cwd'),
  version: getText(data, 'copilotVersion'),
  model: getText(data, 'selectedModel'),
  startedAt: parseIsoTime(getText(data, 'startTime') ?? ''),
});

/** subagents and side questions have other names */
const CONVERSATION = 'conversation-agent';

const readUsage = (usage: JsonRecord | undefined, at: Millis): Meaning => {
  if ((getText(usage, 'interactionType') ?? CONVERSATION) !== CONVERSATION) return {};
  const usedTokens = getCount(usage, 'inputTokens');
  if (usedTokens === undefined) return { misfit: 'usage without inputTokens' };
  if (usedTokens === 0) return {};
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

// Compactions.

// of the user's messages that stay
const [FIRST, LAST] = [3, 16];

const readCompaction = (
  { begun, prompts }: CopilotSession,
  record: JsonRecord,
  data: JsonRecord,
  { source, at }: { readonly source: SourceRecord; readonly at: Millis },
): Meaning => {
  const durationMs = getCount(getRecord(data, 'compactionTokensUsed'), 'duration');
  const summary = getText(data, 'summaryContent') ?? '';
  const boundary: Boundary = {
    initiator: getText(data, 'trigger') === 'manual' ? 'user' : 'agent',
    ...present({ uuid: source.id, durationMs }),
    ...faultOf(data, summary),
    at,
  };
  const later = idsIn(begun?.ids);
  const messages = idsIn(prompts);
  const kept = [...messages.slice(0, FIRST), ...messages.slice(FIRST).slice(-LAST)];
  const native = { record };
  // messages that came meanwhile are recorded before its end
  const startLine = begun && later.length === 0 ? begun.line : source.line;
  return {
    facts: [{ type: 'boundary', boundary }],
    steps: () => [
      recordStep(source, [
        {
          kind: 'compaction',
          source,
          tokens: 0,
          boundary,
          startLine,
          keptIds: [...kept, ...later],
          ...present({ keptAfterId: later.length === 0 ? source.id : undefined }),
          native,
        },
        textEntry('summary', source, summary, native),
      ]),
    ],
  };
};

/** Its two sizes are a guess of their own kind, not to be mixed with other numbers, but may be compared with each other. */
const faultOf = (data: JsonRecord, summary: string): Pick<Boundary, 'summary'> => {
  if (summary.trim() === '') return { summary: 'empty' };
  const [pre, post] = [getCount(data, 'preCompactionTokens'), getCount(data, 'postCompactionTokens')];
  return pre !== undefined && post !== undefined && post >= pre ? { summary: 'longer' } : {};
};

/** Of a compaction that changed nothing. */
const resultFacts = (data: JsonRecord | undefined, at: Millis, now: Millis): readonly Fact[] => {
  if (getText(data, 'trigger') !== 'manual' || !isRecent(at, now)) return [];
  const text = getText(data, 'error') ?? 'Compaction failed';
  const isEmpty = getText(data, 'failureReason') === 'empty_response';
  const result = isEmpty ? ({ kind: 'failed', failure: 'empty', text } as const) : compactResult(text);
  return [{ type: 'compact-result', result }];
};

/** How a compaction that changed nothing ended, in Copilot's words. */
export const compactResult = (text: string): CompactResult => {
  if (/^Nothing to compact\b/.test(text)) return { kind: 'noop', text };
  if (/^Compaction Cancelled\b/i.test(text)) return { kind: 'interrupted', by: 'the user' };
  const isEmpty = /received empty response/.test(text);
  return { kind: 'failed', failure: isEmpty ? 'empty' : 'error', text: text.slice(0, LONGEST_WORDS) };
};

const LONGEST_WORDS = 160;

// The conversation: the calls in an answer (`toolRequests`), then a record for each result, linked by id.

const tools: Tools = {
  reads: { view: 'path' },
  edits: { create: 'path', edit: 'path' },
  runs: { bash: 'command', powershell: 'command' },
  plan: () => undefined, // its todo list is in a database
  // some models get a tool whose only argument is the patch, as a text
  files: (name, input) =>
    name === 'apply_patch'
      ? patchedFiles(
          typeof input === 'string' ? input : (getText(input, 'input') ?? getText(input, 'patch') ?? ''),
        )
      : [],
};

const messageMeaning = (entries: readonly Entry[], source: SourceRecord, length: number): Meaning => ({
  facts: length > LONGEST_GROWTH ? [] : growthOf(entries),
  steps: () => [recordStep(source, entries)],
});

const userEntry = (record: JsonRecord, source: SourceRecord): Entry => {
  const data = getRecord(record, 'data');
  const text = getText(data, 'content') ?? '';
  return textEntry(isUsers(data) ? 'prompt' : 'context', source, text, { record });
};

// Typed at rest, or while the agent works. Others are Copilot's own: instructions that it found, skills, commands, agents, how to go on.
const TYPED = ['', 'user', 'cli', 'immediate-prompt'];

const isUsers = (data: JsonRecord | undefined): boolean =>
  TYPED.includes(getText(data, 'source') ?? '') && data?.['isAutopilotContinuation'] !== true;

const answerEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const data = getRecord(record, 'data');
  const native = { record };
  const text = getText(data, 'content') ?? '';
  const answers = text === '' ? [] : [textEntry('answer', source, text, native)];
  const calls = getList(data, 'toolRequests').map((each): ToolEvent => ({
    kind: 'call',
    id: getText(each, 'toolCallId') ?? '',
    name: getText(each, 'name'),
    input: getRecord(each, 'arguments') ?? getText(each, 'arguments'),
  }));
  return [...answers, ...calls.flatMap((call) => toolEntries(call, source, tools, native))];
};

const resultEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const data = getRecord(record, 'data');
  const id = getText(data, 'toolCallId') ?? '';
  const isError = data?.['success'] !== true;
  const output = getRecord(data, 'result')?.['content'] ?? getText(getRecord(data, 'error'), 'message') ?? '';
  return toolEntries({ kind: 'result', id, output, isError }, source, tools, { record });
};

// How much of each line has to be read.

const READ: LineClass = { read: 'whole', hasSteps: true };
const FACTS: LineClass = { read: 'whole' };

const classify: SessionFormat['classify'] = (line) => {
  if (line.has('agentId')) return SKIPPED; // a subagent's
  switch (line.get('type')) {
    case 'session.start':
    case 'session.compaction_complete':
      return READ;
    case 'session.resume':
    case 'session.compaction_start':
    case 'session.usage_record':
    case 'session.truncation':
      return FACTS;
    case 'user.message':
    case 'assistant.message':
    case 'tool.execution_complete':
      return { message: line.get('id') ?? '', read: 'reduced' };
    default:
      return SKIPPED;
  }
};

export const copilotSession: SessionFormat = {
  fields: { fields: ['type', 'id', 'agentId'], bulky: ['data'] },
  classify,
  messages: 'by-id',
};
