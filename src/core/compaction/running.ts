import type { Boundary, Event } from '../event.js';
import { askedText, type Activity, type Millis, type Reading } from '../reading.js';
import {
  foreignAfter,
  foreignAt,
  foreignDue,
  foreignLeft,
  foreignUndone,
  isShortenedFrom,
} from './foreign.js';
import { hasOtherActivitySince } from './news.js';
import { findFailure, isLower, secondsText, type EndedCompaction, type Outcome } from './outcome.js';
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
  CONTINUES_SHORTER,
  takenBack,
  unproven,
  verified,
  withEnded,
  withTurn,
} from './proof.js';
import { present } from '../present.js';
import { recordAttempt, recordCompaction, startTurn } from './policy.js';
import {
  enterPhase,
  type Attempt,
  type Compaction,
  type CompactSettings,
  type Effect,
  type SessionContext,
  type Phase,
  type TypeResult,
  inConversation,
  mayBeOurs,
  outOfView,
  withdrawAttempt,
  withoutEpisode,
} from './state.js';

// A compaction under way: an attempt of ctxwrap from the first key to its outcome, or an external one. A record of the agent or a lower
// number decides the outcome; the agent's words alone do not.

type Typing = Extract<Phase, { readonly kind: 'typing' }>;
type Sent = Extract<Phase, { readonly kind: 'sent' }>;

/** Typing takes a second or two; a typist without a result after this time has failed. */
const TYPING_MS = 15_000;
const SHORTENING_MS = 900_000; // a summary of a full window by a small local model takes minutes
/** Additional time for an agent that starts late, while its prompt is empty. */
const SLOW_MS = 60_000;

/** True if a compaction has begun, whoever started it. */
export const isUnderWay = ({ phase: { kind } }: Compaction): boolean =>
  kind === 'typing' || kind === 'sent' || kind === 'foreign';

/** The state after an event of the agent. */
export const applyAgentEvent = (before: Compaction, event: Event, moment: SessionContext): Compaction => {
  if (event.type === 'restart-failed') return foreignAfter(before, event, moment);
  const state = withAgent(before, event, moment);
  const { phase } = state;
  switch (phase.kind) {
    case 'typing':
      if (event.type === 'boundary') return compactedMeanwhile(state, phase, event.boundary);
      if (event.type === 'restart-planned')
        return enterPhase(state, { ...phase, isRestart: event.isPlanned });
      if (moment.activity !== 'dead') return state;
      return phase.isRestart ? restarting(state, phase.attempt) : killed(state, phase.attempt, moment);
    case 'sent':
      if (event.type === 'boundary' && isAnothers(phase, event.boundary)) {
        const over = afterSent(state, left(phase, ANOTHER), moment);
        return foreignAfter({ ...over, givenUp: undefined }, event, moment);
      }
      return afterSent(state, sentAfter(state, phase, event, moment), moment);
    default:
      return foreignAfter(state, event, moment);
  }
};

/** The next run of the agent tells what came of it. */
const restarting = (state: Compaction, { request, strategy }: Attempt): Compaction => {
  const told: readonly Effect[] = request ? [{ type: 'restarting', requestId: request.id, strategy }] : [];
  return { ...enterPhase(state, { kind: 'rest' }), effects: [...state.effects, ...told] };
};

const killed = (state: Compaction, attempt: Attempt, moment: SessionContext): Compaction => {
  const what = attempt.strategy === undefined ? 'the command was sent' : 'it had the shorter conversation';
  const evidence = [...attempt.evidence, `the agent ended before ${what}`];
  const outcome = { kind: 'interrupted', by: 'the end of the agent' } as const;
  return endAttempt(state, { ...attempt, evidence }, outcome, moment);
};

const typingMs = ({ strategy }: CompactSettings): number =>
  strategy === undefined ? TYPING_MS : SHORTENING_MS;

/** The state of a compaction under way after a new number, or after time has passed. */
export const applyTime = (state: Compaction, moment: SessionContext): Compaction => {
  const { phase, settings } = state;
  switch (phase.kind) {
    case 'typing': {
      if (moment.now < phase.attempt.startedAt + typingMs(settings)) return state;
      const outcome = { kind: 'not-delivered', reason: 'typing did not end' } as const;
      return endAttempt(state, phase.attempt, outcome, moment);
    }
    case 'sent':
      return afterSent(state, sentAt(phase, moment, state), moment);
    case 'foreign':
      return foreignAt(state, phase, moment);
    default:
      return state;
  }
};

