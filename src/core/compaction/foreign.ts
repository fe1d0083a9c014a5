import type { Boundary, Event } from '../event.js';
import type { Millis } from '../reading.js';
import { findFailure, isLower, type EndedCompaction, type Initiator, type Outcome } from './outcome.js';
import { recordCompaction } from './policy.js';
import { present } from '../present.js';
import {
  beforeOf,
  GONE_MS,
  RECORD,
  SHORTENED,
  shownByAnswer,
  SUCCESS,
  verified,
  withEnded,
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
    case 'compact-result':
      return foreignFailed(state);
    case 'activity': {
      const isCompacting = event.report.activity === 'compacting';
      if (phase.kind !== 'foreign') return isCompacting ? enterPhase(state, foreignFrom(moment)) : state;
      return enterPhase(state, { ...phase, goneAt: isCompacting ? undefined : (phase.goneAt ?? moment.now) });
    }
    default:
      return state;
  }
};

const foreignTold = (state: Compaction, boundary: Boundary, moment: SessionContext): Compaction => {
  const { phase } = state;
  const { initiator, source } = boundary;
  if (source === 'screen') {
    if (moment.fileTells) return state;
    // words alone prove nothing: the next number decides
    const foreign = phase.kind === 'foreign' ? phase : foreignFrom(moment);
    return enterPhase(state, { ...foreign, numberSince: moment.fillSince, success: SUCCESS });
  }
  const seen = phase.kind === 'foreign' ? phase.before : moment.fill;
  if (initiator === 'ctxwrap') {
    const foreign = phase.kind === 'foreign' ? phase : foreignFrom(moment);
    const before = beforeOf(boundary, seen);
    const { at: shortenedAt, shortening } = boundary;
    return enterPhase(state, { ...foreign, before, success: SHORTENED, shortenedAt, shortening });
  }
  if (findFailure(boundary, seen)) return foreignFailed(enterPhase(state, { kind: 'rest' }));
  const before = beforeOf(boundary, seen);
  return foreignWorked(state, { initiator, before, outcome: verified(boundary), evidence: RECORD }, moment);
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
    return shown ? foreignShown(state, phase, { before, ...shown }, now) : state;
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

/** What became of a shortening that was no attempt to compact, or one for which the agent was started again. */
const foreignShown = (
  state: Compaction,
  { since, shortening }: Foreign,
  { before, outcome, evidence }: Omit<Worked, 'initiator'>,
  now: Millis,
): Compaction => {
  const ended = withEnded(state, {
    initiator: 'ctxwrap',
    ...present({ strategy: shortening?.strategy }),
    isManual: shortening?.isManual ?? true,
    startedAt: shortening?.startedAt ?? since,
    endedAt: now,
    before,
    outcome,
    evidence: [SHORTENED, evidence],
  });
  return outcome.kind === 'verified'
    ? withoutEpisode({ ...ended, policy: recordCompaction(state.policy), hasNews: true })
    : ended;
};

/** When it ends without a report. */
export const foreignDue = ({ goneAt, success }: Foreign): Millis | undefined =>
  goneAt === undefined || success !== undefined ? undefined : goneAt + GONE_MS;

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
  { initiator, before, outcome, evidence }: Worked,
  moment: SessionContext,
): Compaction => {
  const { phase } = state;
  const { now, fill } = moment;
  const late = lateAttempt(state, initiator, now);
  const ended: EndedCompaction = late
    ? {
        initiator: 'ctxwrap',
        via: late.via,
        ...present({ strategy: late.strategy }),
        isManual: late.request !== undefined,
        isLate: true,
        startedAt: late.startedAt,
        endedAt: now,
        before: late.before,
        outcome,
        evidence: [...late.evidence, 'given up too early', evidence],
      }
    : {
        initiator: initiator ?? 'agent',
        startedAt: phase.kind === 'foreign' ? phase.since : now,
        endedAt: now,
        before,
        outcome,
        evidence: [evidence],
      };
  return withoutEpisode({
    ...withEnded(state, ended),
    policy: recordCompaction(state.policy),
    hasNews: late === undefined,
    tried: late && fill ? fill : state.tried,
  });
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
