import { present } from '../present.js';
import { scaledWait } from '../time-scale.js';
import type { Event } from '../event.js';
import type { Millis } from '../reading.js';
import {
  copyAfterEvent,
  copyAfterTime,
  copyDueAt,
  copyFailure,
  copyRetryAt,
  noCopyText,
  withCopy,
  withoutCopy,
} from './copy.js';
import { focusAfterEvent, focusAfterTime, focusDueAt, focusOf, withFocus } from './focus.js';
import { isLower } from './outcome.js';
import {
  findBlock,
  breakerOf,
  findHold,
  startEpisode,
  idleDeadline,
  idleSpan,
  idleUntil,
  isCountdownInvisible,
  endEpisode,
  visibilityHold,
  workHold,
  type BlockReason,
  type GateHold,
} from './policy.js';
import { goingBack } from './foreign.js';
import {
  applyAgentEvent,
  applyTime,
  isUnderWay,
  stopWaitingForNumber,
  underWayDeadline,
  withoutShortening,
} from './running.js';
import { isSame } from './news.js';
import { afterTyping } from './typed.js';
import {
  enterPhase,
  type Attempt,
  type Compaction,
  type CompactRequest,
  type ControlChannel,
  type SessionContext,
  underAnotherModel,
  mayStashNow,
  withStrategy,
} from './state.js';
import { longHoldDeadline, outcomeShownUntil } from './texts.js';
import { MINUTE_MS } from '../time.js';

// The state machine of compaction: from events and time to effects. Pure: the wrapper types, and reports the result as an event.

/** The state after an event. `effects` contains only the effects of this event. */
export const stepCompaction = (before: Compaction, event: Event, moment: SessionContext): Compaction => {
  const { now } = moment;
  const state: Compaction = { ...before, effects: [] };
  // after the agent's end its files may still report older events
  if (before.activity === 'dead') {
    return event.type === 'compact-requested' ? refused(state, event.request, ENDED) : state;
  }
  const updated = afterEvent(focusAfterEvent(copyAfterEvent(state, event, now), event), event, moment);
  const timed = withoutLate(focusAfterTime(copyAfterTime(applyTime(updated, moment), now), now), now);
  const current = withFirstNumber(withoutMoot(before, timed, event), moment);
  const after = current.activity === 'dead' ? atTheEnd(current) : decided(current, moment);
  return { ...after, lookedAt: now };
};

/** The first number after an attempt that left none: only a different one is news. A turn may be too short to be seen. */
const withFirstNumber = (state: Compaction, { fill }: SessionContext): Compaction =>
  state.hasNews || state.tried || fill === undefined ? state : { ...state, tried: fill };

/** When the state must be updated although nothing happens; undefined if only an event can change it. */
export const compactionDeadline = (state: Compaction, now: Millis): Millis | undefined => {
  const { request } = state;
  const requestEnd = request && request.since + REQUEST_MS;
  const times = [phaseDue(state, now), idleDue(state, now), outcomeShownUntil(state, now), requestEnd].filter(
    (at) => at !== undefined,
  );
  return times.length > 0 ? Math.min(...times) : undefined;
};

