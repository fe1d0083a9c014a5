// An attempt that was given up may have worked all the same: a slow machine begins late, and a version that is not understood shows nothing.
import type { Initiator } from './outcome.js';
import type { Attempt, Compaction } from './state.js';
import type { Millis } from '../reading.js';

/** An attempt of ours that time alone has ended: the agent may still tell that it worked. */
export interface GivenUp {
  readonly attempt: Attempt;
  /** when the command was sent */
  readonly sentAt: Millis;
}

/**
 * The attempt of ours that a compaction belongs to of which the agent tells now. Within the wait it is ours, and later as long as the
 * user has pressed no key since; what the agent's record calls its own never is.
 */
export const lateAttempt = (
  { givenUp, keyAt, settings }: Compaction,
  initiator: Initiator | undefined,
  now: Millis,
): GivenUp['attempt'] | undefined => {
  if (!givenUp || initiator === 'agent') return undefined;
  const { attempt, sentAt } = givenUp;
  const isWithin = now <= sentAt + settings.startMs + settings.finishMs;
  const isAlone = initiator === 'user' && (keyAt === undefined || keyAt <= sentAt);
  return isWithin || isAlone ? attempt : undefined;
};

/** The state when nothing more can be heard of what was given up. */
export const withoutGivenUp = (state: Compaction): Compaction => {
  if (!state.givenUp) return state;
  const { givenUp: _, ...rest } = state;
  return rest;
};
