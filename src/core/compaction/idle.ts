import type { Millis } from '../reading.js';
import type { Compaction, SessionContext } from './state.js';

// Compacting a resting agent at the last moment at which its prompt cache is warm: later the summary alone would make the model read the
// whole conversation anew. Once in each rest, and only where the agent itself states the moment.

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
  { settings, mode, isIdleTried, isPostponed }: Compaction,
  { cache, fill, isCertain }: SessionContext,
): { readonly from: Millis; readonly until: Millis } | undefined => {
  if (settings.mayCompactIdle !== true || mode !== 'auto' || isIdleTried || isPostponed) return undefined;
  if (!cache?.exact || !isCertain || (fill?.usedPercent ?? 0) < LEAST_PERCENT) return undefined;
  return { from: cache.expiresAt - LEAD_MS, until: cache.expiresAt - LATEST_MS };
};
