import { isRecord, getText, type JsonRecord, getCount, parseRecord, getRecord } from '../core/json.js';
import { present } from '../core/present.js';
import { toOneLine } from '../core/text.js';
import { parseIsoTime } from '../core/time.js';
import type { Fact } from '../core/event.js';
import { estimateTokens, type Millis, type ToolResult } from '../core/reading.js';

/** Characters of a line. Longer ones hold images: few tokens for their length. */
export const LONGEST_GROWTH = 1_000_000;

// Tool results in an agent's conversation. Every agent records a call, with its arguments, before the result.

/**
 * Reads one line of a session file for what fills the window, and returns the reader for the next line. Pure. Lines without tool results
 * must be cheap, because a whole file is read.
 */
export type ContentReader = (line: string, now: Millis) => ContentResult;

export interface ContentResult {
  readonly contents: readonly Content[];
  readonly next: ContentReader;
}

export type Content =
  | (ToolResult & { readonly kind: 'tool-result' })
  /** the conversation was replaced by a summary or begins anew: nothing from before is in the window any more */
  | { readonly kind: 'cleared' };

/** When a record was written; now where it does not say. */
export const timeOfRecord = (record: unknown, now: Millis): Millis =>
  parseIsoTime(getText(record, 'timestamp') ?? '') ?? now;

/** A tool event of a record, in the agent's order: a call comes before its result. */
export type ToolEvent =
  | (Call & { readonly kind: 'call' })
  | (Call & Result & { readonly kind: 'result' })
  /** both in one record, which may be written more than once */
  | (Call & Result & { readonly kind: 'call-with-result' })
  | { readonly kind: 'cleared' };

interface Call {
  /** links the result to its call */
  readonly id: string;
  /** of the result's tool, when its call may not have been seen */
  readonly name?: string | undefined;
  readonly input?: unknown;
}

interface Result {
  readonly output: unknown;
  /** when it was written, if not at the time of the whole record */
  readonly timestamp?: string | undefined;
  /** the agent says that the tool failed, or that the user did not allow it */
  readonly isError?: boolean;
}

/** A tool call without a result yet. */
interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly label: string;
}

interface Held {
  readonly calls: readonly ToolCall[];
  readonly contents: readonly Content[];
}

/** A content reader that remembers calls without a result. Only lines in which `telling` is found are parsed. */
export const makeContentReader = (
  telling: RegExp,
  eventsIn: (record: JsonRecord) => readonly ToolEvent[],
  calls: readonly ToolCall[] = [],
): ContentReader => {
  const reader: ContentReader = (line, now) => {
    const record = telling.test(line) ? parseRecord(line) : undefined;
    const events = record ? eventsIn(record) : [];
    if (events.length === 0) return { contents: [], next: reader };
    const at = timeOfRecord(record, now);
    const after = events.reduce<Held>((held, event) => withEvent(held, event, at), { calls, contents: [] });
    return { contents: after.contents, next: makeContentReader(telling, eventsIn, after.calls) };
  };
  return reader;
};

const MOST_CALLS = 64; // waiting at one time; more are left over from aborted turns
const LONGEST_NAME = 60;
const LONGEST_LABEL = 200;

const withEvent = ({ calls, contents }: Held, event: ToolEvent, at: Millis): Held => {
  if (event.kind === 'cleared') return { calls: [], contents: [...contents, { kind: 'cleared' }] };
  const known = calls.find(({ id }) => id === event.id);
  const others = calls.filter((call) => call !== known);
  const call = (event.kind === 'result' ? known : undefined) ?? toolCall(event);
  if (event.kind === 'call') return { calls: [...others, call].slice(-MOST_CALLS), contents };
  if (event.kind === 'result') return { calls: others, contents: [...contents, toolResult(call, event, at)] };
  if (known) return { calls, contents };
  return {
    calls: [...others, call].slice(-MOST_CALLS),
    contents: [...contents, toolResult(call, event, at)],
  };
};

const toolCall = ({ id, name = 'tool', input }: Call): ToolCall => ({
  id,
  name: shortLine(name, LONGEST_NAME),
  label: labelOf(input),
});

const toolResult = ({ name, label }: ToolCall, { output, timestamp }: Result, at: Millis): Content => ({
  kind: 'tool-result',
  name,
  label,
  tokens: outputTokens(output),
  at: parseIsoTime(timestamp ?? '') ?? at,
});

/** Text that entered the conversation before the next answer tells its exact size. */
export const growthFacts = (text: string): readonly Fact[] => {
  const tokens = estimateTokens(text);
  return tokens === 0 ? [] : [{ type: 'growth', tokens }];
};

