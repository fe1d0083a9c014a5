import type { Fact, Boundary } from '../../core/event.js';
import {
  isRecord,
  getList,
  getRecord,
  getText,
  type JsonRecord,
  getCount,
  parseRecord,
} from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { makeLineReader, type LineReader, type LineMeaning, type Env } from '../agent.js';
import {
  makeContentReader,
  growthFacts,
  timeOfRecord,
  type ContentReader,
  type ToolEvent,
  LONGEST_GROWTH,
} from '../records.js';
import { readCommand, readCompactResult } from './compaction.js';
import { promptCache, timeToLive } from './economy.js';
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

// Text that a record of a Claude Code session file adds to the conversation, before the next answer tells its exact size.

/** The user's prompt or a tool result; the summary of a compaction is counted in the boundary's own number. */
const readGrowth = (record: JsonRecord): readonly Fact[] =>
  record['isCompactSummary'] === true ? [] : growthFacts(textsIn(getRecord(record, 'message')).join(''));

// A text, or nested blocks of text and tool results. Images have no text and are skipped.
const textsIn = (from: unknown): readonly string[] => {
  const content = getText(from, 'content');
  if (content !== undefined) return [content];
  return getList(from, 'content').flatMap((block) => {
    const text = getText(block, 'text');
    if (text !== undefined) return [text];
    return isRecord(block) && block['type'] === 'tool_result' ? textsIn(block) : [];
  });
};

// One line of a Claude Code session file (facts/claude.md §7). The file is append-only; one record a content block.

interface ClaudeLog extends Runs {
  /** the windows that the file proves, by model: nothing else than one million while the session may still run */
  readonly provenTokens: Readonly<Record<string, number>>;
  /** nothing is written any more, so that what settings and choices have done holds to the end */
  readonly hasEnded: boolean;
  readonly model?: string;
  /** how long the prompt cache keeps what was last written into it, in milliseconds */
  readonly cacheMs?: number;
  /** the user's last command, such as `/compact`; its answer is a record of its own */
  readonly command?: string;
  /** chosen since the last prompt: an answer of another model was on its way then */
  readonly chosen?: ChosenModel;
}

export const claudeReader = (env: Env, hasEnded = false): LineReader =>
  makeLineReader({ env, hasEnded, provenTokens: {} }, readLine);

