// One line of a Claude Code session file (facts/claude.md §7). The file is append-only; one record a content block.
import type { Boundary, Fact } from '../../core/event.js';
import { countAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { lineReader } from '../runtime.js';
import type { LineReader, Understood } from '../runtime.js';
import { commandOf, resultOf } from './command-result.js';
import { modelKey } from './models.js';
import { readGrowth } from './growth.js';
import { provesLarge, windowOf } from './window.js';
import type { Env } from '../place.js';

interface ClaudeLog {
  readonly env: Env;
  /** models that were seen with more tokens than a standard window holds */
  readonly largeModels: readonly string[];
  readonly model?: string;
  /** the last command of the user's, as `/compact`: what it answered is a record of its own */
  readonly command?: string;
}

// Longer lines hold images: they have few tokens for their length.
const LONGEST_GROWTH = 1_000_000; // characters

export const claudeReader = (env: Env): LineReader => lineReader({ env, largeModels: [] }, readLine);

const readLine = (state: ClaudeLog, line: string, now: Millis): Understood<ClaudeLog> => {
  // Most of a file is attachments, snapshots and huge tool results: they are not worth parsing.
  if (!line.startsWith('{') || !line.includes('"type"'))
    return { state, facts: [], misfit: 'not a Claude record' };
  if (!isWorthParsing(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  // Subagents of old versions write into the same file; their context is not the window on the screen.
  if (record['isSidechain'] === true) return { state, facts: [] };
  if (record['type'] === 'assistant') return readAnswer(state, record, now);
  if (record['type'] === 'user') return { state: withCommand(state, record), facts: readGrowth(record) };
  if (record['subtype'] === 'local_command') return readCommandAnswer(state, record);
  return record['subtype'] === 'compact_boundary' ? readBoundary(state, record, now) : { state, facts: [] };
};

const isWorthParsing = (line: string): boolean =>
  line.includes('"assistant"') ||
  line.includes('compact_boundary') ||
  line.includes('"local_command"') ||
  (line.length <= LONGEST_GROWTH && line.includes('"type":"user"'));

const withCommand = (state: ClaudeLog, record: JsonRecord): ClaudeLog => {
  const command = commandOf(record);
  return command === undefined ? state : { ...state, command };
};

const readCommandAnswer = (state: ClaudeLog, record: JsonRecord): Understood<ClaudeLog> => {
  const { command, ...rest } = state;
  const result = command === '/compact' ? resultOf(record) : undefined;
  return result ? { state: rest, facts: [{ type: 'compact-result', result }] } : { state, facts: [] };
};

const readAnswer = (state: ClaudeLog, record: JsonRecord, now: Millis): Understood<ClaudeLog> => {
  const message = recordAt(record, 'message');
  const name = textAt(message, 'model') ?? '';
  if (name === '<synthetic>') return { state, facts: [] };
  const model = modelKey(name);
  const usage = recordAt(message, 'usage');
  const used = usedTokens(usage);
  if (used === undefined) return { state, facts: [], misfit: 'an answer without usage' };
  if (used === 0) return { state, facts: [] };
  const after = proven({ ...state, model }, used);
  const cachedTokens = countAt(usage, 'cache_read_input_tokens');
  const fact: Fact = {
    type: 'reading',
    reading: {
      usedTokens: used,
      ...(cachedTokens === undefined ? {} : { cachedTokens }),
      ...windowOf(model, after.largeModels.includes(model), state.env),
      source: 'log',
      model,
      at: timeOf(record, now),
    },
  };
  return { state: after, facts: [fact] };
};

// The same sum as Claude's own percentage: the answer itself (output_tokens) is not in it.
const usedTokens = (usage: JsonRecord | undefined): number | undefined => {
  const input = countAt(usage, 'input_tokens');
  if (input === undefined) return undefined;
  return (
    input +
    (countAt(usage, 'cache_creation_input_tokens') ?? 0) +
    (countAt(usage, 'cache_read_input_tokens') ?? 0)
  );
};

const readBoundary = (state: ClaudeLog, record: JsonRecord, now: Millis): Understood<ClaudeLog> => {
  const metadata = recordAt(record, 'compactMetadata');
  const preTokens = countAt(metadata, 'preTokens');
  const postTokens = countAt(metadata, 'postTokens');
  const uuid = textAt(record, 'uuid');
  const durationMs = countAt(metadata, 'durationMs');
  const boundary: Boundary = {
    // `auto`, also where it compacts while nobody asks for anything; a word of another day is not the user's
    initiator: (textAt(metadata, 'trigger') ?? 'manual') === 'manual' ? 'user' : 'agent',
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(postTokens === undefined ? {} : { postTokens }),
    ...(uuid === undefined ? {} : { uuid }),
    ...(durationMs === undefined ? {} : { durationMs }),
    at: timeOf(record, now),
  };
  return { state: proven(state, preTokens ?? 0), facts: [{ type: 'boundary', boundary }] };
};

const proven = (state: ClaudeLog, tokens: number): ClaudeLog => {
  const { model, largeModels } = state;
  if (model === undefined || !provesLarge(tokens) || largeModels.includes(model)) return state;
  return { ...state, largeModels: [...largeModels, model] };
};

const timeOf = (record: JsonRecord, now: Millis): Millis =>
  isoMillis(textAt(record, 'timestamp') ?? '') ?? now;
