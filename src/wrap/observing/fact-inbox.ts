import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';

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
      waiting = fact.type === 'initiator' ? withInitiator(waiting, fact) : added(waiting, asNew(fact));
    },
    take: () => {
      const facts = waiting;
      waiting = [];
      return facts;
    },
  };
};

/** Both are written at once, so the compaction still waits here; of one that was told before it is not needed any more. */
const withInitiator = (
  waiting: readonly Fact[],
  { at, initiator }: Extract<Fact, { readonly type: 'initiator' }>,
): readonly Fact[] =>
  waiting.map((fact) =>
    fact.type === 'boundary' && fact.boundary.at === at
      ? { ...fact, boundary: { ...fact.boundary, initiator } }
      : fact,
  );

const added = (waiting: readonly Fact[], fact: Fact): readonly Fact[] => {
  switch (fact.type) {
    case 'growth': {
      const last = waiting.at(-1);
      if (last?.type !== 'growth') return [...waiting, fact];
      return [...waiting.slice(0, -1), { type: 'growth', tokens: last.tokens + fact.tokens }];
    }
    case 'window':
      return [...waiting.filter((each) => !isClaimFor(fact.claim.model, each)), fact];
    case 'compact-result':
      return [...waiting.filter(({ type }) => type !== 'compact-result'), fact];
    default:
      return [...waiting.filter(({ type }) => lasting.includes(type)), fact];
  }
};

/** What a later number does not replace. */
const lasting: readonly Fact['type'][] = ['boundary', 'window', 'compact-result'];

const isClaimFor = (model: string | undefined, fact: Fact): boolean =>
  fact.type === 'window' && fact.claim.model === model;
