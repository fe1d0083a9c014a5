// The number in the footer does not flicker: a small change waits, a tier never does.
import type { Fused } from './fusion.js';
import { percentOf } from './reading.js';
import type { Millis } from './reading.js';

const SMALL_POINTS = 2;
const HOLD_MS = 5_000;

/** The number the footer shows, and since when. */
export interface Shown {
  readonly fused: Fused;
  readonly at: Millis;
}

/** What is shown when this number counts: the same as before while the change is small and the last one is not 5 s old. */
export const shownAt = (
  shown: Shown | undefined,
  fused: Fused | undefined,
  now: Millis,
): Shown | undefined => {
  if (!fused) return undefined;
  if (!shown) return { fused, at: now };
  if (isSame(shown.fused, fused)) return { fused, at: Math.min(shown.at, now) };
  return isSmall(shown.fused, fused) && isFresh(shown, now) ? shown : { fused, at: now };
};

/** When the number that waits is due. */
export const shownDeadline = (shown: Shown | undefined, fused: Fused | undefined): Millis | undefined =>
  shown && fused && !isSame(shown.fused, fused) ? shown.at + HOLD_MS : undefined;

// A clock that was set back would hold the number for hours.
const isFresh = ({ at }: Shown, now: Millis): boolean => now >= at && now < at + HOLD_MS;

const isSame = (a: Fused, b: Fused): boolean =>
  !isOther(a, b) &&
  a.reading.usedTokens === b.reading.usedTokens &&
  percentOf(a.reading) === percentOf(b.reading);

const isSmall = (a: Fused, b: Fused): boolean => {
  const before = percentOf(a.reading);
  const after = percentOf(b.reading);
  if (isOther(a, b) || before === undefined || after === undefined) return false;
  return Math.abs(after - before) <= SMALL_POINTS;
};

/** Everything but the number itself. */
const isOther = (a: Fused, b: Fused): boolean =>
  a.tier !== b.tier ||
  a.raised !== b.raised ||
  a.exact !== b.exact ||
  a.reading.source !== b.reading.source ||
  a.reading.windowTokens !== b.reading.windowTokens ||
  a.reading.windowSource !== b.reading.windowSource;
