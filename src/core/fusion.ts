import { buildLadder, nativeTriggerTokens, triggerRuleFor, type NativeTrigger } from './build-ladder.js';
import {
  type Candidate,
  type Disagreement,
  type Evidence,
  rankedCandidates,
  includesGrowth,
} from './evidence.js';
import { effectiveTokens, tierOf, type Ladder, type LadderChoice, type Tier } from './ladder.js';
import { isOfWindow, type Reading, type Millis, percentUsed } from './reading.js';
import { agentWindowTokens, currentWindow, type KnownWindow, type WindowClaims } from './window.js';
import { present } from './present.js';

// Measures a reading against the window: its percentage, its tokens and its tier.

/** What the readings of a session are measured against. */
export interface MeasureContext {
  readonly agent: string;
  readonly windows: WindowClaims;
  readonly native?: NativeTrigger;
  readonly ladder: LadderChoice;
}

/** A reading with its effective window. */
export interface MeasuredReading {
  /**
   * its percentage is one of this window where it can be: absent if it follows from the tokens, converted if the agent counts it against
   * something else, and on the agent's own basis only where it cannot be converted
   */
  readonly reading: Reading;
  readonly window?: KnownWindow;
  /**
   * the tokens that count for the tiers, including the agent's last answer: counted by the agent or converted from its percentage; absent
   * if they cannot be converted
   */
  readonly tokens?: number;
  readonly tier?: Tier;
  /** the tier by the user's own boundaries in tokens, which need no window */
  readonly ownTier?: Tier;
}

export const measureReading = (scale: MeasureContext, reading: Reading): MeasuredReading => {
  const window = windowFor(scale, reading);
  const own = inWindow(reading, window);
  const counted = countedTokens(own);
  const tokens = counted ?? convertedTokens(scale, own, window);
  const tier = tierOf(withTokens(own, tokens), ladderFor(scale, { reading: own, window, tokens }));
  const { source, at } = own;
  const ownTier =
    counted === undefined
      ? undefined
      : tierOf({ usedTokens: counted, source, at }, ladderFor(scale, { reading: own }));
  return {
    reading: ofWindow(own, tokens),
    ...present({ window, tokens }),
    ...(tier ? { tier } : {}),
    ...(ownTier ? { ownTier } : {}),
  };
};

/** The reading with a percentage of its window in the place of one on another basis, where the tokens are known. */
const ofWindow = (reading: Reading, tokens: number | undefined): Reading => {
  const { windowTokens, usedTokens } = reading;
  if (isOfWindow(reading) || tokens === undefined || !windowTokens) return reading;
  const { usedPercent: _, basis: __, basisTokens: ___, ...counted } = reading;
  if (usedTokens !== undefined) return counted;
  return { ...counted, usedPercent: Math.min(100, (tokens * 100) / windowTokens) };
};

/**
 * The tokens that the agent's own trigger compares (docs/facts/claude.md#what-to-read-and-what-not). They include its last answer, which
 * its percentage does not.
 */
export const countedTokens = ({
  usedTokens,
  answerTokens = 0,
}: Pick<Reading, 'usedTokens' | 'answerTokens'>): number | undefined =>
  usedTokens === undefined ? undefined : usedTokens + answerTokens;

const withTokens = (reading: Reading, tokens: number | undefined): Reading =>
  tokens === undefined ? reading : { ...reading, usedTokens: tokens };

// after a switch, the old number is measured in the window of the current model
const modelOf = ({ windows }: MeasureContext, reading?: Pick<Reading, 'model'>): string | undefined =>
  windows.model ?? reading?.model;

const windowFor = (scale: MeasureContext, reading: Reading): KnownWindow | undefined =>
  currentWindow(scale.windows, modelOf(scale, reading), reading.usedTokens);

/** What determines the ladder. */
export interface LadderInput {
  readonly reading?: Reading;
  readonly window?: KnownWindow | undefined;
  readonly tokens?: number | undefined;
}

/** The ladder for a number in its window, or for the session before there is a number; in percent if tokens are unknown. */
export const ladderFor = (scale: MeasureContext, { reading, window, tokens }: LadderInput): Ladder => {
  const { agent, native, ladder: choice, windows } = scale;
  const model = modelOf(scale, reading);
  const known = reading && tokens === undefined ? undefined : window;
  const isTold = known?.windowSource === 'user' || known?.windowSource === 'default';
  // the agent's compaction point is only known as a share of the window
  const isShare = known !== undefined || (reading?.basis ?? 'window') === 'window';
  const byUser = isTold ? { ownTokens: agentWindowTokens(windows, model, reading?.usedTokens) } : undefined;
  return buildLadder({
    agent: agent,
    windowTokens: known?.windowTokens,
    native: isShare ? native : undefined,
    model,
    byUser,
    choice,
    isCounted: reading === undefined || (tokens ?? reading.usedTokens) !== undefined,
  });
};

