import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { REQUEST_MS } from '../core/compaction/machine.js';
import type { AttemptRecord } from '../core/compaction/protocol.js';
import {
  isLastAnswer,
  meaningOf,
  SESSION_ENDED,
  type AnswerRecord,
  type Asked,
  type RequestRecord,
} from '../core/compaction/requests.js';
import { present } from '../core/present.js';
import { FAILED_WORDS } from '../core/report/records.js';
import { systemReason } from '../storage/errors.js';
import { processStart } from '../storage/processes.js';
import {
  ensureRequestsFolder,
  isRequestThere,
  readAnswer,
  removeAnswer,
  removeRequest,
  withdrawRequest,
  writeRequest,
} from '../storage/requests.js';
import { readSession, type ListedSession } from '../storage/sessions.js';
import { isThere } from './session-argument.js';
import type { Outcome } from './session.js';
import { noProgress, progressLine } from './text.js';
import { catchStopSignals } from './verify.js';

// Asks a running session for something and waits for the result: the one place that does, for every command. What a command makes of
// the answer, and how it says it, is in the command's own file.

/** What is known when the asking is over. */
export type Answered =
  /** the session carries it out, and this command does not wait for it; with words, the agent is started again for it */
  | { readonly outcome: 'begun'; readonly words?: string }
  /** it is over: `attempt` of a request to compact, which may have failed; `words` of what was done */
  | { readonly outcome: 'done'; readonly words?: string; readonly attempt?: AttemptRecord }
  /** nothing was typed, or it was taken back, and nothing will be: a file that was made for it can be removed */
  | { readonly outcome: 'refused'; readonly reason: string; readonly why?: RefusedWhy }
  /** it may have been typed, with an unknown result: the agent may be using the files made for it */
  | {
      readonly outcome: 'unknown';
      readonly reason: string;
      /** the session has ended, so its agent can be asked nothing */
      readonly isOver: boolean;
    };

/** `impossible`: the agent cannot do it in this way; `unwritten`: the session could not be asked */
type RefusedWhy = 'withdrawn' | 'impossible' | 'unwritten';

export interface Asking {
  readonly stateFolder: string;
  /** wait for the outcome, not only until the session has the request, which then outlives this command */
  readonly waits: boolean;
  /** aborting it withdraws the request */
  readonly signal: AbortSignal;
  /** called when the request is written */
  readonly onAsked?: () => Promise<void>;
  /** called with what the session waits for or does, when that has changed */
  readonly onWords?: (words: string) => void;
}

/** Never rejects, as long as `onAsked` does not. */
export const askSession = async (session: string, asked: Asked, asking: Asking): Promise<Answered> => {
  const { stateFolder, waits, onAsked } = asking;
  const request: RequestRecord = {
    ...asked,
    session,
    request: `${process.pid}-${randomBytes(6).toString('hex')}`,
    askedAt: Date.now(),
    ...(waits ? present({ pid: process.pid, processStart: processStart(process.pid) }) : {}),
  };
  let folder: string;
  try {
    folder = await ensureRequestsFolder(stateFolder);
    await writeRequest(folder, request);
  } catch (error) {
    return { outcome: 'refused', reason: systemReason(error), why: 'unwritten' };
  }
  await onAsked?.();
  const followed = await followRequest(folder, request, asking).catch((error: unknown): Left => ({
    left: systemReason(error),
  }));
  const answered = 'left' in followed ? await leave(folder, request, followed) : followed;
  // a request that nobody waits for stays until the session has carried it out
  if (answered.outcome !== 'begun') await removeRequest(folder, request);
  await removeAnswer(folder, request);
  return answered;
};

/** Why this command waits no longer. */
interface Left {
  readonly left: string;
  readonly isOver?: boolean;
  readonly isWithdrawn?: boolean;
}

const POLL_MS = 200;
const NOTICE_MS = 20_000; // a wrapper polls every 5 s where the system does not report file changes
const LONGEST_MS = 2 * REQUEST_MS; // the wrapper finds a safe moment in the first half of this time, or refuses

