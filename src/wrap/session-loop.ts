import type { Effect } from '../core/compaction/state.js';
import { compactionWords } from '../core/compaction/words.js';
import type { Event } from '../core/event.js';
import type { Session } from '../core/session.js';
import { footerView, type FooterView } from '../core/view.js';
import { makeAlarm } from './alarm.js';
import { compactKeys, compactSettings } from './compactor.js';
import { flowDue, startFlow, stepFlow, wakeFlow, type SessionFlow } from './session-flow.js';
import type { WrapSession } from './wrap-session.js';

export interface LoopListener {
  /** only when it is another one */
  readonly onView: (view: FooterView) => void;
  /** what the core wants done */
  readonly onEffect?: ((effect: Effect, state: Session) => void) | undefined;
  /** after everything that has happened; `words` is what the footer says of compacting */
  readonly onState?: ((state: Session, words: string | undefined) => void) | undefined;
}

/** Runs one session: an event in, a view out, and one alarm for what only time brings. */
export interface SessionLoop {
  readonly take: (event: Event) => void;
  readonly stop: () => void;
}

export const makeSessionLoop = (session: WrapSession, listener: LoopListener): SessionLoop => {
  const { log } = session;
  const { onView, onState, onEffect } = listener;
  const now = Date.now;
  const { recipe } = session.runtime;
  const context = { ...session, compact: compactSettings(session, recipe?.(session.env)) };
  const ask = compactKeys(session);
  let flow = startFlow(context, now());
  let shown: string | undefined;

  const go = (next: SessionFlow): void => {
    flow = next;
    const { session: state, compaction } = flow;
    for (const line of state.logged) log.info(line);
    const words = compactionWords(compaction, now(), ask);
    const view = { ...footerView(state, now()), ...(words === undefined ? {} : { words }) };
    const key = JSON.stringify(view);
    if (key !== shown) onView(view);
    shown = key;
    onState?.(state, words);
    for (const effect of compaction.effects) onEffect?.(effect, state);
    alarm.set(flowDue(flow, now()));
  };
  const alarm = makeAlarm(now, () => go(wakeFlow(flow, context, now())));
  go(flow);
  return {
    take: (event) => go(stepFlow(flow, event, now())),
    stop: alarm.stop,
  };
};
