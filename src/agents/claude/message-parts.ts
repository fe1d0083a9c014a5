import type { Answered, Entry, SourceRecord } from '../../core/conversation/conversation.js';
import { getRecord, getText, type JsonRecord } from '../../core/json.js';
import { textEntry, type ToolEvent } from '../entries.js';

// What stands in a message of a record: calls and results of tools, and texts that are not all the user's (docs/facts/claude.md#who-wrote-a-record-with-the-role-of-the-user).

/** A text in such a record, or in one of a message that was sent while the agent worked. */
export const userText = (from: JsonRecord, source: SourceRecord, text: string, native: unknown): Entry => {
  const entry = textEntry(kindOf(from, text), source, text, native);
  const typed = text.replace(PASTED, '\n');
  return entry.kind === 'prompt' && typed !== text ? { ...entry, typed } : entry;
};

/**
 * What was pasted and folded by Claude into a mark in the prompt; without its end, all that follows. The id is made of that of the session:
 * nothing that is pasted can know it and end the mark.
 */
const PASTED = /<pasted_content id="([0-9a-f]{4})">\n[^]*?(?:\n<\/pasted_content id="\1">|$)/g;

// What Claude itself puts into a message of the user: reminders, what the editor shows, its commands and their output, messages of tasks and
// other agents, the mark of an interruption.
const OWN_WORDS =
  /^\s*<(?:(?:command|local-command|bash)-\w+|ide_\w+|system-reminder|task-notification|(?:agent|teammate|cross-session)-message|channel|user-prompt-submit-hook|user-memory-input)(?=[\s>])|^\[Request interrupted by user|^Caveat: The messages below/;

/** Uses the origin that newer versions record, and the wording of older ones. */
const kindOf = (from: JsonRecord, text: string): 'prompt' | 'context' | 'summary' => {
  if (from['isCompactSummary'] === true) return 'summary';
  const origin = getText(getRecord(from, 'origin'), 'kind') ?? 'human';
  return from['isMeta'] === true || origin !== 'human' || OWN_WORDS.test(text) ? 'context' : 'prompt';
};

/** Beside the result of a tool that has asked the user. */
export const answersIn = (record: JsonRecord): { readonly answers?: readonly Answered[] } => {
  const answers = getRecord(getRecord(record, 'toolUseResult'), 'answers');
  if (!answers) return {};
  return {
    answers: Object.entries(answers).flatMap(([id, text]) =>
      typeof text === 'string' ? [{ id, text }] : [],
    ),
  };
};

/** A call or a result of a tool; none of a text. */
export const toolEventsIn = (block: JsonRecord): readonly ToolEvent[] => {
  const id = getText(block, block['type'] === 'tool_use' ? 'id' : 'tool_use_id') ?? '';
  if (block['type'] === 'tool_use')
    return [{ kind: 'call', id, name: getText(block, 'name'), input: block['input'] }];
  if (block['type'] !== 'tool_result') return [];
  return [{ kind: 'result', id, output: block['content'], isError: block['is_error'] === true }];
};
