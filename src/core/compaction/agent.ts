// What the agent does by itself, as far as compacting is concerned: turns, new text, another conversation, compactions of its own.
import type { Activity } from '../activity.js';
import type { Event } from '../event.js';
import { foreignAfter } from './foreign.js';
import { afterSent, endedAttempt } from './end.js';
import { afterTurn, inConversation } from './policy.js';
import { interrupted, sentAfter } from './sent.js';
import { inPhase } from './state.js';
import type { Compaction, Moment } from './state.js';

export const afterAgent = (state: Compaction, event: Event, moment: Moment): Compaction => {
  const noted = noting(state, event, moment);
  const { phase } = noted;
  switch (phase.kind) {
    case 'typing':
      if (moment.gate.activity !== 'dead') return noted;
      return endedAttempt(noted, phase.attempt, { kind: 'interrupted', by: 'the end of the agent' }, moment);
    case 'sent':
      return afterSent(noted, sentAfter(phase, event, moment.now), moment);
    default:
      return foreignAfter(noted, event, moment);
  }
};

const noting = (state: Compaction, event: Event, moment: Moment): Compaction => {
  switch (event.type) {
    case 'activity':
      return notingActivity(state, event.report.activity);
    case 'growth':
      return { ...state, growthTokens: state.growthTokens + event.tokens, hasNews: true };
    case 'session-changed':
      return notingConversation(state, event.sessionId, moment);
    default:
      return state;
  }
};

// Between two attempts something must have happened: a turn that began from rest, not the end of what we did ourselves.
const notingActivity = (state: Compaction, activity: Activity): Compaction => {
  if (activity === 'unknown' || activity === state.activity) return state;
  const wasAtRest = state.activity === 'ready' || state.activity === 'draft';
  const isAtRest = activity === 'ready' || activity === 'draft';
  const isOurs = state.phase.kind === 'typing' || state.phase.kind === 'sent';
  const begins = !isOurs && wasAtRest && activity === 'busy';
  const ends = state.activity === 'busy' && isAtRest;
  return {
    ...state,
    activity,
    hasNews: state.hasNews || begins,
    ...(ends ? { policy: afterTurn(state.policy) } : {}),
  };
};

// The first id is only the name of the conversation that is already on.
const notingConversation = (state: Compaction, conversation: string, moment: Moment): Compaction => {
  if (state.conversation === undefined || state.conversation === conversation) {
    return { ...state, conversation };
  }
  const { phase } = state;
  const left = phase.kind === 'sent' ? afterSent(state, interrupted('another conversation'), moment) : state;
  const { episodeSince: _, ...rest } = left;
  return {
    ...(left.phase.kind === 'typing' ? rest : inPhase(rest, { kind: 'rest' })),
    conversation,
    policy: inConversation(left.policy),
    growthTokens: 0,
    hasNews: true,
  };
};