/** When a compaction under way ends by time, or has to be checked again. */
export const underWayDeadline = ({ phase, settings }: Compaction): Millis | undefined => {
  switch (phase.kind) {
    case 'typing':
      return phase.attempt.startedAt + typingMs(settings);
    case 'sent':
      return sentDue(phase, settings);
    case 'foreign':
      return foreignDue(phase);
    default:
      return undefined;
  }
};

// The agent's own changes: its turns, its version and its conversation.

const withAgent = (state: Compaction, event: Event, moment: SessionContext): Compaction => {
  switch (event.type) {
    case 'activity': {
      const { activity, asks } = event.report;
      return withActivity({ ...state, asks: askedText(activity, asks) }, activity);
    }
    case 'agent-version': {
      const [name = 'the agent'] = state.agent?.split(' ') ?? [];
      return { ...state, agent: `${name} ${event.version}` };
    }
    case 'session-changed': {
      const { sessionId: id } = event;
      const isOther =
        state.conversation === undefined
          ? state.phase.kind === 'sent' && state.phase.pendingSession !== undefined && !mayBeOurs(state, id)
          : state.conversation !== id; // the first id only names it
      return isOther ? inConversation(leftBehind(state, id, moment), id) : { ...state, conversation: id };
    }
    case 'view':
      return event.isSame
        ? state
        : outOfView(withdrawAttempt(leftBehind(state, undefined, moment), 'another conversation is shown'));
    case 'reading':
      return isAnswerAfter(state.postponedAt, event.reading) ? { ...state, postponedAt: undefined } : state;
    default:
      return state;
  }
};

// Between two attempts something must have happened: a turn that began at rest, other than the end of our own command. New text in the
// session file does not count, because the agent also records the result of our command there.
const withActivity = (state: Compaction, activity: Activity): Compaction => {
  if (activity === 'unknown' || activity === state.activity) return state;
  const wasAtRest = state.activity !== undefined && resting.includes(state.activity);
  const isOurs = state.phase.kind === 'typing' || state.phase.kind === 'sent';
  if (isOurs || !wasAtRest || activity !== 'busy') return { ...state, activity };
  const isNextTurn = state.activity !== 'dialog'; // after a dialog the same turn goes on
  return {
    ...state,
    activity,
    hasNews: true,
    policy: startTurn(state.policy),
    ...(isNextTurn ? { postponedAt: undefined, countdownLeftMs: undefined } : {}),
  };
};

const resting: readonly Activity[] = ['ready', 'draft', 'dialog'];

/** A turn may be so short that the agent was never seen at work; its answer is in the session file all the same. */
const isAnswerAfter = (postponedAt: Millis | undefined, { source, at }: Reading): boolean =>
  postponedAt !== undefined && source === 'log' && at > postponedAt;

/** Stops following a command that was sent in the previous conversation, unless that has led to the next one. */
const leftBehind = (before: Compaction, next: string | undefined, moment: SessionContext): Compaction => {
  if (isShortenedFrom(before, next)) return withoutShortening(before, moment);
  const state = inDoubt(foreignLeft(before, 'another conversation', moment), next);
  const { phase } = state;
  if (phase.kind !== 'sent') return state;
  if (!mayBeOurs(state, next)) return afterSent(state, left(phase, 'another conversation'), moment);
  const { pendingSession } = phase;
  return pendingSession && next === undefined
    ? enterPhase(state, { ...phase, pendingSession: { ...pendingSession, isUnsure: true } })
    : state;
};

/** Where the next conversation is not known yet, it may be the one that was shortened, or still the shortened one. */
const inDoubt = (state: Compaction, next: string | undefined): Compaction => {
  const { phase, conversation: id } = state;
  if (next !== undefined || id === undefined || phase.kind !== 'sent') return state;
  const { shortenedAt: writtenAt, shortenedFrom } = phase;
  return shortenedFrom === undefined || writtenAt === undefined
    ? state
    : enterPhase(state, { ...phase, pendingSession: { id, writtenAt, isUnsure: true } });
};

