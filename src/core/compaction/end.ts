// The end of an attempt: what is learnt from it, and who is told.
import { afterAttempt, afterCompaction } from './policy.js';
import type { Fill, Initiator, Outcome } from './outcome.js';
import type { Millis } from '../reading.js';
import type { SentStep } from './sent.js';
import { inPhase } from './state.js';
import type { Attempt, Compaction, Effect, Gate, Moment } from './state.js';

/** The state after a look at what was sent. */
export const afterSent = (state: Compaction, step: SentStep, moment: Moment): Compaction => {
  if ('phase' in step) return step.phase === state.phase ? state : inPhase(state, step.phase);
  if (state.phase.kind !== 'sent') return state;
  const { attempt } = state.phase;
  const evidence = [...attempt.evidence, step.evidence];
  return endedAttempt(state, { ...attempt, evidence }, step.outcome, moment);
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
export const isOtherSince = ({ keyAt }: Compaction, { activitySince }: Gate, since: Millis): boolean =>
  activitySince > since || (keyAt !== undefined && keyAt > since);

/** A compaction that somebody else asked for has worked: we stand down. */
export const foreignWorked = (
  state: Compaction,
  by: { readonly initiator: Initiator; readonly evidence: string; readonly after?: Fill },
  { now, seen }: Moment,
): Compaction => {
  const { phase } = state;
  const before = phase.kind === 'foreign' ? phase.before : seen.fill;
  const ended = {
    initiator: by.initiator,
    startedAt: phase.kind === 'foreign' ? phase.since : now,
    endedAt: now,
    ...(before ? { before } : {}),
    outcome: { kind: 'verified', ...(by.after ? { after: by.after } : {}) },
    evidence: [by.evidence],
  } as const;
  return emptied({
    ...state,
    phase: { kind: 'rest' },
    policy: afterCompaction(state.policy),
    hasNews: true,
    last: ended,
    effects: [...state.effects, { type: 'ended', ended }],
  });
};

const emptied = (state: Compaction): Compaction => {
  const { episodeSince: _, episodeFill: __, ...rest } = state;
  return { ...rest, growthTokens: 0 };
};