/**
 * Converts a percentage to tokens. With an uncertain window nothing is converted, because the percentage is the agent's own. Tokens below a
 * baseline are in use as well (docs/facts/codex.md#percentage-as-a-formula).
 */
const convertedTokens = (
  scale: MeasureContext,
  reading: Reading,
  window: KnownWindow | undefined,
): number | undefined => {
  const { usedPercent, basis = 'window' } = reading;
  if (usedPercent === undefined || !window?.certain) return undefined;
  const whole = basisTokens(scale, reading);
  if (whole === undefined) return undefined;
  const windowTokens = basisWindow(scale, reading) ?? whole;
  const fixed = basis === 'baseline' ? Math.max(0, windowTokens - whole) : 0;
  return Math.round(fixed + (Math.min(100, usedPercent) * whole) / 100);
};

/** The window that the agent's percentages refer to: its own, or the user's if no other is known. */
const basisWindow = (scale: MeasureContext, reading: Reading): number | undefined => {
  const own = agentWindowTokens(scale.windows, modelOf(scale, reading), reading.usedTokens);
  if (own !== undefined) return own;
  const window = windowFor(scale, reading);
  return window?.certain ? window.windowTokens : undefined;
};

/** The tokens that are 100 % on a reading's basis; undefined if unknown. `other` was counted at the same time. */
const basisTokens = (
  scale: MeasureContext,
  reading: Reading,
  other: Reading = reading,
): number | undefined => {
  const { basis = 'window', basisTokens } = reading;
  if (basisTokens !== undefined) return basisTokens;
  const windowTokens = basisWindow(scale, other);
  switch (basis) {
    case 'window':
      return windowTokens;
    case 'effective':
      return windowTokens === undefined ? undefined : effectiveTokens(windowTokens);
    case 'auto-compact':
      return ownTrigger(scale, other);
    case 'baseline':
      return undefined;
  }
};

// An agent that counts down to its compaction has one, even with a model that usually has none. A window set by the user does not move the
// agent's point.
const ownTrigger = (scale: MeasureContext, reading: Reading): number | undefined => {
  const { native } = scale;
  const model = modelOf(scale, reading);
  const own = agentWindowTokens(scale.windows, model, reading.usedTokens);
  if (!native || own === undefined) return undefined;
  return nativeTriggerTokens(own, triggerRuleFor(native, model, own) ?? native);
};

const inWindow = (reading: Reading, window: KnownWindow | undefined): Reading => {
  const { windowTokens: own, windowSource: _, ...rest } = reading;
  const { usedPercent, ...counted } = rest;
  // a percentage counted against another window is recalculated if its tokens are known
  const holds = rest.usedTokens === undefined || own === undefined || own === window?.windowTokens;
  const kept = holds || usedPercent === undefined ? rest : counted;
  return window ? { ...kept, windowTokens: window.windowTokens, windowSource: window.windowSource } : kept;
};

// Compares the screen with the session file, to detect a screen that is misread.

const DISAGREEMENT_POINTS = 5;
const DISAGREEMENT_MS = 10_000; // a screen that is only late has caught up by then

/**
 * Whether the screen and the better source disagree, since when, and what follows after too long: the screen is misread, or the file is not
 * that of the conversation on it.
 */
export const disagreementAt = (evidence: Evidence, scale: MeasureContext, now: Millis): Disagreement => {
  const { disagreement } = evidence;
  if (disagreement.phase === 'ignored') return disagreement;
  if (!isApart(evidence, scale))
    return disagreement.phase === 'agreeing' ? disagreement : { phase: 'agreeing' };
  if (disagreement.phase === 'agreeing') return { phase: 'apart', since: now };
  if (disagreement.phase === 'left')
    return hasGoneOn(evidence) ? disagreement : { phase: 'apart', since: now };
  if (now - disagreement.since < DISAGREEMENT_MS) return disagreement;
  return hasGoneOn(evidence) ? { phase: 'left', since: disagreement.since } : { phase: 'ignored' };
};

const STANDSTILL_MS = 5_000; // an agent draws and writes the same number within this time

/** The screen has another number since a time at which the file stood still. */
const hasGoneOn = ({ candidates: { screen, log, official } }: Evidence): boolean =>
  (screen?.since ?? 0) > Math.max(log?.since ?? 0, official?.since ?? 0) + STANDSTILL_MS;

