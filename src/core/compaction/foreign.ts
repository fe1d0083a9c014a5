import type { Boundary, Event } from '../event.js';
import type { Millis } from '../reading.js';
import { findFailure, isLower, type EndedCompaction, type Initiator, type Outcome } from './outcome.js';
import { recordAttempt, recordCompaction } from './policy.js';
import { present } from '../present.js';
import {
  ANOTHER,
  answerAlarm,
  beforeOf,
  GONE_MS,
  isFullAgain,
  lackOfAnswer,
  RECORD,
  SHORTENED,
  shownByAnswer,
  stillWaiting,
  SUCCESS,
  takenBack,
  unproven,
  verified,
  withEnded,
  withTurn,
} from './proof.js';
import {
  enterPhase,
  withoutEpisode,
  type Attempt,
  type Compaction,
  type Phase,
  type SessionContext,
} from './state.js';

type Foreign = Extract<Phase, { readonly kind: 'foreign' }>;

// External compactions: the agent's own, or one that the user started. Nothing is typed meanwhile, and a success ends the episode.

export const foreignAfter = (state: Compaction, event: Event, moment: SessionContext): Compaction => {
  const { phase } = state;
  switch (event.type) {
    case 'boundary':
      return foreignTold(state, event.boundary, moment);
    case 'restart-failed':
      return restartFailed(state, event, moment);
    case 'compact-result':
      return isShortened(phase) ? state : foreignFailed(state);
    case 'activity': {
      const isCompacting = event.report.activity === 'compacting';
      if (event.report.activity === 'dead') return foreignLeft(state, 'the end of the agent', moment);
      if (isShortened(phase)) return enterPhase(state, withTurn(phase, event.report.activity, moment.now));
      if (phase.kind !== 'foreign') return isCompacting ? enterPhase(state, foreignFrom(moment)) : state;
      return enterPhase(state, { ...phase, goneAt: isCompacting ? undefined : (phase.goneAt ?? moment.now) });
    }
    default:
      return state;
  }
};

const isShortened = (phase: Phase): phase is Foreign & { readonly shortenedAt: Millis } =>
  phase.kind === 'foreign' && phase.shortenedAt !== undefined;

const foreignTold = (given: Compaction, boundary: Boundary, moment: SessionContext): Compaction => {
  const { initiator, source } = boundary;
  if (source === 'screen') return foreignSaid(given, moment);
  const state = foreignLeft(given, ANOTHER, moment);
  const { phase } = state;
  const seen = phase.kind === 'foreign' ? phase.before : moment.fill;
  if (initiator === 'ctxwrap') {
    const foreign = phase.kind === 'foreign' ? phase : foreignFrom(moment);
    const { at: shortenedAt, shortening } = boundary;
    const before = beforeOf(boundary, seen);
    const more = { before, success: SHORTENED, shortenedAt, shortening, goneAt: undefined };
    return enterPhase(state, { ...foreign, ...more });
  }
  if (findFailure(boundary, seen)) return foreignFailed(enterPhase(state, { kind: 'rest' }));
  const fill = beforeOf(boundary, seen);
  return foreignWorked(
    state,
    { initiator, before: fill, outcome: verified(boundary), evidence: RECORD },
    moment,
  );
};

/** What the agent says on its screen. */
const foreignSaid = (state: Compaction, moment: SessionContext): Compaction => {
  const { phase } = state;
  if (moment.fileTells || isShortened(phase)) return state;
  // words alone prove nothing: the next number decides
  const foreign = phase.kind === 'foreign' ? phase : foreignFrom(moment);
  return enterPhase(state, { ...foreign, numberSince: moment.fillSince, success: SUCCESS });
};

const foreignFailed = (state: Compaction): Compaction => ({
  ...(state.phase.kind === 'foreign' ? enterPhase(state, { kind: 'rest' }) : state),
  givenUp: undefined,
});

