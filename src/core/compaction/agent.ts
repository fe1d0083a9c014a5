// What the agent does by itself, as far as compacting is concerned: turns, new text, another conversation, compactions of its own.
import { askedIn } from '../activity.js';
import type { Activity, ActivityReport } from '../activity.js';
import type { Boundary, Event } from '../event.js';
import { faultOf } from './boundary-fault.js';
import { foreignAfter } from './foreign.js';
import { withoutGivenUp } from './late.js';
import { afterSent, endedAttempt } from './end.js';
import { afterCompaction, inConversation, inTurn } from './policy.js';
import { left, sentAfter } from './sent.js';
import { inPhase } from './state.js';
import type { Compaction, Moment } from './state.js';

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
