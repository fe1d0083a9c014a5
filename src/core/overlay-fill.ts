import { uncertaintyOf, type Compaction, type Doubt } from './compaction/state.js';
import { compactionWords, isUrgent, secondsTo } from './compaction/words.js';
import { type ContextPart, contextReport } from './context-report.js';
import { isStale } from './evidence.js';
import { isWindowUnknown } from './footer-view.js';
import { isDrawable, durationText } from './format.js';
import type { Fused } from './fusion.js';
import { isOwnHard, type Ladder, type Tier, type Rung, type Threshold, grouped } from './ladder.js';
import { isOver, type Millis, percentOf } from './reading.js';
import {
  basisTexts,
  provenance,
  sessionLadder,
  sessionThresholds,
  sourceTexts,
  windowTexts,
  readingRecord,
} from './report.js';
import type { Session } from './session.js';

// How full the window is, as the overlay shows it: the bar, the numbers, and where they come from.

/** A boundary on the bar. */
export interface BarMark {
  readonly name: 'auto' | 'hard';
  /** 0…1 of the bar */
  readonly share: number;
}

export interface OverlayFill {
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…100, not rounded, as the agent counts it */
  readonly usedPercent?: number;
  /** more is used than the window holds */
  readonly isOver: boolean;
  /** what the percentage counts against */
  readonly basis: string;
  /** shown with `~` */
  readonly isEstimated: boolean;
  /** the window is shown with `?` */
  readonly windowInferred: boolean;
  /** the number has not moved while the agent wrote for minutes */
  readonly isStale: boolean;
  readonly source: string;
  readonly ageMs: number;
  /** who said how large the window is */
  readonly windowSource?: string;
  /** they sum to the total; none where tokens or the window are not known */
  readonly parts: readonly ContextPart[];
  readonly totalTokens?: number;
  /** 0…1 of the bar, where there are no parts */
  readonly share: number;
  readonly marks: readonly BarMark[];
}

export type OverlayThreshold = Threshold & { readonly current: boolean };

export interface Fullness {
  readonly fill?: OverlayFill;
  readonly tier?: Tier;
  /** hard only where it is above auto; at most one is current */
  readonly thresholds: readonly OverlayThreshold[];
  /** there is no hard of its own: it is where auto is */
  readonly isHardAuto: boolean;
}

export const fullness = (session: Session, now: Millis): Fullness => {
  const known = provenance(session, now);
  const ladder = sessionLadder(session);
  const isHardAuto = !isOwnHard(ladder);
  const report = contextReport({
    runtime: session.runtime,
    reading: readingRecord(session, now),
    cachedTokens: known?.cachedTokens,
    thresholds: sessionThresholds(session).filter(({ name }) => name !== 'hard' || !isHardAuto),
    compactions: [],
    toolResults: [],
  });
  const { tier, thresholds } = report;
  const isShown = ({ name }: BarMark): boolean => thresholds.some((each) => each.name === name);
  const rest = { ...(tier ? { tier } : {}), thresholds, isHardAuto: isHardAuto && thresholds.length > 0 };
  if (!known || !session.fused) return rest;
  const { usedTokens, windowTokens, usedPercent, windowSource } = known;
  const wholeTokens = report.totalTokens ?? windowTokens;
  const { tokens } = session.fused;
  const fill: OverlayFill = {
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(isDrawable(usedPercent) ? { usedPercent } : {}),
    isOver: isOver(session.fused.reading),
    basis: basisTexts[known.basis],
    isEstimated: known.source === 'estimate' || (known.raised && known.source === 'screen'),
    windowInferred: windowTokens !== undefined && !known.windowCertain,
    isStale: isStale(session.flow),
    source: known.source === 'estimate' ? sourceTexts.estimate : `from ${sourceTexts[known.source]}`,
    ageMs: known.ageMs,
    ...(windowSource === undefined ? {} : { windowSource: windowTexts[windowSource] }),
    parts: report.parts,
    ...(report.totalTokens === undefined ? {} : { totalTokens: report.totalTokens }),
    share: tokens !== undefined && wholeTokens ? tokens / wholeTokens : (usedPercent ?? 0) / 100,
    marks: marksOf(ladder, wholeTokens).filter(isShown),
  };
  return { ...rest, fill };
};

