import type { Event } from '../event.js';
import type { Millis } from '../reading.js';
import { afterAgent, foreignAt, foreignDue } from './external.js';
import { isLower, type Fill } from './outcome.js';
import {
  holdOf,
  type GateView,
  type Hold,
  type Block,
  blockOf,
  breakerOf,
  inEpisode,
  outOfEpisode,
  unseenHold,
  isUnseen,
} from './policy.js';
import { afterSent, left, isOtherSince, withoutGivenUp, endedAttempt, sentAt, sentDue } from './running.js';
import {
  type Compaction,
  type Phase,
  inPhase,
  type CompactRequest,
  type Effect,
  type Moment,
  type Attempt,
  type Situation,
  type Typed,
  type Mode,
} from './state.js';
import { doubtDue, noticeEnd } from './words.js';

const COUNTDOWN_MS = 10_000;

/** How long a user can put it off at once. */
const POSTPONE_MS = 300_000;

// What somebody asked for, by the hotkey or from another terminal, until it is tried or refused.

/** How long a request holds: what somebody wanted longer ago may no longer be what he wants. */
export const REQUEST_MS = 600_000;

/** What is told of one whose time is over. */
export const LATE = `no safe moment came in ${REQUEST_MS / 60_000} minutes`;

const withRequest = (before: Compaction, request: CompactRequest, moment: Moment): Compaction => {
  const state = withoutWaiting(before, moment);
  const { kind } = state.phase;
  const isUnderWay = kind === 'typing' || kind === 'sent' || kind === 'foreign';
  if (isUnderWay) return { ...state, ...refusing(state, request, 'a compaction is under way') };
  const { request: open } = state;
  if (open?.isByKey && request.isByKey) return refused(state, open, 'withdrawn by the same key');
  if (open) return { ...state, ...refusing(state, request, 'another request is waiting') };
  return { ...state, request: { ...request, since: moment.now } };
};

/** When the request that waits is given up. */
const requestDue = ({ request }: Compaction): Millis | undefined => request && request.since + REQUEST_MS;

/** The state without a request whose time is over. */
const withoutLate = (state: Compaction, now: Millis): Compaction => {
  const due = requestDue(state);
  return state.request && due !== undefined && now >= due ? refused(state, state.request, LATE) : state;
};

// One that is over by the agent's word only waits for a number, which may be a long time.
const withoutWaiting = (state: Compaction, moment: Moment): Compaction => {
  const { phase } = state;
  if ((phase.kind !== 'sent' && phase.kind !== 'foreign') || phase.success === undefined) return state;
  if (phase.kind === 'foreign') return inPhase(state, { kind: 'rest' });
  return afterSent(state, left(phase, 'the next request'), moment);
};

const withoutRequest = (state: Compaction, id: string): Compaction => {
  if (state.request?.id !== id) return state;
  const { request: _, ...rest } = state;
  return rest;
};

/** The request is not even tried. */
const refused = (state: Compaction, request: CompactRequest, reason: string): Compaction => ({
  ...withoutRequest(state, request.id),
  ...refusing(state, request, reason),
});

const refusing = (
  { effects }: Compaction,
  { id, isByKey }: CompactRequest,
  reason: string,
): { readonly effects: readonly Effect[] } => ({
  effects: [...effects, { type: 'refused', requestId: id, reason, ...(isByKey ? { isByKey } : {}) }],
});

// Whether to compact now. Looked at anew after everything that happens, so that a moment that was missed is not lost.

const MOST_SKIPS = 3; // one after the other, while nothing else happens
const MISSED_MS = 3_000; // a countdown that nobody looked at for so long was not seen: the machine or the program was stopped

/** The state with what follows from it now; only where nothing of ours is under way. */
const decided = (state: Compaction, moment: Moment): Compaction => {
  if (isUnderWayInDecide(state.phase)) return state;
  const { seen, gate, now } = moment;
  const current = { ...withEpisode(state, seen, now), isByText: isFull(state, seen) && !isCountedFull(seen) };
  const { request } = current;
  if (request) return forRequest(current, request, moment);
  if (!isWanted(current, seen)) return atRest(current, seen);
  const isHard = seen.tier === 'hard';
  const block = blockFor(current, moment, isHard);
  if (block) return inPhase(current, { kind: 'blocked', block });
  if (current.mode === 'ask') return inPhase(current, { kind: 'proposed' });
  const hold = holdOf(gateOf(current, gate), now) ?? unseenHold(current);
  if (hold) return held(current, hold, now);
  const until = countdownEnd(current, now);
  return now < until ? inPhase(current, { kind: 'countdown', until }) : typing(current, moment);
};

