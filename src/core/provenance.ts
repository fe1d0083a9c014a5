// Where the number comes from, how old it is and why it is the one that counts: for display beside it.
import { candidatesOf } from './evidence.js';
import type { Candidate } from './evidence.js';
import type { Fused } from './fusion.js';
import type { Ladder, Tier } from './ladder.js';
import { ladderFor, measure } from './measure.js';
import { percentOf } from './reading.js';
import type { Basis, Millis, Reading, Source, WindowSource } from './reading.js';
import { grouped } from './rung.js';
import { scaleOf } from './session.js';
import { thresholdsOf } from './thresholds.js';
import type { Threshold } from './thresholds.js';
import { windowOf } from './windows.js';
import type { KnownWindow } from './windows.js';
import type { Session } from './session-state.js';

/** One source's last word, measured against the window that holds now. */
export interface Witnessed {
  readonly source: Source;
  readonly basis: Basis;
  readonly usedTokens?: number;
  readonly answerTokens?: number;
  readonly cachedTokens?: number;
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100, not rounded; the agent's own where it has one, on `basis` */
  readonly usedPercent?: number;
  readonly tier?: Tier;
  readonly model?: string;
  /** of the observation itself */
  readonly at: Millis;
  /** since the source said it last */
  readonly ageMs: number;
}

/** The number that counts, and all that speaks for it. */
export interface Provenance extends Witnessed {
  readonly windowCertain: boolean;
  readonly exact: boolean;
  /** shown before a more trusted number because its tier is higher */
  readonly raised: boolean;
  /** one line of facts: `the session file: 150,000 tokens; window 200,000 from the model table` */
  readonly reason: string;
  /** every source that speaks, the most trusted first; a screen that is not believed any more is not among them */
  readonly candidates: readonly Witnessed[];
}

/** The fused number of a session with where it comes from; undefined while there is none. */
export const provenance = (state: Session, now: Millis): Provenance | undefined => {
  const { fused } = state;
  if (!fused) return undefined;
  const scale = scaleOf(state);
  const candidates = candidatesOf(state.evidence).map((each) =>
    witnessed({ ...measure(scale, each.reading), seenAt: each.seenAt }, now),
  );
  return {
    ...witnessed(fused, now),
    windowCertain: fused.window?.certain ?? false,
    exact: fused.exact,
    raised: fused.raised,
    reason: reasonOf(fused, candidates[0]),
    candidates,
  };
};

/** The ladder that judges the session's number now. */
export const sessionLadder = (state: Session): Ladder => {
  const { windows, fused } = state;
  const window = windowOf(windows, windows.model, undefined);
  return ladderFor(scaleOf(state), fused ?? (window ? { window } : {}));
};

/** All numbers of that ladder that mean something: without a percentage, percentages are of nothing. */
export const sessionThresholds = (state: Session): readonly Threshold[] => {
  const hasPercent = state.fused !== undefined && percentOf(state.fused.reading) !== undefined;
  return thresholdsOf(sessionLadder(state)).filter(({ unit }) => unit === 'tokens' || hasPercent);
};

type Numbers = Pick<Fused, 'reading' | 'tier'> & Pick<Candidate, 'seenAt'>;

const witnessed = ({ reading, tier, seenAt }: Numbers, now: Millis): Witnessed => {
  const { usedTokens, answerTokens, cachedTokens, windowTokens, windowSource, model, source, at } = reading;
  const usedPercent = percentOf(reading);
  return {
    source,
    basis: reading.usedPercent === undefined ? 'window' : (reading.basis ?? 'window'),
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(answerTokens === undefined ? {} : { answerTokens }),
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(windowSource === undefined ? {} : { windowSource }),
    ...(usedPercent === undefined ? {} : { usedPercent }),
    ...(tier === undefined ? {} : { tier }),
    ...(model === undefined ? {} : { model }),
    at,
    ageMs: Math.max(0, now - Math.max(at, source === 'screen' ? seenAt : at)),
  };
};

export const sourceTexts: Readonly<Record<Source, string>> = {
  official: "the agent's status line",
  log: 'the session file',
  screen: "the agent's screen",
  estimate: 'estimated from text that came after the last number',
};

export const windowTexts: Readonly<Record<WindowSource, string>> = {
  user: 'set by the user',
  agent: 'said by the agent',
  derived: 'derived from two numbers of the agent',
  table: 'from the model table',
  default: 'assumed',
};

export const basisTexts: Readonly<Record<Basis, string>> = {
  window: 'of the window',
  effective: 'of what the window leaves beside the answer',
  'auto-compact': 'of what the agent fills before it compacts by itself',
  baseline: 'of what lies above its fixed part',
};

const reasonOf = ({ reading, window, raised }: Fused, best: Witnessed | undefined): string =>
  [
    `${sourceTexts[reading.source]}: ${numberText(reading)}`,
    ...(window ? [windowText(window)] : []),
    ...(raised && best ? [`above ${sourceTexts[best.source]} with ${witnessText(best)}`] : []),
  ].join('; ');

const numberText = ({ usedTokens, answerTokens, usedPercent, basis = 'window' }: Reading): string =>
  usedTokens === undefined
    ? `${(usedPercent ?? 0) > 100 ? '>100' : (usedPercent ?? 0)}% ${basisTexts[basis]}`
    : usedText({ usedTokens, answerTokens });

/** Tokens in use, with those of the last answer where they count, too. */
export const usedText = ({
  usedTokens,
  answerTokens,
}: {
  readonly usedTokens: number;
  readonly answerTokens?: number | undefined;
}): string =>
  answerTokens === undefined
    ? `${grouped(usedTokens)} tokens`
    : `${grouped(usedTokens)} tokens and ${grouped(answerTokens)} of the last answer`;

const windowText = ({ windowTokens, windowSource }: KnownWindow): string =>
  `window ${grouped(windowTokens)} ${windowTexts[windowSource]}`;

const witnessText = ({ usedTokens, usedPercent }: Witnessed): string =>
  usedTokens === undefined ? `${Math.round(usedPercent ?? 0)}%` : `${grouped(usedTokens)} tokens`;
