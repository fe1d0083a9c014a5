import { fillOf } from './outcome.js';
import type { Session } from '../session.js';
import type { Millis } from '../reading.js';
import type { Moment } from './state.js';

/** What a session says that matters for compacting. Only a number that the agent counted in a certain window may start anything. */
export const momentOf = ({ fused, activity, activitySince, fileTells }: Session, now: Millis): Moment => ({
  seen: {
    tier: fused?.exact ? fused.tier : undefined,
    fill: fused && fillOf(fused),
    fillSince: fused?.since,
    fileTells,
  },
  gate: { activity, activitySince },
  now,
});
