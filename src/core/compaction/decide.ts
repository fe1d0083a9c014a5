// Whether to compact now. Looked at anew after everything that happens, so that a moment that was missed is not lost.
import type { Millis } from '../reading.js';
import { holdOf } from './gate.js';
import { blockOf, inEpisode, outOfEpisode } from './policy.js';
import type { GateView } from './gate.js';
import { inPhase } from './state.js';
import type { Attempt, Compaction, CompactRequest, Effect, Gate, Moment, Phase, Situation } from './state.js';

export const COUNTDOWN_MS = 10_000;
const PROACTIVE_BYTES = 512 * 1024;
const BYTES_A_TOKEN = 4; // as `estimateTokens` counts them

/** The state with what follows from it now; only where nothing of ours is under way. */
export const decided = (state: Compaction, moment: Moment): Compaction => {
  if (isUnderWay(state.phase)) return state;
  const { seen, gate, now } = moment;
  const current = withEpisode(state, seen, now);
  const { request } = current;
  if (request) return forRequest(current, request, moment);
  if (!isWanted(current, seen)) return inPhase(current, { kind: 'rest' });
  const isHard = seen.tier === 'hard';
  const block = current.hasNews ? blockOf(current.policy, isHard, now) : ({ why: 'same' } as const);
  if (block) return inPhase(current, { kind: 'blocked', block });
  if (current.mode === 'ask') return inPhase(current, { kind: 'proposed' });
  const hold = holdOf(gateOf(current, gate), now);
  if (hold) return inPhase(current, { kind: 'held', hold });
  const until = countdownEnd(current.phase, now);
  return now < until ? inPhase(current, { kind: 'countdown', until }) : typing(current, moment);
};

const isUnderWay = ({ kind }: Phase): boolean => kind === 'typing' || kind === 'sent' || kind === 'foreign';

/** The window is full, as far as anybody can know. */
const isFull = ({ settings, growthTokens }: Compaction, { tier }: Situation): boolean => {
  if (tier === 'auto' || tier === 'hard') return true;
  return settings.isProactive && tier === 'warn' && growthTokens * BYTES_A_TOKEN >= PROACTIVE_BYTES;
};

const isWanted = (state: Compaction, seen: Situation): boolean =>
  state.settings.command !== undefined &&
  (state.mode === 'auto' || state.mode === 'ask') &&
  state.episodeSince !== undefined &&
  isFull(state, seen);

const withEpisode = (state: Compaction, seen: Situation, now: Millis): Compaction => {
  const { episodeSince, ...rest } = state;
  if (isFull(state, seen)) {
    return episodeSince === undefined
      ? { ...rest, episodeSince: now, policy: inEpisode(state.policy) }
      : state;
  }
  // a number that is void says nothing
  if (episodeSince === undefined || seen.tier === undefined) return state;
  return { ...rest, policy: outOfEpisode(state.policy) };
};

const forRequest = (state: Compaction, request: CompactRequest, moment: Moment): Compaction => {
  const { gate, now } = moment;
  const refusal = refusalOf(state, request, now);
  if (refusal !== undefined) return refused(state, request, refusal);
  const hold = holdOf(gateOf(state, gate), now);
  return hold ? inPhase(state, { kind: 'held', hold }) : typing(state, moment);
};

const refusalOf = (
  { settings, policy }: Compaction,
  { force }: CompactRequest,
  now: Millis,
): string | undefined => {
  if (settings.command === undefined) return 'it is not known how this agent is asked to compact';
  const block = force ? undefined : blockOf(policy, false, now);
  if (block?.why !== 'breaker') return undefined;
  return `paused after ${block.failures} failures`;
};

const refused = (state: Compaction, { id }: CompactRequest, reason: string): Compaction => {
  const { request: _, ...rest } = state;
  const effect: Effect = { type: 'refused', requestId: id, reason };
  return { ...rest, phase: { kind: 'rest' }, effects: [...state.effects, effect] };
};

const gateOf = ({ keyAt, settings }: Compaction, gate: Gate): GateView => ({
  ...gate,
  keyAt,
  mayStash: settings.mayStash,
  mayQueue: settings.mayQueue,
});

// A clock that was set back would count for hours.
const countdownEnd = (phase: Phase, now: Millis): Millis =>
  phase.kind === 'countdown' && phase.until - now <= COUNTDOWN_MS ? phase.until : now + COUNTDOWN_MS;

const typing = (state: Compaction, { seen, gate, now }: Moment): Compaction => {
  const { request: _, ...rest } = state;
  const { request, settings } = state;
  const focus = request?.focus ?? settings.focus;
  const attempt: Attempt = {
    startedAt: now,
    isHard: seen.tier === 'hard',
    ...(request ? { request } : {}),
    ...(seen.fill ? { before: seen.fill } : {}),
    evidence: [],
  };
  const effect = {
    type: 'type-compact',
    isQueued: gate.activity === 'busy',
    ...(focus === undefined ? {} : { focus }),
  } as const;
  return { ...rest, phase: { kind: 'typing', attempt }, effects: [...state.effects, effect] };
};