const afterEvent = (state: Compaction, event: Event, moment: SessionContext): Compaction => {
  const { now } = moment;
  switch (event.type) {
    case 'user-keys':
      return { ...state, keyAt: now };
    case 'mode':
      return { ...state, mode: event.mode };
    case 'strategy':
      return withStrategy(state, event.strategy);
    case 'proactive':
      return { ...state, isProactive: event.isProactive };
    case 'visibility':
      return { ...state, unseen: event.unseen };
    case 'channel-closed':
      return { ...state, isChannelClosed: true };
    case 'postpone':
      return { ...state, postponedAt: now };
    case 'going-back':
      return goingBack(state, event.sessionId);
    case 'undone': {
      if (event.isOtherSession && state.last?.outcome.kind !== 'verified') return state; // the change of the session has told
      const { last: _, ...rest } = withoutShortening(state, moment); // its outcome is no longer true
      return { ...rest, postponedAt: now };
    }
    case 'settings': {
      const { compact: settings } = event.settings;
      // a mode chosen by key stays, unless the user has written another one into the configuration
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
      return withRequest(
        stopWaitingForNumber({ ...state, countdownLeftMs: undefined }, moment),
        event.request,
        now,
      );
    case 'compact-cancelled':
      return state.request?.id === event.id ? { ...state, request: undefined } : state;
    case 'typed':
      return afterTyping(state, event.result, moment);
    case 'model':
      return underAnotherModel(state);
    default:
      return applyAgentEvent(state, event, moment);
  }
};

// Requests by the hotkey or from another terminal, until they are tried or refused.

/** How long a request is valid: after that the user may no longer want it. */
export const REQUEST_MS = 600_000;

/** The answer to an expired request. */
export const REQUEST_EXPIRED = `no safe moment came in ${REQUEST_MS / 60_000} minutes`;

const ENDED = 'the agent has ended';

const withRequest = (state: Compaction, request: CompactRequest, now: Millis): Compaction => {
  const { request: open } = state;
  if (isUnderWay(state)) return refused(state, request, 'a compaction is under way');
  if (open?.isByKey && request.isByKey) return refused(state, open, 'withdrawn by the same key');
  if (open) return refused(state, request, 'another request is waiting');
  return { ...state, request: { ...request, since: now } };
};

/** The request is refused without an attempt. */
const refused = (state: Compaction, request: CompactRequest, reason: string): Compaction => {
  const { id: requestId, isByKey } = request;
  return {
    ...state,
    request: state.request === request ? undefined : state.request,
    effects: [...state.effects, { type: 'refused', requestId, reason, isByKey }],
  };
};

const withoutLate = (state: Compaction, now: Millis): Compaction => {
  const { request } = state;
  return request && now >= request.since + REQUEST_MS ? refused(state, request, REQUEST_EXPIRED) : state;
};

/** Drops requests that no longer make sense: after a change of conversation or of the view, or after a compaction. */
const withoutMoot = (before: Compaction, state: Compaction, event: Event): Compaction => {
  const { request } = state;
  if (request === undefined || request.id !== before.request?.id) return state;
  const isOther = before.conversation !== undefined && state.conversation !== before.conversation;
  if (isOther || (event.type === 'view' && !event.isSame)) {
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

const atTheEnd = (state: Compaction): Compaction =>
  enterPhase(state.request ? refused(state, state.request, ENDED) : state, { kind: 'rest' });

// Decides whether to compact now. Checked after every event, so that a missed moment is not lost.

const COUNTDOWN_MS = scaledWait(10_000);
const LEAST_LEFT_MS = scaledWait(3_000); // of a countdown that goes on after the user has typed: time enough to say no
const MISSED_MS = 3_000; // a countdown that was not updated for so long was not visible: the machine or the program was stopped

/** The state with the decision that follows from it; only while no compaction is under way. */
const decided = (before: Compaction, moment: SessionContext): Compaction => {
  if (isUnderWay(before)) return before;
  const { doubt } = moment;
  const isByText = isFull(before, moment) && !isCountedFull(moment);
  const idle = idleSpan(before, moment);
  const state: Compaction = { ...withEpisode(before, moment), isByText, idle, isByIdle: false };
  if (state.request) return forRequest(state, state.request, moment);
  if (!mayStart(state)) return enterPhase(state, { kind: 'rest' });
  if (state.episodeSince === undefined || !isFull(state, moment)) {
    return idleUntil(state, moment) === undefined
      ? enterPhase(state, doubt ? { kind: 'doubted', doubt } : { kind: 'rest' })
      : forIdle({ ...state, isByIdle: true }, moment);
  }
  const block = blockFor(state, moment);
  if (block) return enterPhase(state, { kind: 'blocked', block });
  if (state.mode === 'ask') return enterPhase(withFocus(state, moment.now), { kind: 'proposed' });
  return behindGate(state, moment);
};

/** Reports no reason for waiting, because the window is not full. */
const forIdle = (state: Compaction, moment: SessionContext): Compaction =>
  blockFor(state, moment) || moment.activity !== 'ready'
    ? enterPhase(state, { kind: 'rest' })
    : behindGate(state, moment);

/** The last steps before typing: the gate, the user's eyes, the end of a piece of work, and the countdown. */
const behindGate = (state: Compaction, moment: SessionContext): Compaction => {
  const { now } = moment;
  const hold = gateHold(state, moment) ?? visibilityHold(state) ?? workHold(state, moment);
  if (hold) return held(pauseCountdown(state, hold, now), hold, now);
  return counting(withFocus(withCopy(state, now), now), moment);
};

/** The countdown, once there is a copy: at hard also without one. */
const counting = (state: Compaction, moment: SessionContext): Compaction => {
  const { now, tier } = moment;
  const failure = copyFailure(state);
  if (failure !== undefined && tier !== 'hard') {
    const block = { why: 'copy', reason: failure, until: copyRetryAt(state) } as const;
    return { ...enterPhase(state, { kind: 'blocked', block }), countdownLeftMs: undefined };
  }
  const wait = preparing(state);
  if (wait) return held(state, wait, now);
  const until = countdownEnd(state, now);
  if (now >= until) return typing(state, moment);
  return { ...enterPhase(state, { kind: 'countdown', until }), countdownLeftMs: undefined };
};

/** The work before typing that is not finished: copying the session file, or reading the focus. */
const preparing = (state: Compaction): GateHold | undefined => {
  const [copied, read] = [copyDueAt(state), focusDueAt(state)];
  if (copied !== undefined) return { why: 'copying', until: copied };
  return read === undefined ? undefined : { why: 'reading', until: read };
};

const forRequest = (state: Compaction, request: CompactRequest, moment: SessionContext): Compaction => {
  const refusal = refusalOf(state, request, moment.now);
  if (refusal !== undefined) return decided(refused(state, request, refusal), moment);
  const { now, tier } = moment;
  const hold = gateHold(state, moment);
  if (hold) return held(state, hold, now);
  const copying = withFocus(withCopy(state, now), now);
  const wait = preparing(copying);
  if (wait) return held(copying, wait, now);
  const failure = copyFailure(copying);
  return failure === undefined || request.force || tier === 'hard'
    ? typing(copying, moment)
    : decided(refused(copying, request, noCopyText(failure)), moment);
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

const mayStart = ({ settings, mode }: Compaction): boolean =>
  settings.command !== undefined && (mode === 'auto' || mode === 'ask');

const isCountedFull = ({ tier }: SessionContext): boolean => tier === 'auto' || tier === 'hard';

/** True if the window is full by the readings. */
const isFull = ({ isProactive }: Compaction, moment: SessionContext): boolean =>
  isCountedFull(moment) || (isProactive && moment.isNearAuto);

const withEpisode = (state: Compaction, moment: SessionContext): Compaction => {
  const { episodeSince, episodeFill, policy } = state;
  const { fill, tier, now } = moment;
  if (isFull(state, moment)) {
    if (episodeSince !== undefined) return state;
    const policyNow = startEpisode(policy);
    return { ...state, episodeSince: now, episodeFill: fill, policy: policyNow, countdownLeftMs: undefined };
  }
  // a void number shows nothing, and a number slightly below auto will rise again
  const isOver = tier === 'safe' || (fill !== undefined && isLower(episodeFill, fill));
  if (episodeSince === undefined || tier === undefined || !isOver) return state;
  return { ...state, episodeSince: undefined, episodeFill: undefined, policy: endEpisode(policy) };
};

// An open breaker is reported first, because the user can change it. A pause is not: without news there would be no attempt after it.
const blockFor = (state: Compaction, moment: SessionContext): BlockReason | undefined => {
  const { policy, postponedAt, isByText: isProactive = false } = state;
  const { now, tier } = moment;
  if (postponedAt !== undefined) return { why: 'postponed' };
  const block = findBlock(policy, { isHard: tier === 'hard', isProactive }, now);
  return block?.why !== 'breaker' && isSame(state, moment) ? { why: 'same' } : block;
};

const gateHold = (state: Compaction, moment: SessionContext): GateHold | undefined => {
  const { keyAt, settings } = state;
  const [mayStash, allowsDraft] = [mayStashNow(state), channelOf(state) !== undefined];
  return findHold({ ...moment, ...settings, mayStash, keyAt, allowsDraft }, moment.now);
};

/** The control channel to ask; undefined if the command is typed. */
const channelOf = ({ settings, isChannelClosed, conversation }: Compaction): ControlChannel | undefined => {
  const { strategy, channel } = settings;
  if (strategy !== undefined || isChannelClosed) return undefined;
  return channel?.needsSession && conversation === undefined ? undefined : channel;
};

const held = (state: Compaction, hold: GateHold, now: Millis): Compaction => {
  const { phase } = state;
  const isSameHold = phase.kind === 'held' && phase.hold.why === hold.why && phase.hold.place === hold.place;
  return enterPhase(state, { kind: 'held', hold, since: isSameHold ? Math.min(phase.since, now) : now });
};

/** The user's own keys pause a countdown; after anything else it starts again. */
const pausing: readonly GateHold['why'][] = ['typing', 'draft', 'settling'];

const pauseCountdown = (state: Compaction, { why }: GateHold, now: Millis): Compaction => {
  if (!pausing.includes(why)) return { ...state, countdownLeftMs: undefined };
  if (state.phase.kind !== 'countdown') return state;
  return { ...state, countdownLeftMs: Math.max(LEAST_LEFT_MS, countdownEnd(state, now) - now) };
};

const countdownEnd = ({ phase, lookedAt, countdownLeftMs, settings }: Compaction, now: Millis): Millis =>
  phase.kind === 'countdown' && lookedAt !== undefined && now - lookedAt <= MISSED_MS
    ? phase.until
    : now + (countdownLeftMs ?? settings.countdownMs ?? COUNTDOWN_MS);

const PROACTIVE = 'proactive: at auto with the text since the last number';

const IDLE = 'idle: the prompt cache is about to go cold';

const typing = (state: Compaction, { fill, tier, activity, now, turns = 0 }: SessionContext): Compaction => {
  const { request, settings } = state;
  const { strategy } = settings;
  const isProactive = state.isByText === true && !request;
  const noCopy = copyFailure(state);
  const isIdle = state.isByIdle === true && !request;
  const channel = activity === 'busy' ? undefined : channelOf(state); // a queue takes keys
  const attempt: Attempt = {
    startedAt: now,
    isHard: tier === 'hard',
    isProactive,
    ...(isIdle ? { isIdle } : {}),
    request,
    via: channel?.via,
    ...present({ strategy }),
    before: fill,
    evidence: [
      ...(isProactive ? [PROACTIVE] : isIdle ? [IDLE] : []),
      ...(noCopy === undefined ? [] : [noCopyText(noCopy)]),
    ],
    noCopy,
  };
  return {
    ...enterPhase(withoutCopy(state), { kind: 'typing', attempt }),
    request: undefined,
    givenUp: undefined,
    ...(isIdle ? { idleTurn: turns } : {}),
    effects: [
      ...state.effects,
      {
        type: 'type-compact',
        isQueued: activity === 'busy',
        ...(mayStashNow(state) ? { stashes: true } : {}),
        ...focusOf(state),
        strategy: settings.strategy,
        channel,
      },
    ],
  };
};

/**
 * True if no compaction is wanted, requested or under way, so the settings can change safely. Also true while a countdown waits because it
 * is invisible: another setting may be what it waits for.
 */
export const isBetweenEpisodes = (state: Compaction): boolean => {
  const { episodeSince, request } = state;
  return (
    (episodeSince === undefined || isCountdownInvisible(state)) && request === undefined && !isUnderWay(state)
  );
};

const TICK_MS = scaledWait(1_000); // unit of the footer's countdown

/** While a compaction is under way, what is due otherwise does not matter. */
const idleDue = (state: Compaction, now: Millis): Millis | undefined =>
  isUnderWay(state) ? undefined : idleDeadline(state, now);

const phaseDue = (state: Compaction, now: Millis): Millis | undefined => {
  const { phase } = state;
  switch (phase.kind) {
    case 'held':
      return phase.hold.until ?? longHoldDeadline(phase, now);
    case 'blocked':
      return blockDue(phase.block, now);
    case 'countdown':
      return tickBefore(phase.until, now);
    default:
      return underWayDeadline(state);
  }
};

const blockDue = (block: BlockReason, now: Millis): Millis | undefined => {
  switch (block.why) {
    case 'breaker':
      return block.until;
    case 'proactive':
      return tickBefore(block.until, now, MINUTE_MS);
    case 'cooldown':
      return tickBefore(block.until, now);
    case 'copy':
      return block.until;
    default:
      return undefined;
  }
};

/** The next whole second or minute before the end, at which the countdown is drawn again. */
const tickBefore = (until: Millis, now: Millis, tickMs = TICK_MS): Millis => {
  const left = Math.max(0, until - now);
  return until - Math.floor(Math.max(0, left - 1) / tickMs) * tickMs;
};
