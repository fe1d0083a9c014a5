import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { REQUEST_MS } from '../core/compaction/machine.js';
import type { OutcomeKind } from '../core/compaction/outcome.js';
import type { AttemptRecord, RequestRecord } from '../core/compaction/protocol.js';
import { UserError } from '../core/errors.js';
import { FAILED_WORDS, isRunningAs, type SessionRecord } from '../core/records.js';
import { systemReason } from '../storage/errors.js';
import { processStart } from '../storage/processes.js';
import {
  readAnswer,
  removeAnswer,
  removeRequest,
  ensureRequestsFolder,
  writeRequest,
} from '../storage/requests.js';
import { type ListedSession, readSession } from '../storage/sessions.js';
import { toPlainText } from '../ui/text.js';
import { ageText } from './sessions-text.js';

// Asking a running session to compact, for `ctxwrap compact` and `ctxwrap top`.

// Error messages of `ctxwrap compact`: why a session cannot compact now, and the command that helps.

const refusal = 1;

export const refusing = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: refusal, hint });

/** Why this session cannot be asked to compact; undefined when it can. */
export const unaskable = ({ record, liveness }: ListedSession, now: number): UserError | undefined => {
  const name = nameOf(record.id);
  switch (liveness) {
    case 'ended':
      return refusing(`${name} has ended`, 'ctxwrap ps lists running sessions');
    case 'dead':
      return refusing(`the ctxwrap of ${name} was killed`, 'ctxwrap ps lists running sessions');
    case 'stale':
      return refusing(
        `${name} has not answered for ${ageText(now - record.heartbeatAt)}`,
        'if it is suspended, run fg in its terminal',
      );
    case 'failed':
      return refusing(
        `the ctxwrap of ${name} has failed`,
        `type the compact command of ${toPlainText(record.runtime)} yourself`,
      );
    case 'live':
      if (record.compaction === undefined)
        return refusing(
          `${name} runs ctxwrap ${toPlainText(record.version)}, which cannot take requests`,
          'restart that session with this version',
        );
      if (record.compaction.mode === 'off')
        return refusing(
          `${name} runs with --mode off`,
          `type the compact command of ${toPlainText(record.runtime)} yourself, or restart it with --mode warn`,
        );
      return undefined;
  }
};

const cannotAsk = (reason: string): UserError =>
  refusing(
    `cannot write the request: ${reason}`,
    'make the state folder of ctxwrap writable: ctxwrap doctor',
  );

const withdrawn = 'request withdrawn; a compaction that has begun continues';

const notNoticed = 'the session does not react to requests';

export const nameOf = (id: string): string => `session ${id}`;

// The requesting side of `ctxwrap compact`: writes the request file and waits for the wrapper's reply.

interface CompactQuestion {
  readonly stateFolder: string;
  readonly request: RequestRecord;
  /** wait for the outcome, not only until the wrapper has seen the request */
  readonly waits: boolean;
  /** aborting it withdraws the request */
  readonly signal: AbortSignal;
  /** called when the request is written */
  readonly onAsked: () => Promise<void>;
  /** called with what the session is doing while the request waits */
  readonly onWords: (words: string) => void;
}

type CompactReply =
  | { readonly kind: 'ended'; readonly attempt: AttemptRecord }
  | { readonly kind: 'refused'; readonly reason: string }
  /** the wrapper has the request, and the caller does not wait */
  | { readonly kind: 'asked' }
  /** the command was typed, but its outcome is unknown */
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'cancelled' };

const POLL_MS = 200;
const NOTICE_MS = 20_000; // a wrapper polls every 5 s where the system does not report file changes
const LONGEST_MS = 2 * REQUEST_MS; // the wrapper finds a safe moment in the first half of this time, or refuses

/** Resolves with the outcome of the request. Rejects with a UserError when the request cannot be written. */
const askRequest = async (question: CompactQuestion): Promise<CompactReply> => {
  const { stateFolder, request, onAsked } = question;
  const folder = await ensureRequestsFolder(stateFolder)
    .then(async (path) => {
      await writeRequest(path, request);
      return path;
    })
    .catch((error: unknown) => {
      throw cannotAsk(systemReason(error));
    });
  await onAsked();
  const reply = await replyIn(folder, question);
  // without --no-wait the file goes now; with it the file stays until the wrapper has acted on it
  if (reply.kind !== 'asked') await removeRequest(folder, request);
  await removeAnswer(folder, request);
  return reply;
};

