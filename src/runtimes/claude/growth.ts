// What a record of a Claude Code session file adds to the conversation, before an answer tells its exact size.
import type { Fact } from '../../core/event.js';
import { estimateTokens } from '../../core/estimate.js';
import { isRecord, listAt, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';

/** A prompt of the user or the result of a tool; the summary of a compaction is in the boundary's own number. */
export const readGrowth = (record: JsonRecord): readonly Fact[] => {
  if (record['isCompactSummary'] === true) return [];
  const tokens = estimateTokens(textsIn(recordAt(record, 'message')).join(''));
  return tokens === 0 ? [] : [{ type: 'growth', tokens }];
};

// A text, or blocks of text and tool results, which hold a text or blocks again. Images have no text and are left out.
const textsIn = (from: unknown): readonly string[] => {
  const content = textAt(from, 'content');
  if (content !== undefined) return [content];
  return listAt(from, 'content').flatMap((block) => {
    const text = textAt(block, 'text');
    if (text !== undefined) return [text];
    return isRecord(block) && block['type'] === 'tool_result' ? textsIn(block) : [];
  });
};
