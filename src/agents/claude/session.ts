import type { Entry, PlanChange, SourceRecord, Step } from '../../core/conversation/conversation.js';
import { readGiven } from '../../core/conversation/given-block.js';
import type { Boundary, Fact } from '../../core/event.js';
import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import { growthOf, planOf, planStatus, recordStep, textEntry, toolEntries, type Tools } from '../entries.js';
import { LONGEST_GROWTH, outputText, timeOfRecord } from '../records.js';
import { countSource } from '../own-estimate.js';
import {
  headStep,
  makeSessionReader,
  type RecordForm,
  type RecordMeaning,
  type RecordPlace,
  type FoundHead,
  type StartReader,
} from '../session-format.js';
import { readCommand, readCompactResult } from './compaction.js';
import { promptCache, timeToLive } from './economy.js';
import { answersIn, toolEventsIn, userText } from './message-parts.js';
import {
  LARGE_TOKENS,
  chosenModel,
  chosenName,
  chosenWindowTokens,
  modelKey,
  provesLarge,
  parseRefusal,
  modelWindow,
  windowOfCompaction,
  type ChosenModel,
  type Runs,
} from './window.js';

// A Claude Code session file (docs/facts/claude.md#session-files, docs/facts/sessions.md#claude-code): records that name the one before, in
// no certain order, with the branches that the user has left; one record a content block. A compaction is a `compact_boundary` that starts
// a new chain, and the summary in the next user record; `logicalParentUuid` names the last record before it, and `preservedMessages` what
// it has kept. Versions without boundaries mark the summary alone.

interface ClaudeSession extends Runs {
  /** the windows that the file proves, by model: nothing else than one million while the session may still run */
  readonly provenTokens: Readonly<Record<string, number>>;
  /** the session has ended, so the effect of settings and choices is final */
  readonly hasEnded: boolean;
  readonly model?: string;
  /** how long the prompt cache keeps what was last written into it, in milliseconds */
  readonly cacheMs?: number;
  /** the user's last command, such as `/compact`; its answer is a record of its own */
  readonly command?: string;
  /** chosen since the last prompt: an answer of another model was on its way then */
  readonly chosen?: ChosenModel;
}

