// Tool results in a Codex rollout: `function_call` and `function_call_output` records (and their `custom_tool_call` kin), tied by
// the call id. `compacted` replaces the history, outputs included.
import { parseRecord, recordAt, textAt } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { contentReader, nothingIn, toolCall, toolResult, withCall } from '../contents.js';
import type { ContentReader, Grasped, ToolCall } from '../contents.js';

const TELLING = /"(?:function_call|custom_tool_call|local_shell_call|compacted)(?:_output)?"/;
const CALL = /^(?:function_call|custom_tool_call|local_shell_call)$/;
const OUTPUT = /^(?:function_call|custom_tool_call|local_shell_call)_output$/;

export const codexContents = (): ContentReader => contentReader(readLine);

const readLine = (calls: readonly ToolCall[], line: string, now: Millis): Grasped => {
  if (!TELLING.test(line)) return nothingIn(calls);
  const record = parseRecord(line);
  if (record?.['type'] === 'compacted') return { calls: [], contents: [{ kind: 'cleared' }] };
  const payload = record?.['type'] === 'response_item' ? recordAt(record, 'payload') : undefined;
  const type = textAt(payload, 'type') ?? '';
  const id = textAt(payload, 'call_id') ?? '';
  if (payload && CALL.test(type)) {
    const input = textAt(payload, 'arguments') ?? textAt(payload, 'input');
    const given =
      recordAt(payload, 'action') ?? (input === undefined ? undefined : (parseRecord(input) ?? input));
    return { calls: withCall(calls, toolCall(id, textAt(payload, 'name') ?? 'shell', given)), contents: [] };
  }
  if (!payload || !OUTPUT.test(type)) return nothingIn(calls);
  const call = calls.find((each) => each.id === id) ?? toolCall(id, undefined, undefined);
  const at = isoMillis(textAt(record, 'timestamp') ?? '') ?? now;
  return {
    calls: calls.filter((each) => each.id !== id),
    contents: [toolResult(call, payload['output'], at)],
  };
};
