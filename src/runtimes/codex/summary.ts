// Whether a compaction of Codex's own has left anything of the conversation. When the model answers with nothing, Codex takes the last
// answer that it finds in the conversation for the summary, and says that all went well.
import { listAt, parseRecord, recordAt, textAt } from '../../core/json.js';

const ANSWER = /"type":"(?:AgentMessage|agent_message)"/;
// Codex's own words before the summary, in one line.
const PREFIX = /^Another language model started to solve this problem[^\n]*\n/;

/** An answer of the model as it was shown; the summary of a compaction is none. */
export const isAnswerLine = (line: string): boolean => ANSWER.test(line) && parseRecord(line) !== undefined;

/** A compaction on the model's server leaves a text that nobody can read, and no message: nothing is known of it. */
export const isEmptySummary = (message: string, answerLine: string | undefined): boolean => {
  if (message === '') return false;
  const summary = message.replace(PREFIX, '').trim();
  if (summary === '') return true;
  return answerLine !== undefined && summary === answerIn(answerLine).trim();
};

const answerIn = (line: string): string => {
  const payload = recordAt(parseRecord(line), 'payload');
  const texts = listAt(recordAt(payload, 'item'), 'content').map((block) => textAt(block, 'text') ?? '');
  return textAt(payload, 'message') ?? texts.join('');
};
