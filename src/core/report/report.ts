import { rankedCandidates, type Candidate } from '../evidence.js';
import { formatOwnPercent } from '../format.js';
import { type FusedReading, ladderFor, measureReading } from '../fusion.js';
import { type Ladder, type Tier, groupDigits, listThresholds, type Threshold } from '../ladder.js';
import {
  percentUsed,
  type PercentBasis,
  type Millis,
  type Reading,
  type Source,
  type WindowSource,
  isOverFull,
} from '../reading.js';
import { measureContextOf, type Session } from '../session.js';
import { currentWindow, type KnownWindow } from '../window.js';
import { present } from '../present.js';

// Explains the number: where it comes from, how old it is, and why it is the one that counts.

/** The last reading of a source, measured against the effective window. */
export interface SourceReading {
  readonly source: Source;
  readonly basis: PercentBasis;
  readonly usedTokens?: number;
  readonly answerTokens?: number;
  readonly cachedTokens?: number;
  readonly inputTokens?: number;
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100, not rounded; on another basis than the window only where it cannot be converted */
  readonly usedPercent?: number;
  readonly tier?: Tier;
  readonly model?: string;
  /** time of the observation */
  readonly at: Millis;
  /** since the source last repeated it */
  readonly ageMs: number;
}

/** The number that counts, with all its sources. */
export interface Provenance extends SourceReading {
  readonly windowCertain: boolean;
  readonly exact: boolean;
  /** displayed instead of a more trusted number because its tier is higher */
  readonly raised: boolean;
  /** one line of facts: `the session file: 150,000 tokens; window 200,000 from the model table` */
  readonly reason: string;
  /** all sources, the most trusted first; without a screen that is no longer trusted */
  readonly candidates: readonly SourceReading[];
}

/** The number of a session and its origin; undefined if there is none. */
export const provenance = (state: Session, now: Millis): Provenance | undefined => {
  const { fused } = state;
  if (!fused) return undefined;
  const scale = measureContextOf(state);
  const candidates = rankedCandidates(state.evidence).map((each) =>
    witnessed({ ...measureReading(scale, each.reading), seenAt: each.seenAt }, now),
  );
  return {
    ...witnessed(fused, now),
    windowCertain: fused.window?.certain ?? false,
    exact: fused.exact,
    raised: fused.raised,
    reason: reasonOf(fused, candidates[0], state.evidence.isVoid),
    candidates,
  };
};

/** The ladder for the session's current number. */
export const sessionLadder = (state: Session): Ladder => {
  const { windows, fused } = state;
  const window = currentWindow(windows, windows.model, undefined);
  return ladderFor(measureContextOf(state), fused ?? (window ? { window } : {}));
};

/** The thresholds of that ladder; without a known percentage, those in percent are left out. */
export const sessionThresholds = (state: Session): readonly Threshold[] => {
  const hasPercent = state.fused !== undefined && percentUsed(state.fused.reading) !== undefined;
  return listThresholds(sessionLadder(state)).filter(({ unit }) => unit === 'tokens' || hasPercent);
};

type Numbers = Pick<FusedReading, 'reading' | 'tier'> & Pick<Candidate, 'seenAt'>;

const witnessed = ({ reading, tier, seenAt }: Numbers, now: Millis): SourceReading => {
  const {
    usedTokens,
    answerTokens,
    cachedTokens,
    inputTokens,
    windowTokens,
    windowSource,
    model,
    source,
    at,
  } = reading;
  const usedPercent = percentUsed(reading);
  return {
    source,
    basis: reading.usedPercent === undefined ? 'window' : (reading.basis ?? 'window'),
    ...present({
      usedTokens,
      answerTokens,
      cachedTokens,
      inputTokens,
      windowTokens,
      windowSource,
      usedPercent,
      tier,
      model,
    }),
    at,
    ageMs: Math.max(0, now - Math.max(at, source === 'screen' ? seenAt : at)),
  };
};

const sourceTexts: Readonly<Record<Source, string>> = {
  official: "the agent's status line",
  log: 'the session file',
  screen: "the agent's screen",
  estimate: 'estimated from text that came after the last number',
};

export const windowTexts: Readonly<Record<WindowSource, string>> = {
  user: 'set by you',
  agent: 'reported by the agent',
  derived: 'derived from two numbers of the agent',
  table: 'from the model table',
  remembered: 'as last known of this model, from another session',
  default: 'assumed',
};