const PROACTIVE = 'proactive: at auto with the text since the last number';

const SAME = { why: 'same' } as const;

// An open breaker is what the user can change, so it is said first; a pause would end in no try while nothing is new.
const blockFor = (state: Compaction, moment: Moment, isHard: boolean): Block | typeof SAME | undefined => {
  const { postponedUntil } = state;
  if (postponedUntil !== undefined && moment.now < postponedUntil) {
    return { why: 'postponed', until: postponedUntil };
  }
  const block = blockOf(state.policy, isHard, moment.now);
  return block?.why !== 'breaker' && isSame(state, moment) ? SAME : block;
};

const isUnderWayInDecide = ({ kind }: Phase): boolean =>
  kind === 'typing' || kind === 'sent' || kind === 'foreign';

const isCountedFull = ({ tier }: Situation): boolean => tier === 'auto' || tier === 'hard';

/** The window is full, as far as anybody can know. */
const isFull = ({ isProactive }: Compaction, seen: Situation): boolean =>
  isCountedFull(seen) || (isProactive && seen.isNearAuto === true);

const isWanted = (state: Compaction, seen: Situation): boolean =>
  mayStart(state) && state.episodeSince !== undefined && isFull(state, seen);

const mayStart = ({ settings, mode }: Compaction): boolean =>
  settings.command !== undefined && (mode === 'auto' || mode === 'ask');

const atRest = (state: Compaction, { doubt }: Situation): Compaction =>
  inPhase(state, doubt && mayStart(state) ? { kind: 'doubted', doubt } : { kind: 'rest' });

/** Nothing has happened since the last attempt, so it would end as that did. */
const isSame = (state: Compaction, { gate, seen }: Moment): boolean => {
  const { skips, hasNews, tried } = state;
  if (skips && skips.times >= MOST_SKIPS && !isOtherSince(state, gate, skips.from)) return true;
  return !hasNews && !(tried && seen.fill && isOtherFill(tried, seen.fill));
};

const isOtherFill = (a: Fill, b: Fill): boolean =>
  a.usedTokens !== b.usedTokens || a.usedPercent !== b.usedPercent;

const withEpisode = (state: Compaction, seen: Situation, now: Millis): Compaction => {
  const { episodeSince, episodeFill, ...rest } = state;
  const { fill, tier } = seen;
  if (isFull(state, seen)) {
    if (episodeSince !== undefined) return state;
    const policy = inEpisode(state.policy);
    return { ...rest, episodeSince: now, ...(fill ? { episodeFill: fill } : {}), policy };
  }
  // a number that is void says nothing, and one that falls a little below auto will be back
  const isOver = tier === 'safe' || (fill !== undefined && isLower(episodeFill, fill));
  if (episodeSince === undefined || tier === undefined || !isOver) return state;
  return { ...rest, policy: outOfEpisode(state.policy) };
};

const forRequest = (state: Compaction, request: CompactRequest, moment: Moment): Compaction => {
  const { gate, now } = moment;
  const refusal = refusalOf(state, request, now);
  if (refusal !== undefined) return decided(refused(state, request, refusal), moment);
  const hold = holdOf(gateOf(state, gate), now);
  return hold ? held(state, hold, now) : typing(state, moment);
};

const held = (state: Compaction, hold: Hold, now: Millis): Compaction => {
  const { phase } = state;
  const isSameHold = phase.kind === 'held' && phase.hold.why === hold.why;
  return inPhase(state, { kind: 'held', hold, since: isSameHold ? Math.min(phase.since, now) : now });
};

const refusalOf = (
  { settings, policy }: Compaction,
  { force }: CompactRequest,
  now: Millis,
): string | undefined => {
  if (settings.command === undefined)
    return 'no compact command of this agent is known, or it is switched off';
  return !force && breakerOf(policy, now) ? `paused after ${policy.failures} failures` : undefined;
};

