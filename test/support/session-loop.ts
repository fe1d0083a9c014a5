// A session of Claude at rest, for what has something typed into it.
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { Event } from '../../src/core/event.js';
import type { Activity } from '../../src/core/reading.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { WrapSession } from '../../src/session/options.js';
import { makeSessionLoop } from '../../src/worker/session-loop.js';
import { inSession } from './sessions.js';
import type { SessionLoop } from '../../src/session/ports.js';

export interface RestingSession extends SessionLoop {
  readonly becomes: (activity: Activity) => Event;
}

/** In the conversation with this id, ready since now. */
export const openSessionLoop = (sessionId: string): RestingSession => {
  const session = { agent: agents.claude, env: {}, log: nullLog, values: defaultValues };
  const loop = makeSessionLoop(
    session as unknown as WrapSession,
    { mode: 'auto', command: '/compact', startMs: 5_000, finishMs: 120_000, isProactive: false },
    { onView: () => undefined },
  );
  const becomes = (activity: Activity): Event => {
    const event: Event = { type: 'activity', report: { activity, witnesses: [] } };
    loop.take(event);
    return event;
  };
  becomes('ready');
  loop.take(inSession(sessionId));
  return { ...loop, becomes };
};