const followRequest = async (
  folder: string,
  request: RequestRecord,
  { stateFolder, waits, signal, onWords }: Asking,
): Promise<Answered | Left> => {
  let isNoticed = false;
  let lastWords: string | undefined;
  let seenAt = Date.now();
  while (!signal.aborted) {
    const now = Date.now();
    const isKept = await isRequestThere(folder, request); // a session answers before it removes it, and before it ends
    const session = await readSession(stateFolder, request.session, now);
    const answer = await readAnswer(folder, request);
    if (answer && isLastAnswer(answer)) return answeredBy(answer);
    const wasNoticed = isNoticed;
    isNoticed ||= answer !== undefined;
    if (isNoticed && !waits) return { outcome: 'begun' };
    if (session) seenAt = now;
    if (session && !isThere(session)) return { left: SESSION_ENDED, isOver: true };
    if (session?.liveness === 'failed') return { left: FAILED_WORDS };
    if (now - seenAt > NOTICE_MS) return { left: 'the state of the session cannot be read' };
    if (!isKept) return { left: 'the request was removed' };
    const askedMs = now - request.askedAt;
    if (!isNoticed && askedMs > NOTICE_MS) return { left: 'the session does not react to requests' };
    if (askedMs > LONGEST_MS) return { left: 'the session does not answer' };
    const words = wordsOf(request, session, wasNoticed ? answer : undefined);
    if (words !== undefined && words !== lastWords) onWords?.(words);
    lastWords = words;
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return { left: 'you stopped waiting', isWithdrawn: true };
};

const BEGUN = 'it is being carried out: too late to withdraw it';

/** What the session says about this request, or that it says nothing. */
const wordsOf = (
  { schema, request }: RequestRecord,
  session: ListedSession | undefined,
  answer: AnswerRecord | undefined,
): string | undefined => {
  if (session?.liveness === 'stale')
    return 'the session does not react; if it is suspended, run fg in its terminal';
  if (answer?.state === 'waiting' && answer.reason !== undefined) return answer.reason;
  if (answer?.state === 'begun' && schema !== 'ctxwrap.request/1') return BEGUN;
  const { compaction } = session?.record ?? {};
  if (compaction?.request === request) return compaction.words; // its other words are about something else
  return answer?.state === 'waiting' && schema !== 'ctxwrap.request/1' ? WAITING : undefined;
};

const WAITING = 'waiting for a safe moment'; // said of a request that the session has not refused at once

/** Withdraws the request, and so learns whether anything was done. */
const leave = async (
  folder: string,
  request: RequestRecord,
  { left: reason, isOver = false, isWithdrawn = false }: Left,
): Promise<Answered> => {
  const withdrawal = await withdrawRequest(folder, request);
  switch (withdrawal.kind) {
    case 'answered':
      return answeredBy(withdrawal.answer);
    case 'unknown':
      return { outcome: 'unknown', reason, isOver };
    case 'unbegun':
      return isWithdrawn
        ? { outcome: 'refused', reason: 'request withdrawn; nothing was typed', why: 'withdrawn' }
        : { outcome: 'refused', reason };
  }
};

interface AnswerFields extends Pick<AnswerRecord, 'state'> {
  readonly reason?: string | undefined;
  readonly words?: string;
  readonly attempt?: AttemptRecord;
}

const answeredBy = (answer: AnswerRecord): Answered => {
  const { reason = '', words, attempt }: AnswerFields = answer;
  const outcome = meaningOf(answer);
  switch (outcome) {
    case 'done':
      return { outcome, ...present({ words, attempt }) };
    case 'begun':
      return { outcome, ...present({ words }) };
    case 'refused':
      return { outcome, reason, ...(answer.state === 'impossible' ? { why: answer.state } : {}) };
    case 'unknown':
      return { outcome, reason, isOver: reason === SESSION_ENDED };
  }
};

// For a command that has nothing else to do.

export interface AloneOptions extends Partial<Pick<Asking, 'waits' | 'onAsked'>> {
  readonly stateFolder: string;
  readonly isQuiet: boolean;
}

/** What is known, and how the command ends. */
export interface AskedAlone {
  readonly answered: Answered;
  /** that has cut it short, or came too late for that */
  readonly signal: NodeJS.Signals | undefined;
  /** 1 where it was refused or is not known; a signal that has cut it short ends the command, too */
  readonly status: Outcome['status'];
}

/** Says meanwhile what the session waits for; Ctrl-C withdraws the request. Never rejects, as long as `onAsked` does not. */
export const askAlone = async (
  session: string,
  asked: Asked,
  { stateFolder, isQuiet, ...given }: AloneOptions,
): Promise<AskedAlone> => {
  const stopping = catchStopSignals();
  const progress = isQuiet ? noProgress : progressLine();
  try {
    const answered = await askSession(session, asked, {
      stateFolder,
      // the agent runs this command in its shell: the agent waits for it, and must not be waited for
      waits: process.env['CTXWRAP_SESSION'] !== session,
      signal: stopping.signal,
      onWords: progress.say,
      ...given,
    });
    const signal = stopping.name();
    const isDone = answered.outcome === 'begun' || answered.outcome === 'done';
    if (!isDone && signal !== undefined) return { answered, signal, status: { kind: 'signal', signal } };
    return { answered, signal, status: { kind: 'code', code: isDone ? 0 : 1 } };
  } finally {
    progress.clear();
    stopping.release();
  }
};
