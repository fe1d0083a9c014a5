import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { REQUEST_MS } from '../core/compaction/machine.js';
import type {
  AnswerRecord,
  BriefRecord,
  ShortenRecord,
  SwitchRecord,
  UndoRecord,
} from '../core/compaction/protocol.js';
import { FAILED_WORDS } from '../core/records.js';
import { systemReason } from '../storage/errors.js';
import { processStart } from '../storage/processes.js';
import {
  ensureRequestsFolder,
  readAnswer,
  removeAnswer,
  removeRequest,
  writeRequest,
  type ActionRecord,
} from '../storage/requests.js';
import { readSession } from '../storage/sessions.js';
import { isThere } from './session-argument.js';
import { noProgress, progressLine } from './text.js';
import { catchStopSignals } from './verify.js';

// Asks a running session to type something for the user besides the compact command, and waits for what comes of it.

export interface AskedOutcome {
  /** `asked`: by a command inside the agent, which the session does not wait for; with words, the agent is started again for it */
  readonly outcome: 'done' | 'refused' | 'unknown' | 'asked';
  /** why it is not done, or what was done */
  readonly words?: string;
  /** refused, because the agent cannot do it in this way */
  readonly isImpossible?: true;
}

/** What is asked for, without what every request has. */
export type Asked =
  | Pick<SwitchRecord, 'schema' | 'name'>
  | Pick<BriefRecord, 'schema'>
  | Pick<UndoRecord, 'schema'>
  | Pick<ShortenRecord, 'schema' | 'strategy' | 'keepRecent' | 'budgetTokens'>;

export interface AskOptions {
  readonly stateFolder: string;
  readonly isQuiet: boolean;
}

const WAITING = 'waiting for a safe moment';
const POLL_MS = 200;
const NOTICE_MS = 20_000; // a wrapper polls every 5 s where the system does not report file changes
const LONGEST_MS = 2 * REQUEST_MS;

/** Ctrl-C withdraws the request. Never rejects. */
export const askSession = async (
  session: string,
  asked: Asked,
  { stateFolder, isQuiet }: AskOptions,
): Promise<AskedOutcome> => {
  // the agent runs this command in its shell: the agent waits for it, and must not be waited for
  const isInside = process.env['CTXWRAP_SESSION'] === session;
  const start = processStart(process.pid);
  const request: ActionRecord = {
    ...asked,
    session,
    request: `${process.pid}-${randomBytes(6).toString('hex')}`,
    askedAt: Date.now(),
    ...(isInside ? {} : { pid: process.pid }),
    ...(isInside || start === undefined ? {} : { processStart: start }),
  };
  const stopping = catchStopSignals();
  const progress = isQuiet ? noProgress : progressLine();
  try {
    const folder = await ensureRequestsFolder(stateFolder);
    await writeRequest(folder, request);
    if (isInside) return { outcome: 'asked' };
    progress.say(WAITING);
    const { signal } = stopping;
    const outcome = await outcomeIn(folder, request, { stateFolder, signal, onWords: progress.say });
    await removeRequest(folder, request);
    await removeAnswer(folder, request);
    return outcome;
  } catch (error) {
    return { outcome: 'refused', words: systemReason(error) };
  } finally {
    progress.clear();
    stopping.release();
  }
};

interface Waiting {
  readonly stateFolder: string;
  readonly signal: AbortSignal;
  /** called with what the session waits for, when that has changed */
  readonly onWords: (words: string) => void;
}

const outcomeIn = async (
  folder: string,
  request: ActionRecord,
  { stateFolder, signal, onWords }: Waiting,
): Promise<AskedOutcome> => {
  let isNoticed = false;
  let said = WAITING;
  while (!signal.aborted) {
    // a session answers before it ends
    const session = await readSession(stateFolder, request.session, Date.now());
    const answer = await readAnswer(folder, request);
    const outcome = answer && finalOf(answer);
    if (outcome) return outcome;
    isNoticed ||= answer !== undefined;
    const words = (answer?.state === 'waiting' && answer.reason) || WAITING;
    if (words !== said) onWords(words);
    said = words;
    const waited = Date.now() - request.askedAt;
    if (!isNoticed && waited > NOTICE_MS)
      return { outcome: 'refused', words: 'the running session does not notice requests' };
    if (session?.liveness === 'failed') return { outcome: 'refused', words: FAILED_WORDS };
    const isGone = session === undefined || !isThere(session);
    if (isGone || waited > LONGEST_MS) return { outcome: 'refused', words: 'the session has ended' };
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return { outcome: 'refused', words: 'request withdrawn; what was typed already stays' };
};

const finalOf = (answer: AnswerRecord): AskedOutcome | undefined => {
  switch (answer.state) {
    case 'switched':
    case 'drafted':
      return { outcome: 'done' };
    case 'shortened':
      return { outcome: 'done', words: answer.words };
    case 'restarting':
      return { outcome: 'asked', words: answer.words };
    case 'impossible':
      return { outcome: 'refused', words: answer.reason, isImpossible: true };
    case 'refused':
    case 'unknown':
      return { outcome: answer.state, words: answer.reason };
    default:
      return undefined;
  }
};