const form: RecordForm<ClaudeSession> = {
  name: 'Claude',
  isOwn: /^\{.*?"type"/s,
  // most of a file is attachments, snapshots and huge tool results
  hasFacts: (line) =>
    line.includes('"assistant"') ||
    line.includes('compact_boundary') ||
    line.includes('"local_command"') ||
    line.includes('"hook_additional_context"') ||
    line.includes('by hook') ||
    (line.length <= LONGEST_GROWTH && line.includes('"type":"user"')),
  read: (state, record, place) => {
    const type = getText(record, 'type');
    if (type === undefined) return { state, misfit: 'not a Claude record' };
    // subagents of old versions write into the same file; their context is not the window on the screen
    if (record['isSidechain'] === true) return { state, steps: () => [] };
    const { state: after, facts, misfit } = readRecord(state, record, place.now);
    if (type !== 'user') return { state: after, facts, misfit, steps: () => stepsOf(record, place) };
    const source = sourceOf(record, place.line);
    const entries = userEntries(record, source);
    const growth = place.length <= LONGEST_GROWTH ? growthOf(entries) : [];
    return {
      state: after,
      facts: [...(facts ?? []), ...growth],
      steps: () => stepsOf(record, place, { source, entries }),
    };
  },
};

/** The reader for the first line of a Claude Code session file. */
export const claudeReader: StartReader = (env, wanted) =>
  makeSessionReader(form, { env, hasEnded: wanted?.hasEnded === true, provenTokens: {} }, wanted);

const readRecord = (state: ClaudeSession, record: JsonRecord, now: Millis): RecordMeaning<ClaudeSession> => {
  switch (record['type']) {
    case 'assistant':
      return readAnswer(state, record, now);
    case 'user':
      return readUser(state, record, now);
    default:
      if (record['subtype'] === 'compact_boundary') return readBoundary(state, record, now);
      if (record['type'] === 'attachment') return { state, facts: readAdded(record, now) };
      if (record['subtype'] === 'informational') return { state, facts: readEnding(record, now) };
      return record['subtype'] === 'local_command'
        ? (readChoice(state, record, now) ?? readCommandAnswer(state, record))
        : { state };
  }
};

/** What ctxwrap has given back with a message. */
const readAdded = (record: JsonRecord, now: Millis): readonly Fact[] => {
  const text = hookText(getRecord(record, 'attachment')) ?? '';
  return readGiven(text) ? [{ type: 'context-added', at: timeOfRecord(record, now), text }] : [];
};

/** A hook of the user's has refused a message: what other hooks have added to it is nowhere. */
const readEnding = (record: JsonRecord, now: Millis): readonly Fact[] =>
  hasRefused(record) ? [{ type: 'message-refused', at: timeOfRecord(record, now) }] : [];

/** Older versions have only the words. */
const hasRefused = (record: JsonRecord): boolean =>
  REFUSED.test(getText(record, 'content') ?? '') ||
  ENDED.test(getText(getRecord(getRecord(record, 'promptSubmitEnding'), 'ending'), 'kind') ?? '');

const REFUSED = /^UserPromptSubmit operation blocked by hook\b/;
const ENDED = /_by_hook$/;

const readUser = (state: ClaudeSession, record: JsonRecord, now: Millis): RecordMeaning<ClaudeSession> => {
  const choice = readChoice(state, record, now);
  if (choice) return choice;
  const { chosen, ...rest } = withCommand(state, record);
  const isKept = chosen !== undefined && !isPrompt(record);
  return { state: isKept ? { ...rest, chosen } : rest };
};

const isPrompt = (record: JsonRecord): boolean => {
  const message = getRecord(record, 'message');
  const text = getText(message, 'content');
  return text === undefined
    ? getList(message, 'content').some((block) => getText(block, 'type') === 'text')
    : !text.startsWith('<');
};

// The answer to `/model`: since 2.1.332 a user record, before a record of its own.
const OUTPUT = /^<local-command-stdout>(.*)<\/local-command-stdout>$/s;
const CHOICE_MS = 60_000; // a conversation that is resumed may run another model than it has chosen before

const readChoice = (
  state: ClaudeSession,
  record: JsonRecord,
  now: Millis,
): RecordMeaning<ClaudeSession> | undefined => {
  if (state.command !== '/model') return undefined;
  const text = getText(getRecord(record, 'message'), 'content') ?? getText(record, 'content') ?? '';
  const name = chosenName((OUTPUT.exec(text)?.[1] ?? '').replace(STYLES, ''));
  if (name === undefined) return undefined;
  const { command: _, ...rest } = state;
  if (state.hasEnded) return { state: proven(rest, modelKey(name), chosenWindowTokens(name)) };
  if (now - timeOfRecord(record, now) > CHOICE_MS) return undefined;
  const chosen = chosenModel(name, { env: state.env, version: getText(record, 'version') });
  return { state: { ...rest, chosen }, facts: [{ type: 'model', ...chosen }] };
};

const STYLES = /\x1b\[[\d;]*m/g;

const withCommand = (state: ClaudeSession, record: JsonRecord): ClaudeSession => {
  const command = readCommand(record);
  return command === undefined ? state : { ...state, command };
};

const readCommandAnswer = (state: ClaudeSession, record: JsonRecord): RecordMeaning<ClaudeSession> => {
  const { command, ...rest } = state;
  const result = command === '/compact' ? readCompactResult(record) : undefined;
  return result ? { state: rest, facts: [{ type: 'compact-result', result }] } : { state };
};

const readAnswer = (before: ClaudeSession, record: JsonRecord, now: Millis): RecordMeaning<ClaudeSession> => {
  const message = getRecord(record, 'message');
  const name = getText(message, 'model') ?? '';
  const version = getText(record, 'version') ?? before.version;
  const state = { ...before, ...present({ version }) };
  if (name === '<synthetic>') return { state, facts: readRefusal(state, record, now) };
  const model = state.chosen?.model ?? modelKey(name);
  const usage = getRecord(message, 'usage');
  const used = usedTokens(usage);
  if (used === undefined) return { state, misfit: 'an answer without usage' };
  if (used === 0) return { state };
  const cacheMs = timeToLive(usage) ?? state.cacheMs;
  const after = proven(
    { ...state, model, ...present({ cacheMs }) },
    model,
    provesLarge(used) ? LARGE_TOKENS : undefined,
  );
  const at = timeOfRecord(record, now);
  const answerTokens = getCount(usage, 'output_tokens');
  const cachedTokens = getCount(usage, 'cache_read_input_tokens');
  const fact: Fact = {
    type: 'reading',
    reading: {
      usedTokens: used,
      ...(answerTokens ? { answerTokens } : {}),
      ...present({ cachedTokens }),
      ...modelWindow(model, after.provenTokens[model], state),
      source: countSource(usage),
      model,
      at,
    },
  };
  const cache = promptCache(usage, cacheMs, at);
  return { state: after, facts: cache ? [fact, { type: 'cache', cache }] : [fact] };
};

// Claude's own text in place of an answer; the user's interruptions and server errors are recorded in the same way.
const readRefusal = (
  { model, provenTokens, ...runs }: ClaudeSession,
  record: JsonRecord,
  now: Millis,
): readonly Fact[] => {
  if (record['isApiErrorMessage'] !== true) return [];
  const texts = getList(getRecord(record, 'message'), 'content').map((block) => getText(block, 'text') ?? '');
  const refusal = texts.map(parseRefusal).find(Boolean);
  if (!refusal) return [];
  const known = model === undefined ? {} : { ...modelWindow(model, provenTokens[model], runs), model };
  return [
    { type: 'reading', reading: { ...refusal, ...known, source: 'log', at: timeOfRecord(record, now) } },
  ];
};

// The same sum as Claude's own percentage: without the answer itself (output_tokens), though Claude's own compaction counts it.
export const usedTokens = (usage: JsonRecord | undefined): number | undefined => {
  const input = getCount(usage, 'input_tokens');
  if (input === undefined) return undefined;
  return (
    input +
    (getCount(usage, 'cache_creation_input_tokens') ?? 0) +
    (getCount(usage, 'cache_read_input_tokens') ?? 0)
  );
};

const readBoundary = (
  state: ClaudeSession,
  record: JsonRecord,
  now: Millis,
): RecordMeaning<ClaudeSession> => {
  const boundary = boundaryIn(record, now);
  const { preTokens = 0, initiator } = boundary;
  const tokens = windowOfCompaction(preTokens, state.hasEnded && initiator === 'agent');
  return { state: proven(state, state.model, tokens), facts: [{ type: 'boundary', boundary }] };
};

/** The compaction in a `compact_boundary` record. */
const boundaryIn = (record: JsonRecord, now: Millis): Boundary => {
  const metadata = getRecord(record, 'compactMetadata');
  const preTokens = getCount(metadata, 'preTokens');
  const postTokens = getCount(metadata, 'postTokens');
  const uuid = getText(record, 'uuid');
  const durationMs = getCount(metadata, 'durationMs');
  return {
    // `auto` also when it compacts although nobody asks for anything; an old record is not the user's request
    initiator: (getText(metadata, 'trigger') ?? 'manual') === 'manual' ? 'user' : 'agent',
    ...present({ preTokens, postTokens, uuid, durationMs }),
    at: timeOfRecord(record, now),
  };
};

/** The records that a compaction kept, as its `compact_boundary` record lists them; undefined if it names only the first and the last. */
export const keptIdsIn = (metadata: JsonRecord | undefined): readonly string[] | undefined => {
  const messages = getRecord(metadata, 'preservedMessages');
  const ids = ['allUuids', 'uuids'].flatMap((name) => getList(messages, name));
  return messages && [...new Set(ids.filter((id) => typeof id === 'string'))];
};

/** More than a standard window holds was used with this model once, so a smaller one would be wrong. */
const proven = (
  state: ClaudeSession,
  model: string | undefined,
  tokens: number | undefined,
): ClaudeSession => {
  const { provenTokens } = state;
  if (model === undefined || tokens === undefined || tokens <= (provenTokens[model] ?? 0)) return state;
  return { ...state, provenTokens: { ...provenTokens, [model]: tokens } };
};

// The conversation.

/** `known`: the source and entries, if they were read before. */
const stepsOf = (
  record: JsonRecord,
  { line, now }: RecordPlace,
  known?: { readonly source: SourceRecord; readonly entries: readonly Entry[] },
): readonly Step[] => {
  const source = known?.source ?? sourceOf(record, line);
  const head = headStep(headIn(record));
  // titles, modes, snapshots of files are not part of the chain
  return source.id === undefined
    ? [head]
    : [head, recordStep(source, known?.entries ?? entriesIn(record, now, source))];
};

const headIn = (record: JsonRecord): FoundHead => {
  const model = getText(getRecord(record, 'message'), 'model');
  return {
    id: getText(record, 'sessionId'),
    cwd: getText(record, 'cwd'),
    version: getText(record, 'version'),
    model: model === SYNTHETIC ? undefined : model,
    startedAt: parseIsoTime(getText(record, 'timestamp') ?? ''),
  };
};

const SYNTHETIC = '<synthetic>'; // Claude's own text in place of an answer

const sourceOf = (record: JsonRecord, line: number): SourceRecord => {
  const parentId = record['parentUuid'] === null ? null : getText(record, 'parentUuid');
  const id = getText(record, 'uuid');
  const at = parseIsoTime(getText(record, 'timestamp') ?? '');
  const answerId = record['type'] === 'assistant' ? getText(getRecord(record, 'message'), 'id') : undefined;
  return {
    line,
    parentId: parentId ?? null,
    ...present({ id, at, answerId }),
  };
};

const entriesIn = (record: JsonRecord, now: Millis, source: SourceRecord): readonly Entry[] => {
  switch (record['type']) {
    case 'assistant':
      return answerEntries(record, source);
    case 'attachment':
      return [attachmentEntry(record, source)];
    case 'system':
      return record['subtype'] === 'compact_boundary'
        ? [compactionIn(record, now, source)]
        : systemEntries(record, source);
    default:
      return [];
  }
};

/** A part of a record as Claude wrote it: the whole record, and which block of its message this is. */
interface Native {
  readonly record: JsonRecord;
  /** absent for a message that is one text, and for records without a message */
  readonly block?: number;
}

const userEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const message = getRecord(record, 'message');
  const text = getText(message, 'content');
  if (text !== undefined) return [userText(record, source, text, { record })];
  return getList(message, 'content').flatMap((block, index): readonly Entry[] => {
    const native: Native = { record, block: index };
    if (!isRecord(block)) return [];
    const events = toolEventsIn(block);
    if (events.length > 0)
      return events.flatMap((event) =>
        toolEntries({ ...event, ...answersIn(record) }, source, tools, native),
      );
    const words = getText(block, 'text') ?? '';
    return [userText(record, source, words, native)];
  });
};

/** Also what was sent while the agent worked: messages of the user, of other agents and of tasks. */
const attachmentEntry = (record: JsonRecord, source: SourceRecord): Entry => {
  const attachment = getRecord(record, 'attachment');
  if (attachment?.['type'] !== 'queued_command') {
    const given = readGiven(hookText(attachment) ?? '')?.lines;
    const entry = textEntry('context', source, outputText(attachment), { record });
    return given ? { ...entry, given, isBeside: true } : { ...entry, isBeside: true };
  }
  const text = outputText(attachment['prompt']);
  const isPrompt = (attachment['commandMode'] ?? 'prompt') === 'prompt';
  const native: Native = { record };
  return isPrompt ? userText(attachment, source, text, native) : textEntry('context', source, text, native);
};

/** What the hook that runs before a message of the user's has added to it: that of other events can be the output of a tool. */
const hookText = (attachment: JsonRecord | undefined): string | undefined =>
  attachment?.['type'] === 'hook_additional_context' && attachment['hookEvent'] === 'UserPromptSubmit'
    ? outputText(attachment['content'])
    : undefined;

const answerEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const message = getRecord(record, 'message');
  const model = getText(message, 'model');
  if (record['isApiErrorMessage'] === true)
    return [textEntry('notice', source, outputText(message?.['content']), { record })];
  return getList(message, 'content').flatMap((block, index): readonly Entry[] => {
    const native: Native = { record, block: index };
    if (!isRecord(block)) return [];
    const events = toolEventsIn(block);
    if (events.length > 0) return events.flatMap((event) => toolEntries(event, source, tools, native));
    const thought = getText(block, 'thinking');
    if (thought !== undefined || block['type'] === 'redacted_thinking')
      return [textEntry('reasoning', source, thought ?? '', native)];
    const answer = textEntry('answer', source, getText(block, 'text') ?? '', native);
    return [model === undefined || model === SYNTHETIC ? answer : { ...answer, model }];
  });
};

