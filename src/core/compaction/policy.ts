import { countedTokens } from '../fusion.js';
import { effectiveTokens } from '../ladder.js';
import type { Millis, Activity } from '../reading.js';
import type { Liveness, SessionRecord } from '../records.js';
import { isFailure, type Outcome } from './outcome.js';
import type { Attempt, Compaction } from './state.js';

// What keeps us from trying again and again: a pause after each attempt, a breaker after failures, and a guard against a window
// that is full again at once.

const MOST_ATTEMPTS = 3; // in an episode, and as many again at hard
const COOLDOWN_MS = 60_000;
const MOST_FAILURES = 3; // one after the other; then the breaker opens
const HALF_OPEN_MS = 300_000; // after which an open breaker lets one attempt through
const PROACTIVE_MS = 600_000; // from one proactive attempt to the next: an estimate is too weak to compact by it again and again
const MOST_REFILLS = 3; // one after the other
const REFILL_TURNS = 3; // full again within so many turns is a refill

/** What was learnt from attempts and compactions so far. */
export interface Policy {
  /** in this episode */
  readonly attempts: number;
  /** in this episode, while the tier was hard */
  readonly hardAttempts: number;
  readonly cooldownUntil?: Millis;
  /** the pause after a proactive attempt, however that ended; a compaction does not end it */
  readonly proactiveUntil?: Millis | undefined;
  /** failures one after the other */
  readonly failures: number;
  readonly openedAt?: Millis;
  /** turns begun since the last compaction; undefined before the first one, and when the window has become full again after it */
  readonly turnsSince?: number | undefined;
  /** how often the window was full again within three turns, one after the other */
  readonly refills: number;
}

export const noPolicy: Policy = { attempts: 0, hardAttempts: 0, failures: 0, refills: 0 };

/** Why nothing is typed though the window is full. */
export type BlockReason =
  | { readonly why: 'breaker'; readonly failures: number; readonly until: Millis }
  | { readonly why: 'cooldown'; readonly until: Millis }
  /** the last proactive attempt was too short a time ago */
  | { readonly why: 'proactive'; readonly until: Millis }
  /** by the user */
  | { readonly why: 'postponed'; readonly until: Millis }
  | { readonly why: 'attempts'; readonly attempts: number }
  | { readonly why: 'refills'; readonly refills: number }
  /** nothing is new since the last attempt */
  | { readonly why: 'same' };

/** After an attempt of ours. One that was skipped was none. */
export const recordAttempt = (
  policy: Policy,
  outcome: Outcome,
  { isHard, isProactive }: Pick<Attempt, 'isHard' | 'isProactive'>,
  now: Millis,
): Policy => {
  if (outcome.kind === 'skipped-busy') return policy;
  const tried = isProactive ? { ...policy, proactiveUntil: now + PROACTIVE_MS } : policy;
  if (outcome.kind === 'verified') return recordCompaction(tried);
  const counted = isHard
    ? { ...tried, hardAttempts: tried.hardAttempts + 1 }
    : { ...tried, attempts: tried.attempts + 1 };
  const failures = isFailure(outcome) ? policy.failures + 1 : policy.failures;
  // one that was half open opens again after anything but success: only one attempt was let through
  const isOpen = failures >= MOST_FAILURES;
  return { ...counted, failures, cooldownUntil: now + COOLDOWN_MS, ...(isOpen ? { openedAt: now } : {}) };
};

/** After a compaction that worked, whoever asked for it: the breaker closes and the episode is over. */
export const recordCompaction = ({ refills, proactiveUntil }: Policy): Policy => ({
  ...noPolicy,
  turnsSince: 0,
  refills,
  proactiveUntil,
});

/** A turn of the agent has begun; its number may come before it is seen to end. */
export const startTurn = (policy: Policy): Policy =>
  policy.turnsSince === undefined ? policy : { ...policy, turnsSince: policy.turnsSince + 1 };

/** The window has become full; counted once after each compaction. */
export const startEpisode = (policy: Policy): Policy => {
  const { turnsSince, refills } = policy;
  if (turnsSince === undefined) return policy;
  return { ...policy, turnsSince: undefined, refills: turnsSince <= REFILL_TURNS ? refills + 1 : 0 };
};

/** The episode is over without a compaction: the window is not full any more, or another conversation is on. */
export const endEpisode = (policy: Policy): Policy => ({ ...policy, attempts: 0, hardAttempts: 0 });

/** Another conversation: what its window did before says nothing. The breaker stays, for it is about the agent. */
export const startConversation = (policy: Policy): Policy => ({
  ...endEpisode(policy),
  turnsSince: undefined,
  refills: 0,
});

/** What stands against an attempt now. At hard, pauses and failures do not count, but there is an end to it. */
export const findBlock = (
  policy: Policy,
  { isHard, isProactive }: Pick<Attempt, 'isHard' | 'isProactive'>,
  now: Millis,
): BlockReason | undefined => {
  const { attempts, hardAttempts, cooldownUntil, proactiveUntil, openedAt, refills } = policy;
  // compacting does not help here, and would go on for ever at hard
  if (refills >= MOST_REFILLS) return { why: 'refills', refills };
  if (isHard) {
    return hardAttempts >= MOST_ATTEMPTS ? { why: 'attempts', attempts: attempts + hardAttempts } : undefined;
  }
  const breaker = breakerOf(policy, now);
  if (breaker) return breaker;
  if (isProactive && proactiveUntil !== undefined && now < proactiveUntil) {
    return { why: 'proactive', until: proactiveUntil };
  }
  if (cooldownUntil !== undefined && now < cooldownUntil) return { why: 'cooldown', until: cooldownUntil };
  // a breaker that is half open lets one attempt through, and opens again at once when it fails
  return openedAt === undefined && attempts >= MOST_ATTEMPTS ? { why: 'attempts', attempts } : undefined;
};

