import { limitName, type PlanLimit } from '../../core/economy.js';
import type { Fact, Boundary, CompactResult } from '../../core/event.js';
import { getCount, getRecord, type JsonRecord, getList, getText, parseRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { toOneLine } from '../../core/text.js';
import { parseMoment } from '../../core/time.js';
import type { Millis, Reading } from '../../core/reading.js';
import { makeLineReader, type LineReader, type LineMeaning } from '../agent.js';
import {
  makeContentReader,
  growthFacts,
  timeOfRecord,
  type ContentReader,
  type ToolEvent,
} from '../records.js';
import { codexPercent, usableTokens, windowAfter } from './percent.js';

// The content of a `token_count` record of a rollout (facts/codex.md §7).

/** A total without input and output is Codex's own estimate of what a compaction kept. */
const guessOf = (payload: JsonRecord): number | undefined => {
  const last = getRecord(getRecord(payload, 'info'), 'last_token_usage');
  const isGuess = getCount(last, 'input_tokens') === 0 && getCount(last, 'output_tokens') === 0;
  return isGuess ? getCount(last, 'total_tokens') : undefined;
};

// A refused turn is recorded as a total of exactly one window without any input; its `last` is meaningless.
const isFullMark = (info: JsonRecord | undefined, windowTokens: number | undefined): boolean => {
  const total = getRecord(info, 'total_token_usage');
  return getCount(total, 'input_tokens') === 0 && getCount(total, 'total_tokens') === windowTokens;
};

/** In tokens, as Codex uses it. */
const windowIn = (from: JsonRecord | undefined): { readonly windowTokens?: number } => {
  const windowTokens = getCount(from, 'model_context_window');
  return windowTokens ? { windowTokens } : {};
};

// The plan's limits in a `token_count` record (facts/codex.md §7): `primary` and `secondary`, each null or with `used_percent`,
// `window_minutes` and `resets_at` in seconds since the epoch; older versions give `resets_in_seconds`. Other models have limits of their
// own with another `limit_id`, which are not those of the conversation.

const SPANS = ['primary', 'secondary'] as const;
const MAIN_LIMIT = 'codex';

const planLimits = (told: JsonRecord | undefined, at: Millis): readonly Fact[] => {
  if (told === undefined || (getText(told, 'limit_id') ?? MAIN_LIMIT) !== MAIN_LIMIT) return [];
  const limits = SPANS.flatMap((key): readonly PlanLimit[] => {
    const limit = getRecord(told, key);
    const usedPercent = getCount(limit, 'used_percent');
    if (usedPercent === undefined) return [];
    const minutes = getCount(limit, 'window_minutes');
    const seconds = getCount(limit, 'resets_in_seconds');
    const resetsAt =
      parseMoment(limit?.['resets_at']) ?? (seconds === undefined ? undefined : at + seconds * 1000);
    return [
      {
        name: minutes ? limitName(minutes) : key,
        usedPercent,
        ...present({ resetsAt }),
      },
    ];
  });
  return limits.length === 0 ? [] : [{ type: 'limits', limits }];
};

// Text that a record of a rollout adds to the conversation before the next count tells its exact size.

const OUTPUT = /_call_output$/;

/** The user's message or a tool result; an answer comes with its own count. */
const readGrowth = (item: JsonRecord): readonly Fact[] => {
  const isMessage = item['type'] === 'message' && item['role'] === 'user';
  if (!isMessage && !OUTPUT.test(getText(item, 'type') ?? '')) return [];
  return growthFacts(textIn(item, isMessage ? 'content' : 'output'));
};

// A text, or blocks of text; images have none and are skipped.
const textIn = (item: JsonRecord, key: string): string =>
  getText(item, key) ??
  getList(item, key)
    .map((block) => getText(block, 'text') ?? '')
    .join('');

// Whether Codex's own compaction has kept anything of the conversation. When the model returns an empty summary, Codex uses the last answer
// in the conversation instead and reports success.

const ANSWER = /"type":"(?:AgentMessage|agent_message)"/;
// The fixed text before the summary, on one line.
const PREFIX = /^Another language model started to solve this problem[^\n]*\n/;

/** The summary of a compaction without that text. */
export const withoutPrefix = (message: string): string => message.replace(PREFIX, '');

/** An answer as it was shown; not the summary of a compaction. */
const isAnswerLine = (line: string): boolean => ANSWER.test(line) && parseRecord(line) !== undefined;

/** A compaction on the model's server leaves an encrypted text and no message, so nothing is known about it. */
const isEmptySummary = (message: string, answerLine: string | undefined): boolean => {
  if (message === '') return false;
  const summary = withoutPrefix(message).trim();
  if (summary === '') return true;
  return answerLine !== undefined && summary === answerIn(answerLine).trim();
};

const answerIn = (line: string): string => {
  const payload = getRecord(parseRecord(line), 'payload');
  const texts = getList(getRecord(payload, 'item'), 'content').map((block) => getText(block, 'text') ?? '');
  return getText(payload, 'message') ?? texts.join('');
};

// One line of a Codex rollout (facts/codex.md §7). A compaction also records the usage of its own request, which is not the conversation's:
// readings of a turn that may be a compaction are held back until the turn shows what it is.

type Turn =
  | { readonly phase: 'open' } // readings count
  | { readonly phase: 'doubtful'; readonly held: readonly Fact[] }; // not started by a user message: perhaps a compaction

interface CodexLog {
  readonly turn: Turn;
  readonly model?: string;
  readonly windowTokens?: number;
  /** recorded, but Codex's estimate of what is left comes a moment later */
  readonly compacted?: Boundary;
  /** the line with the model's last answer, which Codex reuses when the model returns no summary */
  readonly answer?: string;
}

const SETTINGS = 'thread_settings_applied';
const OPEN: Turn = { phase: 'open' };
export const LONGEST_ERROR = 200; // characters; the server may send a whole page
const TELLING =
  /"(?:thread_settings_applied|token_count|compacted|task_started|task_complete|turn_aborted|turn_context|user_message|UserMessage|\w+_call_output)"|"role":"user"/;

export const codexReader = (): LineReader => makeLineReader<CodexLog>({ turn: OPEN }, readLine);

const readLine = (state: CodexLog, line: string, now: Millis): LineMeaning<CodexLog> => {
  if (!line.startsWith('{') || !line.includes('"type"'))
    return { state, facts: [], misfit: 'not a Codex record' };
  if (isAnswerLine(line)) return { state: { ...state, answer: line }, facts: [] };
  if (!TELLING.test(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  const at = timeOfRecord(record, now);
  const payload = getRecord(record, 'payload');
  switch (record['type']) {
    case 'turn_context':
      return { state: { ...state, model: getText(payload, 'model') ?? state.model ?? '' }, facts: [] };
    case 'compacted':
      return readCompacted(state, payload, at);
    case 'response_item':
      return payload ? grow(state, readGrowth(payload)) : { state, facts: [] };
    case 'event_msg':
      return payload ? readEvent(state, payload, at) : { state, facts: [] };
    default:
      return { state, facts: [] };
  }
};

const readCompacted = (
  state: CodexLog,
  payload: JsonRecord | undefined,
  at: Millis,
): LineMeaning<CodexLog> => {
  const isEmpty = isEmptySummary(getText(payload, 'message') ?? '', state.answer);
  const boundary: Boundary = { ...initiator(state), ...(isEmpty ? { summary: 'empty' } : {}), at };
  const isOther = state.compacted !== undefined && state.compacted.at !== at; // not the same record, written twice
  const before: readonly Fact[] =
    isOther && state.compacted ? [{ type: 'boundary', boundary: state.compacted }] : [];
  return { state: { ...state, turn: OPEN, compacted: boundary }, facts: before, untold: boundary };
};

// A compaction the user asked for is a turn of its own; one inside a user's turn is Codex's own.
const initiator = (state: CodexLog): { readonly initiator: 'user' | 'agent' } => ({
  initiator: state.turn.phase === 'doubtful' ? 'user' : 'agent',
});

const grow = (state: CodexLog, facts: readonly Fact[]): LineMeaning<CodexLog> =>
  state.turn.phase === 'open' || facts.length === 0
    ? { state, facts }
    : { state: { ...state, turn: { phase: 'doubtful', held: [...state.turn.held, ...facts] } }, facts: [] };

/** A boundary is reported with Codex's own estimate of what is left, or without one when something else comes first. */
const readEvent = (before: CodexLog, payload: JsonRecord, at: Millis): LineMeaning<CodexLog> => {
  const { compacted, ...state } = before;
  const read = readKnown(state, payload, at);
  if (!compacted) return read;
  // a note of the settings comes in between
  if (payload['type'] === SETTINGS) return { ...read, state: { ...read.state, compacted } };
  const postTokens = guessOf(payload);
  const boundary = { ...compacted, ...present({ postTokens }) };
  return { ...read, facts: [{ type: 'boundary', boundary }, ...read.facts] };
};

const readKnown = (state: CodexLog, payload: JsonRecord, at: Millis): LineMeaning<CodexLog> => {
  switch (payload['type']) {
    case SETTINGS:
      return readSettings(state, getRecord(payload, 'thread_settings'));
    case 'task_started': {
      const turn: Turn = getRecord(payload, 'turn_attribution') ? OPEN : { phase: 'doubtful', held: [] };
      return { state: { ...state, ...windowIn(payload), turn }, facts: [] };
    }
    case 'user_message':
      return release(state);
    case 'item_completed':
      return getText(getRecord(payload, 'item'), 'type') === 'UserMessage'
        ? release(state)
        : { state, facts: [] };
    case 'turn_aborted':
      return {
        state: { ...state, turn: OPEN },
        facts: unfinished(state, { kind: 'interrupted', by: 'the user' }),
      };
    case 'task_complete':
      return readEnd(state, payload, at);
    case 'token_count': {
      const read = readCount(state, payload, at);
      return { ...read, facts: [...read.facts, ...planLimits(getRecord(payload, 'rate_limits'), at)] };
    }
    default:
      return { state, facts: [] };
  }
};

/** Written when the user has chosen a model, and with the same one before each turn. */
const readSettings = (state: CodexLog, settings: JsonRecord | undefined): LineMeaning<CodexLog> => {
  const model = getText(settings, 'model');
  if (!model || !state.model || model === state.model) return { state, facts: [] };
  const windowTokens = windowAfter(state, model);
  const claim =
    windowTokens === undefined ? undefined : ({ windowTokens, windowSource: 'table', model } as const);
  const { windowTokens: _, ...rest } = state;
  return {
    state: { ...rest, model, ...present({ windowTokens }) },
    facts: [{ type: 'model', model, ...present({ claim }) }],
  };
};

const release = (state: CodexLog): LineMeaning<CodexLog> =>
  state.turn.phase === 'open'
    ? { state, facts: [] }
    : { state: { ...state, turn: OPEN }, facts: state.turn.held };

const readEnd = (state: CodexLog, payload: JsonRecord, at: Millis): LineMeaning<CodexLog> => {
  const error = getRecord(payload, 'error');
  if (!error) {
    const read = release(state);
    return payload['last_agent_message'] === null
      ? { ...read, facts: [...read.facts, ...silentEnd(state)] }
      : read;
  }
  const ended: CodexLog = { ...state, turn: OPEN };
  const full = getText(error, 'codex_error_info') === 'context_window_exceeded';
  const text = toOneLine(getText(error, 'message') ?? 'error', LONGEST_ERROR);
  const facts = unfinished(state, { kind: 'failed', failure: 'error', text });
  return { state: ended, facts: full ? [fullWindow(state, at), ...facts] : facts };
};

/** Versions before 0.154 record no error: a failed compaction leaves only an empty turn. */
const silentEnd = (state: CodexLog): readonly Fact[] =>
  unfinished(state, { kind: 'failed', failure: 'error', text: 'it ended without a summary' });

/** A turn that could still be a compaction at its end is one, because every other turn begins with a message. */
const unfinished = ({ turn }: CodexLog, result: CompactResult): readonly Fact[] =>
  turn.phase === 'doubtful' ? [{ type: 'compact-result', result }] : [];

const readCount = (state: CodexLog, payload: JsonRecord, at: Millis): LineMeaning<CodexLog> => {
  // Before the first answer Codex writes `info: null`.
  if (payload['info'] === null) return { state, facts: [] };
  const info = getRecord(payload, 'info');
  const last = getRecord(info, 'last_token_usage');
  const used = getCount(last, 'total_tokens');
  if (used === undefined) return { state, facts: [], misfit: 'a token count without last_token_usage' };
  const after: CodexLog = { ...state, ...windowIn(info) };
  if (isFullMark(info, after.windowTokens)) return { state: after, facts: [fullWindow(after, at)] };
  const guessed = guessOf(payload) !== undefined;
  const cachedTokens = getCount(last, 'cached_input_tokens');
  const inputTokens = getCount(last, 'input_tokens');
  const cached = cachedTokens ? { cachedTokens, ...present({ inputTokens }) } : {};
  const seen = { source: guessed ? 'estimate' : 'log', at, ...cached } as const;
  const fact: Fact = { type: 'reading', reading: reading(after, used, seen) };
  if (after.turn.phase === 'open') return { state: after, facts: [fact] };
  return { state: { ...after, turn: { phase: 'doubtful', held: [fact] } }, facts: [] };
};

const reading = (
  state: CodexLog,
  usedTokens: number,
  seen: Pick<Reading, 'source' | 'at' | 'cachedTokens' | 'inputTokens'>,
): Reading => {
  const { windowTokens, model } = state;
  const percent =
    windowTokens === undefined
      ? {}
      : { usedPercent: codexPercent(usedTokens, windowTokens), ...scale(state) };
  return { usedTokens, ...percent, ...(model ? { model } : {}), ...seen };
};

const scale = ({ windowTokens }: CodexLog): Omit<Reading, 'source' | 'at'> => ({
  basis: 'baseline',
  ...(windowTokens === undefined
    ? {}
    : { windowTokens, windowSource: 'agent', basisTokens: usableTokens(windowTokens) }),
});

const fullWindow = (state: CodexLog, at: Millis): Fact => ({
  type: 'reading',
  reading: {
    usedPercent: 100,
    ...scale(state),
    source: 'log',
    ...(state.model ? { model: state.model } : {}),
    at,
  },
});

// Tool results in a Codex rollout: `function_call` and `function_call_output` records (and the `custom_tool_call` ones), linked by the call
// id. `compacted` replaces the history, including outputs.

const CONTENTS_TELLING = /"(?:function_call|custom_tool_call|local_shell_call|compacted)(?:_output)?"/;
const CALL = /^(?:function_call|custom_tool_call|local_shell_call)$/;
const CONTENTS_OUTPUT = /^(?:function_call|custom_tool_call|local_shell_call)_output$/;

export const codexContents = (): ContentReader =>
  makeContentReader(CONTENTS_TELLING, (record) => {
    if (record['type'] === 'compacted') return [{ kind: 'cleared' }];
    const payload = record['type'] === 'response_item' ? getRecord(record, 'payload') : undefined;
    return payload ? codexToolEvents(payload) : [];
  });

/** Codex writes no mark: a script of code mode that threw, and a patch that does not fit, are told by their first words. */
const FAILED = /^(?:Script failed|apply_patch verification failed)\b/;

const hasFailed = (output: unknown): boolean => {
  const [first] = Array.isArray(output) ? (output as readonly unknown[]) : [];
  return FAILED.test(typeof output === 'string' ? output : (getText(first, 'text') ?? ''));
};

export const codexToolEvents = (payload: JsonRecord): readonly ToolEvent[] => {
  const type = getText(payload, 'type') ?? '';
  const id = getText(payload, 'call_id') ?? '';
  if (CONTENTS_OUTPUT.test(type)) {
    const isError = hasFailed(payload['output']);
    return [{ kind: 'result', id, output: payload['output'], ...(isError ? { isError } : {}) }];
  }
  if (!CALL.test(type)) return [];
  const given = getText(payload, 'arguments') ?? getText(payload, 'input');
  const input =
    getRecord(payload, 'action') ?? (given === undefined ? undefined : (parseRecord(given) ?? given));
  return [{ kind: 'call', id, name: getText(payload, 'name') ?? 'shell', input }];
};