const systemEntries = (record: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const text = getText(record, 'content');
  if (text === undefined) return [];
  // its own commands and their output go to the model, too
  return [textEntry(record['subtype'] === 'local_command' ? 'context' : 'notice', source, text, { record })];
};

const compactionIn = (record: JsonRecord, now: Millis, source: SourceRecord): Entry => {
  const metadata = getRecord(record, 'compactMetadata');
  const segment = getRecord(metadata, 'preservedSegment');
  const [firstId, lastId] = [getText(segment, 'headUuid'), getText(segment, 'tailUuid')];
  const keptAfterId = getText(getRecord(metadata, 'preservedMessages') ?? segment, 'anchorUuid');
  const previousId = getText(record, 'logicalParentUuid');
  return {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary: boundaryIn(record, now),
    startLine: source.line,
    ...(firstId === undefined || lastId === undefined ? {} : { keptSpan: { firstId, lastId } }),
    keptIds: keptIdsIn(metadata) ?? [],
    ...present({ keptAfterId, previousId }),
    native: { record },
  };
};

const tools: Tools = {
  reads: { Read: 'file_path', NotebookRead: 'notebook_path' },
  edits: { Edit: 'file_path', MultiEdit: 'file_path', Write: 'file_path', NotebookEdit: 'notebook_path' },
  runs: { Bash: 'command', PowerShell: 'command' },
  plan: (name, input) => readPlan(name, input),
  // the answers name the questions by their texts
  questions: (name, input) =>
    name === 'AskUserQuestion'
      ? getList(input, 'questions').flatMap((each) => {
          const text = getText(each, 'question');
          return text === undefined ? [] : [{ id: text, text }];
        })
      : [],
};

const readPlan = (name: string, input: JsonRecord): PlanChange | undefined => {
  if (name === 'TodoWrite') return planOf(getList(input, 'todos'), 'content');
  const text = getText(input, 'subject');
  if (name === 'TaskCreate') return { kind: 'added', item: { text: text ?? '', status: 'open' } };
  const id = getText(input, 'taskId');
  if (name !== 'TaskUpdate' || id === undefined) return undefined;
  const status = getText(input, 'status');
  const item = {
    ...present({ text }),
    ...(status === undefined ? {} : { status: planStatus(status) }),
  };
  return { kind: 'changed', id, item };
};
