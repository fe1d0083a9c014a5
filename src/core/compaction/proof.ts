import type { Boundary } from '../event.js';
import { leftTokens } from '../evidence.js';
import { formatTokens } from '../format.js';
import type { Activity, Millis } from '../reading.js';
import { MINUTE_MS } from '../time.js';
import { isLower, type EndedCompaction, type Fill, type Outcome } from './outcome.js';
import type { Compaction, Effect, Observed, SessionContext } from './state.js';

// What proves a compaction, whoever began it: the agent's record of one, and for a conversation that ctxwrap has shortened itself the size
// that the agent reports with its next answer.

/** A compaction that disappears from the screen has ended; its record and words follow within this time. */
export const GONE_MS = 3_000;

/** What the agent says on its screen. */
export const SUCCESS = 'it says on its screen that it has compacted';
export const RECORD = 'its record of the compaction';
/** What ctxwrap did itself. Its own estimate of the new size proves nothing. */
export const SHORTENED = 'it has the shortened conversation';
export const CONTINUES_SHORTER = 'it was told to continue with the shortened conversation';
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

/** The agent is in this conversation again, or has the whole one back in the same. */
export const takenBack: Proof = {
  outcome: { kind: 'undone' },
  evidence: 'the whole conversation is back',
};

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

// An answer that does not come: a shortening without one must not hold back the next attempt for ever.

/** The agent's record of an answer follows the end of its turn within this time. */
const ANSWER_MS = 10_000;
/** A turn may take that long where the screen does not show its end: as long as a request of the user's is valid. */
const UNSEEN_MS = 600_000;

export const withTurn = <T extends Observed>(phase: T, activity: Activity, now: Millis): T => {
  const seen = { ...phase, unseenAt: undefined };
  switch (activity) {
    case 'busy':
    case 'compacting':
      return { ...seen, begunAt: phase.begunAt ?? now, goneAt: undefined };
    case 'ready':
    case 'draft':
      return phase.begunAt === undefined ? seen : { ...seen, goneAt: phase.goneAt ?? now };
    case 'unknown':
      return { ...phase, unseenAt: phase.unseenAt ?? now };
    case 'dialog': // of the running turn
    case 'dead':
      return seen;
  }
};

/** Until when an answer is waited for; undefined as long as no turn has ended. */
const answerDue = ({ goneAt, unseenAt }: Observed): Millis | undefined =>
  goneAt === undefined ? unseenAt && unseenAt + UNSEEN_MS : goneAt + ANSWER_MS;

/** When to look whether an answer is overdue: once, because the same moment would come again and again. */
export const answerAlarm = (turns: Observed): Millis | undefined =>
  turns.isOverdue ? undefined : answerDue(turns);

/** The wait goes on, although an answer may be overdue. */
export const stillWaiting = <T extends Observed>(phase: T, moment: SessionContext): T =>
  (phase.isOverdue ?? false) === (lackOfAnswer(phase, moment) !== undefined)
    ? phase
    : { ...phase, isOverdue: !phase.isOverdue };

/** What has passed without an answer that should have come by now; undefined if none is overdue. */
export const lackOfAnswer = (turns: Observed, { now }: SessionContext): string | undefined => {
  if (now < (answerDue(turns) ?? Infinity)) return undefined;
  return turns.goneAt === undefined ? `${UNSEEN_MS / MINUTE_MS} minutes` : 'the end of a turn';
};

/** Something is due, whatever was shortened. */
export const isFullAgain = ({ tier }: SessionContext): boolean => tier === 'auto' || tier === 'hard';

export const verified = (boundary: Boundary): Outcome => {
  const usedTokens = leftTokens(boundary);
  return { kind: 'verified', after: usedTokens === undefined ? undefined : { usedTokens } };
};

export const withEnded = (state: Compaction, ended: EndedCompaction, requestId?: string): Compaction => {
  const effect: Effect = { type: 'ended', ended, requestId };
  return { ...state, phase: { kind: 'rest' }, last: ended, effects: [...state.effects, effect] };
};
