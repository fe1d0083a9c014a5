// The end of an attempt: what is learnt from it, and who is told.
import { lateAttempt, withoutGivenUp } from './late.js';
import { afterAttempt, afterCompaction } from './policy.js';
import type { Ended, Fill, Initiator, Outcome } from './outcome.js';
import type { Millis } from '../reading.js';
import type { SentStep } from './sent.js';
import { inPhase } from './state.js';
import type { Attempt, Compaction, Effect, Moment } from './state.js';

/** The state after a look at what was sent. */
export const afterSent = (state: Compaction, step: SentStep, moment: Moment): Compaction => {
  if ('phase' in step) return step.phase === state.phase ? state : inPhase(state, step.phase);
  if (state.phase.kind !== 'sent') return state;
  const { attempt, at: sentAt } = state.phase;
  const evidence = [...attempt.evidence, step.evidence];
  const ended = endedAttempt(state, { ...attempt, evidence }, step.outcome, moment);
  return step.isGivenUp ? { ...ended, givenUp: { attempt, sentAt } } : ended;
};

/** An attempt of ours is over. */
export const endedAttempt = (
  state: Compaction,
  attempt: Attempt,
  outcome: Outcome,
  moment: Moment,
): Compaction => {
  const { startedAt, before, evidence, request, isHard } = attempt;
  const { now, seen } = moment;
  const ended = {
    initiator: 'ctxwrap',
    isManual: request !== undefined,
    startedAt,
    endedAt: now,
    ...(before ? { before } : {}),
    outcome,
    evidence,
  } as const;
  const effect: Effect = { type: 'ended', ended, ...(request ? { requestId: request.id } : {}) };
  const policy = afterAttempt(state.policy, outcome, isHard, now);
  const effects = [...state.effects, effect];
  const over: Compaction = { ...state, phase: { kind: 'rest' }, policy, last: ended, effects };
  if (outcome.kind === 'skipped-busy') return skipped(over, attempt, moment);
  const { skips: _, tried: __, ...rest } = over;
  const next = { ...rest, hasNews: false, ...(seen.fill ? { tried: seen.fill } : {}) };
  return outcome.kind === 'verified' ? emptied(next) : next;
};

const skipped = (state: Compaction, { startedAt }: Attempt, { gate }: Moment): Compaction => {
  const { skips } = state;
  const times = skips && !isOtherSince(state, gate, skips.from) ? skips.times + 1 : 1;
  return { ...state, skips: { times, from: startedAt } };
};

/** Whether the agent or the user has done anything since. */
export const isOtherSince = (
  { keyAt }: Compaction,
  { activitySince }: Moment['gate'],
  since: Millis,
): boolean => activitySince > since || (keyAt !== undefined && keyAt > since);

/** What is known of a compaction that worked and was not waited for. */
export interface Worked {
  /** as the agent's record names it */
  readonly initiator?: Initiator;
  readonly evidence: string;
  readonly after?: Fill;
}

/** A compaction has worked that we did not wait for, or not any more: we stand down. */
export const foreignWorked = (state: Compaction, worked: Worked, moment: Moment): Compaction => {
  const { now, seen } = moment;
  const ours = lateAttempt(state, worked.initiator, now);
  const ended: Ended = {
    ...(ours ? lateStart(ours) : foreignStart(state, worked, moment)),
    endedAt: now,
    outcome: { kind: 'verified', ...(worked.after ? { after: worked.after } : {}) },
    evidence: [...(ours ? [...ours.evidence, 'given up too early'] : []), worked.evidence],
  };
  return emptied({
    ...state,
    phase: { kind: 'rest' },
    policy: afterCompaction(state.policy),
    hasNews: ours === undefined,
    ...(ours && seen.fill ? { tried: seen.fill } : {}),
    last: ended,
    effects: [...state.effects, { type: 'ended', ended }],
  });
};

type Start = Pick<Ended, 'initiator' | 'isManual' | 'isLate' | 'startedAt' | 'before'>;

const lateStart = ({ startedAt, before, request }: Attempt): Start => ({
  initiator: 'ctxwrap',
  isManual: request !== undefined,
  isLate: true,
  startedAt,
  ...(before ? { before } : {}),
});

const foreignStart = (
  { phase }: Compaction,
  { initiator = 'agent' }: Worked,
  { seen, now }: Moment,
): Start => {
  const before = phase.kind === 'foreign' ? phase.before : seen.fill;
  const startedAt = phase.kind === 'foreign' ? phase.since : now;
  return { initiator, startedAt, ...(before ? { before } : {}) };
};

const emptied = (state: Compaction): Compaction => {
  const { episodeSince: _, episodeFill: __, ...rest } = withoutGivenUp(state);
  return rest;
};