const marksOf = (ladder: Ladder, wholeTokens: number | undefined): readonly BarMark[] => {
  const { auto, hard } = ladder;
  const rungs = [
    ...(auto ? [['auto', auto] as const] : []),
    ...(isOwnHard(ladder) ? [['hard', hard] as const] : []),
  ];
  return rungs.flatMap(([name, rung]) => {
    const share = shareOf(rung, wholeTokens);
    return share === undefined || share > 1 ? [] : [{ name, share }];
  });
};

// A percentage is of the window, and the bar is longer than that where more than the window is used: then it has no place here.
const shareOf = ({ unit, value }: Rung, wholeTokens: number | undefined): number | undefined => {
  if (unit === 'percent') return value / 100;
  return wholeTokens ? value / wholeTokens : undefined;
};

// What happens next in one sentence of facts: what is counted down, waited for or held, or how far it is to the next boundary.

export interface NextFacts {
  readonly session: Session;
  readonly compaction: Compaction;
  readonly now: Millis;
  /** there is a key that puts it off */
  readonly canPostpone: boolean;
}

/** The key that asks for a compaction while the overlay is open. */
const ASK = 'c';

export const nextSentence = (facts: NextFacts): string => {
  const { compaction, now, canPostpone } = facts;
  const { phase, request, postponedUntil } = compaction;
  if (phase.kind === 'countdown') {
    const why = compaction.isByText ? ', proactive' : '';
    const key = canPostpone ? ', p postpones' : '';
    return sentence(`compacting in ${secondsTo(phase.until, now)} s${why}${key}`);
  }
  // of a doubt, here is room for a whole sentence
  const isDoubted = phase.kind === 'doubted' && !isUrgent(compaction, now);
  const words = isDoubted ? undefined : compactionWords(compaction, now, ASK);
  if (words !== undefined) return sentence(request ? `compaction asked for, ${words}` : words);
  const types = compaction.mode === 'auto' || compaction.mode === 'ask';
  const isPostponed = types && postponedUntil !== undefined && postponedUntil > now;
  return isPostponed
    ? `Postponed by you for ${durationText(postponedUntil - now)} more.`
    : restSentence(facts);
};

const sentence = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;

const restSentence = ({ session, compaction }: NextFacts): string => {
  const { fused } = session;
  if (compaction.activity === 'dead') return 'The agent has ended.';
  if (compaction.settings.command === undefined)
    return 'Nothing is typed: no compact command of this agent is known, or it is switched off.';
  if (compaction.mode === 'warn' || compaction.mode === 'off')
    return `In the mode ${compaction.mode} nothing is typed by itself.`;
  if (!fused) return 'Nothing is started without a number.';
  if (isWindowUnknown(fused) && sessionLadder(session).auto?.unit !== 'tokens') return WINDOWLESS;
  const doubt = fused.exact ? undefined : uncertaintyOf(fused);
  return doubt ? doubtTexts[doubt] : distance(session, fused);
};

const WINDOWLESS =
  'The window is not known, so that nothing is started: --window says how large it is, --auto 150k where to compact.';

const doubtTexts: Readonly<Record<Doubt, string>> = {
  assumed: 'The window is assumed: nothing is started on it.',
  window: 'The window is not certain: nothing is started on it.',
  estimate: 'The number is an estimate: nothing is started on it.',
  sources: 'The sources differ: nothing is started on the higher number.',
};

/** How far it is to auto. */
const distance = (session: Session, fused: Fused): string => {
  const { auto } = sessionLadder(session);
  if (!auto) return 'These boundaries have no auto: nothing is typed by itself.';
  const used = auto.unit === 'tokens' ? fused.tokens : percentOf(fused.reading);
  if (used === undefined) return `Auto is at ${boundText(auto, auto.value)}.`;
  const left = auto.value - used;
  if (left <= 0) return `Auto is at ${boundText(auto, auto.value)}, and it is reached.`;
  const points = auto.unit === 'percent' ? `${Math.ceil(left)} points` : grouped(left);
  return `Auto is at ${boundText(auto, auto.value)}, ${points} above what is used now.`;
};

const boundText = ({ unit }: Rung, value: number): string =>
  unit === 'percent' ? `${value}%` : `${grouped(value)} tokens`;
