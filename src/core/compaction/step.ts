// Compacting as a state machine: what happened, what time it is, what to do. Pure; the shell types and tells how it went.
import type { Event } from '../event.js';
import { afterAgent } from './agent.js';
import { inClock, POSTPONE_MS } from './clock.js';
import { decided } from './decide.js';
import { afterSent, endedAttempt } from './end.js';
import { foreignAt } from './foreign.js';
import { refused, withoutLate, withRequest, withoutRequest } from './request.js';
import { sentAt } from './sent.js';
import { inPhase } from './state.js';
import type { Compaction, Moment, Typed } from './state.js';

/** Typing takes a second or two; a typist that says nothing for so long is gone. */
export const TYPING_MS = 15_000;

/** The state after an event; `effects` are those of this event alone. */
export const stepCompaction = (before: Compaction, event: Event, moment: Moment): Compaction => {
  const { now } = moment;
  const state: Compaction = { ...inClock(before, now), effects: [] };
  if (before.activity === 'dead') return afterTheEnd(state, event);
  const timed = withoutMoot(before, withoutLate(inTime(heard(state, event, moment), moment), now));
  const after = timed.activity === 'dead' ? atTheEnd(timed) : decided(timed, moment);
  return { ...after, lookedAt: now };
};

/** What somebody asked for before is not done to another conversation, nor again. */
const withoutMoot = (before: Compaction, state: Compaction): Compaction => {
  const { request } = before;
  if (request === undefined || state.request?.id !== request.id) return state;
  if (before.conversation !== undefined && state.conversation !== before.conversation) {
    return refused(state, request, 'another conversation has begun');
  }
  const isDone = state.effects.some(
    (effect) =>
      effect.type === 'ended' &&
      (effect.ended.initiator !== 'ctxwrap' || effect.ended.isLate === true) &&
      effect.ended.outcome.kind === 'verified',
  );
  return isDone ? refused(state, request, 'the conversation has just been compacted') : state;
};

const ENDED = 'the agent has ended';

const atTheEnd = (state: Compaction): Compaction => {
  const { request } = state;
  return inPhase(request ? refused(state, request, ENDED) : state, { kind: 'rest' });
};

// What the agent's files tell now was before its end; nothing follows from it.
const afterTheEnd = (state: Compaction, event: Event): Compaction =>
  event.type === 'compact-requested' ? refused(state, event.request, ENDED) : state;

const heard = (state: Compaction, event: Event, moment: Moment): Compaction => {
  const { now } = moment;
  switch (event.type) {
    case 'user-keys':
      return { ...state, keyAt: now };
    case 'mode':
      return { ...state, mode: event.mode };
    case 'proactive':
      return { ...state, isProactive: event.isProactive };
    case 'sight':
      return { ...state, unseen: event.unseen };
    case 'postpone':
      return { ...state, postponedUntil: now + POSTPONE_MS };
    case 'settings': {
      const { compact: settings } = event.settings;
      // what was chosen by a key stays, unless the user has written something else
      const { mode, isProactive } = settings;
      const before = state.settings;
      return {
        ...state,
        settings,
        mode: mode === before.mode ? state.mode : mode,
        isProactive: isProactive === before.isProactive ? state.isProactive : isProactive,
      };
    }
    case 'compact-requested':
      return withRequest(state, event.request, moment);
    case 'compact-cancelled':
      return withoutRequest(state, event.id);
    case 'typed':
      return afterTyping(state, event.result, moment);
    default:
      return afterAgent(state, event, moment);
  }
};

const afterTyping = (state: Compaction, typed: Typed, moment: Moment): Compaction => {
  const { phase } = state;
  if (phase.kind !== 'typing') return state; // it took too long, and that was said
  const attempt = { ...phase.attempt, evidence: [...phase.attempt.evidence, ...typed.evidence] };
  switch (typed.kind) {
    case 'sent': {
      const { now, seen } = moment;
      const number = seen.fillSince === undefined ? {} : { numberSince: seen.fillSince };
      return inPhase(state, { kind: 'sent', attempt, at: now, isQueued: typed.isQueued, ...number });
    }
    case 'withdrawn':
      return endedAttempt(state, attempt, { kind: 'not-delivered', reason: typed.reason }, moment);
    case 'skipped':
      return endedAttempt(state, attempt, { kind: 'skipped-busy', reason: typed.reason }, moment);
  }
};

/** What time alone ends. */
const inTime = (state: Compaction, moment: Moment): Compaction => {
  const { phase, settings } = state;
  const { now } = moment;
  switch (phase.kind) {
    case 'typing': {
      if (now < phase.attempt.startedAt + TYPING_MS) return state;
      return endedAttempt(
        state,
        phase.attempt,
        { kind: 'not-delivered', reason: 'typing did not end' },
        moment,
      );
    }
    case 'sent':
      return afterSent(state, sentAt(phase, moment, settings), moment);
    case 'foreign':
      return foreignAt(state, phase, moment);
    default:
      return state;
  }
};
