import { setTimeout as pass } from 'node:timers/promises';
import { REQUEST_EXPIRED, REQUEST_MS } from '../core/compaction/machine.js';
import { findHold } from '../core/compaction/policy.js';
import { SESSION_ENDED } from '../core/compaction/requests.js';
import type { Compaction } from '../core/compaction/state.js';
import { holdText } from '../core/compaction/texts.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { shownId } from '../core/shown-conversation.js';
import type { RestartPlan, WrapSession } from '../session/options.js';
import type { SessionSource } from '../session-files/read-history.js';
import type { ShortenObstacle } from '../session-files/shorten.js';
import type { ScreenModel } from '../terminal/screen-model.js';
import type { Publisher, SessionLoop } from '../session/ports.js';
import type { TypeRequest, TypistPort } from './typing-steps.js';
import { leftoverNotice, retractLate, typeCommand, typedText } from './typist.js';

// The one way of whatever ctxwrap types into the agent, or asks of it, for the user: it waits for a safe moment, acts, confirms the effect,
// and tells the outcome.

/** What came of it, where it is not known to be done. */
export type NotDone =
  /** nothing was typed, or it was taken back: the agent is as before */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** what would be the same at any other moment */
      readonly why?: ShortenObstacle | undefined;
    }
  /** it may have been sent, and its effect is not known; `byHand` is what the user can type instead */
  | { readonly kind: 'unknown'; readonly reason: string; readonly byHand?: string };

export const refused = (reason: string) => ({ kind: 'refused', reason }) as const;
export const unknown = (reason: string) => ({ kind: 'unknown', reason }) as const;

/** Told around the typing, which cannot be withdrawn. */
export interface TypingGate {
  /** before the first key, from which on the agent may have what is typed; resolves with why nothing may be typed any more */
  readonly begin: () => Promise<string | undefined>;
  /** nothing was typed: the moment had passed, and another one is waited for */
  readonly rest: () => void;
}

/** What whoever asks for an action brings along. */
export interface ActionWait {
  /** aborting withdraws it */
  readonly signal: AbortSignal;
  /** called with what it waits for, as often as that changes: `waiting: a dialog is open` */
  readonly onHold?: ((words: string) => void) | undefined;
  readonly gate?: TypingGate | undefined;
  /** it is how an attempt to compact is carried out, and does not wait for the end of that */
  readonly isForAttempt?: boolean | undefined;
}

/** When it may be typed, besides the rules for everything. */
export interface MomentRules {
  /** text in the prompt is not in the way */
  readonly allowsDraft?: boolean | undefined;
  /** why it must not be typed any more; asked all the time, and at the moment itself */
  readonly refusal?: (() => string | undefined) | undefined;
}

/** What every action has at hand. */
export interface ActionContext {
  readonly session: WrapSession;
  /** the agent's process */
  readonly childPid: number;
  readonly screen: Pick<ScreenModel, 'takesPastes' | 'snapshot'>;
  /** aborted when the child has ended */
  readonly ended: AbortSignal;
  readonly port: TypistPort;
  readonly flow: SessionLoop['flow'];
  readonly take: (event: Event) => void;
  /** other programs */
  readonly publisher: Publisher | undefined;
  /** the agent's session file, once it is known */
  readonly sessionFile: () => string | undefined;
  /** the agent's session; undefined while it is not known. Rejects where it cannot be read */
  readonly source: () => Promise<SessionSource | undefined>;
  /** ctxwrap sends Enter behind a command for which the agent goes on in another session, at this time (wall clock) */
  readonly onEntered: (at: Millis) => void;
  /** tells the main thread what to start when the child ends; undefined: nothing */
  readonly onRestart: (plan: RestartPlan | undefined) => void;
}

type Ports = Pick<ActionContext, 'flow' | 'port'>;

/** The reason where the user wants it no more. */
export const WITHDRAWN = 'withdrawn';

const LOOK_MS = 200; // between two looks at the session
const RESTED_MS = 500; // of a screen that is drawn anew
const ONCE_MORE = { ms: 0, most: 20 }; // attempts that ended before the first key

