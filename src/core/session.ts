import type { Event } from './event.js';
import type { NativeTrigger } from './ladder.js';
import { validReading } from './reading.js';
import type { Millis, Reading } from './reading.js';

/** What is known about the fill of the window. A number exists in one phase only, so a void one cannot be shown. */
export type Fill =
  | { readonly phase: 'waiting' } // no turn yet in this conversation
  | { readonly phase: 'known'; readonly reading: Reading }
  | { readonly phase: 'pending' } // the last number is void, the next is not here yet
  | { readonly phase: 'unreadable'; readonly reason: string };

/** The whole state of one wrap. */
export interface Session {
  readonly runtime: string;
  readonly native?: NativeTrigger;
  readonly userWindowTokens?: number;
  /** the agent's own id of the conversation */
  readonly sessionId?: string;
  /** of the whole wrap, kept over `/clear` and resume */
  readonly compactions: number;
  readonly fill: Fill;
  /** when the fill last changed */
  readonly at: Millis;
}

/** What a session is made of: the runtime's name and, where known, its own compaction point. */
export interface SessionStart {
  readonly runtime: string;
  readonly native?: NativeTrigger | undefined;
}

export const startSession = ({ runtime, native }: SessionStart, now: Millis): Session => ({
  runtime,
  ...(native ? { native } : {}),
  compactions: 0,
  fill: { phase: 'waiting' },
  at: now,
});

/** The state after an event. Pure: the same events at the same times give the same state. */
export const step = (state: Session, event: Event, now: Millis): Session => {
  switch (event.type) {
    case 'reading': {
      const reading = validReading(event.reading);
      return reading ? { ...state, fill: { phase: 'known', reading }, at: now } : state;
    }
    case 'boundary':
      return { ...state, compactions: state.compactions + 1, fill: { phase: 'pending' }, at: now };
    case 'voided':
      return { ...state, fill: { phase: 'pending' }, at: now };
    case 'session-changed':
      if (state.sessionId === event.sessionId) return state;
      return { ...state, sessionId: event.sessionId, fill: { phase: 'waiting' }, at: now };
    case 'source-problem':
      return { ...state, fill: { phase: 'unreadable', reason: event.reason }, at: now };
    case 'user-window':
      return event.windowTokens > 0 ? { ...state, userWindowTokens: event.windowTokens } : state;
    default:
      return state;
  }
};
