// Whether to compact now. Looked at anew after everything that happens, so that a moment that was missed is not lost.
import type { Millis } from '../reading.js';
import { COUNTDOWN_MS } from './clock.js';
import { isOtherSince } from './end.js';
import { holdOf } from './gate.js';
import { withoutGivenUp } from './late.js';
import type { GateView, Hold } from './gate.js';
import { isLower } from './outcome.js';
import type { Fill } from './outcome.js';
import type { Block } from './policy.js';
import { blockOf, breakerOf, inEpisode, outOfEpisode } from './policy.js';
import { refused } from './request.js';
import { unseenHold } from './sight.js';
import { inPhase } from './state.js';
import type { Attempt, Compaction, CompactRequest, Moment, Phase, Situation } from './state.js';

const MOST_SKIPS = 3; // one after the other, while nothing else happens
const MISSED_MS = 3_000; // a countdown that nobody looked at for so long was not seen: the machine or the program was stopped

/** The state with what follows from it now; only where nothing of ours is under way. */
export const decided = (state: Compaction, moment: Moment): Compaction => {
  if (isUnderWay(state.phase)) return state;
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

const isUnderWay = ({ kind }: Phase): boolean => kind === 'typing' || kind === 'sent' || kind === 'foreign';

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
