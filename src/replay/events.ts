import { shownId } from '../core/shown-conversation.js';
import { boundaryRecord, type BoundaryRecord } from '../core/conversation/boundary-record.js';
import type { Boundary, Event } from '../core/event.js';
import type { Tier } from '../core/ladder.js';
import { present } from '../core/present.js';
import {
  type Activity,
  type ActivityReport,
  isOfWindow,
  isOverFull,
  percentUsed,
  type PercentBasis,
  type Reading,
  type Source,
  validReading,
  type Millis,
  type Place,
} from '../core/reading.js';
import { type Provenance, oneDecimal, provenance } from '../core/report/report.js';
import type { Session } from '../core/session.js';

// The events that a replay prints, one flat object each. `at` is in seconds since the start of the recording, as in the recording itself.

export interface ReplayedReading {
  readonly schema: 'ctxwrap.reading/1';
  readonly at: number;
  readonly runtime: string;
  readonly source: Source;
  /** what `usedPercent` is a share of */
  readonly basis: PercentBasis;
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…100, one decimal */
  readonly usedPercent?: number;
  /** more is used than the window holds */
  readonly over?: true;
  /** neither estimated nor measured against an assumed window */
  readonly exact: boolean;
  /** the session's tier after this reading */
  readonly tier?: Tier;
}

export interface ReplayedActivity {
  readonly schema: 'ctxwrap.activity/1';
  readonly at: number;
  readonly activity: Activity;
  /** in a dialog, the agent's question */
  readonly asks?: string;
  /** where in the agent the user is */
  readonly place?: Place;
  readonly witnesses: readonly string[];
}

export interface ReplayedTier {
  readonly schema: 'ctxwrap.tier/1';
  readonly at: number;
  /** null while the session has no number */
  readonly tier: Tier | null;
  readonly from: Tier | null;
}

/** A boundary record with its time in the recording beside its own timestamp. */
export interface ReplayedBoundary extends BoundaryRecord {
  readonly at: number;
}

export type ReplayEvent = ReplayedReading | ReplayedActivity | ReplayedTier | ReplayedBoundary;

interface EventContext {
  /** seconds */
  readonly at: number;
  readonly runtime: string;
  /** the number that counts in the session now */
  readonly known: Provenance | undefined;
}

/** A source's reading; with the session's measurement where the session uses this reading. */
const readingEvent = ({ at, runtime: agent, known }: EventContext, reading: Reading): ReplayedReading => {
  const { source } = reading;
  const counting = known?.candidates.find((each) => each.source === source && isSameNumber(each, reading));
  const isOwn = reading.usedPercent !== undefined; // a percentage from the agent needs no window
  const counts = counting ?? measured(reading, isOwn);
  const { usedTokens, windowTokens } = counts;
  // on another basis it is the agent's own number that is told, not what the session makes of it
  const usedPercent = isOwn && !isOfWindow(reading) ? percentUsed(reading) : counts.usedPercent;
  return {
    schema: 'ctxwrap.reading/1',
    at,
    runtime: agent,
    source,
    basis: isOwn ? (reading.basis ?? 'window') : 'window',
    ...present({ usedTokens, windowTokens }),
    ...(usedPercent === undefined ? {} : { usedPercent: oneDecimal(usedPercent) }),
    ...(isOverFull(reading) || isOverFull(counts) ? { over: true } : {}),
    exact: counting && known?.source === source ? known.exact : source !== 'estimate',
    ...(known?.tier === undefined ? {} : { tier: known.tier }),
  };
};

/** The reading with its percentage; a window that is only the agent's default is not used to measure. */
const measured = (
  reading: Reading,
  isOwn: boolean,
): Pick<Reading, 'usedTokens' | 'windowTokens' | 'usedPercent'> => {
  const { windowTokens, windowSource, usedPercent: _, ...rest } = reading;
  const isGuess = windowTokens === undefined || windowSource === 'default';
  const percent = isGuess && !isOwn ? undefined : percentUsed(reading);
  return {
    ...rest,
    ...(isGuess ? {} : { windowTokens }),
    ...present({ usedPercent: percent }),
  };
};

