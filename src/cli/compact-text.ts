// What came of `ctxwrap compact`, for people and for scripts.
import type { AttemptRecord } from '../core/compaction/attempt-record.js';
import type { OutcomeKind } from '../core/compaction/outcome.js';
import type { SessionRecord } from '../core/session-record.js';
import type { Reply } from './await-answer.js';
import { plain, wrapped } from '../ui/plain-text.js';

/** One request and what came of it. What is not known is left out. */
export interface CompactReport extends Partial<Omit<AttemptRecord, 'schema' | 'outcome' | 'words'>> {
  readonly schema: 'ctxwrap.compact/1';
  readonly session: { readonly id: string; readonly pid: number; readonly runtime: string };
  readonly outcome: OutcomeKind | 'refused' | 'asked' | 'cancelled' | 'unknown';
  /** the outcome in words */
  readonly words: string;
  readonly durationMs?: number;
}

export const compactReport = ({ id, pid, runtime }: SessionRecord, reply: Reply): CompactReport => {
  const base = { schema: 'ctxwrap.compact/1', session: { id, pid, runtime } } as const;
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
      return { ...base, outcome: 'asked', words: 'asked to compact at the next safe moment' };
    case 'cancelled':
      return { ...base, outcome: 'cancelled', words: 'withdrawn' };
  }
};

/** 0 for what was wanted, 1 for everything else. */
export const statusOfOutcome = ({ outcome }: CompactReport): 0 | 1 =>
  outcome === 'verified' || outcome === 'noop' || outcome === 'asked' ? 0 : 1;

export const compactText = (report: CompactReport, width: number): readonly string[] => {
  const { session, words, durationMs, evidence = [] } = report;
  const took = durationMs === undefined ? '' : ` in ${(durationMs / 1000).toFixed(1)} s`;
  return [
    ...wrapped(`${plain(session.runtime)} ${session.id}: ${plain(words)}${took}`, width),
    ...evidence.flatMap((fact) => wrapped(`- ${plain(fact)}`, width)),
  ];
};
