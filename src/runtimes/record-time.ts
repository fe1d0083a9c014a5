// When a record of a session file was written, for all agents: what they call it differs little, and a replay needs nothing else.
import { countAt, parseRecord, recordAt, textAt } from '../core/json.js';
import type { Millis } from '../core/reading.js';
import { isoMillis } from '../core/time.js';

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
