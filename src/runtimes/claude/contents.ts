// Tool results in a Claude Code session file (facts/claude.md §7): a `tool_use` block of an answer, then a `tool_result` block of
// the next user record, tied by the id.
import { isRecord, listAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { contentReader, nothingIn, toolCall, toolResult, withCall } from '../contents.js';
import type { ContentReader, Grasped, ToolCall } from '../contents.js';

const TELLING = /"tool_use"|"tool_result"|"compact_boundary"/;

export const claudeContents = (): ContentReader => contentReader(readLine);

const readLine = (calls: readonly ToolCall[], line: string, now: Millis): Grasped => {
  if (!TELLING.test(line)) return nothingIn(calls);
  const record = parseRecord(line);
  if (!record || record['isSidechain'] === true) return nothingIn(calls);
  if (record['subtype'] === 'compact_boundary') return { calls: [], contents: [{ kind: 'cleared' }] };
  const at = isoMillis(textAt(record, 'timestamp') ?? '') ?? now;
  const blocks = listAt(recordAt(record, 'message'), 'content').filter(isRecord);
  return blocks.reduce((grasped, block) => readBlock(grasped, block, at), nothingIn(calls));
};

const readBlock = ({ calls, contents }: Grasped, block: JsonRecord, at: Millis): Grasped => {
  if (block['type'] === 'tool_use') {
    const id = textAt(block, 'id') ?? '';
    return { calls: withCall(calls, toolCall(id, textAt(block, 'name'), block['input'])), contents };
  }
  if (block['type'] !== 'tool_result') return { calls, contents };
  const id = textAt(block, 'tool_use_id') ?? '';
  const call = calls.find((each) => each.id === id) ?? toolCall(id, undefined, undefined);
  return {
    calls: calls.filter((each) => each.id !== id),
    contents: [...contents, toolResult(call, block['content'], at)],
  };
};
