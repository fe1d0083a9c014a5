import type { Fused } from '../fusion.js';
import { doubtOf } from './doubt.js';
import { fillOf } from './outcome.js';
import type { Millis } from '../reading.js';
import type { Moment } from './state.js';
import type { Session } from '../session-state.js';

/** What a session says that matters for compacting. Only a number that the agent counted in a certain window may start anything. */
export const momentOf = (session: Session, now: Millis): Moment => {
  const { fused, activity, activitySince, fileTells } = session;
  const number = fused?.counted ?? fused;
  const counted = number && isCounted(number, fileTells) ? number : undefined;
  const doubt = fused && doubtOf(fused);
  return {
    seen: {
      tier: fused?.actingTier,
      fill: counted && fillOf(counted),
      fillSince: counted?.since,
      fileTells,
      ...(fused?.isNearAuto ? { isNearAuto: true } : {}),
      ...(doubt ? { doubt } : {}),
    },
    gate: { activity, activitySince },
    now,
  };
};

// Estimates fall when they are counted, and a screen can say that all is left while a compaction has only begun (facts/codex.md §2).
const isCounted = ({ reading }: Fused, fileTells: boolean): boolean =>
  reading.source === 'screen' ? !fileTells : reading.source !== 'estimate';