const gateOf = ({ keyAt, settings }: Compaction, gate: Moment['gate']): GateView => ({
  ...gate,
  keyAt,
  mayStash: settings.mayStash,
  mayQueue: settings.mayQueue,
});

const countdownEnd = ({ phase, lookedAt }: Compaction, now: Millis): Millis =>
  phase.kind === 'countdown' && lookedAt !== undefined && now - lookedAt <= MISSED_MS
    ? phase.until
    : now + COUNTDOWN_MS;

const typing = (state: Compaction, { seen, gate, now }: Moment): Compaction => {
  const { request, ...rest } = withoutGivenUp(state);
  const { settings } = state;
  const focus = request?.focus ?? settings.focus;
  const attempt: Attempt = {
    startedAt: now,
    isHard: seen.tier === 'hard',
    ...(request ? { request } : {}),
    ...(seen.fill ? { before: seen.fill } : {}),
    evidence: state.isByText && !request ? [PROACTIVE] : [],
  };
  const effect = {
    type: 'type-compact',
    isQueued: gate.activity === 'busy',
    ...(focus === undefined ? {} : { focus }),
  } as const;
  return { ...rest, phase: { kind: 'typing', attempt }, effects: [...state.effects, effect] };
};

// Compacting as a state machine: what happened, what time it is, what to do. Pure; the shell types and tells how it went.

/** Typing takes a second or two; a typist that says nothing for so long is gone. */
const TYPING_MS = 15_000;

/** The state after an event; `effects` are those of this event alone. */
export const stepCompaction = (before: Compaction, event: Event, moment: Moment): Compaction => {
  const { now } = moment;
  const state: Compaction = { ...before, effects: [] };
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

/**
 * Nothing is wanted, asked for or under way: settings can change without a compaction having two of a kind. What nobody can see coming
 * may wait for nothing else than another setting.
 */
export const isBetweenEpisodes = (state: Compaction): boolean => {
  const { episodeSince, request } = state;
  return (episodeSince === undefined || isUnseen(state)) && request === undefined && !isUnderWay(state);
};

/** A compaction has begun, ours or another. */
export const isUnderWay = ({ phase: { kind } }: Compaction): boolean =>
  kind === 'typing' || kind === 'sent' || kind === 'foreign';

const order: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

/** Whether a mode does less than another. */
export const doesLess = (mode: Mode, than: Mode): boolean => order.indexOf(mode) > order.indexOf(than);

const TICK_MS = 1_000; // what the footer counts in
const MINUTE_MS = 60_000;

/** When the state has to be looked at again though nothing happens; undefined when only an event can change it. */
export const compactionDue = (state: Compaction, now: Millis): Millis | undefined => {
  const times = [phaseDue(state, now), noticeEnd(state, now), requestDue(state)].filter(
    (at) => at !== undefined,
  );
  return times.length > 0 ? Math.min(...times) : undefined;
};

const phaseDue = ({ phase, settings }: Compaction, now: Millis): Millis | undefined => {
  switch (phase.kind) {
    case 'rest':
    case 'doubted':
    case 'proposed':
      return undefined;
    case 'held':
      return phase.hold.until ?? doubtDue(phase, now);
    case 'blocked':
      if (phase.block.why === 'breaker') return phase.block.until;
      if (phase.block.why === 'postponed') return tickBefore(phase.block.until, now, MINUTE_MS);
      return phase.block.why === 'cooldown' ? tickBefore(phase.block.until, now) : undefined;
    case 'countdown':
      return tickBefore(phase.until, now);
    case 'typing':
      return phase.attempt.startedAt + TYPING_MS;
    case 'sent':
      return sentDue(phase, settings);
    case 'foreign':
      return foreignDue(phase);
  }
};

/** The next whole second or minute before the end, so that what is left is counted down. */
const tickBefore = (until: Millis, now: Millis, tickMs = TICK_MS): Millis => {
  const left = Math.max(0, until - now);
  return until - Math.floor(Math.max(0, left - 1) / tickMs) * tickMs;
};
