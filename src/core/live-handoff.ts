import { leavesConversation, type Event } from './event.js';
import { present } from './present.js';
import type { Millis } from './reading.js';
import { sessionLadder } from './report/report.js';
import type { Session } from './session.js';
import { shownId } from './shown-conversation.js';

// A handoff of the running session. With the preset `handoff` the footer prepares the user for it at warn, and at hard it is written, once
// each time the window gets there. The user can have one written at any time, by a key.

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
  /** what continues the work with it */
  readonly command: string;
  /** the conversation in which the window is at hard and one was written for that; '' for one without an id */
  readonly begun?: string | undefined;
  /** the last one that was written, until the window of its conversation is emptied */
  readonly written?: WrittenHandoff | undefined;
  /** one is to be written now; of the last step only */
  readonly isDue?: true;
}

/** After a step with this event. */
export const stepLiveHandoff = (before: LiveHandoff, event: Event, session: Session): LiveHandoff => {
  const { isDue: _, written: __, ...rest } = before;
  const next = { ...rest, ...present({ written: writtenAfter(before, event, session) }) };
  const conversation = shownId(session.conversation) ?? '';
  const tier = session.fused?.actingTier;
  if (tier !== undefined && tier !== 'hard') return { ...next, begun: undefined }; // the next rise is another one
  if (!isHandoffPreset(session) || tier !== 'hard' || next.begun === conversation) return next;
  return { ...next, begun: conversation, written: undefined, isDue: true };
};

const writtenAfter = (
  { written }: LiveHandoff,
  event: Event,
  { conversation, fileTells }: Session,
): WrittenHandoff | undefined => {
  if (event.type === 'handoff-ready') {
    const { handoff } = event;
    return handoff.conversation === shownId(conversation) ? handoff : written; // its writing has taken its time
  }
  const isSameId = event.type === 'session-changed' && event.sessionId === written?.conversation;
  const isSeenTwice = event.type === 'boundary' && event.boundary.source === 'screen' && fileTells;
  const isEmptied = event.type === 'voided' || (event.type === 'boundary' && !isSeenTwice);
  return isEmptied || (leavesConversation(event) && !isSameId) ? undefined : written;
};

/** What the footer says about it where it has nothing else to say; undefined where there is nothing to hand off yet. */
export const liveHandoffText = (
  { keys, command, written }: LiveHandoff,
  session: Session,
): string | undefined => {
  const tier = session.fused?.actingTier;
  if (!isHandoffPreset(session) || (tier !== 'warn' && tier !== 'hard')) return undefined;
  if (tier === 'hard' && written) return handoffReadyText(command);
  return `handoff soon: ${keys ?? 'ctxwrap handoff'}`;
};

/** `agent`, where it can be started with a handoff; any other one can, too. */
export const handoffCommand = (agent: string | undefined): string =>
  agent === undefined ? 'ctxwrap handoff' : `ctxwrap handoff --to ${agent}`;

/** `command` as `handoffCommand` has it. */
export const handoffReadyText = (command: string): string => `handoff ready: ${command}`;

const isHandoffPreset = (session: Session): boolean => sessionLadder(session).preset === 'handoff';