const isSameNumber = (one: Pick<Reading, 'usedTokens' | 'usedPercent' | 'at'>, other: Reading): boolean =>
  one.usedTokens === other.usedTokens &&
  (other.usedTokens !== undefined ||
    (isOfWindow(other) ? one.usedPercent === other.usedPercent : one.at === other.at));

const isCount = ({ source, usedPercent }: Reading, { showsLeft }: Session): boolean =>
  source !== 'estimate' && !(showsLeft && source === 'screen' && usedPercent === 0);

const activityEvent = ({ at }: EventContext, report: ActivityReport): ReplayedActivity => ({
  schema: 'ctxwrap.activity/1',
  at,
  activity: report.activity,
  witnesses: report.witnesses,
  ...present({ asks: report.asks, place: report.place }),
});

const boundaryEvent = (
  { at, runtime: agent }: EventContext,
  boundary: Boundary,
  sessionId: string | undefined,
): ReplayedBoundary => ({ ...boundaryRecord({ ...boundary, runtime: agent, sessionId }), at });

/** One step of the session. */
export interface SessionStep {
  readonly before: Session;
  readonly after: Session;
  /** milliseconds since the start of the recording */
  readonly at: Millis;
  /** the same moment in milliseconds since the epoch */
  readonly now: Millis;
}

type Numbers = Pick<Reading, 'source' | 'usedTokens' | 'windowTokens' | 'usedPercent' | 'basis'>;

/** Makes events of the session's steps: readings and tiers only when they are new. */
export const makeReplayEvents = (agent: string) => {
  const reported = new Map<Source, string>();
  let tier: Tier | null = null;

  const isNew = ({ source, usedTokens, windowTokens, usedPercent, basis }: Numbers): boolean => {
    // an estimate is in tokens only, on a scale: its window comes from another source
    const key = JSON.stringify(
      source === 'estimate' ? [usedTokens, basis] : [usedTokens, windowTokens, usedPercent, basis],
    );
    const isNew = reported.get(source) !== key;
    reported.set(source, key);
    return isNew;
  };
  // The screen may continue to show the number that was voided, so from the screen only a different number is new.
  const forget = (): void => {
    for (const source of ['official', 'log', 'estimate'] as const) reported.delete(source);
  };

  function* eventsOf(
    event: Event,
    { before, after }: SessionStep,
    context: EventContext,
  ): Generator<ReplayEvent> {
    switch (event.type) {
      case 'reading': {
        const reading = validReading(event.reading);
        // an estimate is reported below, as the session holds it
        if (reading && isCount(reading, after) && isNew(reading)) yield readingEvent(context, reading);
        return;
      }
      case 'activity':
        return yield activityEvent(context, event.report);
      case 'boundary':
        forget();
        if (after.compactions > before.compactions)
          yield boundaryEvent(context, event.boundary, shownId(after.conversation));
        return;
      case 'view':
        if (!event.isSame) forget();
        return;
      case 'voided':
      case 'session-changed':
        return forget();
    }
  }

  return function* stepEvents(change: SessionStep, event?: Event): Generator<ReplayEvent> {
    const known = provenance(change.after, change.now);
    const context = { at: Math.round(change.at) / 1000, runtime: agent, known };
    if (event) yield* eventsOf(event, change, context);
    // the growth since the last reading is an estimate that no event contains; a boundary contains its own
    const isToldBefore = event?.type === 'boundary' || event?.type === 'voided';
    if (known?.source === 'estimate' && isNew(known) && !isToldBefore) yield readingEvent(context, known);
    const now = known?.tier ?? null;
    if (now !== tier) yield { schema: 'ctxwrap.tier/1', at: context.at, tier: now, from: tier };
    tier = now;
  };
};