const foreignFrom = ({ fill, fillSince, now }: SessionContext): Foreign => ({
  kind: 'foreign',
  since: now,
  before: fill,
  numberSince: fillSince,
});

/** Evaluates the number and the time. */
export const foreignAt = (state: Compaction, phase: Foreign, moment: SessionContext): Compaction => {
  const { fill, fillSince, now } = moment;
  const { before, success, numberSince, shortenedAt } = phase;
  if (shortenedAt !== undefined) {
    const shown = shownByAnswer(before, { shortenedAt }, moment);
    if (shown) return withShortening(state, phase, shown, moment);
    const lack = lackOfAnswer(phase, moment);
    if (lack !== undefined && isFullAgain(moment)) return foreignLeft(state, lack, moment);
    const waiting = stillWaiting(phase, moment);
    return waiting === phase ? state : enterPhase(state, waiting);
  }
  if (fill && fillSince !== numberSince) {
    const outcome = { kind: 'verified', after: fill } as const;
    if (isLower(before, fill)) {
      return foreignWorked(state, { before, outcome, evidence: 'the window is less full' }, moment);
    }
    if (success !== undefined) return enterPhase(state, { kind: 'rest' });
  }
  const due = foreignDue(phase);
  return due !== undefined && now >= due ? enterPhase(state, { kind: 'rest' }) : state;
};

/** Stops waiting for the answer that proves a shortening; with anything else under way, nothing changes. */
export const foreignLeft = (state: Compaction, by: string, moment: SessionContext): Compaction =>
  foreignEnded(state, unproven(`no answer before ${by}`), moment);

/** The whole conversation is back. */
export const foreignUndone = (state: Compaction, moment: SessionContext): Compaction =>
  foreignEnded(state, takenBack, moment);

const foreignEnded = (
  state: Compaction,
  proof: ReturnType<typeof unproven>,
  moment: SessionContext,
): Compaction => {
  const { phase } = state;
  return isShortened(phase) ? withShortening(state, phase, proof, moment) : state;
};

/** The conversation that a shortening is waited to be proved for has taken the place of this one. */
export const isShortenedFrom = ({ phase }: Compaction, conversation: string | undefined): boolean =>
  conversation !== undefined &&
  ((phase.kind === 'foreign' && phase.shortening?.from === conversation) ||
    (phase.kind === 'sent' && phase.shortenedFrom === conversation));

/** A conversation of this id is the whole one, as the one is that was shortened. */
export const goingBack = (state: Compaction, id: string): Compaction => {
  const { phase } = state;
  if (phase.kind === 'sent' && phase.shortenedAt !== undefined)
    return enterPhase(state, { ...phase, shortenedFrom: id });
  return phase.kind === 'foreign' && phase.shortening
    ? enterPhase(state, { ...phase, shortening: { ...phase.shortening, from: id } })
    : state;
};

/** The agent was started again for a shortening, and does not have it. */
const restartFailed = (
  state: Compaction,
  { reason, preTokens, shortening }: Extract<Event, { readonly type: 'restart-failed' }>,
  moment: SessionContext,
): Compaction => {
  const { phase } = state;
  const foreign = { since: moment.now, before: { usedTokens: preTokens }, shortening };
  const over = withShortening(state, foreign, unproven(reason), moment);
  // an attempt of this run is not over
  return phase.kind === 'typing' || phase.kind === 'sent' ? enterPhase(over, phase) : over;
};

/**
 * Reports what became of a shortening that is no running attempt: one that was asked for by itself, one for which the agent was started again,
 * or one whose attempt has ended before. That has its outcome already, which only a success replaces.
 */