/** Resolves when a key may be typed, with what ends the turn; or with the reason why none will be. */
export const safeMoment = async (
  { flow, port }: Ports,
  { signal, refusal, onHold, gate, ...rules }: ActionWait & MomentRules,
  until: Millis = performance.now() + REQUEST_MS,
): Promise<{ readonly endTurn: () => void } | { readonly reason: string }> => {
  let lastWords: string | undefined;
  gate?.rest();
  while (!signal.aborted) {
    const reason = refusal?.();
    if (reason !== undefined) return { reason };
    const hold = holdIn(flow(), rules);
    const endTurn = hold === undefined ? port.takeTurn() : undefined;
    if (endTurn) {
      const closed = (await gate?.begin()) ?? (signal.aborted ? withdrawnReason(signal) : refusal?.());
      if (closed === undefined) return { endTurn };
      endTurn();
      return { reason: closed };
    }
    if (performance.now() > until) return { reason: REQUEST_EXPIRED };
    if (hold?.isLasting && hold.words !== lastWords) onHold?.(hold.words);
    lastWords = hold?.words ?? lastWords;
    await pause(LOOK_MS, signal);
  }
  return { reason: withdrawnReason(signal) };
};

/** The child ends with SESSION_ENDED as the reason of its signal. */
const withdrawnReason = ({ reason }: AbortSignal): string =>
  reason === SESSION_ENDED ? SESSION_ENDED : WITHDRAWN;

const pause = (ms: Millis, signal: AbortSignal): Promise<void> =>
  pass(ms, undefined, { ref: false, signal }).catch(() => undefined);

interface Hold {
  readonly words: string;
  /** more than time is missing */
  readonly isLasting: boolean;
}

const holdIn = (
  { session, compaction, now }: ReturnType<SessionLoop['flow']>,
  { isForAttempt = false, allowsDraft = false }: Pick<ActionWait, 'isForAttempt'> & MomentRules,
): Hold | undefined => {
  if (isCompacting(compaction, isForAttempt))
    return { words: holdText({ why: 'compacting' }, compaction), isLasting: true };
  const { activity, activitySince, place } = session;
  const hold = findHold({ activity, activitySince, place, keyAt: compaction.keyAt, allowsDraft }, now);
  return hold && { words: holdText(hold, compaction), isLasting: hold.until === undefined };
};

/** One that has worked, and waits only for the number that confirms it, is in nobody's way. */
const isCompacting = ({ phase }: Compaction, isForAttempt: boolean): boolean => {
  if (phase.kind === 'typing') return !isForAttempt;
  return (phase.kind === 'sent' || phase.kind === 'foreign') && phase.shortenedAt === undefined;
};

/** Says why, once the agent has gone on to another conversation than it has now. */
const watchConversation = (flow: SessionLoop['flow']): (() => string | undefined) => {
  const id = (): string | undefined => shownId(flow().session.conversation);
  const before = id();
  return () => (before === undefined || id() === before ? undefined : 'the agent is in another conversation');
};

/** What is done at a safe moment. */
export interface Action<Done> extends MomentRules {
  /** undefined: the moment had passed before anything was typed */
  readonly act: () => Promise<Done | NotDone | undefined>;
  /** keeps the outcome in the audit log; undefined: nothing was typed */
  readonly audit?: ((result: Done | NotDone | undefined) => void) | undefined;
  /** after a moment that had passed */
  readonly again?: { readonly ms: Millis; readonly most: number };
}