/** The whole conversation is back before an answer has proved that it was shortened. */
export const withoutShortening = (state: Compaction, moment: SessionContext): Compaction =>
  state.phase.kind === 'sent' && state.phase.shortenedAt !== undefined
    ? afterSent(state, takenBack, moment)
    : foreignUndone(state, moment);

// The number from before the compaction says nothing about a command that is being typed.
const compactedMeanwhile = (state: Compaction, phase: Typing, boundary: Boundary): Compaction =>
  boundary.source === 'screen' || findFailure(boundary, phase.attempt.before)
    ? state
    : {
        ...enterPhase(state, { ...phase, attempt: { ...phase.attempt, before: undefined } }),
        policy: recordCompaction(state.policy),
      };

// After the command was sent.

/** The phase after Enter. */
export const sentPhase = (
  attempt: Attempt,
  { isQueued, pendingSession }: Extract<TypeResult, { readonly kind: 'sent' }>,
  { now, fillSince, activity }: SessionContext,
): Sent => {
  const sent: Sent = { kind: 'sent', attempt, at: now, isQueued, numberSince: fillSince };
  if (!pendingSession) return sent;
  // the agent's next answer tells whether it has gone on in it
  const waiting: Sent = {
    ...sent,
    pendingSession,
    success: CONTINUES_SHORTER,
    shortenedAt: pendingSession.writtenAt,
  };
  return withTurn(waiting, activity, now);
};

/** The next phase, or how the attempt ended. */
type SentStep =
  | { readonly phase: Sent }
  | {
      readonly outcome: Outcome;
      readonly evidence: string;
      /** ended by its time limit: the agent's report may still follow */
      readonly isGivenUp?: true;
    };

type Ended = Exclude<SentStep, { readonly phase: Sent }>;

const sentAfter = ({ keyAt }: Compaction, phase: Sent, event: Event, moment: SessionContext): SentStep => {
  switch (event.type) {
    case 'activity': {
      const { activity } = event.report;
      if (phase.shortenedAt !== undefined)
        return activity === 'dead'
          ? left(phase, 'the end of the agent')
          : { phase: withTurn(phase, activity, moment.now) };
      const isUsers = phase.slowAt !== undefined && phase.begunAt === undefined && (keyAt ?? 0) > phase.at;
      return isUsers && activity === 'busy'
        ? notStarted('a turn of the user began')
        : sentWhile(phase, activity, moment.now);
    }
    case 'boundary':
      return sentTold(phase, event.boundary, moment);
    case 'compact-result': {
      if (phase.shortenedAt !== undefined) return { phase }; // of another command than ours
      const { result } = event;
      const evidence = result.kind === 'interrupted' ? `interrupted by ${result.by}` : result.text;
      return { outcome: result, evidence: `the agent says: ${evidence}` };
    }
    default:
      return { phase };
  }
};

const sentWhile = (phase: Sent, activity: Activity, now: Millis): SentStep => {
  const { isQueued, isSeen, begunAt } = phase;
  switch (activity) {
    case 'dead':
      return left(phase, 'the end of the agent');
    case 'compacting': {
      const seen = { ...phase, goneAt: undefined, isQueued: false, isSeen: true } as const;
      return { phase: isSeen ? seen : begun(seen, 'the agent compacts', now) };
    }
    case 'busy': {
      // a queued command waits for the turn that runs now; after an observed compaction this is the next turn
      if (isQueued || isSeen) return { phase };
      // some agent versions only look busy while they compact
      const back = { ...phase, goneAt: undefined };
      return { phase: begunAt === undefined ? begun(back, 'the agent works', now) : back };
    }
    case 'unknown':
      return { phase: isSeen ? phase : { ...phase, goneAt: undefined } };
    case 'dialog': // while queued, it is a dialog of the running turn
    case 'ready':
    case 'draft':
      if (isQueued) return { phase: activity === 'dialog' ? phase : { ...phase, isQueued: false, at: now } };
      return { phase: begunAt === undefined ? phase : { ...phase, goneAt: phase.goneAt ?? now } };
  }
};

const begun = (phase: Sent, fact: string, now: Millis): Sent => ({
  ...phase,
  begunAt: phase.begunAt ?? now,
  attempt: { ...phase.attempt, evidence: [...phase.attempt.evidence, fact] },
});

