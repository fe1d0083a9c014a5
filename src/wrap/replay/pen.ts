import type { Event } from '../../core/event.js';
import type { Tier } from '../../core/ladder.js';
import { provenance, type Provenance } from '../../core/provenance.js';
import { validReading } from '../../core/reading.js';
import type { Millis, Reading, Source } from '../../core/reading.js';
import { activityOf, boundaryOf, readingOf, type ReplayContext, type ReplayEvent } from './records.js';
import type { Session } from '../../core/session-state.js';

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

/** Remembers which number of each source was told last. */
const makeTold = () => {
  const told = new Map<Source, string>();
  return {
    isNews: ({ source, usedTokens, windowTokens, usedPercent, basis }: Numbers): boolean => {
      // an estimate is tokens only: what it is measured against comes from elsewhere
      const key = JSON.stringify(
        source === 'estimate' ? usedTokens : [usedTokens, windowTokens, usedPercent, basis],
      );
      const isNew = told.get(source) !== key;
      told.set(source, key);
      return isNew;
    },
    // The screen may go on showing the number that became void: from it, only another one is news.
    forget: (): void => {
      for (const source of ['official', 'log', 'estimate'] as const) told.delete(source);
    },
  };
};

/** Writes down what a step has made known: numbers and tiers when they are new. */
export const makePen = (runtime: string) => {
  const { isNews, forget } = makeTold();
  let tier: Tier | null = null;

  function* writeEvent(event: Event, { before, after }: Change, context: PenContext): Generator<ReplayEvent> {
    switch (event.type) {
      case 'reading': {
        const reading = validReading(event.reading);
        // an estimate is told below, as the session holds it
        if (reading && reading.source !== 'estimate' && isNews(reading))
          yield readingOf(context, reading, context.known);
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

  return function* write(change: Change, event?: Event): Generator<ReplayEvent> {
    const known = provenance(change.after, change.now);
    const context = { at: Math.round(change.at) / 1000, runtime, known };
    if (event) yield* writeEvent(event, change, context);
    // what has grown since a number is nobody's word: it is made of events that are no readings
    if (known?.source === 'estimate' && isNews(known)) yield readingOf(context, known, known);
    const now = known?.tier ?? null;
    if (now !== tier) yield { schema: 'ctxwrap.tier/1', at: context.at, tier: now, from: tier };
    tier = now;
  };
};

interface PenContext extends ReplayContext {
  /** what counts in the session now */
  readonly known: Provenance | undefined;
}
