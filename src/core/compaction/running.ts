import type { Boundary, Event } from '../event.js';
import type { Activity, Millis } from '../reading.js';
import { faultOf, isLower, type Outcome, type Initiator, type Ended, type Fill } from './outcome.js';
import { afterAttempt, afterCompaction } from './policy.js';
import {
  type CompactSettings,
  type Moment,
  type Phase,
  type Attempt,
  type Compaction,
  inPhase,
  type Effect,
} from './state.js';

// From the command that was sent to what became of it. A record of the agent or a lower number decides; words alone do not.

export type Sent = Extract<Phase, { readonly kind: 'sent' }>;

/** The phase after something, or how the attempt ended. */
export type SentStep =
  | { readonly phase: Sent }
  | {
      readonly outcome: Outcome;
      readonly evidence: string;
      /** time alone has ended it: what the agent tells of it may still come */
      readonly isGivenUp?: true;
    };

/** A compaction that is not seen any more has ended; its record and its words come within this time. */
export const GONE_MS = 3_000;

/** An agent that begins later than it should, behind an empty prompt, is waited for so much longer, in milliseconds. */
const SLOW_MS = 60_000;

/** `keyAt` is the user's last key. */
export const sentAfter = (
  phase: Sent,
  event: Event,
  { now, seen }: Moment,
  keyAt: Millis | undefined,
): SentStep => {
  switch (event.type) {
    case 'activity': {
      const { activity } = event.report;
      const isUsers = phase.slowAt !== undefined && phase.begunAt === undefined && (keyAt ?? 0) > phase.at;
      return isUsers && activity === 'busy'
        ? notStarted('a turn of the user began')
        : afterActivity(phase, activity, now);
    }
    case 'boundary':
      return afterBoundary(phase, event.boundary, { now, numberSince: seen.fillSince });
    case 'compact-result': {
      const { result } = event;
      const evidence = result.kind === 'interrupted' ? `interrupted by ${result.by}` : result.text;
      return { outcome: result, evidence: `the agent says: ${evidence}` };
    }
    default:
      return { phase };
  }
};

const afterActivity = (phase: Sent, activity: Activity, now: Millis): SentStep => {
  const { isQueued, goneAt: _, ...rest } = phase;
  switch (activity) {
    case 'dead':
      return left(phase, 'the end of the agent');
    case 'compacting': {
      const seen = { ...rest, isQueued: false, isSeen: true } as const;
      return { phase: phase.isSeen ? seen : begun(seen, 'the agent compacts', now) };
    }
    case 'busy':
      // behind a turn it is that turn; after a compaction that was seen it is the next one
      return { phase: isQueued || phase.isSeen ? phase : working(phase, now) };
    case 'unknown':
      return { phase: phase.isSeen ? phase : { ...rest, isQueued } };
    case 'dialog':
      if (isQueued) return { phase }; // the turn before asks for something
      return { phase: goneFrom(phase, now) };
    case 'ready':
    case 'draft':
      return { phase: isQueued ? { ...rest, isQueued: false, at: now } : goneFrom(phase, now) };
  }
};

const goneFrom = (phase: Sent, now: Millis): Sent =>
  phase.begunAt === undefined ? phase : { ...phase, goneAt: phase.goneAt ?? now };

const begun = (phase: Sent, fact: string, now: Millis): Sent => ({
  ...phase,
  begunAt: phase.begunAt ?? now,
  attempt: noted(phase, fact),
});

// Some versions are read as busy only, while they compact.
const working = (phase: Sent, now: Millis): Sent => {
  const { goneAt: _, ...rest } = phase;
  return phase.begunAt === undefined ? begun(rest, 'the agent works', now) : rest;
};

/** The agent's words on its screen. */
export const SUCCESS = 'it says on its screen that it has compacted';

const noted = ({ attempt }: Sent, fact: string): Sent['attempt'] => ({
  ...attempt,
  evidence: [...attempt.evidence, fact],
});

