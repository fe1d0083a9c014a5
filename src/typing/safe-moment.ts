import { setTimeout as pass } from 'node:timers/promises';
import { shownId } from '../core/shown-conversation.js';
import { REQUEST_EXPIRED } from '../core/compaction/machine.js';
import { findHold } from '../core/compaction/policy.js';
import { holdText } from '../core/compaction/texts.js';
import type { Millis } from '../core/reading.js';
import type { TypistPort } from './typing-steps.js';
import type { SessionLoop } from '../session/ports.js';

// Waits for the gate through which the compact command goes, too, for whatever else the user has ctxwrap type.

export interface MomentPorts {
  readonly flow: SessionLoop['flow'];
  readonly port: Pick<TypistPort, 'takeTurn'>;
}

/** Told around the typing, which cannot be withdrawn. */
export interface TypingGate {
  /** before the first key, from which on the agent may have what is typed; resolves with why nothing may be typed any more */
  readonly begin: () => Promise<string | undefined>;
  /** nothing was typed: the moment had passed, and another one is waited for */
  readonly rest: () => void;
}

export interface MomentWait {
  /** by `performance.now()` */
  readonly until: Millis;
  /** aborting withdraws it */
  readonly signal: AbortSignal;
  /** it is how an attempt to compact is carried out, and does not wait for the end of that */
  readonly isForAttempt?: boolean | undefined;
  /** text in the prompt is not in the way */
  readonly allowsDraft?: boolean | undefined;
  /** why it must not be typed any more; asked all the time, and at the moment itself */
  readonly refusal?: (() => string | undefined) | undefined;
  /** called with what it waits for, as often as that changes: `waiting: a dialog is open` */
  readonly onHold?: ((words: string) => void) | undefined;
  readonly gate?: TypingGate | undefined;
}

/** The reason where the user wants it no more. */
export const WITHDRAWN = 'withdrawn';

/** Between two looks at the session, while something is waited for. */
export const LOOK_MS = 200;

/** Resolves when a key may be typed, with what ends the turn; or with the reason why none will be. */
export const safeMoment = async (
  { flow, port }: MomentPorts,
  { until, signal, refusal, onHold, gate, ...rules }: MomentWait,
): Promise<{ readonly endTurn: () => void } | { readonly reason: string }> => {
  let told: string | undefined;
  gate?.rest();
  while (!signal.aborted) {
    const refused = refusal?.();
    if (refused !== undefined) return { reason: refused };
    const hold = holdIn(flow(), rules);
    const endTurn = hold === undefined ? port.takeTurn() : undefined;
    if (endTurn) {
      const closed = (await gate?.begin()) ?? (signal.aborted ? WITHDRAWN : refusal?.());
      if (closed === undefined) return { endTurn };
      endTurn();
      return { reason: closed };
    }
    if (performance.now() > until) return { reason: REQUEST_EXPIRED };
    if (hold?.isLasting && hold.words !== told) onHold?.(hold.words);
    told = hold?.words ?? told;
    await pass(LOOK_MS, undefined, { ref: false, signal }).catch(() => undefined);
  }
  return { reason: WITHDRAWN };
};

interface Hold {
  readonly words: string;
  /** more than time is missing */
  readonly isLasting: boolean;
}

const holdIn = (
  { session, compaction, now }: ReturnType<SessionLoop['flow']>,
  { isForAttempt = false, allowsDraft = false }: Pick<MomentWait, 'isForAttempt' | 'allowsDraft'>,
): Hold | undefined => {
  const { kind } = compaction.phase;
  if ((kind === 'typing' && !isForAttempt) || kind === 'sent' || kind === 'foreign')
    return { words: holdText({ why: 'compacting' }, compaction), isLasting: true };
  const { activity, activitySince, place } = session;
  const hold = findHold({ activity, activitySince, place, keyAt: compaction.keyAt, allowsDraft }, now);
  return hold && { words: holdText(hold, compaction), isLasting: hold.until === undefined };
};

/** Says why, once the agent has gone on to another conversation than it has now. */
export const watchConversation = (flow: MomentPorts['flow']): (() => string | undefined) => {
  const id = (): string | undefined => shownId(flow().session.conversation);
  const before = id();
  return () => {
    return before === undefined || id() === before ? undefined : 'the agent is in another conversation';
  };
};
