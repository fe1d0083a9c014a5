// Several witnesses, one number. The most trusted one is shown; a worse one can only warn earlier.
import { isLagging } from './drift.js';
import { candidatesOf, isGrown } from './evidence.js';
import type { Candidate, Evidence } from './evidence.js';
import type { Tier } from './ladder.js';
import { measure } from './measure.js';
import type { Measured, Scale } from './measure.js';
import type { Millis, Reading } from './reading.js';

/** The number that counts. */
export interface Fused extends Measured {
  /** when it came, and when its source said it last */
  readonly since: Millis;
  readonly seenAt: Millis;
  /** it is of a worse source than the best there is, and shown because its tier is higher */
  readonly raised: boolean;
  /** counted by the agent, contested by nothing better, and measured with no window that is uncertain */
  readonly exact: boolean;
  /** the tier that may start something: of an exact number, or by the user's own bounds in tokens; never of an estimate */
  readonly actingTier?: Tier;
  /** the number that was counted, where an estimate has raised its tier */
  readonly counted?: Fused;
  /** counted at warn, and at auto or above with the text that came since */
  readonly isNearAuto?: boolean;
}

const order: readonly (Tier | undefined)[] = [undefined, 'safe', 'warn', 'auto', 'hard'];

/** The one reading that counts, or undefined while there is none. */
export const fuse = (evidence: Evidence, scale: Scale): Fused | undefined => {
  const all = candidatesOf(evidence);
  const told = all.filter(({ reading }) => reading.source !== 'estimate');
  const fused = fuseOf(all, scale);
  const counted = fused?.reading.source === 'estimate' ? fuseOf(told, scale) : undefined;
  if (!fused || !counted) return fused;
  const { actingTier } = counted;
  const grown = all.find((each) => isGrown(each, evidence));
  const isNearAuto =
    actingTier === 'warn' && grown !== undefined && reachesAuto(measure(scale, grown.reading));
  return { ...fused, counted, ...(actingTier ? { actingTier } : {}), ...(isNearAuto ? { isNearAuto } : {}) };
};

/** By the same rule as a number that was counted. */
const reachesAuto = (measured: Measured): boolean => {
  const tier = isExact(measured) ? measured.tier : measured.ownTier;
  return tier === 'auto' || tier === 'hard';
};

const fuseOf = ([best, ...worse]: readonly Candidate[], scale: Scale): Fused | undefined => {
  if (!best) return undefined;
  const first = { candidate: best, measured: measure(scale, best.reading) };
  const shown = worse
    .filter((each) => mayRaise(each, best, scale))
    .map((each) => ({ candidate: each, measured: measuredAtLeast(scale, each.reading) }))
    .reduce((held, each) => (rank(each.measured) > rank(held.measured) ? each : held), first);
  const raised = shown !== first;
  const { since, seenAt } = shown.candidate;
  const isContested = raised && shown.measured.reading.source !== 'log';
  const { measured } = shown;
  const isCounted = !isContested && measured.reading.source !== 'estimate';
  const exact = isCounted && isExact(measured);
  const actingTier = exact ? measured.tier : isCounted ? measured.ownTier : undefined;
  return { ...measured, since, seenAt, raised, exact, ...(actingTier ? { actingTier } : {}) };
};

// A screen that was last looked at before the better number came has not had the time to follow it.
const mayRaise = (worse: Candidate, best: Candidate, scale: Scale): boolean =>
  worse.reading.source === 'estimate' || (worse.seenAt >= best.seenAt && !isLagging(scale, worse, best));

/** With the tier that it has at least: by a rounded number alone nobody knows that a boundary was passed. */
const measuredAtLeast = (scale: Scale, reading: Reading): Measured => {
  const { tier: _, ...measured } = measure(scale, reading);
  const { tier } = measure(scale, reading.source === 'screen' ? unrounded(reading) : reading);
  return { ...measured, ...(tier ? { tier } : {}) };
};

const unrounded = ({ usedTokens, usedPercent, roundingTokens = 0, ...rest }: Reading): Reading => ({
  ...rest,
  ...(usedTokens === undefined ? {} : { usedTokens: Math.max(0, usedTokens - roundingTokens) }),
  ...(usedPercent === undefined ? {} : { usedPercent: Math.max(0, usedPercent - roundingOf(usedPercent)) }),
});

// Half of the last digit; agents show whole percents, or one decimal.
const roundingOf = (percent: number): number => (Number.isInteger(percent) ? 0.5 : 0.05);

const rank = ({ tier }: Measured): number => order.indexOf(tier);

/** Tokens without any window are what they are. */
const isExact = ({ reading, window }: Measured): boolean =>
  reading.usedTokens === undefined || (window?.certain ?? true);
