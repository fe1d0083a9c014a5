import type { OutcomeKind } from '../core/compaction/outcome.js';
import type { AttemptRecord } from '../core/compaction/protocol.js';
import { UserError } from '../core/errors.js';
import type { SessionRecord } from '../core/records.js';
import type { ListedSession } from '../storage/sessions.js';
import { toPlainText } from '../ui/text.js';
import { askSession, type Answered, type Asking } from './ask-session.js';
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

export const nameOf = (id: string): string => `session ${id}`;

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

const compactReport = ({ id, pid, runtime: agent }: SessionRecord, answered: Answered): CompactReport => {
  const base = { schema: 'ctxwrap.compact/1', session: { id, pid, runtime: agent } } as const;
  switch (answered.outcome) {
    case 'done': {
      if (!answered.attempt) return { ...base, outcome: 'unknown', words: 'an answer of an unknown form' };
      const { schema: _, ...attempt } = answered.attempt;
      const { startedAt, endedAt } = attempt;
      return { ...base, ...attempt, durationMs: Math.max(0, endedAt - startedAt) };
    }
    case 'refused':
      return {
        ...base,
        outcome: answered.why === 'withdrawn' ? 'cancelled' : 'refused',
        words: answered.reason,
      };
    case 'unknown':
      return { ...base, outcome: 'unknown', words: answered.reason };
    case 'begun':
      return { ...base, outcome: 'asked', words: 'it will compact at its next safe moment' };
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
      return `outcome unknown: ${words}; ctxwrap history shows whether it has compacted`;
    default:
      return words;
  }
};

export interface CompactAsking extends Asking {
  readonly force?: boolean;
  readonly focus?: string | undefined;
}

/** Asks a session that can be asked. Rejects with a UserError when the request cannot be written. */
export const askToCompact = async (
  session: SessionRecord,
  { force = false, focus, ...asking }: CompactAsking,
): Promise<CompactReport> => {
  const asked = { schema: 'ctxwrap.request/1', force, ...(focus === undefined ? {} : { focus }) } as const;
  const answered = await askSession(session.id, asked, asking);
  if (answered.outcome === 'refused' && answered.why === 'unwritten') throw cannotAsk(answered.reason);
  return compactReport(session, answered);
};
