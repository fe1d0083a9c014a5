import type { Notification } from './notifications.js';
import { readingRecord } from './reading-record.js';
import type { ReadingRecord } from './reading-record.js';
import type { Millis } from './reading.js';
import type { Session } from './session-state.js';

/** A notification as other programs get it. */
export interface NotificationRecord extends Notification {
  readonly schema: 'ctxwrap.notification/1';
  readonly at: Millis;
  readonly runtime: string;
  /** of the wrapper, as in CTXWRAP_SESSION */
  readonly session?: string;
  /** the agent's own id of the conversation */
  readonly agentSessionId?: string;
  readonly cwd: string;
  readonly activity: Session['activity'];
  /** in a dialog, what the agent asks, where it says so */
  readonly asks?: string;
  readonly reading?: ReadingRecord;
}

/** Where a notification comes from. */
export interface NotificationOrigin {
  readonly session?: string | undefined;
  readonly cwd: string;
}

export const notificationRecord = (
  { kind, text }: Notification,
  state: Session,
  { session, cwd }: NotificationOrigin,
  at: Millis,
): NotificationRecord => ({
  schema: 'ctxwrap.notification/1',
  at,
  kind,
  text,
  runtime: state.runtime,
  ...(session === undefined ? {} : { session }),
  ...(state.sessionId === undefined ? {} : { agentSessionId: state.sessionId }),
  cwd,
  activity: state.activity,
  ...(state.asks === undefined ? {} : { asks: state.asks }),
  ...readingOf(state, at),
});

const readingOf = (state: Session, at: Millis): Pick<NotificationRecord, 'reading'> => {
  const reading = readingRecord(state, at);
  return reading ? { reading } : {};
};
