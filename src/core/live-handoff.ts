import type { Event } from './event.js';
import type { Millis } from './reading.js';
import { sessionLadder } from './report/report.js';
import type { Session } from './session.js';
import { shownId } from './shown-conversation.js';

// A handoff of the running session. With the preset `handoff` the footer prepares the user for it at warn, and at hard it is written, once for
// each conversation. The user can have one written at any time, by a key.

/** A handoff that was written. */
export interface WrittenHandoff {
  /** the Markdown file */
  readonly path: string;
  readonly at: Millis;
  /** the agent's id of the conversation, where it is known */
  readonly conversation?: string | undefined;
}

export interface LiveHandoff {
  /** the keys that write one: `Ctrl-] h`; undefined where there are none */
  readonly keys: string | undefined;
  /** the conversation in which one was last written by itself; '' for one without an id */
  readonly begun?: string;
  /** the last one that was written */
  readonly written?: WrittenHandoff;
  /** one is to be written now; of the last step only */
  readonly isDue?: true;
}

/** After a step with this event. */
export const stepLiveHandoff = (before: LiveHandoff, event: Event, session: Session): LiveHandoff => {
  const { isDue: _, ...rest } = before;
  const next = event.type === 'handoff-ready' ? { ...rest, written: event.handoff } : rest;
  const conversation = shownId(session.conversation) ?? '';
  const isWanted = isHandoffPreset(session) && session.fused?.actingTier === 'hard';
  if (!isWanted || next.begun === conversation) return next;
  return { ...next, begun: conversation, isDue: true };
};

/** What the footer says about it where it has nothing else to say; undefined where there is nothing to hand off yet. */
export const liveHandoffText = ({ keys, written }: LiveHandoff, session: Session): string | undefined => {
  const tier = session.fused?.actingTier;
  if (!isHandoffPreset(session) || (tier !== 'warn' && tier !== 'hard')) return undefined;
  if (tier === 'hard' && written && written.conversation === shownId(session.conversation))
    return handoffReadyText(session.agent);
  return `handoff soon: ${keys ?? 'ctxwrap handoff'}`;
};

/** `agent` can be started with it at once; any other one can, too. */
export const handoffReadyText = (agent: string): string => `handoff ready: ctxwrap handoff --to ${agent}`;

const isHandoffPreset = (session: Session): boolean => sessionLadder(session).preset === 'handoff';