/** The breaker while it is open. */
export const breakerOf = (
  { openedAt, failures }: Policy,
  now: Millis,
): Extract<BlockReason, { why: 'breaker' }> | undefined =>
  openedAt !== undefined && now < openedAt + HALF_OPEN_MS
    ? { why: 'breaker', failures, until: openedAt + HALF_OPEN_MS }
    : undefined;

// Whether a key of ours could do harm now. Only an agent that has been ready for a while, with a user who is not typing, gets one.

const SETTLED_MS = 1_500;
const QUIET_MS = 3_000;

/** What is looked at before a key of ours. */
export interface GateConditions {
  readonly activity: Activity;
  readonly activitySince: Millis;
  /** the user's last key; undefined before the first */
  readonly keyAt?: Millis | undefined;
  /** a draft can be put aside by a key of the agent's, and the user allows it */
  readonly mayStash?: boolean | undefined;
  /** the agent queues a command that is given while it works, and the user allows it */
  readonly mayQueue?: boolean | undefined;
}

/** Why the gate is shut. `until` where only time is missing. */
export interface GateHold {
  readonly why:
    | 'busy'
    | 'dialog'
    | 'draft'
    | 'compacting'
    | 'unknown'
    | 'dead'
    | 'settling'
    | 'typing'
    /** the countdown could not be seen */
    | 'unseen';
  readonly until?: Millis;
}

/** What holds us back; undefined when a key may be typed. */
export const findHold = (view: GateConditions, now: Millis): GateHold | undefined => {
  const { activity, activitySince, keyAt } = view;
  if (activity !== 'ready' && !isAllowed(view)) return { why: activity };
  const quietAt = keyAt === undefined ? now : keyAt + QUIET_MS;
  if (now < quietAt) return { why: 'typing', until: quietAt };
  const settledAt = activitySince + SETTLED_MS;
  return now < settledAt ? { why: 'settling', until: settledAt } : undefined;
};

const isAllowed = ({ activity, mayStash, mayQueue }: GateConditions): boolean =>
  (activity === 'draft' && mayStash === true) || (activity === 'busy' && mayQueue === true);

// Whether an agent that is about to compact by itself, perhaps in the middle of a turn, is to wait.

/** What the hook knows of its session; nothing where no wrapper has written of it. */
export type HookSession = { readonly record: SessionRecord; readonly liveness: Liveness } | undefined;

/** One line on why it waits; undefined where it may: at hard, and wherever anything is not known for certain. */
export const findNativeHold = (session: HookSession): string | undefined => {
  const { reading, tier, thresholds } = session?.record ?? {};
  const used = reading?.exact ? countedTokens(reading) : undefined;
  if (session?.liveness !== 'live' || used === undefined) return undefined;
  if (tier === undefined || tier === 'hard') return undefined;
  // a window or bounds of the user's may lie beyond what the agent can do without
  if (reading?.windowTokens === undefined || reading.windowSource === 'user') return undefined;
  const effective = effectiveTokens(reading.windowTokens);
  const hard = thresholds?.find(({ name, unit }) => name === 'hard' && unit === 'tokens')?.value ?? Infinity;
  const until = Math.min(effective, hard);
  return used < until ? `${used} tokens used, held until ${until}` : undefined;
};

// Whether the user could see a countdown. Nothing is typed by itself behind one that nobody could.

/** Why a countdown cannot be seen. */
export type InvisibleReason =
  /** the user wants no footer */
  | 'off'
  /** the terminal has no room for one */
  | 'small'
  /** a page of the overview is over it that does not show it */
  | 'covered'
  /** it has not got to the screen */
  | 'undrawn'
  /** it was given up, because something of ours has failed */
  | 'failed';

/** What holds back a countdown that nobody could see. */
export const visibilityHold = ({ unseen, settings }: Compaction): GateHold | undefined =>
  unseen === undefined || (unseen === 'off' && settings.mayTypeUnseen === true)
    ? undefined
    : { why: 'unseen' };

export const isCountdownInvisible = ({ phase }: Compaction): boolean =>
  phase.kind === 'held' && phase.hold.why === 'unseen';

/**
 * A compaction is to come by itself, or on its way, and gets a row also in a terminal that has none for less; a countdown comes before
 * everything else that could be said. For one that was asked for, nothing changes.
 */
export type DueKind = 'soon' | 'countdown' | 'asked';

export const dueKindOf = ({ phase, request }: Compaction): DueKind | undefined => {
  switch (phase.kind) {
    case 'countdown':
      return 'countdown';
    case 'held':
      return request ? 'asked' : 'soon';
    case 'typing':
    case 'sent':
      return phase.attempt.request ? 'asked' : 'soon';
    default:
      return undefined;
  }
};
