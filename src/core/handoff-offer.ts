import { isFailure, isTooLong } from './compaction/outcome.js';
import { isUnderWay } from './compaction/running.js';
import type { Compaction } from './compaction/state.js';
import type { Millis } from './reading.js';
import { isSessionId } from './report/session-id.js';
import type { Session } from './session.js';
import { shownId } from './shown-conversation.js';

// When to tell the user what helps besides compacting: a rescue where the agent cannot compact, `ctxwrap handoff` where it was compacted so
// often that little of the first words is left.

export interface HandoffOffers {
  /** offer again and again after so many compactions; 0: never */
  readonly after: number;
  /** the episode for which it was offered last, and whether the agent could not compact at all then */
  readonly offered?: { readonly episode: Millis; readonly isFutile: boolean } | undefined;
  /** the count of compactions for which it was offered last */
  readonly compactions: number;
  /** the keys of a rescue: `Ctrl-] r`; undefined where there is none */
  readonly rescueKeys?: string | undefined;
  /** the agent's conversation, and the count when it began */
  readonly conversation?: string | undefined;
  readonly before: number;
  /** the text to display now; of the last step only */
  readonly due?: string;
  /** compacting has turned out to be impossible in this step */
  readonly isExhausted?: true;
}

export const startOffers = (after: number, rescueKeys?: string): HandoffOffers => ({
  after,
  compactions: 0,
  before: 0,
  rescueKeys,
});

const OFFER = 'try ctxwrap handoff'; // short, because the footer has little room beside the numbers

/** The offers after a step; `due` is the one that follows from it. */
export const stepOffers = (
  offers: HandoffOffers,
  { session, compaction }: { readonly session: Session; readonly compaction: Compaction },
): HandoffOffers => {
  const { due: _, isExhausted: __, ...rest } = offers;
  const last = inConversation(rest, session);
  const { compactions } = session;
  const { after, before, rescueKeys } = last;
  const isFutile = rescueKeys !== undefined && cannotCompact(compaction);
  if ((isAtHard(session) && isImpossible(compaction)) || isFutile) {
    const offered = { episode: compaction.episodeSince ?? 0, isFutile };
    const { episode, isFutile: wasFutile } = last.offered ?? {};
    if (episode === offered.episode && (wasFutile || !isFutile)) return last;
    const offer = rescueKeys === undefined ? OFFER : `${rescueKeys}: rescue`;
    const exhausted = isFutile || isOver(compaction) ? ({ isExhausted: true } as const) : {};
    return { ...last, offered, ...exhausted, due: `compacting fails · ${offer}` };
  }
  if (after > 0 && compactions >= last.compactions + after)
    return { ...last, compactions, due: `compacted ${compactions - before}× · ${OFFER}` };
  return last;
};

/** Another conversation has been compacted by none of those so far; the first id only names the one that is there. */
const inConversation = (
  offers: HandoffOffers,
  { conversation: shown, compactions }: Session,
): HandoffOffers => {
  const { conversation } = offers;
  const sessionId = shownId(shown);
  if (sessionId === undefined || sessionId === conversation) return offers;
  if (conversation === undefined) return { ...offers, conversation: sessionId };
  return { ...offers, conversation: sessionId, compactions, before: compactions };
};

/** By a number that may start a compaction. */
const isAtHard = ({ fused }: Session): boolean => fused?.actingTier === 'hard';

/** The attempts are used up, or there is no command to type. */
const isOver = ({ phase, settings }: Compaction): boolean =>
  settings.command === undefined || (phase.kind === 'blocked' && lasting.includes(phase.block.why));

/** That, or the last attempt has failed. */
const isImpossible = (compaction: Compaction): boolean => {
  const { last, episodeSince = Infinity } = compaction;
  const hasFailed = last !== undefined && isFailure(last.outcome) && last.endedAt >= episodeSince;
  return isOver(compaction) || (hasFailed && !isUnderWay(compaction));
};

/** At any tier: the agent refused because the conversation is too long, or three attempts in a row have failed. */
const cannotCompact = ({ phase, last, episodeSince }: Compaction): boolean => {
  if (phase.kind === 'blocked' && phase.block.why === 'breaker') return true;
  if (episodeSince === undefined || !last || last.endedAt < episodeSince) return false;
  return isTooLong(last.outcome);
};

const lasting: readonly string[] = ['breaker', 'attempts', 'refills', 'copy'];

/** What to type after a session that has ended at hard, or whose agent could not compact any more; undefined for any other. */
export const handoffAtEnd = (session: Session, compaction: Compaction): string | undefined => {
  if (!isAtHard(session) && !cannotCompact(compaction)) return undefined;
  const sessionId = shownId(session.conversation) ?? '';
  const id = isSessionId(sessionId) ? sessionId : 'ID';
  return `to continue with a shorter conversation: ctxwrap compact --strategy truncate ${id}; in a new one: ctxwrap handoff ${id}`;
};
