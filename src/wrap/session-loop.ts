import type { Event } from '../core/event.js';
import type { Session } from '../core/session.js';
import { footerView, type FooterView } from '../core/view.js';
import { makeAlarm } from './alarm.js';
import { flowDue, startFlow, stepFlow, wakeFlow, type SessionFlow } from './session-flow.js';
import type { WrapSession } from './wrap-session.js';

export interface LoopListener {
  /** only when it is another one */
  readonly onView: (view: FooterView) => void;
  /** after everything that has happened */
  readonly onState?: ((state: Session) => void) | undefined;
}

/** Runs one session: an event in, a view out, and one alarm for what only time brings. */
export interface SessionLoop {
  readonly take: (event: Event) => void;
  readonly stop: () => void;
}

export const makeSessionLoop = (session: WrapSession, { onView, onState }: LoopListener): SessionLoop => {
  const { log } = session;
  const now = Date.now;
  let flow = startFlow(session, now());
  let shown: string | undefined;

  const go = (next: SessionFlow): void => {
    flow = next;
    const { session: state } = flow;
    for (const line of state.logged) log.info(line);
    const view = footerView(state, now());
    const key = JSON.stringify(view);
    if (key !== shown) onView(view);
    shown = key;
    onState?.(state);
    alarm.set(flowDue(flow, now()));
  };
  const alarm = makeAlarm(now, () => go(wakeFlow(flow, session, now())));
  go(flow);
  return {
    take: (event) => go(stepFlow(flow, event, now())),
    stop: alarm.stop,
  };
};