export const disagreementDeadline = ({ disagreement }: Evidence): Millis | undefined =>
  disagreement.phase === 'apart' ? disagreement.since + DISAGREEMENT_MS : undefined;

const isApart = ({ candidates, grownTokens }: Evidence, scale: MeasureContext): boolean => {
  const { screen } = candidates;
  const file = candidates.log ?? candidates.official;
  if (!screen || !file || isLagging(scale, screen, file)) return false;
  const points = pointsAbove(scale, screen.reading, file.reading);
  if (points === undefined) return false;
  if (points < -DISAGREEMENT_POINTS) return true;
  // the text after the file's number is already on the screen
  return (
    points > DISAGREEMENT_POINTS &&
    (pointsAbove(scale, screen.reading, file.reading, grownTokens) ?? 0) > DISAGREEMENT_POINTS
  );
};

/** True if the screen still shows the previous number of the better source. */
const isLagging = (scale: MeasureContext, screen: Candidate, file: Candidate): boolean => {
  if (!file.before) return false;
  const behind = pointsAbove(scale, screen.reading, file.before);
  const ahead = pointsAbove(scale, screen.reading, file.reading);
  return behind !== undefined && ahead !== undefined && isClose(behind) && !isClose(ahead);
};

const isClose = (points: number): boolean => Math.abs(points) <= DISAGREEMENT_POINTS;