/** The record of a compaction that is not the shortening whose proof is waited for. */
const isAnothers = ({ shortenedAt }: Sent, { initiator, source }: Boundary): boolean =>
  shortenedAt !== undefined && initiator !== 'ctxwrap' && source !== 'screen';

const sentTold = (phase: Sent, boundary: Boundary, { now, fillSince }: SessionContext): SentStep => {
  const { source, initiator, at: shortenedAt, shortening } = boundary;
  const fault = findFailure(boundary, phase.attempt.before);
  if (fault) return { outcome: fault, evidence: `its record: ${fault.text}` };
  if (initiator === 'ctxwrap') {
    const { attempt, pendingSession: _, goneAt: __, ...rest } = phase;
    const before = beforeOf(boundary, attempt.before);
    const evidence = [...attempt.evidence, SHORTENED];
    const shortened = { success: SHORTENED, shortenedAt, shortenedFrom: shortening?.from };
    return { phase: { ...rest, attempt: { ...attempt, before, evidence }, ...shortened } };
  }
  if (source === 'screen') {
    // an agent that takes a written session shows its old compactions again
    if (phase.shortenedAt !== undefined) return { phase };
    return { phase: { ...begun(phase, SUCCESS, now), success: SUCCESS, numberSince: fillSince } };
  }
  return { outcome: verified(boundary), evidence: RECORD };
};

/** Evaluates the number and the time. */
const sentAt = (phase: Sent, moment: SessionContext, state: Compaction): SentStep => {
  const { settings, keyAt } = state;
  const { fill, fillSince, activity, now } = moment;
  const { attempt, begunAt, goneAt, success, numberSince, slowAt, shortenedAt } = phase;
  if (shortenedAt !== undefined)
    return answered(phase, shortenedAt, moment, state) ?? { phase: stillWaiting(phase, moment) };
  if (fill && fillSince !== numberSince) {
    if (isLower(attempt.before, fill)) {
      return { outcome: { kind: 'verified', after: fill }, evidence: 'the window is less full' };
    }
    if (success !== undefined) {
      return { outcome: { kind: 'unverified', text: success }, evidence: 'the window is as full as before' };
    }
  }
  const due = sentDue(phase, settings);
  if (due === undefined || now < due) return { phase };
  if (goneAt !== undefined) return { ...endedSilently(phase, moment, keyAt), isGivenUp: true };
  if (begunAt !== undefined) {
    const outcome = { kind: 'timeout', afterMs: settings.finishMs } as const;
    return { outcome, evidence: 'no end was seen', isGivenUp: true };
  }
  // an unknown screen may well show the compaction
  if (activity === 'unknown') return { phase: begun(phase, 'its screen is not understood', now) };
  // a draft may be the rest of a command that the agent did not accept; without keys it is the user's
  const isAccepted = activity === 'ready' || (activity === 'draft' && attempt.via !== undefined);
  if (isAccepted && slowAt === undefined) return { phase: { ...phase, slowAt: now } };
  return notStarted('nothing began');
};

const TOLD_MS = 500; // keys are told with a delay

/** It is over without a report. Nobody has interrupted it without a key while it ran: one behind its end begins the next message. */
const endedSilently = (
  phase: Sent,
  { fill, fillSince }: SessionContext,
  keyAt: Millis | undefined,
): Ended => {
  const { at, begunAt = at, goneAt = at, numberSince } = phase;
  if (keyAt !== undefined && keyAt > at && keyAt <= goneAt + TOLD_MS) return interrupted('the user');
  const isNumbered = fill !== undefined && fillSince !== numberSince;
  const left = isNumbered ? 'the size did not drop' : 'left no number';
  const reason = `the agent worked ${secondsText(goneAt - begunAt)}, and ${left}`;
  return { outcome: { kind: 'no-evidence', reason }, evidence: reason };
};

const notStarted = (evidence: string): SentStep => ({
  outcome: { kind: 'not-started' },
  evidence,
  isGivenUp: true,
});

// After the agent's report of success, the attempt waits for the next turn's number, however long that takes.
const sentDue = (phase: Sent, { startMs, finishMs }: CompactSettings): Millis | undefined => {
  const { at, begunAt, goneAt, success, isQueued, slowAt, shortenedAt } = phase;
  if (shortenedAt !== undefined) return answerAlarm(phase);
  if (success !== undefined || isQueued) return undefined;
  if (goneAt !== undefined) return goneAt + GONE_MS;
  if (begunAt !== undefined) return begunAt + finishMs;
  return slowAt === undefined ? at + startMs : slowAt + SLOW_MS;
};

