// A request for a compaction, and the answer to it, as two processes of one user leave them for each other.
import { countAt, parseRecord, recordAt, textAt } from '../json.js';
import { oneLine } from '../one-line.js';
import { isSessionId } from '../parse-session-record.js';
import type { Millis } from '../reading.js';
import { parseAttempt } from './attempt-record.js';
import type { AttemptRecord } from './attempt-record.js';
import { focusText } from './focus.js';
import { REQUEST_MS } from './request.js';

/** Which request of which session; both are `[A-Za-z0-9_-]{1,64}`. */
export interface RequestKey {
  readonly session: string;
  readonly request: string;
}

export interface RequestRecord extends RequestKey {
  readonly schema: 'ctxwrap.request/1';
  readonly askedAt: Millis;
  /** pauses and the breaker do not count */
  readonly force: boolean;
  readonly focus?: string;
  /** the process that waits for the answer; absent where none does, so that its end says nothing */
  readonly pid?: number;
  /** when that process began, as the system counts */
  readonly processStart?: string;
}

export type AnswerRecord = RequestKey & { readonly schema: 'ctxwrap.answer/1'; readonly at: Millis } & (
    | { readonly state: 'waiting' }
    /** the command is being typed, or was sent */
    | { readonly state: 'begun' }
    | { readonly state: 'refused'; readonly reason: string }
    | { readonly state: 'ended'; readonly attempt: AttemptRecord }
  );

const LONGEST_REASON = 300;

/** Whether the time of a request is over, or it is of a time that has not come. */
export const isExpired = ({ askedAt }: Pick<RequestRecord, 'askedAt'>, now: Millis): boolean =>
  Math.abs(now - askedAt) > REQUEST_MS;

export const parseRequest = (text: string): RequestRecord | undefined => {
  const found = parseRecord(text);
  const key = keyIn(found);
  const askedAt = countAt(found, 'askedAt');
  if (!found || found['schema'] !== 'ctxwrap.request/1' || !key || askedAt === undefined) return undefined;
  const focus = focusText(textAt(found, 'focus') ?? '');
  const pid = countAt(found, 'pid');
  const processStart = textAt(found, 'processStart');
  return {
    schema: 'ctxwrap.request/1',
    ...key,
    askedAt,
    force: found['force'] === true,
    ...(focus === undefined ? {} : { focus }),
    ...(pid === undefined ? {} : { pid }),
    ...(processStart === undefined ? {} : { processStart }),
  };
};

export const parseAnswer = (text: string): AnswerRecord | undefined => {
  const found = parseRecord(text);
  const key = keyIn(found);
  const at = countAt(found, 'at');
  if (!found || found['schema'] !== 'ctxwrap.answer/1' || !key || at === undefined) return undefined;
  const base = { schema: 'ctxwrap.answer/1', ...key, at } as const;
  switch (found['state']) {
    case 'waiting':
    case 'begun':
      return { ...base, state: found['state'] };
    case 'refused':
      return { ...base, state: 'refused', reason: oneLine(textAt(found, 'reason') ?? '', LONGEST_REASON) };
    case 'ended': {
      const attempt = parseAttempt(recordAt(found, 'attempt'));
      return attempt && { ...base, state: 'ended', attempt };
    }
    default:
      return undefined;
  }
};

const keyIn = (found: unknown): RequestKey | undefined => {
  const [session = '', request = ''] = [textAt(found, 'session'), textAt(found, 'request')];
  return isSessionId(session) && isSessionId(request) ? { session, request } : undefined;
};
