import type { PlanProgress } from '../conversation/work-progress.js';
import { countedTokens } from '../fusion.js';
import { effectiveTokens } from '../ladder.js';
import { present } from '../present.js';
import type { Millis, Activity, Place } from '../reading.js';
import type { Liveness, SessionRecord } from '../report/records.js';
import { scaledWait } from '../time-scale.js';
import { isFailure, type Outcome } from './outcome.js';
import type { Attempt, Compaction, SessionContext } from './state.js';

// Limits on repeated attempts: a pause after each attempt, a breaker after failures, and a check for a window that fills again at once.

const MOST_ATTEMPTS = 3; // in an episode, and as many more at hard
const COOLDOWN_MS = scaledWait(60_000);
const MOST_FAILURES = 3; // in a row; then the breaker opens
const HALF_OPEN_MS = 300_000; // then an open breaker allows one attempt
const PROACTIVE_MS = 600_000; // between two proactive attempts: an estimate is too weak a reason to compact repeatedly
const MOST_REFILLS = 3; // in a row
const REFILL_TURNS = 3; // full again within so many turns counts as a refill

/** The history of attempts and compactions that limits further attempts. */
export interface Policy {
  /** in this episode */
  readonly attempts: number;
  /** in this episode, while the tier was hard */
  readonly hardAttempts: number;
  readonly cooldownUntil?: Millis;
  /** the pause after a proactive attempt, whatever its outcome; a compaction does not end it */
  readonly proactiveUntil?: Millis | undefined;
  /** failures in a row */
  readonly failures: number;
  readonly openedAt?: Millis;
  /** turns since the last compaction; undefined before the first one, and once the window has become full again */
  readonly turnsSince?: number | undefined;
  /** refills in a row: how often the window was full again within three turns */
  readonly refills: number;
}

export const noPolicy: Policy = { attempts: 0, hardAttempts: 0, failures: 0, refills: 0 };

/** Why nothing is typed although the window is full. */
export type BlockReason =
  | { readonly why: 'breaker'; readonly failures: number; readonly until: Millis }
  | { readonly why: 'cooldown'; readonly until: Millis }
  /** the last proactive attempt was too recent */
  | { readonly why: 'proactive'; readonly until: Millis }
  /** by the user, until the next turn */
  | { readonly why: 'postponed' }
  | { readonly why: 'attempts'; readonly attempts: number }
  | { readonly why: 'refills'; readonly refills: number }
  /** nothing is new since the last attempt */
  | { readonly why: 'same' }
  /** the session file could not be copied; tried again at `until` */
  | { readonly why: 'copy'; readonly reason: string; readonly until: Millis | undefined };

/** Updates the history after an attempt of ctxwrap. A skipped one does not count. */
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
  // a half-open breaker allowed one attempt, so it opens again unless that succeeded
  const isOpen = failures >= MOST_FAILURES;
  return { ...counted, failures, cooldownUntil: now + COOLDOWN_MS, ...(isOpen ? { openedAt: now } : {}) };
};

/** Updates the history after a successful compaction, whoever requested it: the breaker closes and the episode ends. */
export const recordCompaction = ({ refills, proactiveUntil }: Policy): Policy => ({
  ...noPolicy,
  turnsSince: 0,
  refills,
  proactiveUntil,
});

/** The agent has begun a turn. The turn's number may arrive before its end is observed. */
export const startTurn = (policy: Policy): Policy =>
  policy.turnsSince === undefined ? policy : { ...policy, turnsSince: policy.turnsSince + 1 };

/** The window has become full; counted once after each compaction. */
export const startEpisode = (policy: Policy): Policy => {
  const { turnsSince, refills } = policy;
  if (turnsSince === undefined) return policy;
  return { ...policy, turnsSince: undefined, refills: turnsSince <= REFILL_TURNS ? refills + 1 : 0 };
};

/** The episode ends without a compaction: the window is no longer full, or the conversation has changed. */
export const endEpisode = (policy: Policy): Policy => ({ ...policy, attempts: 0, hardAttempts: 0 });

/** The conversation has changed, so the refills of the old one no longer count. The breaker stays, because it concerns the agent. */
export const startConversation = (policy: Policy): Policy => ({
  ...endEpisode(policy),
  turnsSince: undefined,
  refills: 0,
});