/** Ends an attempt about which no report will follow. */
const left = (phase: Sent, by: string): Ended => {
  const { success, shortenedAt } = phase;
  if (shortenedAt !== undefined) return unproven(unansweredText(by, phase));
  return success === undefined
    ? interrupted(by)
    : { outcome: { kind: 'unverified', text: success }, evidence: `no number before ${by}` };
};

const interrupted = (by: string): Ended => ({
  outcome: { kind: 'interrupted', by },
  evidence: `interrupted by ${by}`,
});

const afterSent = (state: Compaction, step: SentStep, moment: SessionContext): Compaction => {
  if ('phase' in step) return enterPhase(state, step.phase);
  if (state.phase.kind !== 'sent') return state;
  const { attempt, at: sentAt } = state.phase;
  const evidence = [...attempt.evidence, step.evidence];
  const ended = endAttempt(state, { ...attempt, evidence }, step.outcome, moment);
  return step.isGivenUp ? { ...ended, givenUp: { attempt, sentAt } } : ended;
};

// A conversation that ctxwrap has shortened, until the agent's next answer.

/** What the next answer shows, or that there is none: a switch without an answer must not hold back the next attempt for ever. */
const answered = (
  phase: Sent,
  shortenedAt: Millis,
  moment: SessionContext,
  { conversation }: Compaction,
): SentStep | undefined => {
  const { attempt, pendingSession, success } = phase;
  // another conversation was in view since: its answers say nothing
  const isUnsure = pendingSession?.isUnsure === true && conversation !== pendingSession.id;
  const shown = isUnsure ? undefined : shownByAnswer(attempt.before, { shortenedAt, success }, moment);
  if (shown) return shown;
  const lack = lackOfAnswer(phase, moment);
  // the shortened conversation that the agent has shown is waited for, unless the window is full again
  return lack === undefined || (pendingSession === undefined && !isFullAgain(moment))
    ? undefined
    : unproven(unansweredText(lack, phase));
};

const unansweredText = (by: string, { pendingSession, shortenedFrom }: Sent): string =>
  pendingSession && shortenedFrom === undefined
    ? `the shortened conversation was not seen before ${by}`
    : `no answer before ${by}`;

/** Stops waiting for a number that confirms the agent's report. That can take long, and the user wants something new. */
export const stopWaitingForNumber = (state: Compaction, moment: SessionContext): Compaction => {
  const { phase } = state;
  if ((phase.kind !== 'sent' && phase.kind !== 'foreign') || phase.success === undefined) return state;
  return phase.kind === 'sent'
    ? afterSent(state, left(phase, NEXT_REQUEST), moment)
    : enterPhase(foreignLeft(state, NEXT_REQUEST, moment), { kind: 'rest' });
};

const NEXT_REQUEST = 'the next request';

/** Ends an attempt of ctxwrap: updates the history and reports the outcome. */
export const endAttempt = (
  state: Compaction,
  attempt: Attempt,
  outcome: Outcome,
  moment: SessionContext,
): Compaction => {
  const { startedAt, before, evidence, request, via, strategy } = attempt;
  const { now, fill } = moment;
  const ended: EndedCompaction = {
    initiator: 'ctxwrap',
    via,
    ...present({ strategy }),
    isManual: request !== undefined,
    startedAt,
    endedAt: now,
    before,
    outcome,
    evidence,
  };
  const policy = recordAttempt(state.policy, outcome, attempt, now);
  const recorded = strategy === undefined ? {} : { recordedAt: startedAt };
  const over = { ...withEnded(state, ended, request?.id), ...recorded, policy };
  if (outcome.kind === 'skipped-busy') return skipped(over, attempt, moment);
  const next = { ...over, skips: undefined, hasNews: false, tried: fill };
  return outcome.kind === 'verified' ? withoutEpisode(next) : next;
};

const skipped = (state: Compaction, { startedAt }: Attempt, moment: SessionContext): Compaction => {
  const { skips } = state;
  const times = skips && !hasOtherActivitySince(state, moment, skips.from) ? skips.times + 1 : 1;
  return { ...state, skips: { times, from: startedAt } };
};
