import { boundaryRecord, type BoundaryRecord } from '../core/context-report.js';
import type { Boundary, Event } from '../core/event.js';
import type { Tier } from '../core/ladder.js';
import {
  type Activity,
  type ActivityReport,
  isOver,
  percentOf,
  type Basis,
  type Reading,
  type Source,
  validReading,
  type Millis,
} from '../core/reading.js';
import { type Provenance, oneDecimal, provenance } from '../core/report.js';
import type { Session } from '../core/session.js';

// What a replay prints: one flat object an event. `at` is in seconds since the start of the recording, as in the recording itself.

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

interface EventContext {
  /** seconds */
  readonly at: number;
  readonly runtime: string;
  /** what counts in the session now */
  readonly known: Provenance | undefined;
}

/** A source's own word, as the session measures it where it counts there. */
const readingOf = ({ at, runtime, known }: EventContext, said: Reading): ReplayedReading => {
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

const activityOf = ({ at }: EventContext, report: ActivityReport): ReplayedActivity => ({
  schema: 'ctxwrap.activity/1',
  at,
  activity: report.activity,
  witnesses: report.witnesses,
  ...(report.asks === undefined ? {} : { asks: report.asks }),
});

const boundaryOf = (
  { at, runtime }: EventContext,
  boundary: Boundary,
  sessionId: string | undefined,
): ReplayedBoundary => ({ ...boundaryRecord({ ...boundary, runtime, sessionId }), at });

/** A step of the session. */
export interface Change {
  readonly before: Session;
  readonly after: Session;
  /** milliseconds since the start of the recording */
  readonly at: Millis;
  /** the same moment in milliseconds since the epoch */
  readonly now: Millis;
}

type Numbers = Pick<Reading, 'source' | 'usedTokens' | 'windowTokens' | 'usedPercent' | 'basis'>;

/** Makes events of what each step has made known: numbers and tiers when they are new. */
export const makeReplayEvents = (runtime: string) => {
  const told = new Map<Source, string>();
  let tier: Tier | null = null;

  const isNews = ({ source, usedTokens, windowTokens, usedPercent, basis }: Numbers): boolean => {
    // an estimate is tokens only: what it is measured against comes from elsewhere
    const key = JSON.stringify(
      source === 'estimate' ? usedTokens : [usedTokens, windowTokens, usedPercent, basis],
    );
    const isNew = told.get(source) !== key;
    told.set(source, key);
    return isNew;
  };
  // The screen may go on showing the number that became void: from it, only another one is news.
  const forget = (): void => {
    for (const source of ['official', 'log', 'estimate'] as const) told.delete(source);
  };

  function* eventsOf(event: Event, { before, after }: Change, context: EventContext): Generator<ReplayEvent> {
    switch (event.type) {
      case 'reading': {
        const reading = validReading(event.reading);
        // an estimate is told below, as the session holds it
        if (reading && reading.source !== 'estimate' && isNews(reading)) yield readingOf(context, reading);
        return;
      }
      case 'activity':
        return yield activityOf(context, event.report);
      case 'boundary':
        forget();
        if (after.compactions > before.compactions)
          yield boundaryOf(context, event.boundary, after.sessionId);
        return;
      case 'voided':
      case 'session-changed':
        return forget();
    }
  }

  return function* stepEvents(change: Change, event?: Event): Generator<ReplayEvent> {
    const known = provenance(change.after, change.now);
    const context = { at: Math.round(change.at) / 1000, runtime, known };
    if (event) yield* eventsOf(event, change, context);
    // what has grown since a number is nobody's word: it is made of events that are no readings
    if (known?.source === 'estimate' && isNews(known)) yield readingOf(context, known);
    const now = known?.tier ?? null;
    if (now !== tier) yield { schema: 'ctxwrap.tier/1', at: context.at, tier: now, from: tier };
    tier = now;
  };
};
