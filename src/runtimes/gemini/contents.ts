// Tool results in a Gemini session file (facts/gemini.md §7): the `toolCalls` of an answer hold arguments and result together. The
// answer is written first without them and again with them; a result that was seen is not a second one. A `$set` of all messages
// replaces the conversation.
import { isRecord, listAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { contentReader, nothingIn, toolCall, toolResult, withCall } from '../contents.js';
import type { Content, ContentReader, Grasped, ToolCall } from '../contents.js';

const TELLING = /"toolCalls"|^\{"\$set":\{.*"messages"/;

export const geminiContents = (): ContentReader => contentReader(readLine);

// The calls kept here are those whose result was told.
const readLine = (calls: readonly ToolCall[], line: string, now: Millis): Grasped => {
  if (!TELLING.test(line)) return nothingIn(calls);
  const record = parseRecord(line);
  const set = recordAt(record, '$set');
  if (!set) return record ? readMessage(nothingIn(calls), record, now) : nothingIn(calls);
  if (set['messages'] === undefined) return nothingIn(calls);
  const cleared: Grasped = { calls: [], contents: [{ kind: 'cleared' }] };
  return listAt(set, 'messages')
    .filter(isRecord)
    .reduce((grasped, message) => readMessage(grasped, message, now), cleared);
};

const readMessage = (grasped: Grasped, message: JsonRecord, now: Millis): Grasped => {
  const at = isoMillis(textAt(message, 'timestamp') ?? '') ?? now;
  return listAt(message, 'toolCalls')
    .filter(isRecord)
    .reduce((held, call) => readCall(held, call, at), grasped);
};

const readCall = ({ calls, contents }: Grasped, record: JsonRecord, at: Millis): Grasped => {
  const id = textAt(record, 'id') ?? '';
  if (record['result'] === undefined || calls.some((each) => each.id === id)) return { calls, contents };
  const call = toolCall(id, textAt(record, 'name'), record['args']);
  const result: Content = toolResult(call, responsesOf(record['result']), at);
  return { calls: withCall(calls, call), contents: [...contents, result] };
};

// What the model gets is the `response` of each part; the rest names the call again.
const responsesOf = (result: unknown): unknown =>
  Array.isArray(result)
    ? result.map((part: unknown) => recordAt(recordAt(part, 'functionResponse'), 'response') ?? part)
    : result;