/** Acts at a safe moment, as long as the agent is in the same conversation. */
export const actWhenSafe = async <Done>(
  { flow, port, publisher }: Ports & { readonly publisher?: Pick<Publisher, 'beginAction'> | undefined },
  { act, audit, allowsDraft, refusal = watchConversation(flow), again = ONCE_MORE }: Action<Done>,
  wait: ActionWait,
): Promise<Done | NotDone> => {
  const given = { ...wait, allowsDraft, refusal };
  const until = performance.now() + REQUEST_MS;
  for (let skips = 0; skips < again.most; skips += 1) {
    const moment = await safeMoment({ flow, port }, given, until);
    if ('reason' in moment) return refused(moment.reason);
    publisher?.beginAction(flow().session);
    const result = await act()
      .finally(moment.endTurn)
      .catch((error: unknown) => {
        audit?.(unknown(errorText(error))); // keys may have been typed
        throw error;
      });
    audit?.(result);
    if (result) return result;
    if (again.ms > 0) await pause(again.ms, wait.signal);
  }
  return refused('no safe moment was found');
};

/** Lets one at a time pass until the child ends, and never rejects: what fails may have been sent. `taken` is said to others. */
export const makeLane = (ended: AbortSignal, taken: string) => {
  let isTaken = false;
  return async <Done>(
    given: ActionWait,
    body: (wait: ActionWait) => Promise<Done | NotDone>,
  ): Promise<Done | NotDone> => {
    if (isTaken) return refused(taken);
    isTaken = true;
    try {
      return await body({ ...given, signal: AbortSignal.any([given.signal, ended]) });
    } catch (error) {
      return unknown(errorText(error));
    } finally {
      isTaken = false;
    }
  };
};

interface Commanded<Done> {
  readonly request: TypeRequest;
  /** waits for the effect; undefined: it is not to be seen, for this `reason` */
  readonly confirm: () => Promise<Done | undefined>;
  readonly reason: string;
}

/** Types a command and confirms its effect; without one it is removed from the prompt. Undefined: the moment had passed. */
export const typeAndConfirm = async <Done>(
  { session: { log }, take }: Pick<ActionContext, 'session' | 'take'>,
  { request, confirm, reason }: Commanded<Done>,
): Promise<Done | NotDone | undefined> => {
  const typedBefore = request.port.typedCount();
  const result = await typeCommand(request);
  log.info(typedText(request.recipe.command, result));
  if (result.kind === 'skipped') return undefined;
  // a command that may still stand in the prompt may still be sent, by the user's own Enter
  if (result.kind === 'withdrawn') return (result.isLeft ? unknown : refused)(result.reason);
  const done = await confirm();
  if (done !== undefined) return done;
  await clearPrompt(request, { typedBefore, wasSent: true }, take);
  return unknown(request.signal.aborted ? SESSION_ENDED : reason);
};

const LEFT_PRIORITY = 200;

/** Removes a command without effect from the prompt, because the user's next text would be appended to it. */
export const clearPrompt = async (
  request: TypeRequest,
  late: Parameters<typeof retractLate>[1],
  take: (event: Event) => void,
): Promise<void> => {
  await retractLate(request, late);
  const left = request.signal.aborted ? undefined : leftoverNotice(request, late.typedBefore);
  if (left !== undefined) take({ type: 'notice', text: left, priority: LEFT_PRIORITY });
};

/** Resolves with whether the agent comes to rest within this time, in what is wanted. */
export const comesToRest = async (
  flow: SessionLoop['flow'],
  isThere: () => boolean | Promise<boolean>,
  { withinMs, signal }: { readonly withinMs: Millis; readonly signal: AbortSignal },
): Promise<boolean> => {
  const until = performance.now() + withinMs;
  while (!signal.aborted && performance.now() < until) {
    await pause(LOOK_MS, signal);
    const { session, now } = flow();
    const { activity, activitySince } = session;
    // the user may have begun to type
    const isAtRest = activity === 'draft' || (activity === 'ready' && now - activitySince >= RESTED_MS);
    if ((await isThere()) && isAtRest) return true;
  }
  return false;
};

/** One line for the footer about what was not done, or perhaps not. */
export const notDoneText = (
  result: NotDone,
  { failed, unsure }: { readonly failed: string; readonly unsure: string },
): string => {
  if (result.kind === 'refused') return `${failed}: ${result.reason}`;
  const { byHand, reason } = result;
  return byHand === undefined ? `${unsure}: ${reason}` : `${unsure} · by hand: ${byHand}`;
};