const afterBoundary = (
  phase: Sent,
  boundary: Boundary,
  { now, numberSince }: { readonly now: Millis; readonly numberSince: Millis | undefined },
): SentStep => {
  const { source, postTokens } = boundary;
  const fault = faultOf(boundary, phase.attempt.before);
  if (fault) return { outcome: fault, evidence: `its record: ${fault.text}` };
  if (source === 'screen') {
    const { numberSince: _, ...rest } = phase;
    const said = { begunAt: phase.begunAt ?? now, success: SUCCESS, attempt: noted(phase, SUCCESS) };
    return { phase: { ...rest, ...said, ...(numberSince === undefined ? {} : { numberSince }) } };
  }
  const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
  return { outcome: { kind: 'verified', ...after }, evidence: 'its record of the compaction' };
};

/** What the number says, and the time. */
export const sentAt = (phase: Sent, { seen, gate, now }: Moment, settings: CompactSettings): SentStep => {
  const { fill, fillSince } = seen;
  const { attempt, begunAt, goneAt, success, numberSince, slowAt } = phase;
  if (fill && fillSince !== numberSince) {
    if (isLower(attempt.before, fill)) {
      return { outcome: { kind: 'verified', after: fill }, evidence: 'the window is emptier' };
    }
    if (success !== undefined) {
      return { outcome: { kind: 'unverified', text: success }, evidence: 'the window is as full as before' };
    }
  }
  if (success !== undefined) return { phase }; // until the next turn tells the number
  const due = sentDue(phase, settings);
  if (due === undefined || now < due) return { phase };
  if (goneAt !== undefined) return { ...interrupted('the user'), isGivenUp: true };
  if (begunAt !== undefined) {
    const outcome = { kind: 'timeout', afterMs: settings.finishMs } as const;
    return { outcome, evidence: 'no end was seen', isGivenUp: true };
  }
  // what is not understood may well be the compaction
  if (gate.activity === 'unknown') return { phase: begun(phase, 'its screen is not understood', now) };
  // what is left of a command that was not taken is a draft
  if (gate.activity === 'ready' && slowAt === undefined) return { phase: { ...phase, slowAt: now } };
  return notStarted('nothing began');
};

const notStarted = (evidence: string): SentStep => ({
  outcome: { kind: 'not-started' },
  evidence,
  isGivenUp: true,
});

/** When time alone ends the attempt, or is looked at again. */
export const sentDue = (phase: Sent, settings: CompactSettings): Millis | undefined => {
  const { at, begunAt, goneAt, success, isQueued, slowAt } = phase;
  if (success !== undefined || isQueued) return undefined;
  if (goneAt !== undefined) return goneAt + GONE_MS;
  if (begunAt !== undefined) return begunAt + settings.finishMs;
  return slowAt === undefined ? at + settings.startMs : slowAt + SLOW_MS;
};

/** Nothing more will be heard of it. */
export const left = ({ success }: Sent, by: string): SentStep =>
  success === undefined
    ? interrupted(by)
    : { outcome: { kind: 'unverified', text: success }, evidence: `no number before ${by}` };

const interrupted = (by: string): Extract<SentStep, { readonly outcome: Outcome }> => ({
  outcome: { kind: 'interrupted', by },
  evidence: `interrupted by ${by}`,
});

// An attempt that was given up may have worked all the same: a slow machine begins late, and a version that is not understood shows nothing.

/** An attempt of ours that time alone has ended: the agent may still tell that it worked. */
export interface GivenUp {
  readonly attempt: Attempt;
  /** when the command was sent */
  readonly sentAt: Millis;
}

/**
 * The attempt of ours that a compaction belongs to of which the agent tells now. Within the wait it is ours, and later as long as the
 * user has pressed no key since; what the agent's record calls its own never is.
 */
const lateAttempt = (
  { givenUp, keyAt, settings }: Compaction,
  initiator: Initiator | undefined,
  now: Millis,
): GivenUp['attempt'] | undefined => {
  if (!givenUp || initiator === 'agent') return undefined;
  const { attempt, sentAt } = givenUp;
  const isWithin = now <= sentAt + settings.startMs + settings.finishMs;
  const isAlone = initiator === 'user' && (keyAt === undefined || keyAt <= sentAt);
  return isWithin || isAlone ? attempt : undefined;
};

/** The state when nothing more can be heard of what was given up. */
export const withoutGivenUp = (state: Compaction): Compaction => {
  if (!state.givenUp) return state;
  const { givenUp: _, ...rest } = state;
  return rest;
};

// The end of an attempt: what is learnt from it, and who is told.

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
