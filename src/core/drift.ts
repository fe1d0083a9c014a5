// The screen against the session file: a parser that reads the wrong text must be found out.
import type { Candidate, Drift, Evidence } from './evidence.js';
import { basisTokens, countedIn } from './measure.js';
import type { Scale } from './measure.js';
import type { Millis, Reading } from './reading.js';
import { windowOf } from './windows.js';

const DRIFT_POINTS = 5;
const DRIFT_MS = 10_000; // a screen that is only late has followed by then

/** Whether the screen and the better source differ, since when, and whether that has been too long. */
export const driftAt = (evidence: Evidence, scale: Scale, now: Millis): Drift => {
  const { drift } = evidence;
  if (drift.phase === 'ignored') return drift;
  if (!isApart(evidence, scale)) return drift.phase === 'agreeing' ? drift : { phase: 'agreeing' };
  // a clock that was set back begins again, or the end would be hours away
  if (drift.phase === 'agreeing' || now < drift.since) return { phase: 'apart', since: now };
  return now - drift.since >= DRIFT_MS ? { phase: 'ignored' } : drift;
};

export const driftDeadline = ({ drift }: Evidence): Millis | undefined =>
  drift.phase === 'apart' ? drift.since + DRIFT_MS : undefined;

const isApart = ({ candidates, grownTokens }: Evidence, scale: Scale): boolean => {
  const { screen } = candidates;
  const file = candidates.log ?? candidates.official;
  if (!screen || !file || isLagging(scale, screen, file)) return false;
  const points = pointsAbove(scale, screen.reading, file.reading);
  if (points === undefined) return false;
  if (points < -DRIFT_POINTS) return true;
  // what came after the file's number is on the screen already
  return (
    points > DRIFT_POINTS &&
    (pointsAbove(scale, screen.reading, file.reading, grownTokens) ?? 0) > DRIFT_POINTS
  );
};

/** The screen still shows what the better source said before. */
export const isLagging = (scale: Scale, screen: Candidate, file: Candidate): boolean => {
  if (!file.before) return false;
  const behind = pointsAbove(scale, screen.reading, file.before);
  const ahead = pointsAbove(scale, screen.reading, file.reading);
  return behind !== undefined && ahead !== undefined && isClose(behind) && !isClose(ahead);
};

const isClose = (points: number): boolean => Math.abs(points) <= DRIFT_POINTS;

/** How many points of its own percentage the screen is above the other reading; undefined where they cannot be compared. */
const pointsAbove = (scale: Scale, screen: Reading, other: Reading, grownTokens = 0): number | undefined => {
  const { windows } = scale;
  const window = windowOf(windows, windows.model ?? other.model, other.usedTokens);
  // against an assumed window a right number looks wrong
  const windowTokens = window?.certain ? window.windowTokens : undefined;
  const { basis = 'window' } = screen;
  // on its own scales an agent counts its last answer, too
  const counted = basis === 'effective' || basis === 'auto-compact' ? countedIn(other) : other.usedTokens;
  const used = counted === undefined ? undefined : counted + grownTokens;
  if (screen.usedTokens !== undefined && used !== undefined && windowTokens !== undefined)
    return ((screen.usedTokens - used) * 100) / windowTokens;
  const shown = screen.usedPercent === undefined ? undefined : Math.min(100, screen.usedPercent);
  if (shown === undefined) return undefined;
  const whole = basisTokens(scale, screen, other);
  if (used !== undefined && whole) {
    const fixed = basis === 'baseline' ? Math.max(0, (windowTokens ?? whole) - whole) : 0;
    return shown - Math.min(100, Math.max(0, ((used - fixed) * 100) / whole));
  }
  const isSameBasis = basis === (other.basis ?? 'window');
  return isSameBasis && other.usedPercent !== undefined ? shown - other.usedPercent : undefined;
};

const DRIFTED =
  'the screen and the session file have disagreed by more than 5 points for 10 s: the screen is ignored until the model or the session changes';

/** What the log is told when the screen is not believed any more; once. */
export const driftNews = (before: Drift, after: Drift): readonly string[] =>
  after.phase === 'ignored' && before.phase !== 'ignored' ? [DRIFTED] : [];