// The most informative argument of a tool call, for all agents' tools; the first one present is used.
const telling = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'absolute_path',
  'notebook_path',
  'path',
  'dir_path',
]
  .concat(['pattern', 'query', 'url', 'prompt', 'description'])
  .concat(['input']);

const labelOf = (input: unknown): string => {
  if (typeof input === 'string') return shortLine(input, LONGEST_LABEL);
  if (!isRecord(input)) return '';
  const name = telling.find((each) => ['string', 'object'].includes(typeof input[each]));
  return name === undefined ? '' : shortLine(wordsOf(input, name), LONGEST_LABEL);
};

const wordsOf = (input: JsonRecord, name: string): string => {
  const value = input[name];
  return Array.isArray(value)
    ? value.filter((part) => typeof part === 'string').join(' ')
    : (getText(input, name) ?? '');
};

/** Conversations hold anything, of any length. */
const shortLine = (text: string, longest: number): string => toOneLine(text.slice(0, longest * 2), longest);

// The length of an image's encoding says nothing about its tokens.
const PICTURE_TOKENS = 1_600;
const DEEPEST = 8;

/** Estimated tokens of a tool's output in any form: text, parts, data. */
export const outputTokens = (output: unknown, depth = 0): number => {
  if (typeof output === 'string') return estimateTokens(output);
  if (typeof output === 'number' || typeof output === 'boolean') return estimateTokens(String(output));
  if (depth >= DEEPEST) return 0;
  if (Array.isArray(output)) return sum(output.map((part: unknown) => outputTokens(part, depth + 1)));
  if (!isRecord(output)) return 0;
  if (isPicture(output)) return PICTURE_TOKENS;
  const words = Object.entries(output).filter(([name]) => !labels.has(name));
  return sum(words.map(([, value]) => outputTokens(value, depth + 1)));
};

/** The text of a tool's output in any form; pictures have none. */
export const outputText = (output: unknown, depth = 0): string => {
  if (typeof output === 'string') return output;
  if (typeof output === 'number' || typeof output === 'boolean') return String(output);
  if (depth >= DEEPEST) return '';
  if (Array.isArray(output))
    return nonEmpty(output.map((part: unknown) => outputText(part, depth + 1))).join('\n');
  if (!isRecord(output) || isPicture(output)) return '';
  const words = Object.entries(output).filter(([name]) => !labels.has(name));
  return nonEmpty(words.map(([, value]) => outputText(value, depth + 1))).join('\n');
};

const nonEmpty = (texts: readonly string[]): readonly string[] => texts.filter((text) => text !== '');

/** Fields that describe a part but are not in the conversation. */
const labels = new Set(['type', 'id', 'tool_use_id', 'mimeType', 'media_type', 'cache_control']);

const isPicture = (part: JsonRecord): boolean =>
  ['image', 'input_image', 'image_url'].includes(String(part['type'])) || isRecord(part['inlineData']);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The line with these fields of a record holding another id, wherever they hold one of `ids`; texts of the conversation stay. */
export const replaceIds = (
  line: string,
  fields: readonly string[],
  { from, to }: { readonly from: ReadonlySet<string>; readonly to: string },
): string => {
  let replaced = line;
  for (const field of fields) {
    // in a text the quotation marks are escaped
    for (const id of from) replaced = replaced.replaceAll(`"${field}":"${id}"`, `"${field}":"${to}"`);
    // the agents write no blanks there, but what rewrites their files may
    if (!replaced.includes(`"${field}" `) && !replaced.includes(`"${field}": `)) continue;
    const spaced = new RegExp(`("${field}"\\s*:\\s*")((?:[^"\\\\]|\\\\.)*)(?=")`, 'g');
    replaced = replaced.replace(spaced, (all, before: string, id: string) =>
      from.has(id) ? before + to : all,
    );
  }
  return replaced;
};

// When a record of a session file was written. The field names differ little between agents, and a replay needs nothing else.

export interface RecordTime {
  /** undefined for a record without a timestamp */
  readonly at?: Millis;
  /** the user has just sent something: Claude, Gemini, Qwen and Copilot record it, Codex begins a task */
  readonly isPrompt: boolean;
}

const PROMPTS = new Set(['user', 'user.message']);

export const parseRecordTime = (line: string): RecordTime => {
  const record = parseRecord(line);
  const text =
    getText(record, 'timestamp') ??
    getText(getRecord(record, '$set'), 'lastUpdated') ??
    getText(record, 'startTime') ??
    '';
  const at = parseIsoTime(text) ?? getCount(record, 'at'); // the demo agent writes a number
  const isPrompt =
    PROMPTS.has(getText(record, 'type') ?? '') ||
    getText(getRecord(record, 'payload'), 'type') === 'task_started';
  return { isPrompt, ...present({ at }) };
};
