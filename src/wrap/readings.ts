import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { deadline, startSession, step } from '../core/session.js';
import type { Session } from '../core/session.js';
import { footerView, type FooterView } from '../core/view.js';
import { makeAlarm } from './alarm.js';
import { followSession, type Following } from './follow-session.js';
import { followOfficial } from './official.js';
import type { WrapSession } from './wrap-session.js';

export interface ReadingsListener {
  readonly onView: (view: FooterView) => void;
  /** after everything that has happened */
  readonly onState?: ((state: Session) => void) | undefined;
  /** the agent's session file is another one */
  readonly onFile?: ((path: string | undefined) => void) | undefined;
  /** when the user pressed Enter last; undefined while never */
  readonly enteredAt: () => Millis | undefined;
}

/** Follows what the agent records of itself and shows each new view of it. */
export const followReadings = (
  session: WrapSession,
  childPid: number,
  { onView, onState, onFile, enteredAt }: ReadingsListener,
): Following => {
  const { runtime, env, cwd, log, ladder } = session;
  const now = Date.now;
  let state = startSession({ runtime: runtime.name, native: runtime.nativeTrigger(env), ladder }, now());
  const take = (event: Event): void => {
    state = step(state, event, now());
    for (const line of state.logged) log.info(line);
    onView(footerView(state, now()));
    onState?.(state);
    alarm.set(deadline(state));
  };
  const alarm = makeAlarm(now, () => take({ type: 'alarm' }));
  if (session.window !== undefined) take({ type: 'user-window', windowTokens: session.window });
  // a command we know nothing about has no file that could be read
  if (!runtime.log) take({ type: 'source-problem', reason: `${runtime.name} has no session file` });
  onView(footerView(state, now()));
  const official = followOfficial(session, { onFact: take, now });
  const following = followSession({
    runtime,
    childPid,
    cwd,
    home: env['HOME'] ?? cwd,
    env,
    startedAt: now(),
    now,
    enteredAt,
    onFile: (path) => onFile?.(path),
    onFact: (event) => {
      if (event.type === 'session-changed') log.info(`the agent's session is ${event.sessionId}`);
      if (event.type === 'boundary') log.info('the agent has compacted');
      take(event);
      if (event.type === 'session-changed') official.goTo(event.sessionId);
    },
    onProblem: (reason) => {
      log.warn(reason);
      take({ type: 'source-problem', reason });
    },
  });
  return {
    stop: () => {
      following.stop();
      official.stop();
      alarm.stop();
    },
  };
};
