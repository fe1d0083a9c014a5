// The compactions of this session that are over, ours and others', for a list of the last ones.
import type { Boundary, Event } from '../event.js';
import type { Millis } from '../reading.js';
import { faultOf } from './boundary-fault.js';
import { isSameFill } from './outcome.js';
import type { Ended, Fill, Outcome } from './outcome.js';
import type { Effect } from './state.js';

const MOST_PAST = 8;

/** A compaction, or an attempt at one, that is over. */
export interface PastAttempt {
  readonly ended: Ended;
  /** the first number after it, where its own end told none */
  readonly next?: Fill;
}

export interface Past {
  /** oldest first */
  readonly attempts: readonly PastAttempt[];
  /** how full the window was after the last step */
  readonly fill?: Fill;
  /** the last one worked, and no number has told yet what it left */
  readonly isOpen: boolean;
}

export const noPast: Past = { attempts: [], isOpen: false };

/** What one step brought. */
export interface PastNote {
  /** absent where only time has passed */
  readonly event?: Event | undefined;
  /** of the step after that event */
  readonly effects: readonly Effect[];
  /** how full the window is after it, as the agent counted it */
  readonly fill: Fill | undefined;
  readonly now: Millis;
}

/** The list after a step; the same object when nothing has changed. */
export const notePast = (past: Past, { event, effects, fill, now }: PastNote): Past => {
  const before = event?.type === 'session-changed' ? { ...past, isOpen: false } : past;
  const isNumbered = fill !== undefined && before.isOpen;
  const numbered = isNumbered ? withNext(before.attempts, fill) : before.attempts;
  // what was not tried is no attempt
  const ended = effects.flatMap((effect) =>
    effect.type === 'ended' && effect.ended.outcome.kind !== 'skipped-busy' ? [effect.ended] : [],
  );
  const isTold = event?.type === 'boundary' && event.boundary.source !== 'screen';
  const boundary = isTold ? event.boundary : undefined;
  const all = boundary && ended.length === 0 ? [endedOf(boundary, past.fill, now)] : ended;
  const told = all.map((each) => ({ ended: withBefore(each, past.fill, boundary) }));
  const last = told.at(-1)?.ended.outcome;
  const isOpen = last ? last.kind === 'verified' && !last.after : before.isOpen && !isNumbered;
  if (told.length === 0 && isOpen === past.isOpen && isSameFill(fill, past.fill)) return past;
  const kept = told.some(({ ended: { isLate } }) => isLate) ? withoutLastOfOurs(numbered) : numbered;
  return { attempts: [...kept, ...told].slice(-MOST_PAST), isOpen, ...(fill ? { fill } : {}) };
};

/** A compaction that only the agent's record tells of. */
const endedOf = (boundary: Boundary, before: Fill | undefined, now: Millis): Ended => {
  const { initiator = 'agent', postTokens, preTokens = before?.usedTokens } = boundary;
  const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
  const whole = preTokens === undefined ? boundary : { ...boundary, preTokens };
  const outcome: Outcome = faultOf(whole) ?? { kind: 'verified', ...after };
  return { initiator, startedAt: now, endedAt: now, outcome, evidence: ['its record of the compaction'] };
};

// The number that a compaction makes void is gone when its end is told.
const withBefore = (ended: Ended, fill: Fill | undefined, boundary: Boundary | undefined): Ended => {
  if (ended.before) return ended;
  const { preTokens } = boundary ?? {};
  const before = preTokens === undefined ? fill : { usedTokens: preTokens };
  return before ? { ...ended, before } : ended;
};

/** What worked late was told as given up before. */
const withoutLastOfOurs = (attempts: readonly PastAttempt[]): readonly PastAttempt[] => {
  const last = attempts.findLastIndex(({ ended }) => ended.initiator === 'ctxwrap');
  return attempts.filter((_, index) => index !== last);
};

const withNext = (attempts: readonly PastAttempt[], next: Fill): readonly PastAttempt[] => {
  const last = attempts.at(-1);
  return last ? attempts.with(-1, { ...last, next }) : attempts;
};