/** Why no attempt may start now. At hard, pauses and failures do not count, but the number of attempts is limited there, too. */
export const findBlock = (
  policy: Policy,
  { isHard, isProactive }: Pick<Attempt, 'isHard' | 'isProactive'>,
  now: Millis,
): BlockReason | undefined => {
  const { attempts, hardAttempts, cooldownUntil, proactiveUntil, openedAt, refills } = policy;
  // compacting does not help here, and at hard it would never end
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
  // a half-open breaker allows one attempt, and opens again if that fails
  return openedAt === undefined && attempts >= MOST_ATTEMPTS ? { why: 'attempts', attempts } : undefined;
};

/** Why nothing would be started now, whatever the number; undefined if it would. `isHard`: in a window that is at hard. */
export const pauseOf = (
  { policy, postponedAt }: Compaction,
  now: Millis,
  { isHard }: Pick<Attempt, 'isHard'> = { isHard: false },
): BlockReason | undefined =>
  postponedAt === undefined ? findBlock(policy, { isHard, isProactive: false }, now) : { why: 'postponed' };

/** The breaker, if it is open. */
export const breakerOf = (
  { openedAt, failures }: Policy,
  now: Millis,
): Extract<BlockReason, { why: 'breaker' }> | undefined =>
  openedAt !== undefined && now < openedAt + HALF_OPEN_MS
    ? { why: 'breaker', failures, until: openedAt + HALF_OPEN_MS }
    : undefined;

// The gate: whether a key typed by ctxwrap could do harm now. It opens only for an agent that has been ready for a while and a user who is
// not typing.

const SETTLED_MS = scaledWait(1_500);
const QUIET_MS = scaledWait(3_000);

/** What the gate checks before ctxwrap types a key. */
export interface GateConditions {
  readonly activity: Activity;
  readonly activitySince: Millis;
  /** where in the agent the user is, if the agent's screen shows it */
  readonly place?: Place | undefined;
  /** time of the user's last key; undefined before the first one */
  readonly keyAt?: Millis | undefined;
  /** the agent has a key that puts a draft aside, and the user allows its use */
  readonly mayStash?: boolean | undefined;
  /** nothing is typed, so a draft stays as it is */
  readonly allowsDraft?: boolean | undefined;
  /** the agent queues a command that arrives while it is busy, and the user allows that */
  readonly mayQueue?: boolean | undefined;
}

/** Why the gate is closed. `until`: only time is missing. */
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
    /** the session file is being copied */
    | 'copying'
    /** what must be kept is being read */
    | 'reading'
    /** the countdown was not visible */
    | 'unseen'
    /** the agent works on its plan */
    | 'plan';
  readonly place?: Place;
  readonly plan?: PlanProgress;
  readonly until?: Millis;
}

/** Why nothing may be typed now; undefined if it may. */
export const findHold = (view: GateConditions, now: Millis): GateHold | undefined => {
  const { activity, activitySince, place, keyAt } = view;
  if (activity !== 'ready' && !isAllowed(view)) return { why: activity, ...present({ place }) };
  const quietAt = keyAt === undefined ? now : keyAt + QUIET_MS;
  if (now < quietAt) return { why: 'typing', until: quietAt };
  const settledAt = activitySince + SETTLED_MS;
  return now < settledAt ? { why: 'settling', until: settledAt } : undefined;
};

const isAllowed = ({ activity, mayStash, allowsDraft, mayQueue }: GateConditions): boolean =>
  (activity === 'draft' && (mayStash === true || allowsDraft === true)) ||
  (activity === 'busy' && mayQueue === true);

// Whether an agent that is about to compact by itself, perhaps in the middle of a turn, should wait.

/** What the hook knows about its session; undefined if no wrapper has published one. */
export type HookSession = { readonly record: SessionRecord; readonly liveness: Liveness } | undefined;

/** The reason to wait, in one line; undefined if the agent may compact: at hard, and whenever something is uncertain. */
export const findNativeHold = (session: HookSession): string | undefined => {
  const { reading, tier, thresholds } = session?.record ?? {};
  const used = reading?.exact ? countedTokens(reading) : undefined;
  if (session?.liveness !== 'live' || used === undefined) return undefined;
  if (tier === undefined || tier === 'hard') return undefined;
  // a window or boundary set by the user may exceed what the agent can handle
  if (reading?.windowTokens === undefined || reading.windowSource === 'user') return undefined;
  const effective = effectiveTokens(reading.windowTokens);
  const hard = thresholds?.find(({ name, unit }) => name === 'hard' && unit === 'tokens')?.value ?? Infinity;
  const until = Math.min(effective, hard);
  return used < until ? `${used} tokens used, held until ${until}` : undefined;
};

