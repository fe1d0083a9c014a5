// One line of a Qwen Code session file (facts/qwen.md). Every answer tells the window it was counted in. `ui_telemetry` repeats the usage
// of all calls, also of those beside the conversation, and is no reading.
import type { Fact } from '../../core/event.js';
import { estimateTokens } from '../../core/estimate.js';
import { countAt, isRecord, listAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { isNews } from '../compress-command.js';
import { lineReader } from '../runtime.js';
import type { LineReader, Understood } from '../runtime.js';
import { commandResult } from './command-result.js';

type QwenLog = undefined; // every line says all there is

const TELLING = /"(?:assistant|user|tool_result|chat_compression|rewind|slash_command)"/;
const SAID = ['user', 'tool_result'];
const COMPRESSED = 1; // CompressionStatus.COMPRESSED; all others are failures and "nothing to compress"
const LONGEST_GROWTH = 1_000_000; // characters; longer lines hold images

export const qwenReader = (): LineReader => lineReader<QwenLog>(undefined, readLine);

const readLine = (state: QwenLog, line: string, now: Millis): Understood<QwenLog> => {
  if (!line.startsWith('{') || !line.includes('"type"'))
    return { state, facts: [], misfit: 'not a Qwen record' };
  if (!TELLING.test(line)) return { state, facts: [] };
  const record = parseRecord(line);
  if (!record) return { state, facts: [], misfit: 'not JSON' };
  // Subagents write files of their own, and mark what they write.
  if (record['isSidechain'] === true) return { state, facts: [] };
  const at = isoMillis(textAt(record, 'timestamp') ?? '') ?? now;
  const type = textAt(record, 'type') ?? '';
  if (type === 'assistant') return { state, ...readAnswer(record, at) };
  if (SAID.includes(type)) return { state, facts: line.length > LONGEST_GROWTH ? [] : readGrowth(record) };
  return { state, facts: type === 'system' ? readSystem(record, at, now) : [] };
};

const readAnswer = (
  record: JsonRecord,
  at: Millis,
): { readonly facts: readonly Fact[]; readonly misfit?: string } => {
  const usage = recordAt(record, 'usageMetadata');
  // An answer that was cut off has none.
  if (!usage) return { facts: [] };
  const usedTokens = countAt(usage, 'promptTokenCount');
  if (usedTokens === undefined) return { facts: [], misfit: 'usage without promptTokenCount' };
  if (usedTokens === 0) return { facts: [] };
  const cachedTokens = countAt(usage, 'cachedContentTokenCount');
  const windowTokens = countAt(record, 'contextWindowSize');
  const reading = {
    usedTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(windowTokens ? { windowTokens, windowSource: 'agent' as const } : {}),
    source: 'log' as const,
    model: textAt(record, 'model') ?? '',
    at,
  };
  return { facts: [{ type: 'reading', reading }] };
};

const readSystem = (record: JsonRecord, at: Millis, now: Millis): readonly Fact[] => {
  if (record['subtype'] === 'rewind') return [{ type: 'voided' }];
  if (record['subtype'] === 'slash_command') {
    const result = isNews(at, now) ? commandResult(recordAt(record, 'systemPayload')) : undefined;
    return result ? [{ type: 'compact-result', result }] : [];
  }
  const info = recordAt(recordAt(record, 'systemPayload'), 'info');
  if (record['subtype'] !== 'chat_compression' || info?.['compressionStatus'] !== COMPRESSED) return [];
  const preTokens = countAt(info, 'originalTokenCount');
  const postTokens = countAt(info, 'newTokenCount');
  // versions before 0.16 do not say who asked for it
  const reason = textAt(info, 'triggerReason');
  const initiator =
    reason === undefined ? {} : ({ initiator: reason === 'manual' ? 'user' : 'agent' } as const);
  // Qwen's estimate of what is left may come out as 0, which cannot be.
  const sizes = { ...(preTokens ? { preTokens } : {}), ...(postTokens ? { postTokens } : {}) };
  return [{ type: 'boundary', boundary: { ...initiator, ...sizes, at } }];
};

const readGrowth = (record: JsonRecord): readonly Fact[] => {
  const tokens = estimateTokens(textsIn(listAt(recordAt(record, 'message'), 'parts')).join(''));
  return tokens === 0 ? [] : [{ type: 'growth', tokens }];
};

const textsIn = (parts: readonly unknown[]): readonly string[] =>
  parts.filter(isRecord).flatMap((part) => {
    const response = recordAt(recordAt(part, 'functionResponse'), 'response');
    return [textAt(part, 'text') ?? textAt(response, 'output') ?? textAt(response, 'error') ?? ''];
  });
