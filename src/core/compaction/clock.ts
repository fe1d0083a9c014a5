// A clock can be set back. What was to come later than it ever could is put where it would be if it began now, so that nothing waits
// for hours and no pause becomes shorter.
import type { Millis } from '../reading.js';
import { COOLDOWN_MS } from './policy.js';
import type { Policy } from './policy.js';
import type { Compaction, Phase } from './state.js';

export const COUNTDOWN_MS = 10_000;

/** How long a user can put it off at once. */
export const POSTPONE_MS = 300_000;

/** The state with no time in it that has not come yet, and no end that is farther away than it was at first. */
export const inClock = (state: Compaction, now: Millis): Compaction => {
  const { lookedAt, keyAt, postponedUntil, request, skips, last, givenUp } = state;
  if (lookedAt === undefined || lookedAt <= now) return state;
  return {
    ...state,
    phase: phaseIn(state.phase, now),
    policy: policyIn(state.policy, now),
    ...(postponedUntil === undefined ? {} : { postponedUntil: Math.min(postponedUntil, now + POSTPONE_MS) }),
    ...(keyAt === undefined ? {} : { keyAt: Math.min(keyAt, now) }),
    ...(request ? { request: { ...request, since: Math.min(request.since, now) } } : {}),
    ...(skips ? { skips: { ...skips, from: Math.min(skips.from, now) } } : {}),
    ...(givenUp ? { givenUp: { ...givenUp, sentAt: Math.min(givenUp.sentAt, now) } } : {}),
    ...(last ? { last: { ...last, endedAt: Math.min(last.endedAt, now) } } : {}),
  };
};

const policyIn = (policy: Policy, now: Millis): Policy => {
  const { openedAt, cooldownUntil } = policy;
  return {
    ...policy,
    ...(openedAt === undefined ? {} : { openedAt: Math.min(openedAt, now) }),
    ...(cooldownUntil === undefined ? {} : { cooldownUntil: Math.min(cooldownUntil, now + COOLDOWN_MS) }),
  };
};

const phaseIn = (phase: Phase, now: Millis): Phase => {
  switch (phase.kind) {
    case 'held':
      return { ...phase, since: Math.min(phase.since, now) };
    case 'rest':
    case 'doubted':
    case 'blocked':
    case 'proposed':
      return phase;
    case 'countdown':
      return { ...phase, until: Math.min(phase.until, now + COUNTDOWN_MS) };
    case 'typing': {
      const { attempt } = phase;
      return { ...phase, attempt: { ...attempt, startedAt: Math.min(attempt.startedAt, now) } };
    }
    case 'sent': {
      const { begunAt, goneAt, slowAt } = phase;
      return {
        ...phase,
        at: Math.min(phase.at, now),
        ...(begunAt === undefined ? {} : { begunAt: Math.min(begunAt, now) }),
        ...(slowAt === undefined ? {} : { slowAt: Math.min(slowAt, now) }),
        ...(goneAt === undefined ? {} : { goneAt: Math.min(goneAt, now) }),
      };
    }
    case 'foreign': {
      const { goneAt } = phase;
      return goneAt === undefined ? phase : { ...phase, goneAt: Math.min(goneAt, now) };
    }
  }
};