// Whether the user can see a countdown. Without a visible countdown ctxwrap types nothing on its own.

/** Why a countdown is not visible. */
export type InvisibleReason =
  /** the user has turned the footer off */
  | 'off'
  /** the terminal is too small for a footer */
  | 'small'
  /** the overview covers it with a page that does not show it */
  | 'covered'
  /** it has not reached the terminal yet */
  | 'undrawn'
  /** the footer was given up after an error in the wrapper */
  | 'failed';

/** Why a countdown is held back: the user cannot see it. */
export const visibilityHold = ({ unseen, settings }: Compaction): GateHold | undefined =>
  unseen === undefined || (unseen === 'off' && settings.mayTypeUnseen === true)
    ? undefined
    : { why: 'unseen' };

export const isCountdownInvisible = ({ phase }: Compaction): boolean =>
  phase.kind === 'held' && phase.hold.why === 'unseen';

// The end of a piece of work is the better moment: what the agent needs for the rest of it is lost in the summary otherwise.

/**
 * How long that is waited for, from auto on: as long as a request of the user's. Who has not answered the agent by then is away, and comes
 * back to a conversation whose prompt cache is cold.
 */
const WORK_MS = scaledWait(600_000);

/** The agent works on its plan, there is room until hard, and no piece of the work has just ended. */
export const workHold = (state: Compaction, moment: SessionContext): GateHold | undefined => {
  const { now, tier, work: { plan, ended } = {} } = moment;
  if (tier !== 'auto' || !plan || ended !== undefined) return undefined;
  if (idleUntil(state, moment) !== undefined) return undefined; // the cache is warm for the last time
  const until = (state.episodeSince ?? now) + WORK_MS;
  return now < until ? { why: 'plan', plan, until } : undefined;
};

/**
 * A compaction is about to start by itself or is suggested (`soon`, `countdown`), or was requested (`asked`). The first two get a row even in a terminal too
 * small for a footer, and a countdown takes precedence over all other messages.
 */
export type DueKind = 'soon' | 'countdown' | 'asked';

export const dueKindOf = ({ phase, request }: Compaction): DueKind | undefined => {
  switch (phase.kind) {
    case 'countdown':
      return 'countdown';
    case 'held':
      return request ? 'asked' : 'soon';
    case 'proposed': // it waits for the user, who has to see that
      return 'soon';
    case 'typing':
    case 'sent':
      return phase.attempt.request ? 'asked' : 'soon';
    default:
      return undefined;
  }
};

// Compacting a resting agent at the last moment at which its prompt cache is warm: later the summary alone would make the model read the
// whole conversation again. Once until the user's next turn, and only where the agent itself states the moment.

const LEAST_PERCENT = 60; // of the window: with less there is little to save
/** The countdown, the typing and the start of the request must fit in before the end. */
const LEAD_MS = 45_000;
/** A compaction that could not begin until then would no longer find a warm cache. */
const LATEST_MS = 15_000;

/** Until when a compaction of the resting agent is due; undefined if it is not due at all or not now. */
export const idleUntil = (state: Compaction, moment: SessionContext): Millis | undefined => {
  const span = idleSpan(state, moment);
  return span && moment.now >= span.from && moment.now < span.until ? span.until : undefined;
};

/** The next moment at which that changes by time alone. */
export const idleDeadline = (state: Compaction, now: Millis): Millis | undefined => {
  const { idle } = state;
  if (!idle) return undefined;
  return [idle.from, idle.until].find((at) => at > now);
};

/** When a compaction of the resting agent is due, by everything but the time. */
export const idleSpan = (
  { settings, mode, idleTurn, postponedAt }: Compaction,
  { cache, fill, isCertain, tier = 'safe', turns = 0 }: SessionContext,
): { readonly from: Millis; readonly until: Millis } | undefined => {
  if (settings.mayCompactIdle !== true || mode !== 'auto' || idleTurn === turns || postponedAt !== undefined)
    return undefined;
  const isWorthIt = (fill?.usedPercent ?? 0) >= LEAST_PERCENT || tier !== 'safe'; // below a limit in a large window
  if (!cache?.exact || !isCertain || !isWorthIt) return undefined;
  return { from: cache.expiresAt - LEAD_MS, until: cache.expiresAt - LATEST_MS };
};
