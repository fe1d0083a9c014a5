import type { Fact } from '../core/event.js';
import type { Millis } from '../core/reading.js';

/** Keeps what a stretch of a session file said until its end is reached, then gives what still matters. */
export interface FactInbox {
  readonly put: (fact: Fact) => void;
  readonly take: () => readonly Fact[];
}

/**
 * Of all numbers read at once only the last one counts, so a resumed session of any length gives one. Its old compactions are not
 * this session's, and one that is read again (a rewritten file, a return to a session) is not a second one: both only void the number.
 */
export const factInbox = (startedAt: Millis): FactInbox => {
  const counted = new Set<Millis>();
  let waiting: readonly Fact[] = [];

  const asNew = (fact: Fact): Fact => {
    if (fact.type !== 'boundary') return fact;
    const { at } = fact.boundary;
    if (at < startedAt || counted.has(at)) return { type: 'voided' };
    counted.add(at);
    return fact;
  };

  return {
    put: (fact) => {
      const boundaries = waiting.at(-1)?.type === 'boundary' ? waiting : waiting.slice(0, -1);
      waiting = [...boundaries, asNew(fact)];
    },
    take: () => {
      const facts = waiting;
      waiting = [];
      return facts;
    },
  };
};
