import type { Entry, Step } from '../core/conversation/conversation.js';
import { MAX_LINE_BYTES } from './read-history.js';
import { readRecords, type RecordSource, type SessionRecord } from './session-records.js';

// What the records of a session file change in its conversation.

/** A record and its steps. */
export interface RecordSteps {
  /** valid until the next one */
  readonly record: SessionRecord;
  /** undefined for a line that is longer than is read */
  readonly text: string | undefined;
  readonly steps: readonly Step[];
  /** it is no record that the agent writes */
  readonly isDamaged: boolean;
}

/**
 * Calls back with every record of a session file; with none where this agent's conversations cannot be read. Yields after each part of the
 * file the bytes it had. Rejects when the file cannot be read. `want`: also what was said, from a database.
 */
export async function* readSteps(
  source: RecordSource,
  onRecord: (read: RecordSteps) => void,
  { want }: { readonly want?: 'everything' } = {},
): AsyncGenerator<number> {
  const { log } = source.agent;
  if (!log?.conversation) return;
  let reader = log.reader({}, { hasEnded: true, conversation: true });
  const withoutKnown = makeHeadFilter();
  const take = (record: SessionRecord): void => {
    const text = record.bytes?.toString('utf8');
    const result = text === undefined || text.trim() === '' ? undefined : reader(text, 0, record.line - 1);
    if (result) reader = result.next;
    const isDamaged = text === undefined || (result?.misfit !== undefined && !result.steps);
    onRecord({ record, text, steps: withoutKnown(result?.steps?.() ?? []), isDamaged });
  };
  yield* readRecords(source, take, { maxBytes: MAX_LINE_BYTES, ...(want ? { want } : {}) });
}

/** Leaves out what every record says of the session again. */
const makeHeadFilter = (): ((steps: readonly Step[]) => readonly Step[]) => {
  const known = new Map<string, unknown>();
  const isNews = ([name, value]: readonly [string, unknown]): boolean => {
    if (known.get(name) === value || (name === 'startedAt' && known.has(name))) return false;
    known.set(name, value);
    return true;
  };
  return (steps) =>
    steps.flatMap((step): readonly Step[] => {
      if (step.kind !== 'head') return [step];
      const news = Object.entries(step.head).filter(isNews);
      return news.length === 0 ? [] : [{ kind: 'head', head: Object.fromEntries(news) }];
    });
};

/** Only what says where an entry belongs: a file can be of any size. */
export const withoutText = (entry: Entry): Entry => {
  const { native: _, ...rest } = entry;
  switch (rest.kind) {
    case 'compaction':
      return rest;
    case 'call':
      return { ...rest, input: undefined };
    case 'result':
      return { ...rest, output: '' };
    default:
      return { ...rest, text: '' };
  }
};
