// What somebody asked for, by the hotkey or from another terminal, until it is tried or refused.
import type { Millis } from '../reading.js';
import { afterSent } from './end.js';
import { left } from './sent.js';
import { inPhase } from './state.js';
import type { Compaction, CompactRequest, Effect, Moment } from './state.js';

/** How long a request holds: what somebody wanted longer ago may no longer be what he wants. */
export const REQUEST_MS = 600_000;

/** What is told of one whose time is over. */
export const LATE = `no safe moment came in ${REQUEST_MS / 60_000} minutes`;

export const withRequest = (before: Compaction, request: CompactRequest, moment: Moment): Compaction => {
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
export const requestDue = ({ request }: Compaction): Millis | undefined =>
  request && request.since + REQUEST_MS;

/** The state without a request whose time is over. */
export const withoutLate = (state: Compaction, now: Millis): Compaction => {
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

export const withoutRequest = (state: Compaction, id: string): Compaction => {
  if (state.request?.id !== id) return state;
  const { request: _, ...rest } = state;
  return rest;
};

/** The request is not even tried. */
export const refused = (state: Compaction, request: CompactRequest, reason: string): Compaction => ({
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
