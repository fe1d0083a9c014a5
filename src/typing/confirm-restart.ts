import { setTimeout as pass } from 'node:timers/promises';
import { shownId } from '../core/shown-conversation.js';
import { isLower } from '../core/compaction/outcome.js';
import type { Event } from '../core/event.js';
import { formatTokens } from '../core/format.js';
import { noticeEvent } from '../core/session-flow.js';
import { LOOK_MS } from './safe-moment.js';
import { shortenedEvent } from './shortener.js';
import type { Publisher, SessionLoop } from '../session/ports.js';
import type { RestartPlan } from '../session/options.js';

// Finds out whether an agent that was started again has the shortened session.

export interface RestartWatch {
  readonly plan: RestartPlan;
  readonly flow: SessionLoop['flow'];
  readonly take: (event: Event) => void;
  readonly audit: Pick<Publisher, 'beginSwitch' | 'endSwitch'> | undefined;
  /** called once it has it */
  readonly onTaken: () => void;
}

const CONFIRM_MS = 60_000; // of a start on a busy machine
const RESTED_MS = 500; // of a screen that is drawn anew

/** Watches until that is known, and says it in the footer and in the audit log. The result ends it with the child. */
export const confirmRestart = (watch: RestartWatch): { readonly stop: () => void } => {
  const { plan, flow, take, audit, onTaken } = watch;
  const ended = new AbortController();
  const tell = (reason: string | undefined): void => {
    audit?.beginSwitch(flow().session);
    const result =
      reason === undefined ? ({ kind: 'switched' } as const) : ({ kind: 'unknown', reason } as const);
    audit?.endSwitch(plan.session.id, result);
  };
  const follow = async (): Promise<void> => {
    const isTaken = await hasTaken(watch, ended.signal);
    if (ended.signal.aborted) return tell('the agent ended before it showed that it has the shorter session');
    if (!isTaken) {
      tell('the agent does not show that it has the shorter session');
      return take(noticeEvent('restarted, but the agent does not show that it has the shorter conversation'));
    }
    onTaken();
    take({ type: 'postpone' });
    const { usedTokens } = flow().session.fused?.reading ?? {};
    if (usedTokens !== undefined && !isLower({ usedTokens: plan.preTokens }, { usedTokens })) {
      tell(`the window is still at ${formatTokens(usedTokens)}`);
      return take(noticeEvent(`restarted, but the window is still at ${formatTokens(usedTokens)}`));
    }
    tell(undefined);
    take(shortenedEvent(plan));
  };
  void follow();
  return { stop: () => ended.abort() };
};

const hasTaken = async ({ plan, flow }: RestartWatch, signal: AbortSignal): Promise<boolean> => {
  const until = performance.now() + CONFIRM_MS;
  while (!signal.aborted && performance.now() < until) {
    const { session, now } = flow();
    const { activity, activitySince, conversation } = session;
    const isAtRest = activity === 'draft' || (activity === 'ready' && now - activitySince >= RESTED_MS);
    if (shownId(conversation) === plan.session.id && isAtRest) return true;
    await pass(LOOK_MS, undefined, { ref: false, signal }).catch(() => undefined);
  }
  return false;
};