const replyIn = async (folder: string, question: CompactQuestion): Promise<CompactReply> => {
  const { stateFolder, request, waits, signal, onWords } = question;
  let isNoticed = false;
  let isBegun = false;
  let isGone = false;
  let hasFailed = false;
  const lost = (reason: string): CompactReply => ({ kind: isBegun ? 'unknown' : 'refused', reason });
  let said: string | undefined;
  while (!signal.aborted) {
    const answer = await readAnswer(folder, request);
    if (answer?.state === 'ended') return { kind: 'ended', attempt: answer.attempt };
    if (answer?.state === 'refused') return { kind: 'refused', reason: answer.reason };
    isNoticed ||= answer !== undefined;
    isBegun ||= answer?.state === 'begun';
    if (isNoticed && !waits) return { kind: 'asked' };
    // the reply may have arrived between the two checks
    if (isGone) return lost('the session has ended');
    if (hasFailed) return lost(FAILED_WORDS);
    const waited = Date.now() - request.askedAt;
    if (!isNoticed && waited > NOTICE_MS) return { kind: 'refused', reason: notNoticed };
    if (waited > LONGEST_MS) return lost('the session does not answer');
    const session = await readSession(stateFolder, request.session, Date.now());
    isGone = session === undefined || !isRunningAs(session.liveness);
    hasFailed = session?.liveness === 'failed';
    const words = wordsAbout(request, session);
    if (words !== undefined && words !== said) onWords(words);
    said = words;
    if (!isGone && !hasFailed) await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return { kind: 'cancelled' };
};

/** What the session does about this request. Its other words are about something else, such as an attempt that has ended. */
const wordsAbout = ({ request }: RequestRecord, session: ListedSession | undefined): string | undefined => {
  const { compaction } = session?.record ?? {};
  return compaction?.request === request ? compaction.words : undefined;
};

// The result of `ctxwrap compact`, for people and for scripts.

/** One request and its result. Unknown fields are absent. */
export interface CompactReport extends Partial<Omit<AttemptRecord, 'schema' | 'outcome' | 'words'>> {
  readonly schema: 'ctxwrap.compact/1';
  readonly session: { readonly id: string; readonly pid: number; readonly runtime: string };
  readonly outcome: OutcomeKind | 'refused' | 'asked' | 'cancelled' | 'unknown';
  /** the outcome as a sentence */
  readonly words: string;
  readonly durationMs?: number;
}

const compactReport = ({ id, pid, runtime: agent }: SessionRecord, reply: CompactReply): CompactReport => {
  const base = { schema: 'ctxwrap.compact/1', session: { id, pid, runtime: agent } } as const;
  switch (reply.kind) {
    case 'ended': {
      const { schema: _, ...attempt } = reply.attempt;
      const { startedAt, endedAt } = attempt;
      return { ...base, ...attempt, durationMs: Math.max(0, endedAt - startedAt) };
    }
    case 'refused':
      return { ...base, outcome: 'refused', words: reply.reason };
    case 'unknown':
      return { ...base, outcome: 'unknown', words: `${reply.reason} after the command was typed` };
    case 'asked':
      return { ...base, outcome: 'asked', words: 'it will compact at its next safe moment' };
    case 'cancelled':
      return { ...base, outcome: 'cancelled', words: 'withdrawn' };
  }
};

/** 0 when the session was compacted or asked as requested, 1 for everything else. */
export const statusOfOutcome = ({ outcome }: CompactReport): 0 | 1 =>
  outcome === 'verified' || outcome === 'noop' || outcome === 'asked' ? 0 : 1;

/** The outcome as one fact, and whether it is good. */
export const resultText = (report: CompactReport): string =>
  `${statusOfOutcome(report) === 0 ? '✓' : '✗'} ${toPlainText(factOf(report))}`;

const factOf = ({ outcome, words, durationMs = 0 }: CompactReport): string => {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  switch (outcome) {
    case 'verified':
      return `${words} in ${seconds}`;
    case 'interrupted':
      return words.replace(/(?=:|$)/, ` after ${seconds}`); // before the reason
    case 'refused':
      return `not compacted: ${words}`;
    case 'unknown':
      return `outcome unknown: ${words}`;
    case 'cancelled':
      return withdrawn;
    default:
      return words;
  }
};

export interface AskOptions extends Pick<CompactQuestion, 'stateFolder' | 'signal'> {
  readonly force?: boolean;
  readonly focus?: string | undefined;
  /** wait for the outcome, not only until the session has the request */
  readonly waits: boolean;
  readonly onAsked?: () => Promise<void>;
  readonly onWords?: (words: string) => void;
}

/** Asks a session that can be asked. Rejects with a UserError when the request cannot be written. */
export const askToCompact = async (
  session: SessionRecord,
  { force = false, focus, waits, ...question }: AskOptions,
): Promise<CompactReport> => {
  const start = processStart(process.pid);
  const request: RequestRecord = {
    schema: 'ctxwrap.request/1',
    session: session.id,
    request: `${process.pid}-${randomBytes(6).toString('hex')}`,
    askedAt: Date.now(),
    force,
    ...(focus === undefined ? {} : { focus }),
    ...(waits ? { pid: process.pid } : {}),
    ...(waits && start !== undefined ? { processStart: start } : {}),
  };
  const { onAsked = async () => undefined, onWords = () => undefined } = question;
  return compactReport(session, await askRequest({ ...question, request, waits, onAsked, onWords }));
};
