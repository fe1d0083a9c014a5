import type { Boundary } from '../event.js';
import { leftTokens } from '../evidence.js';
import { formatTokens } from '../format.js';
import type { Millis } from '../reading.js';
import { isLower, type EndedCompaction, type Fill, type Outcome } from './outcome.js';
import type { Compaction, Effect, SessionContext } from './state.js';

// What proves a compaction, whoever began it: the agent's record of one, and for a conversation that ctxwrap has shortened itself the size
// that the agent reports with its next answer.

/** A compaction that disappears from the screen has ended; its record and words follow within this time. */
export const GONE_MS = 3_000;

/** What the agent says on its screen. */
export const SUCCESS = 'it says on its screen that it has compacted';
export const RECORD = 'its record of the compaction';
/** What ctxwrap did itself. Its own estimate of the new size proves nothing. */
export const SHORTENED = 'it has the shortened conversation';
export const TOLD = 'it was told to continue with the shortened conversation';
/** what ends the wait for an answer */
export const ANOTHER = 'another compaction';
const ANSWERED_LESS = 'its next answer says less';

/** As it was seen; with the record's tokens where only a percentage was, which the next answer cannot be compared with. */
export const beforeOf = ({ preTokens }: Boundary, seen: Fill | undefined): Fill | undefined =>
  preTokens === undefined || seen?.usedTokens !== undefined ? seen : { ...seen, usedTokens: preTokens };

interface ShortenedSince {
  readonly shortenedAt: Millis;
  readonly success?: string | undefined;
}

interface Proof {
  readonly outcome: Outcome;
  readonly evidence: string;
}

/** No answer of the agent has come. */
export const unproven = (reason: string): Proof => ({
  outcome: { kind: 'no-evidence', reason },
  evidence: reason,
});

/** What the agent's first answer after a shortening shows; undefined while there is none. */
export const shownByAnswer = (
  before: Fill | undefined,
  { shortenedAt, success = SHORTENED }: ShortenedSince,
  { answer }: SessionContext,
): Proof | undefined => {
  if (!answer || answer.at <= shortenedAt) return undefined;
  const { usedTokens } = answer;
  return isLower(before, { usedTokens })
    ? { outcome: { kind: 'verified', after: { usedTokens } }, evidence: ANSWERED_LESS }
    : {
        outcome: { kind: 'unverified', text: success },
        evidence: `its next answer says ${formatTokens(usedTokens)}`,
      };
};

export const verified = (boundary: Boundary): Outcome => {
  const usedTokens = leftTokens(boundary);
  return { kind: 'verified', after: usedTokens === undefined ? undefined : { usedTokens } };
};

export const withEnded = (state: Compaction, ended: EndedCompaction, requestId?: string): Compaction => {
  const effect: Effect = { type: 'ended', ended, requestId };
  return { ...state, phase: { kind: 'rest' }, last: ended, effects: [...state.effects, effect] };
};