export const basisTexts: Readonly<Record<PercentBasis, string>> = {
  window: 'of the window',
  effective: 'of the window less the room for the answer',
  'auto-compact': 'of what the agent fills before it compacts on its own',
  baseline: 'of what lies above its fixed part',
};

/** Right after a compaction the only number is the one that the agent's record of it gives. */
export const sourceTextOf = (source: Source, isAfterCompaction: boolean): string =>
  isAfterCompaction && source === 'estimate' ? "the agent's record of the compaction" : sourceTexts[source];

const reasonOf = (
  { reading, window, raised }: FusedReading,
  best: SourceReading | undefined,
  isAfterCompaction: boolean,
): string =>
  [
    `${sourceTextOf(reading.source, isAfterCompaction)}: ${numberText(reading)}`,
    ...(window ? [windowText(window)] : []),
    ...(raised && best ? [`above ${sourceTexts[best.source]} with ${witnessText(best)}`] : []),
  ].join('; ');

const numberText = ({ usedTokens, answerTokens, usedPercent, basis = 'window' }: Reading): string =>
  usedTokens === undefined
    ? `${(usedPercent ?? 0) > 100 ? '>100' : oneDecimal(usedPercent ?? 0)}% ${basisTexts[basis]}`
    : usedText({ usedTokens, answerTokens });

/** The used tokens, with those of the last answer if they count as well. */
export const usedText = ({
  usedTokens,
  answerTokens,
}: {
  readonly usedTokens: number;
  readonly answerTokens?: number | undefined;
}): string =>
  answerTokens === undefined
    ? `${groupDigits(usedTokens)} tokens`
    : `${groupDigits(usedTokens)} tokens + ${groupDigits(answerTokens)} in the last answer`;

const windowText = ({ windowTokens, windowSource }: KnownWindow): string =>
  `window ${groupDigits(windowTokens)} ${windowTexts[windowSource]}`;

const witnessText = (known: SourceReading): string =>
  known.usedTokens === undefined
    ? (formatOwnPercent(known) ?? `${Math.round(known.usedPercent ?? 0)}%`)
    : `${groupDigits(known.usedTokens)} tokens`;

/** The reading as JSON for scripts. Unknown fields are left out. */
export interface ReadingRecord {
  readonly schema: 'ctxwrap.reading/1';
  /** when this number was first observed */
  readonly at: Millis;
  readonly runtime: string;
  readonly source: Source;
  /** what `usedPercent` refers to */
  readonly basis: PercentBasis;
  readonly usedTokens?: number;
  /** the agent's last answer, which counts for the tier and is not contained in the other numbers; since 0.2 */
  readonly answerTokens?: number;
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100, one decimal; 0 and 100 only if nothing or everything is used */
  readonly usedPercent?: number;
  /** more is used than the window holds */
  readonly over?: true;
  /** not estimated, and the window is certain if one was needed */
  readonly exact: boolean;
  readonly tier?: Tier;
  readonly model?: string;
}

/** The tier as other programs know it, which compact by it: none in a window that only another session knew. */
export const publishedTier = (fused: FusedReading | undefined): Tier | undefined =>
  fused?.window?.windowSource === 'remembered' ? undefined : fused?.tier;

/** The current number of a session; undefined before the first turn and after a compaction. */
export const readingRecord = (state: Session, now: Millis): ReadingRecord | undefined => {
  const known = provenance(state, now);
  const { fused } = state;
  if (!known) return undefined;
  const { source, basis, usedTokens, answerTokens, windowTokens, windowSource, usedPercent } = known;
  const { exact, model, at } = known;
  const tier = publishedTier(fused);
  return {
    schema: 'ctxwrap.reading/1',
    at,
    runtime: state.agent,
    source,
    basis,
    ...present({ usedTokens, answerTokens, windowTokens, windowSource }),
    ...(usedPercent === undefined ? {} : { usedPercent: oneDecimal(usedPercent) }),
    ...(fused && isOverFull(fused.reading) ? { over: true } : {}),
    exact,
    ...present({ tier, model }),
  };
};

/** Rounds for display, but to 0 or 100 only if exact. */
export const oneDecimal = (percent: number): number => {
  const rounded = Math.round(percent * 10) / 10;
  if (rounded === 0 && percent > 0) return 0.1;
  return rounded === 100 && percent < 100 ? 99.9 : rounded;
};