const withShortening = (
  state: Compaction,
  {
    since,
    before,
    shortening,
    shortenedAt,
  }: Pick<Foreign, 'since' | 'before' | 'shortening' | 'shortenedAt'>,
  { outcome, evidence }: ReturnType<typeof unproven>,
  moment: SessionContext,
): Compaction => {
  const { strategy, isManual = true, startedAt } = shortening ?? {};
  const isRecorded = startedAt !== undefined && startedAt === state.recordedAt;
  const isVerified = outcome.kind === 'verified';
  if (isRecorded && !isVerified) return enterPhase(state, { kind: 'rest' });
  const late = isRecorded ? ({ isLate: true } as const) : {};
  const who = { initiator: 'ctxwrap', ...present({ strategy }), isManual, ...late } as const;
  const facts = { before, outcome, evidence: [...(shortenedAt === undefined ? [] : [SHORTENED]), evidence] };
  const ended = withOutcome(state, { ...who, startedAt: startedAt ?? since }, facts, moment);
  if (isVerified || startedAt === undefined) return ended;
  // the agent was started again for the attempt: it counts in this run
  const policy = recordAttempt(state.policy, outcome, { isHard: false, isProactive: false }, moment.now);
  return { ...ended, recordedAt: startedAt, policy, hasNews: false, tried: moment.fill };
};

/** When it ends without a report. */
export const foreignDue = (phase: Foreign): Millis | undefined => {
  const { goneAt, success, shortenedAt } = phase;
  if (shortenedAt !== undefined) return answerAlarm(phase);
  return goneAt === undefined || success !== undefined ? undefined : goneAt + GONE_MS;
};

/** Facts about a successful compaction that ctxwrap was not waiting for. */
interface Worked {
  /** from the agent's record */
  readonly initiator?: Initiator | undefined;
  readonly before: EndedCompaction['before'];
  readonly outcome: Outcome;
  readonly evidence: string;
}

/** Records a successful compaction that ctxwrap was not waiting for, or no longer. */
const foreignWorked = (
  state: Compaction,
  { initiator, evidence, ...found }: Worked,
  moment: SessionContext,
): Compaction => {
  const { phase } = state;
  const { now, fill } = moment;
  const late = lateAttempt(state, initiator, now);
  if (!late) {
    const startedAt = phase.kind === 'foreign' ? phase.since : now;
    const who = { initiator: initiator ?? 'agent', startedAt };
    return withOutcome(state, who, { ...found, evidence: [evidence] }, moment);
  }
  const { via, strategy, request, startedAt, before } = late;
  const isManual = request !== undefined;
  const who = { initiator: 'ctxwrap', via, ...present({ strategy }), isManual, isLate: true } as const;
  const facts = { ...found, before, evidence: [...late.evidence, 'given up too early', evidence] };
  const ended = withOutcome(state, { ...who, startedAt }, facts, moment);
  return { ...ended, hasNews: false, tried: fill ?? state.tried };
};

type What = 'before' | 'outcome' | 'evidence';

/** Reports how a compaction has ended that is no running attempt. A success ends the episode. */
const withOutcome = (
  state: Compaction,
  who: Omit<EndedCompaction, What | 'endedAt'>,
  what: Pick<EndedCompaction, What>,
  { now }: SessionContext,
): Compaction => {
  const ended = withEnded(state, { ...who, endedAt: now, ...what });
  return what.outcome.kind === 'verified'
    ? withoutEpisode({ ...ended, policy: recordCompaction(state.policy), hasNews: true })
    : ended;
};

/**
 * The attempt that had timed out and that a later report of success belongs to: a slow machine starts late, and an unknown version shows
 * nothing. Within the waiting time the compaction counts as ctxwrap's, and later as long as the user has pressed no key. One that the agent
 * recorded as its own never does.
 */
const lateAttempt = (
  { givenUp, keyAt, settings }: Compaction,
  initiator: Initiator | undefined,
  now: Millis,
): Attempt | undefined => {
  if (!givenUp || initiator === 'agent') return undefined;
  const { attempt, sentAt } = givenUp;
  const isWithin = now <= sentAt + settings.startMs + settings.finishMs;
  const isAlone = initiator === 'user' && (keyAt === undefined || keyAt <= sentAt);
  return isWithin || isAlone ? attempt : undefined;
};