/** By how many points the screen's percentage is above the other reading; undefined if they cannot be compared. */
const pointsAbove = (
  scale: MeasureContext,
  screen: Reading,
  other: Reading,
  grownTokens = 0,
): number | undefined => {
  const { windows } = scale;
  const window = currentWindow(windows, windows.model ?? other.model, other.usedTokens);
  // against an assumed window a correct number looks wrong
  const windowTokens = window?.certain ? window.windowTokens : undefined;
  const { basis = 'window' } = screen;
  // on its own scales an agent counts its last answer as well
  const counted = basis === 'effective' || basis === 'auto-compact' ? countedTokens(other) : other.usedTokens;
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

const DISAGREED =
  'the screen and the session file have disagreed by more than 5 points for 10 s: the screen is ignored until the model or the session changes';

const LEFT =
  'the screen and the session file have disagreed by more than 5 points for 10 s, and only the screen has moved: the file is ignored until it moves or another one is found';

/** The log's lines when the screen or the file stops being trusted. */
export const disagreementLogLines = (
  { phase: before }: Disagreement,
  { phase }: Disagreement,
): readonly string[] => {
  if (phase === before) return [];
  return phase === 'ignored' ? [DISAGREED] : phase === 'left' ? [LEFT] : [];
};

// Combines several sources into one number. The most trusted source is displayed; a less trusted one can only raise the tier.

/** The number that counts. */
export interface FusedReading extends MeasuredReading {
  /** when the number arrived, and when its source last repeated it */
  readonly since: Millis;
  readonly seenAt: Millis;
  /** it comes from a less trusted source and is displayed because its tier is higher */
  readonly raised: boolean;
  /** counted by the agent, not contradicted by a better source, and measured in a certain window */
  readonly exact: boolean;
  /** the tier that may start a compaction: from an exact number, or from the user's boundaries in tokens; never from an estimate */
  readonly actingTier?: Tier;
  /** the counted number, if an estimate has raised its tier */
  readonly counted?: FusedReading;
  /** at warn by the counted number, and at auto or above with the text added since */
  readonly isNearAuto?: boolean;
}

/** The screen's number is displayed instead of a better source's, because its tier is higher. */
export interface Contest {
  readonly since: Millis;
  /** it has lasted longer than the delay between the sources */
  readonly isLasting: boolean;
}

export const contestAt = (
  before: Contest | undefined,
  fused: FusedReading | undefined,
  now: Millis,
): Contest | undefined => {
  if (!fused?.raised || fused.reading.source !== 'screen') return undefined;
  const since = before?.since ?? now;
  return { since, isLasting: now - since >= DISAGREEMENT_MS };
};

export const contestDeadline = (contest: Contest | undefined): Millis | undefined =>
  contest && !contest.isLasting ? contest.since + DISAGREEMENT_MS : undefined;

const order: readonly (Tier | undefined)[] = [undefined, 'safe', 'warn', 'auto', 'hard'];

/** The number that counts; undefined if there is none. */
export const fuseReadings = (evidence: Evidence, scale: MeasureContext): FusedReading | undefined => {
  const all = rankedCandidates(evidence);
  const reported = all.filter(({ reading }) => reading.source !== 'estimate');
  const fused = fuseOf(all, scale);
  const counted = fused?.reading.source === 'estimate' ? fuseOf(reported, scale) : undefined;
  if (!fused || !counted) return fused;
  const { actingTier } = counted;
  const grown = all.find((each) => includesGrowth(each, evidence));
  const isNearAuto =
    actingTier === 'warn' && grown !== undefined && reachesAuto(measureReading(scale, grown.reading));
  return { ...fused, counted, ...(actingTier ? { actingTier } : {}), ...(isNearAuto ? { isNearAuto } : {}) };
};

/** Uses the same rule as for a counted number. */
const reachesAuto = (measured: MeasuredReading): boolean => {
  const tier = isExact(measured) ? measured.tier : measured.ownTier;
  return tier === 'auto' || tier === 'hard';
};

const fuseOf = ([best, ...worse]: readonly Candidate[], scale: MeasureContext): FusedReading | undefined => {
  if (!best) return undefined;
  const first = { candidate: best, measured: measureReading(scale, best.reading) };
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

// A screen that was last read before the better number arrived has not had time to follow.
const mayRaise = (worse: Candidate, best: Candidate, scale: MeasureContext): boolean =>
  worse.reading.source === 'estimate' || (worse.seenAt >= best.seenAt && !isLagging(scale, worse, best));

/** Measures the lowest value that a rounded number can stand for: rounding alone must not cross a boundary. */
const measuredAtLeast = (scale: MeasureContext, reading: Reading): MeasuredReading => {
  const { tier: _, ...measured } = measureReading(scale, reading);
  const { tier } = measureReading(scale, reading.source === 'screen' ? unrounded(reading) : reading);
  return { ...measured, ...(tier ? { tier } : {}) };
};

const unrounded = ({ usedTokens, usedPercent, roundingTokens = 0, ...rest }: Reading): Reading => ({
  ...rest,
  ...(usedTokens === undefined ? {} : { usedTokens: Math.max(0, usedTokens - roundingTokens) }),
  ...(usedPercent === undefined ? {} : { usedPercent: Math.max(0, usedPercent - roundingOf(usedPercent)) }),
});

// Half of the last digit; agents display whole percentages or one decimal.
const roundingOf = (percent: number): number => (Number.isInteger(percent) ? 0.5 : 0.05);

const rank = ({ tier }: MeasuredReading): number => order.indexOf(tier);

/** A number of tokens is exact without any window. */
const isExact = ({ reading, window }: MeasuredReading): boolean =>
  reading.usedTokens === undefined || (window?.certain ?? true);

// Keeps the footer's number steady: a small change waits, a change of tier does not.

const SMALL_POINTS = 2;
const HOLD_MS = 5_000;

/** The number in the footer, and since when. */
export interface DisplayedReading {
  readonly fused: FusedReading;
  readonly at: Millis;
}

/** The number to display: the previous one if the change is small and the previous one is less than 5 s old. */
export const updateDisplayed = (
  shown: DisplayedReading | undefined,
  fused: FusedReading | undefined,
  now: Millis,
): DisplayedReading | undefined => {
  if (!fused) return undefined;
  if (!shown) return { fused, at: now };
  if (isSame(shown.fused, fused)) return { fused, at: shown.at };
  return isSmall(shown.fused, fused) && now < shown.at + HOLD_MS ? shown : { fused, at: now };
};

/** When a waiting number is displayed. */
export const displayedDeadline = (
  shown: DisplayedReading | undefined,
  fused: FusedReading | undefined,
): Millis | undefined => (shown && fused && !isSame(shown.fused, fused) ? shown.at + HOLD_MS : undefined);

const isSame = (a: FusedReading, b: FusedReading): boolean =>
  !isOther(a, b) &&
  a.reading.usedTokens === b.reading.usedTokens &&
  percentUsed(a.reading) === percentUsed(b.reading);

const isSmall = (a: FusedReading, b: FusedReading): boolean => {
  const before = percentUsed(a.reading);
  const after = percentUsed(b.reading);
  if (isOther(a, b) || before === undefined || after === undefined) return false;
  return Math.abs(after - before) <= SMALL_POINTS;
};

/** True if anything but the number differs. */
const isOther = (a: FusedReading, b: FusedReading): boolean =>
  a.tier !== b.tier ||
  a.raised !== b.raised ||
  a.exact !== b.exact ||
  a.reading.source !== b.reading.source ||
  a.reading.windowTokens !== b.reading.windowTokens ||
  a.reading.windowSource !== b.reading.windowSource;
