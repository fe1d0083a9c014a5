// The record of a `/compress` that has ended: Qwen writes what it showed, with a number for how it ended (facts/qwen.md).
import type { CompactResult } from '../../core/event.js';
import { countAt, isRecord, listAt, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import { resultIn } from '../compress-command.js';

const SMALL_TOKENS = 50_000; // below, Qwen does not call it a failure that nothing became smaller
const NOT_WORTH_IT = 'Compression was not beneficial for this history size.';

/** By CompressionStatus; 1 is success, which has a record of its own. */
const WORDS: Readonly<Record<number, string>> = {
  2: 'Chat history compression did not reduce size.',
  3: 'Could not compress chat history due to a token counting error.',
  4: 'Could not compress chat history because the compression summary was empty.',
  5: 'Nothing to compress.',
  6: 'Could not compress chat history because the compression summary was truncated.',
  7: 'Could not compress chat history due to an API error.',
};

/** What a record of a command says of a compaction without success; undefined where it says nothing. */
export const commandResult = (payload: JsonRecord | undefined): CompactResult | undefined => {
  if (!payload || textAt(payload, 'phase') !== 'result') return undefined;
  const shown = listAt(payload, 'outputHistoryItems').filter(isRecord);
  const compression = shown.map((item) => recordAt(item, 'compression')).find(Boolean);
  if (compression) return byStatus(compression);
  const error = shown.find((item) => textAt(item, 'type') === 'error');
  const words = textAt(error, 'text') ?? '';
  return words.startsWith('Failed to compress') ? resultIn(words) : undefined;
};

const byStatus = (compression: JsonRecord): CompactResult | undefined => {
  const status = countAt(compression, 'compressionStatus') ?? 0;
  const isSmall = (countAt(compression, 'originalTokenCount') ?? 0) < SMALL_TOKENS;
  const words = status === 2 && isSmall ? NOT_WORTH_IT : WORDS[status];
  return words === undefined ? undefined : resultIn(words);
};
