// How full the window is, as the overlay shows it: the bar, the numbers, and where they come from.
import type { ContextPart } from '../context-parts.js';
import { contextReport } from '../context-report.js';
import { isStale } from '../flow.js';
import { isDrawable } from '../figures.js';
import {
  basisTexts,
  provenance,
  sessionLadder,
  sessionThresholds,
  sourceTexts,
  windowTexts,
} from '../provenance.js';
import { readingRecord } from '../reading-record.js';
import { isOwnHard } from '../ladder.js';
import type { Ladder, Tier } from '../ladder.js';
import { isOver } from '../reading.js';
import type { Millis } from '../reading.js';
import type { Rung } from '../rung.js';
import type { Threshold } from '../thresholds.js';
import type { Session } from '../session-state.js';

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
