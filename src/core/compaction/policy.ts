// What keeps us from trying again and again: a pause after each attempt, a breaker after failures, and a guard against a window
// that is full again at once.
import type { Millis } from '../reading.js';
import { isFailure } from './outcome.js';
import type { Outcome } from './outcome.js';

const MOST_ATTEMPTS = 3; // in an episode, and as many again at hard
export const COOLDOWN_MS = 60_000;
const MOST_FAILURES = 3; // one after the other; then the breaker opens
const HALF_OPEN_MS = 300_000; // after which an open breaker lets one attempt through
const MOST_REFILLS = 3; // one after the other
const REFILL_TURNS = 3; // full again within so many turns is a refill

/** What was learnt from attempts and compactions so far. */
export interface Policy {
  /** in this episode */
  readonly attempts: number;
  /** in this episode, while the tier was hard */
  readonly hardAttempts: number;
  readonly cooldownUntil?: Millis;
  /** failures one after the other */
  readonly failures: number;
  readonly openedAt?: Millis;
  /** turns begun since the last compaction; undefined before the first one, and when the window has become full again after it */
  readonly turnsSince?: number;
  /** how often the window was full again within three turns, one after the other */
  readonly refills: number;
}

export const noPolicy: Policy = { attempts: 0, hardAttempts: 0, failures: 0, refills: 0 };

/** Why nothing is typed though the window is full. */
export type Block =
  | { readonly why: 'breaker'; readonly failures: number; readonly until: Millis }
  | { readonly why: 'cooldown'; readonly until: Millis }
  /** by the user */
  | { readonly why: 'postponed'; readonly until: Millis }
  | { readonly why: 'attempts'; readonly attempts: number }
  | { readonly why: 'refills'; readonly refills: number };

/** After an attempt of ours. One that was skipped was none. */
export const afterAttempt = (policy: Policy, outcome: Outcome, isHard: boolean, now: Millis): Policy => {
  if (outcome.kind === 'verified') return afterCompaction(policy);
  if (outcome.kind === 'skipped-busy') return policy;
  const counted = isHard
    ? { ...policy, hardAttempts: policy.hardAttempts + 1 }
    : { ...policy, attempts: policy.attempts + 1 };
  const failures = isFailure(outcome) ? policy.failures + 1 : policy.failures;
  // one that was half open opens again after anything but success: only one attempt was let through
  const isOpen = failures >= MOST_FAILURES;
  return { ...counted, failures, cooldownUntil: now + COOLDOWN_MS, ...(isOpen ? { openedAt: now } : {}) };
};

/** After a compaction that worked, whoever asked for it: the breaker closes and the episode is over. */
export const afterCompaction = ({ refills }: Policy): Policy => ({ ...noPolicy, turnsSince: 0, refills });

/** A turn of the agent has begun; its number may come before it is seen to end. */
export const inTurn = (policy: Policy): Policy =>
  policy.turnsSince === undefined ? policy : { ...policy, turnsSince: policy.turnsSince + 1 };

/** The window has become full; counted once after each compaction. */
export const inEpisode = (policy: Policy): Policy => {
  const { turnsSince, ...rest } = policy;
  if (turnsSince === undefined) return policy;
  return { ...rest, refills: turnsSince <= REFILL_TURNS ? policy.refills + 1 : 0 };
};

/** The episode is over without a compaction: the window is not full any more, or another conversation is on. */
export const outOfEpisode = (policy: Policy): Policy => ({ ...policy, attempts: 0, hardAttempts: 0 });

/** Another conversation: what its window did before says nothing. The breaker stays, for it is about the agent. */
export const inConversation = (policy: Policy): Policy => {
  const { turnsSince: _, ...rest } = outOfEpisode(policy);
  return { ...rest, refills: 0 };
};

/** What stands against an attempt now. At hard, pauses and failures do not count, but there is an end to it. */
export const blockOf = (policy: Policy, isHard: boolean, now: Millis): Block | undefined => {
  const { attempts, hardAttempts, cooldownUntil, openedAt, refills } = policy;
  // compacting does not help here, and would go on for ever at hard
  if (refills >= MOST_REFILLS) return { why: 'refills', refills };
  if (isHard) {
    return hardAttempts >= MOST_ATTEMPTS ? { why: 'attempts', attempts: attempts + hardAttempts } : undefined;
  }
  const breaker = breakerOf(policy, now);
  if (breaker) return breaker;
  if (cooldownUntil !== undefined && now < cooldownUntil) return { why: 'cooldown', until: cooldownUntil };
  // a breaker that is half open lets one attempt through, and opens again at once when it fails
  return openedAt === undefined && attempts >= MOST_ATTEMPTS ? { why: 'attempts', attempts } : undefined;
};

/** The breaker while it is open. */
export const breakerOf = ({ openedAt, failures }: Policy, now: Millis): Block | undefined =>
  openedAt !== undefined && now < openedAt + HALF_OPEN_MS
    ? { why: 'breaker', failures, until: openedAt + HALF_OPEN_MS }
    : undefined;
