import { isRecord, getText, type JsonRecord, getCount, parseRecord, getRecord } from '../core/json.js';
import { present } from '../core/present.js';
import { parseIsoTime } from '../core/time.js';
import { estimateTokens, type Millis } from '../core/reading.js';
import type { NewSession } from '../core/conversation/conversation.js';

/** Characters of a line. Longer ones hold images: few tokens for their length. */
export const LONGEST_GROWTH = 1_000_000;

/** The line may be a call of the agent's plan tool, or of `git commit`. Asked of lines that hold no facts, so it must be cheap. */
export const mayHoldWork = (
  line: string,
  { call, plan }: { /** in every record of a call */ readonly call: string; readonly plan: string },
): boolean =>
  line.includes(call) && (line.includes(plan) || (line.includes('git ') && line.includes(' commit')));

/** When a record was written; now if it has no time. */
export const timeOfRecord = (record: unknown, now: Millis): Millis =>
  parseIsoTime(getText(record, 'timestamp') ?? '') ?? now;

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

/** Encoded data, such as a picture. */
const isPicture = (part: JsonRecord): boolean =>
  ENCODED.includes(String(part['type'])) ||
  isRecord(part['inlineData']) ||
  getText(part['source'], 'type') === 'base64' ||
  getText(part, 'blob') !== undefined;

const ENCODED = ['image', 'input_image', 'image_url', 'audio', 'input_audio', 'audio_url', 'video_url'];

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

/** Lines of a new session file in which each record names the one before it. A record keeps its id, unless another one has it already. */
export const chainRecords = (
  records: readonly Readonly<Record<string, unknown>>[],
  { id: sessionId, newUuid }: Pick<NewSession, 'id' | 'newUuid'>,
): readonly string[] => {
  const used = new Set<string>();
  let parentUuid: string | null = null;
  return records.map((record) => {
    const own = getText(record, 'uuid');
    const uuid = own === undefined || used.has(own) ? newUuid() : own;
    used.add(uuid);
    const line = JSON.stringify({ ...record, parentUuid, uuid, sessionId });
    parentUuid = uuid;
    return line;
  });
};