const readLine = (state: ClaudeLog, line: string, now: Millis): LineMeaning<ClaudeLog> => {
  // Most of a file is attachments, snapshots and huge tool results, which are not worth parsing.
  if (!line.startsWith('{') || !line.includes('"type"'))
    return { state, facts: [], misfit: 'not a Claude record' };
  if (!isWorthParsing(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  // Subagents of old versions write into the same file; their context is not the window on the screen.
  if (record['isSidechain'] === true) return { state, facts: [] };
  if (record['type'] === 'assistant') return readAnswer(state, record, now);
  if (record['type'] === 'user') return readUser(state, record, now);
  if (record['subtype'] === 'local_command')
    return readChoice(state, record, now) ?? readCommandAnswer(state, record);
  return record['subtype'] === 'compact_boundary' ? readBoundary(state, record, now) : { state, facts: [] };
};

const isWorthParsing = (line: string): boolean =>
  line.includes('"assistant"') ||
  line.includes('compact_boundary') ||
  line.includes('"local_command"') ||
  (line.length <= LONGEST_GROWTH && line.includes('"type":"user"'));

const readUser = (state: ClaudeLog, record: JsonRecord, now: Millis): LineMeaning<ClaudeLog> => {
  const choice = readChoice(state, record, now);
  if (choice) return choice;
  const { chosen, ...rest } = withCommand(state, record);
  const isKept = chosen !== undefined && !isPrompt(record);
  return { state: isKept ? { ...rest, chosen } : rest, facts: readGrowth(record) };
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
  state: ClaudeLog,
  record: JsonRecord,
  now: Millis,
): LineMeaning<ClaudeLog> | undefined => {
  if (state.command !== '/model') return undefined;
  const text = getText(getRecord(record, 'message'), 'content') ?? getText(record, 'content') ?? '';
  const name = chosenName((OUTPUT.exec(text)?.[1] ?? '').replace(STYLES, ''));
  if (name === undefined) return undefined;
  const { command: _, ...rest } = state;
  if (state.hasEnded)
    return { state: proven(rest, modelKey(name), chosenWindowTokens(name)), facts: readGrowth(record) };
  if (now - timeOfRecord(record, now) > CHOICE_MS) return undefined;
  const chosen = chosenModel(name, { env: state.env, version: getText(record, 'version') });
  return { state: { ...rest, chosen }, facts: [{ type: 'model', ...chosen }] };
};

const STYLES = /\x1b\[[\d;]*m/g;

const withCommand = (state: ClaudeLog, record: JsonRecord): ClaudeLog => {
  const command = readCommand(record);
  return command === undefined ? state : { ...state, command };
};

const readCommandAnswer = (state: ClaudeLog, record: JsonRecord): LineMeaning<ClaudeLog> => {
  const { command, ...rest } = state;
  const result = command === '/compact' ? readCompactResult(record) : undefined;
  return result ? { state: rest, facts: [{ type: 'compact-result', result }] } : { state, facts: [] };
};

const readAnswer = (before: ClaudeLog, record: JsonRecord, now: Millis): LineMeaning<ClaudeLog> => {
  const message = getRecord(record, 'message');
  const name = getText(message, 'model') ?? '';
  const version = getText(record, 'version') ?? before.version;
  const state = { ...before, ...present({ version }) };
  if (name === '<synthetic>') return { state, facts: readRefusal(state, record, now) };
  const model = state.chosen?.model ?? modelKey(name);
  const usage = getRecord(message, 'usage');
  const used = usedTokens(usage);
  if (used === undefined) return { state, facts: [], misfit: 'an answer without usage' };
  if (used === 0) return { state, facts: [] };
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
      source: 'log',
      model,
      at,
    },
  };
  const cache = promptCache(usage, cacheMs, at);
  return { state: after, facts: cache ? [fact, { type: 'cache', cache }] : [fact] };
};

// Claude's own text in place of an answer; the user's interruptions and server errors are recorded in the same way.
const readRefusal = (
  { model, provenTokens, ...runs }: ClaudeLog,
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

const readBoundary = (state: ClaudeLog, record: JsonRecord, now: Millis): LineMeaning<ClaudeLog> => {
  const boundary = boundaryIn(record, now);
  const { preTokens = 0, initiator } = boundary;
  const tokens = windowOfCompaction(preTokens, state.hasEnded && initiator === 'agent');
  return { state: proven(state, state.model, tokens), facts: [{ type: 'boundary', boundary }] };
};

/** The compaction that a `compact_boundary` record tells of. */
export const boundaryIn = (record: JsonRecord, now: Millis): Boundary => {
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

/** The records that a compaction has kept, by what a `compact_boundary` record names; undefined where it names only the first and the last. */
export const keptIdsIn = (metadata: JsonRecord | undefined): readonly string[] | undefined => {
  const messages = getRecord(metadata, 'preservedMessages');
  const ids = ['allUuids', 'uuids'].flatMap((name) => getList(messages, name));
  return messages && [...new Set(ids.filter((id) => typeof id === 'string'))];
};

/** More than a standard window holds was used with this model once, so a smaller one would be wrong. */
const proven = (state: ClaudeLog, model: string | undefined, tokens: number | undefined): ClaudeLog => {
  const { provenTokens } = state;
  if (model === undefined || tokens === undefined || tokens <= (provenTokens[model] ?? 0)) return state;
  return { ...state, provenTokens: { ...provenTokens, [model]: tokens } };
};

// Tool results in a Claude Code session file (facts/claude.md §7): a `tool_use` block of an answer, then a `tool_result` block of the next
// user record, linked by id.

const TELLING = /"tool_use"|"tool_result"|"compact_boundary"/;

export const claudeContents = (): ContentReader =>
  makeContentReader(TELLING, (record) => {
    if (record['isSidechain'] === true) return [];
    if (record['subtype'] === 'compact_boundary') return [{ kind: 'cleared' }];
    // since 2.1.331 `api-request-blob` repeats what was sent to the model
    if (record['type'] !== 'user' && record['type'] !== 'assistant') return [];
    return getList(getRecord(record, 'message'), 'content').filter(isRecord).flatMap(claudeToolEvents);
  });

export const claudeToolEvents = (block: JsonRecord): readonly ToolEvent[] => {
  const id = getText(block, block['type'] === 'tool_use' ? 'id' : 'tool_use_id') ?? '';
  if (block['type'] === 'tool_use')
    return [{ kind: 'call', id, name: getText(block, 'name'), input: block['input'] }];
  if (block['type'] !== 'tool_result') return [];
  return [{ kind: 'result', id, output: block['content'], isError: block['is_error'] === true }];
};
