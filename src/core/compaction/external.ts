import type { Boundary, Event } from '../event.js';
import { askedIn, type Activity, type ActivityReport } from '../reading.js';
import { faultOf, isLower } from './outcome.js';
import { afterCompaction, inConversation, inTurn } from './policy.js';
import {
  foreignWorked,
  withoutGivenUp,
  GONE_MS,
  SUCCESS,
  afterSent,
  endedAttempt,
  left,
  sentAfter,
} from './running.js';
import { inPhase, type Compaction, type Moment, type Phase } from './state.js';

// A compaction that is not ours: the agent's own, or the user's. While it lasts nothing is typed, and if it works we stand down.

export type Foreign = Extract<Phase, { readonly kind: 'foreign' }>;

const foreignAfter = (state: Compaction, event: Event, moment: Moment): Compaction => {
  switch (event.type) {
    case 'boundary':
      return afterBoundary(state, event.boundary, moment);
    case 'compact-result':
      return withoutGivenUp(state.phase.kind === 'foreign' ? inPhase(state, { kind: 'rest' }) : state);
    case 'activity':
      return afterActivity(state, event.report.activity === 'compacting', moment);
    default:
      return state;
  }
};

const afterBoundary = (state: Compaction, boundary: Boundary, moment: Moment): Compaction => {
  const { initiator, postTokens, source } = boundary;
  if (source === 'screen') return moment.seen.fileTells ? state : saidToWork(state, moment);
  const before = state.phase.kind === 'foreign' ? state.phase.before : moment.seen.fill;
  if (faultOf(boundary, before)) return withoutGivenUp(inPhase(state, { kind: 'rest' }));
  const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
  const by = initiator === undefined ? {} : { initiator };
  return foreignWorked(state, { ...by, evidence: 'its record of the compaction', ...after }, moment);
};

/** Words alone prove nothing: the next number tells. */
const saidToWork = (state: Compaction, moment: Moment): Compaction => {
  const { phase } = state;
  const { numberSince: _, ...rest } = phase.kind === 'foreign' ? phase : begun(moment);
  return inPhase(state, { ...rest, ...numberOf(moment), success: SUCCESS });
};

const begun = (moment: Moment): Foreign => {
  const { seen, now } = moment;
  return { kind: 'foreign', since: now, ...(seen.fill ? { before: seen.fill } : {}), ...numberOf(moment) };
};

const numberOf = ({ seen }: Moment): Pick<Foreign, 'numberSince'> =>
  seen.fillSince === undefined ? {} : { numberSince: seen.fillSince };

const afterActivity = (state: Compaction, isCompacting: boolean, moment: Moment): Compaction => {
  const { phase } = state;
  if (phase.kind === 'foreign') {
    const { goneAt, ...rest } = phase;
    return inPhase(state, isCompacting ? rest : { ...rest, goneAt: goneAt ?? moment.now });
  }
  return isCompacting ? inPhase(state, begun(moment)) : state;
};

/** What the number says, and the time. */
export const foreignAt = (state: Compaction, phase: Foreign, moment: Moment): Compaction => {
  const { seen, now } = moment;
  const { before, success, numberSince } = phase;
  if (seen.fill && seen.fillSince !== numberSince) {
    if (isLower(before, seen.fill)) {
      return foreignWorked(state, { evidence: 'the window is emptier', after: seen.fill }, moment);
    }
    if (success !== undefined) return inPhase(state, { kind: 'rest' });
  }
  const due = foreignDue(phase);
  return due !== undefined && now >= due ? inPhase(state, { kind: 'rest' }) : state;
};

/** When it is over without a word. */
export const foreignDue = ({ goneAt, success }: Foreign): number | undefined =>
  goneAt === undefined || success !== undefined ? undefined : goneAt + GONE_MS;

// What the agent does by itself, as far as compacting is concerned: turns, new text, another conversation, compactions of its own.

export const afterAgent = (state: Compaction, event: Event, moment: Moment): Compaction => {
  const noted = noting(state, event, moment);
  const { phase } = noted;
  switch (phase.kind) {
    case 'typing':
      if (event.type === 'boundary') return compactedMeanwhile(noted, event.boundary);
      if (moment.gate.activity !== 'dead') return noted;
      return endedAttempt(noted, phase.attempt, { kind: 'interrupted', by: 'the end of the agent' }, moment);
    case 'sent':
      return afterSent(noted, sentAfter(phase, event, moment, noted.keyAt), moment);
    default:
      return foreignAfter(noted, event, moment);
  }
};

// The number that was there before proves nothing for what is typed now.
const compactedMeanwhile = (state: Compaction, boundary: Boundary): Compaction => {
  if (
    state.phase.kind !== 'typing' ||
    boundary.source === 'screen' ||
    faultOf(boundary, state.phase.attempt.before)
  )
    return state;
  const { before: _, ...attempt } = state.phase.attempt;
  return { ...inPhase(state, { kind: 'typing', attempt }), policy: afterCompaction(state.policy) };
};

const noting = (state: Compaction, event: Event, moment: Moment): Compaction => {
  switch (event.type) {
    case 'activity':
      return notingActivity(notingAsked(state, event.report), event.report.activity);
    case 'agent-version': {
      const [name = 'the agent'] = state.agent?.split(' ') ?? [];
      return { ...state, agent: `${name} ${event.version}` };
    }
    case 'session-changed':
      return notingConversation(state, event.sessionId, moment);
    default:
      return state;
  }
};

const notingAsked = (state: Compaction, { activity, asks }: ActivityReport): Compaction => ({
  ...state,
  asks: askedIn(activity, asks),
});

// Between two attempts something must have happened: a turn that began from rest, not the end of what we did ourselves. Text that comes
// into the session file is no witness: the agent writes down there, too, how our own command ended.
const notingActivity = (state: Compaction, activity: Activity): Compaction => {
  if (activity === 'unknown' || activity === state.activity) return state;
  const wasAtRest = state.activity !== undefined && resting.includes(state.activity);
  const isOurs = state.phase.kind === 'typing' || state.phase.kind === 'sent';
  const begins = !isOurs && wasAtRest && activity === 'busy';
  return begins
    ? { ...state, activity, hasNews: true, policy: inTurn(state.policy) }
    : { ...state, activity };
};

const resting: readonly Activity[] = ['ready', 'draft', 'dialog'];

// The first id is only the name of the conversation that is already on.
const notingConversation = (state: Compaction, conversation: string, moment: Moment): Compaction => {
  if (state.conversation === undefined || state.conversation === conversation) {
    return { ...state, conversation };
  }
  const { phase } = state;
  const ended = phase.kind === 'sent' ? afterSent(state, left(phase, 'another conversation'), moment) : state;
  const { episodeSince: _, episodeFill: __, tried: ___, ...rest } = withoutGivenUp(ended);
  return {
    ...(ended.phase.kind === 'typing' ? rest : inPhase(rest, { kind: 'rest' })),
    conversation,
    policy: inConversation(ended.policy),
    hasNews: true,
  };
};
