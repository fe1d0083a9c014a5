import {
  oneLine,
  isRecord,
  textAt,
  type JsonRecord,
  countAt,
  parseRecord,
  recordAt,
  isoMillis,
} from '../core/json.js';
import { estimateTokens, type Millis, type ToolResult } from '../core/reading.js';

// What the tools of an agent put into its conversation. Every agent records a call, with its arguments, before the result.

/**
 * Reads one line of a session file for what fills the window, and gives the reader for the next line. Pure. Lines that hold nothing
 * of the kind must be cheap, because a whole file is read.
 */
export type ContentReader = (line: string, now: Millis) => ContentStep;

export interface ContentStep {
  readonly contents: readonly Content[];
  readonly next: ContentReader;
}

export type Content =
  | (ToolResult & { readonly kind: 'tool-result' })
  /** the conversation was replaced by a summary, or begins anew: what came before is not in the window any more */
  | { readonly kind: 'cleared' };

/** A tool call whose result is still to come. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly label: string;
}

export interface Grasped {
  readonly calls: readonly ToolCall[];
  readonly contents: readonly Content[];
}

/** A content reader that remembers the calls without a result. */
export const contentReader = (
  read: (calls: readonly ToolCall[], line: string, now: Millis) => Grasped,
  calls: readonly ToolCall[] = [],
): ContentReader => {
  const reader: ContentReader = (line, now) => {
    const grasped = read(calls, line, now);
    const isSame = grasped.calls === calls;
    return { contents: grasped.contents, next: isSame ? reader : contentReader(read, grasped.calls) };
  };
  return reader;
};

const MOST_CALLS = 64; // without a result at one time; more are the traces of aborted turns
const LONGEST_NAME = 60;
const LONGEST_LABEL = 200;

export const withCall = (calls: readonly ToolCall[], call: ToolCall): readonly ToolCall[] =>
  [...calls.filter(({ id }) => id !== call.id), call].slice(-MOST_CALLS);

export const nothingIn = (calls: readonly ToolCall[]): Grasped => ({ calls, contents: [] });

export const toolCall = (id: string, name: string | undefined, input: unknown): ToolCall => ({
  id,
  name: shortLine(name ?? 'tool', LONGEST_NAME),
  label: labelOf(input),
});

export const toolResult = (
  { name, label }: Pick<ToolCall, 'name' | 'label'>,
  output: unknown,
  at: Millis,
): Content => ({ kind: 'tool-result', name, label, tokens: outputTokens(output), at });

// The argument that says most, of all agents' tools; the first one that is there wins.
const telling = ['command', 'cmd', 'file_path', 'absolute_path', 'notebook_path', 'path', 'dir_path']
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
    : (textAt(input, name) ?? '');
};

/** Conversations hold anything, of any length. */
const shortLine = (text: string, longest: number): string => oneLine(text.slice(0, longest * 2), longest);

// A picture is not measured by the length of its encoding.
const PICTURE_TOKENS = 1_600;
const DEEPEST = 8;

const outputTokens = (output: unknown, depth = 0): number => {
  if (typeof output === 'string') return estimateTokens(output);
  if (typeof output === 'number' || typeof output === 'boolean') return estimateTokens(String(output));
  if (depth >= DEEPEST) return 0;
  if (Array.isArray(output)) return sum(output.map((part: unknown) => outputTokens(part, depth + 1)));
  if (!isRecord(output)) return 0;
  if (isPicture(output)) return PICTURE_TOKENS;
  const words = Object.entries(output).filter(([name]) => !labels.has(name));
  return sum(words.map(([, value]) => outputTokens(value, depth + 1)));
};

/** Fields that say what a part is and are not in the conversation. */
const labels = new Set(['type', 'id', 'tool_use_id', 'mimeType', 'media_type', 'cache_control']);

const isPicture = (part: JsonRecord): boolean =>
  part['type'] === 'image' || part['type'] === 'input_image' || isRecord(part['inlineData']);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

// When a record of a session file was written, for all agents: what they call it differs little, and a replay needs nothing else.

export interface RecordTime {
  /** undefined for a record without a time of its own */
  readonly at?: Millis;
  /** the user has just sent something: Claude, Gemini and Qwen record it, Codex begins a task */
  readonly isPrompt: boolean;
}

export const recordTime = (line: string): RecordTime => {
  const record = parseRecord(line);
  const text =
    textAt(record, 'timestamp') ??
    textAt(recordAt(record, '$set'), 'lastUpdated') ??
    textAt(record, 'startTime') ??
    '';
  const at = isoMillis(text) ?? countAt(record, 'at'); // the demo's is a number
  const isPrompt =
    textAt(record, 'type') === 'user' || textAt(recordAt(record, 'payload'), 'type') === 'task_started';
  return { isPrompt, ...(at === undefined ? {} : { at }) };
};
