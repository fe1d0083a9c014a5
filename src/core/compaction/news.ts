import type { Millis } from '../reading.js';
import { isLower, isSameFill, isTooLong } from './outcome.js';
import type { Compaction, SessionContext } from './state.js';

// Whether anything has happened since the last attempt. Otherwise another one would end in the same way.

const MOST_SKIPS = 3; // in a row, while nothing else happens

/** True if nothing has happened since the last attempt, so another one would end in the same way. */
export const isSame = (state: Compaction, moment: SessionContext): boolean => {
  const { skips, hasNews, last, tried } = state;
  // what has nothing to remove now has not after the next turn either, unless that was a long one
  if (last?.strategy !== undefined && last.outcome.kind === 'noop')
    return !(tried && moment.fill && isLower(moment.fill, tried));
  if (skips && skips.times >= MOST_SKIPS && !hasOtherActivitySince(state, moment, skips.from)) return true;
  return !hasNews && !isOtherNumber(state, moment);
};

/**
 * True if the number has changed since the last attempt. After one that was too long only a lower number counts: Codex records a full window
 * when that fails (docs/facts/codex.md#rollouts).
 */
const isOtherNumber = ({ tried, last }: Compaction, { fill }: SessionContext): boolean => {
  if (!tried || !fill) return false;
  return last && isTooLong(last.outcome) ? isLower(tried, fill) : !isSameFill(tried, fill);
};

/** True if the agent or the user has done anything since then. */
export const hasOtherActivitySince = (
  { keyAt }: Compaction,
  { activitySince }: SessionContext,
  since: Millis,
): boolean => activitySince > since || (keyAt !== undefined && keyAt > since);
