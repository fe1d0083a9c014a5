// Tool results in a Qwen Code session file: a `functionCall` part of an answer, then a `functionResponse` part, tied by the id.
import { isRecord, listAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { contentReader, nothingIn, toolCall, toolResult, withCall } from '../contents.js';
import type { ContentReader, Grasped, ToolCall } from '../contents.js';

const TELLING = /"functionCall"|"functionResponse"|"chat_compression"/;
const COMPRESSED = 1; // compressionStatus; all others are failures that change nothing

export const qwenContents = (): ContentReader => contentReader(readLine);

const readLine = (calls: readonly ToolCall[], line: string, now: Millis): Grasped => {
  if (!TELLING.test(line)) return nothingIn(calls);
  const record = parseRecord(line);
  if (!record) return nothingIn(calls);
  if (record['subtype'] === 'chat_compression') {
    const info = recordAt(recordAt(record, 'systemPayload'), 'info');
    const isDone = info?.['compressionStatus'] === COMPRESSED;
    return isDone ? { calls: [], contents: [{ kind: 'cleared' }] } : nothingIn(calls);
  }
  const at = isoMillis(textAt(record, 'timestamp') ?? '') ?? now;
  const parts = listAt(recordAt(record, 'message'), 'parts').filter(isRecord);
  return parts.reduce((grasped, part) => readPart(grasped, part, at), nothingIn(calls));
};

const readPart = ({ calls, contents }: Grasped, part: JsonRecord, at: Millis): Grasped => {
  const asked = recordAt(part, 'functionCall');
  if (asked) {
    const call = toolCall(idOf(asked), textAt(asked, 'name'), asked['args']);
    return { calls: withCall(calls, call), contents };
  }
  const answered = recordAt(part, 'functionResponse');
  if (!answered) return { calls, contents };
  const id = idOf(answered);
  const call = calls.find((each) => each.id === id) ?? toolCall(id, textAt(answered, 'name'), undefined);
  return {
    calls: calls.filter((each) => each.id !== id),
    contents: [...contents, toolResult(call, answered['response'], at)],
  };
};

// Some models give no ids: then the name ties the two.
const idOf = (part: JsonRecord): string => textAt(part, 'id') ?? textAt(part, 'name') ?? '';
