// What Claude answers to a `/compact` that changed nothing, on its screen and in its session file (facts/claude.md §6, §7). There a prompt
// that imitates a command has no answer of Claude's own behind it.
import type { CompactResult } from '../../core/event.js';
import { recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import { oneLine } from '../../core/one-line.js';

const NOOP = /^(?:Error: )?(?:No messages|Not enough messages) to compact/;
const EMPTY =
  /^Error during compaction: summarization produced empty response|^Failed to generate conversation summary/;
const FAILED = /^(?:Error during compaction:|Compaction (?:failed|blocked|interrupted)\b)/;
const CANCELED = /^Compaction canceled/;
const COMMAND = /^<command-name>(\/\S+)<\/command-name>/;
const ANSWER = /^<local-command-(?:stdout|stderr)>(.*)<\/local-command-(?:stdout|stderr)>$/s;

const LONGEST = 200; // characters of an error of the model's server, which may be a page

/** Undefined for words of success, and for those of anything else. */
export const resultIn = (words: string): CompactResult | undefined => {
  const text = oneLine(words, LONGEST);
  if (NOOP.test(text)) return { kind: 'noop', text };
  if (EMPTY.test(text)) return { kind: 'failed', failure: 'empty', text };
  if (FAILED.test(text)) return { kind: 'failed', failure: 'error', text };
  return CANCELED.test(text) ? { kind: 'interrupted', by: 'Esc' } : undefined;
};

/** As `/compact`; undefined where the record is no command. */
export const commandOf = (record: JsonRecord): string | undefined =>
  COMMAND.exec(textAt(recordAt(record, 'message'), 'content') ?? '')?.[1];

/** What Claude answered to `/compact`, where that changed nothing. */
export const resultOf = (record: JsonRecord): CompactResult | undefined =>
  resultIn(ANSWER.exec(textAt(record, 'content') ?? '')?.[1] ?? '');
