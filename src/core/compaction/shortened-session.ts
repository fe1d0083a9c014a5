import type { RecordedCompaction } from '../conversation/boundary-record.js';
import { getCount, getRecord, getText, parseRecord } from '../json.js';
import { jsonText } from '../printable.js';
import { present } from '../present.js';
import type { Millis } from '../reading.js';

// A session that ctxwrap has written in place of a longer one, as the audit log names it. The line is there before the session is: its file
// says nothing of who shortened it, how large the conversation was, and where the whole of it is.

export interface ShortenedSession {
  readonly runtime: string;
  readonly strategy: string;
  /** the agent's id of the new session */
  readonly id: string;
  /** the time of the new records in it */
  readonly at: Millis;
  /** the file of the longer one */
  readonly from: string;
  /** of the window before */
  readonly preTokens: number;
  /** `preTokens` was not reported by the agent */
  readonly isEstimated?: true;
  /** of the window afterwards, estimated */
  readonly postTokens: number;
}

const SCHEMA = 'ctxwrap.shortened/1';

/** The line of the audit log, with a newline. */
export const shortenedLine = ({ from, ...session }: ShortenedSession): string =>
  jsonText({ schema: SCHEMA, initiator: 'ctxwrap', ...session, from: { path: from } });

/** undefined for another line */
export const parseShortened = (line: string): ShortenedSession | undefined => {
  if (!line.includes(SCHEMA)) return undefined;
  const found = parseRecord(line);
  const [runtime, strategy, id] = [
    getText(found, 'runtime'),
    getText(found, 'strategy'),
    getText(found, 'id'),
  ];
  const from = getText(getRecord(found, 'from'), 'path');
  const [at, preTokens, postTokens] = [
    getCount(found, 'at'),
    getCount(found, 'preTokens'),
    getCount(found, 'postTokens'),
  ];
  if (found?.['schema'] !== SCHEMA || runtime === undefined || strategy === undefined || id === undefined)
    return undefined;
  if (from === undefined || at === undefined || preTokens === undefined || postTokens === undefined)
    return undefined;
  const isEstimated = found['isEstimated'] === true ? true : undefined;
  return { runtime, strategy, id, at, from, preTokens, ...present({ isEstimated }), postTokens };
};

/**
 * The sizes of a shortening of which the agent's file has no record. `nextTokens`: of the agent's first answer after it, which says more than
 * the estimate
 */
export const unrecordedSizes = (
  { at, preTokens, isEstimated, postTokens }: ShortenedSession,
  nextTokens?: number,
) => ({
  at,
  initiator: 'ctxwrap' as const,
  preTokens,
  ...present({ isEstimated, nextTokens }),
  ...(nextTokens === undefined ? { postTokens, isPostEstimated: true as const } : {}),
});

/** The same as a compaction: its number is 0, and so is its line. Only an answer proves that the agent has taken the session. */
export const unrecordedCompaction = (
  written: ShortenedSession,
  nextTokens: number | undefined,
): RecordedCompaction => ({
  number: 0,
  ...unrecordedSizes(written, nextTokens),
  afterMessage: 0,
  line: 0,
  offset: 0,
  isVerified: nextTokens !== undefined,
});
