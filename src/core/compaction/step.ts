// Compacting as a state machine: what happened, what time it is, what to do. Pure; the shell types and tells how it went.
import type { Event } from '../event.js';
import { decided } from './decide.js';
import { afterAgent } from './agent.js';
import { afterSent, endedAttempt } from './end.js';
import { foreignAt } from './foreign.js';
import { sentAt } from './sent.js';
import type { Compaction, CompactRequest, Moment, Typed } from './state.js';
import { inPhase } from './state.js';

/** Typing takes a second or two; a typist that says nothing for so long is gone. */
export const TYPING_MS = 15_000;

/** The state after an event; `effects` are those of this event alone. */
export const stepCompaction = (before: Compaction, event: Event, moment: Moment): Compaction => {
  const state = heard({ ...before, effects: [] }, event, moment);
  const timed = inTime(state, moment);
  return moment.gate.activity === 'dead' ? inPhase(timed, { kind: 'rest' }) : decided(timed, moment);
};

const heard = (state: Compaction, event: Event, moment: Moment): Compaction => {
  const { now } = moment;
  switch (event.type) {
    case 'user-keys':
      return { ...state, keyAt: now };
    case 'mode':
      return { ...state, mode: event.mode };
    case 'compact-requested':
      return withRequest(state, event.request);
    case 'compact-cancelled':
      return withoutRequest(state, event.id);
    case 'typed':
      return afterTyping(state, event.result, moment);
    default:
      return afterAgent(state, event, moment);
  }
};

const withRequest = (state: Compaction, request: CompactRequest): Compaction => {
  const { kind } = state.phase;
  const reason =
    kind === 'typing' || kind === 'sent' || kind === 'foreign'
      ? 'a compaction is under way'
      : state.request && 'another request is waiting';
  if (reason === undefined) return { ...state, request };
  return { ...state, effects: [...state.effects, { type: 'refused', requestId: request.id, reason }] };
};

const withoutRequest = (state: Compaction, id: string): Compaction => {
  if (state.request?.id !== id) return state;
  const { request: _, ...rest } = state;
  return rest;
};

const afterTyping = (state: Compaction, typed: Typed, moment: Moment): Compaction => {
  const { phase } = state;
  if (phase.kind !== 'typing') return state; // it took too long, and that was said
  const attempt = { ...phase.attempt, evidence: [...phase.attempt.evidence, ...typed.evidence] };
  switch (typed.kind) {
    case 'sent':
      return inPhase(state, { kind: 'sent', attempt, at: moment.now, isQueued: typed.isQueued });
    case 'withdrawn':
      return endedAttempt(state, attempt, { kind: 'not-delivered', reason: typed.reason }, moment);
    case 'skipped':
      return endedAttempt(state, attempt, { kind: 'skipped-busy', reason: typed.reason }, moment);
  }
};

/** What time alone ends. */
const inTime = (state: Compaction, moment: Moment): Compaction => {
  const { phase, settings } = state;
  const { now, seen } = moment;
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
      return afterSent(state, sentAt(phase, seen, settings, now), moment);
    case 'foreign':
      return foreignAt(state, phase, moment);
    default:
      return state;
  }
};
