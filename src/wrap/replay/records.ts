// What a replay prints: one flat object an event. `at` is in seconds since the start of the recording, as in the recording itself.
import type { Activity, ActivityReport } from '../../core/activity.js';
import { boundaryRecord, type BoundaryRecord } from '../../core/boundary-record.js';
import type { Boundary } from '../../core/event.js';
import type { Tier } from '../../core/ladder.js';
import type { Provenance } from '../../core/provenance.js';
import { oneDecimal } from '../../core/reading-record.js';
import { isOver, percentOf } from '../../core/reading.js';
import type { Basis, Reading, Source } from '../../core/reading.js';

export interface ReplayedReading {
  readonly schema: 'ctxwrap.reading/1';
  readonly at: number;
  readonly runtime: string;
  readonly source: Source;
  /** what `usedPercent` counts against */
  readonly basis: Basis;
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…100, one decimal */
  readonly usedPercent?: number;
  /** more is used than there is room for */
  readonly over?: true;
  /** not estimated, and not measured against a window that is only assumed */
  readonly exact: boolean;
  /** what the session shows when this reading is in */
  readonly tier?: Tier;
}

export interface ReplayedActivity {
  readonly schema: 'ctxwrap.activity/1';
  readonly at: number;
  readonly activity: Activity;
  /** in a dialog, what the agent says that it asks */
  readonly asks?: string;
  readonly witnesses: readonly string[];
}

export interface ReplayedTier {
  readonly schema: 'ctxwrap.tier/1';
  readonly at: number;
  /** null while the session has no number */
  readonly tier: Tier | null;
  readonly from: Tier | null;
}

/** `at` beside its own timestamp, as all that is replayed has it. */
export interface ReplayedBoundary extends BoundaryRecord {
  readonly at: number;
}

export type ReplayEvent = ReplayedReading | ReplayedActivity | ReplayedTier | ReplayedBoundary;

export interface ReplayContext {
  /** seconds */
  readonly at: number;
  readonly runtime: string;
}

/** A source's own word, as the session measures it where it counts there. */
export const readingOf = (
  { at, runtime }: ReplayContext,
  said: Reading,
  known?: Provenance,
): ReplayedReading => {
  const { source } = said;
  const counting = known?.candidates.find((each) => each.source === source && isSameNumber(each, said));
  const isOwn = said.usedPercent !== undefined; // the agent's percentage needs no window
  const counts = counting ?? measured(said, isOwn);
  const { usedTokens, windowTokens, usedPercent } = counts;
  return {
    schema: 'ctxwrap.reading/1',
    at,
    runtime,
    source,
    basis: isOwn ? (said.basis ?? 'window') : 'window',
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(usedPercent === undefined ? {} : { usedPercent: oneDecimal(usedPercent) }),
    ...(isOver(said) || isOver(counts) ? { over: true } : {}),
    exact: counting && known?.source === source ? known.exact : source !== 'estimate',
    ...(known?.tier === undefined ? {} : { tier: known.tier }),
  };
};

/** Nothing is measured with a window that the runtime only guesses. */
const measured = (
  said: Reading,
  isOwn: boolean,
): Pick<Reading, 'usedTokens' | 'windowTokens' | 'usedPercent'> => {
  const { windowTokens, windowSource, usedPercent: _, ...rest } = said;
  const isGuess = windowTokens === undefined || windowSource === 'default';
  const percent = isGuess && !isOwn ? undefined : percentOf(said);
  return {
    ...rest,
    ...(isGuess ? {} : { windowTokens }),
    ...(percent === undefined ? {} : { usedPercent: percent }),
  };
};

const isSameNumber = (one: Pick<Reading, 'usedTokens' | 'usedPercent'>, other: Reading): boolean =>
  one.usedTokens === other.usedTokens &&
  (other.usedTokens !== undefined || one.usedPercent === other.usedPercent);

export const activityOf = ({ at }: ReplayContext, report: ActivityReport): ReplayedActivity => ({
  schema: 'ctxwrap.activity/1',
  at,
  activity: report.activity,
  witnesses: report.witnesses,
  ...(report.asks === undefined ? {} : { asks: report.asks }),
});

export const boundaryOf = (
  { at, runtime }: ReplayContext,
  boundary: Boundary,
  sessionId: string | undefined,
): ReplayedBoundary => ({ ...boundaryRecord({ ...boundary, runtime, sessionId }), at });
