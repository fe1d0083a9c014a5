import type { Work } from '../conversation/work-progress.js';
import type { PromptCache } from '../economy.js';
import type { Contest, FusedReading } from '../fusion.js';
import type { Tier } from '../ladder.js';
import type { Millis, Activity, Place } from '../reading.js';
import type { Shortening } from '../event.js';
import type { AnswerSize } from '../evidence.js';
import type { Session } from '../session.js';
import type { Copy } from './copy.js';
import type { FoundFocus } from './focus.js';
import { type EndedCompaction, type Fill, fillOf, type Via } from './outcome.js';
import {
  endEpisode,
  startConversation,
  type GateHold,
  noPolicy,
  type BlockReason,
  type Policy,
  type InvisibleReason,
} from './policy.js';
import { present } from '../present.js';

// The state of compaction: what is under way, what was tried, and what the user wants.

/** `auto` types, `ask` proposes, `warn` shows; with `off` the core gets no events. */
export type Mode = 'auto' | 'ask' | 'warn' | 'off';

const order: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

/** True if `mode` does less than `than`. */
export const isLowerMode = (mode: Mode, than: Mode): boolean => order.indexOf(mode) > order.indexOf(than);

/** An interface of the agent's own that takes the request to compact, so that nothing is typed. */
export interface ControlChannel {
  /** what it is, in the audit log */
  readonly via: Via;
  /** for the user: `opencode's server` */
  readonly name: string;
  /** it needs the id of the conversation, so one must be known */
  readonly needsSession?: true;
}

/** Settings that stay the same during a session. */
export interface CompactSettings {
  readonly mode: Mode;
  /** the agent's compact command, if it has one; without it nothing is typed */
  readonly command?: string;
  /** how long the agent may take to start and to finish, in milliseconds */
  readonly startMs: number;
  readonly finishMs: number;
  /** text that the agent is asked to keep, if its command takes one, or `FROM_CONVERSATION` */
  readonly focus?: string;
  readonly mayStash?: boolean;
  readonly mayQueue?: boolean;
  /** at hard the user's Enter is held back once, with a question */
  readonly holdsEnter?: true;
  /** the draft is stashed where the user asks for a compaction by the hotkey */
  readonly stashesAsked?: true;
  /** text that was added after a reading at warn counts as well, so that the window can reach auto */
  readonly isProactive: boolean;
  /** a resting agent is compacted before its prompt cache goes cold */
  readonly mayCompactIdle?: boolean;
  /** the user has chosen `auto` explicitly: without a footer the countdown need not be visible */
  readonly mayTypeUnseen?: boolean;
  /** the session file is copied before a command is typed */
  readonly keepsCopy?: boolean;
  /** how much all copies together may take on the disk */
  readonly copyLimitBytes?: number;
  /** the conversation is shortened by this strategy in place of the agent's command */
  readonly strategy?: string;
  /** the user wants the agent to be asked by its control channel, and it has one */
  readonly channel?: ControlChannel;
  /** length of the countdown; 10 s when absent */
  readonly countdownMs?: number;
  /** the name of the key that says "not now" to it; `Esc` when absent */
  readonly notNow?: string;
}

/** A request to compact now. */
export interface CompactRequest {
  readonly id: string;
  readonly focus?: string;
  /** pauses and the breaker do not count */
  readonly force: boolean;
  /** by the hotkey, which withdraws the request when pressed again */
  readonly isByKey?: boolean;
}

/** A request that waits for a safe moment. */
export interface OpenRequest extends CompactRequest {
  readonly since: Millis;
}

/** A running attempt. */
export interface Attempt {
  readonly startedAt: Millis;
  readonly isHard: boolean;
  /** nobody requested it, and the number alone would not have started it */
  readonly isProactive: boolean;
  /** the window is not full: the prompt cache is about to go cold */
  readonly isIdle?: true;
  readonly request?: CompactRequest | undefined;
  /** the agent is asked by its control channel; absent where the command is typed */
  readonly via?: Via | undefined;
  /** what shortens the conversation in place of the agent's command */
  readonly strategy?: string | undefined;
  readonly before?: Fill | undefined;
  readonly evidence: readonly string[];
  /** why the session file was not copied before, although it should have been */
  readonly noCopy?: string | undefined;
}

/** An attempt that ended by its time limit. The agent may still report success. */
export interface TimedOutAttempt {
  readonly attempt: Attempt;
  /** when the command was sent */
  readonly sentAt: Millis;
}

/** What the screen has shown of a compaction under way; of a shortening, of the turns after it. */
export interface Observed {
  /** when it was observed to start, or the agent became busy */
  readonly begunAt?: Millis | undefined;
  /** since when it is no longer on the screen, without a report of how it ended */
  readonly goneAt?: Millis | undefined;
  /** since when the screen does not show whether a turn runs, while only its answer can confirm a shortening */
  readonly unseenAt?: Millis | undefined;
  /** an answer is overdue: time alone no longer ends the wait */
  readonly isOverdue?: boolean | undefined;
}

export type Phase =
  /** nothing to do */
  | { readonly kind: 'rest' }
  /** the window looks full, but the number is too uncertain to start a compaction */
  | { readonly kind: 'doubted'; readonly doubt: Uncertainty }
  /** a compaction is due, but a key could do harm now */
  | { readonly kind: 'held'; readonly hold: GateHold; /** for this reason */ readonly since: Millis }
  /** a compaction is due, but the attempts are used up or paused */
  | { readonly kind: 'blocked'; readonly block: BlockReason }
  /** a compaction is due, but the user has to confirm it */
  | { readonly kind: 'proposed' }
  | { readonly kind: 'countdown'; readonly until: Millis }
  /** the compact command is being typed */
  | {
      readonly kind: 'typing';
      readonly attempt: Attempt;
      /** why it is taken back, unless Enter was sent before */
      readonly withdrawal?: string;
      /** the agent is told to end and starts again with the shorter conversation: its next run tells what came of it */
      readonly isRestart?: boolean;
    }
  /** the command was sent */
  | (Observed & {
      readonly kind: 'sent';
      readonly attempt: Attempt;
      readonly at: Millis;
      /** the command is in the agent's queue, behind the running turn */
      readonly isQueued: boolean;
      /** since when a start is overdue, while the prompt is empty as after an accepted command, or no command was typed */
      readonly slowAt?: Millis;
      /** the compaction itself was on the screen, so that its absence means something */
      readonly isSeen?: true;
      /** the agent's own report that it worked */
      readonly success?: string | undefined;
      /** when the last number before the compaction arrived; only a newer number can confirm it */
      readonly numberSince?: Millis | undefined;
      /** when ctxwrap had shortened the conversation (wall clock); only a later answer of the agent can confirm it */
      readonly shortenedAt?: Millis | undefined;
      /** the agent's id of the conversation that was shortened */
      readonly shortenedFrom?: string | undefined;
      /** the agent does not show yet that it goes on in this session */
      readonly pendingSession?: PendingSession | undefined;
    })
  /** an external compaction */
  | (Observed & {
      readonly kind: 'foreign';
      readonly since: Millis;
      readonly before?: Fill | undefined;
      /** as in `sent` */
      readonly success?: string | undefined;
      readonly numberSince?: Millis | undefined;
      readonly shortenedAt?: Millis | undefined;
      readonly shortening?: Shortening | undefined;
    });

/** With another strategy from now on; `auto` is the agent's own command. */
export const withStrategy = (state: Compaction, strategy: string): Compaction => {
  const { strategy: _, ...settings } = state.settings;
  return { ...state, settings: strategy === 'auto' ? settings : { ...settings, strategy } };
};

/** A session that a strategy has written and that the agent was told to go on in, without showing that it does. */
export interface PendingSession {
  readonly id: string;
  /** time of the records in it (wall clock) */
  readonly writtenAt: Millis;
  /** another conversation is in view, and its id is not known yet */
  readonly isUnsure?: boolean;
}

export interface Compaction {
  readonly settings: CompactSettings;
  readonly mode: Mode;
  readonly isProactive: boolean;
  /** the current need to compact is based on text that arrived after the last number */
  readonly isByText?: boolean | undefined;
  /** when a compaction of the resting agent is due, if it is */
  readonly idle?: { readonly from: Millis; readonly until: Millis } | undefined;
  /** how many turns the user had begun when one was tried last */
  readonly idleTurn?: number | undefined;
  /** the need to compact is the end of the prompt cache, not a full window */
  readonly isByIdle?: boolean | undefined;
  /** the agent's control channel does not answer: the command is typed */
  readonly isChannelClosed?: true;
  /** why a countdown would not be visible now; undefined if it would */
  readonly unseen?: InvisibleReason | undefined;
  readonly phase: Phase;
  readonly policy: Policy;
  /** since auto was reached; ends with a successful compaction, a clearly emptier window, or another conversation */
  readonly episodeSince?: Millis | undefined;
  /** how full the window was at that time */
  readonly episodeFill?: Fill | undefined;
  readonly request?: OpenRequest | undefined;
  /** when the user said "not now": until the next turn only a request of the user starts a compaction */
  readonly postponedAt?: Millis | undefined;
  /** what was left of a countdown when the user began to type */
  readonly countdownLeftMs?: number | undefined;
  /** the copy of the session file before the next command */
  readonly copy?: Copy | undefined;
  /** how many copies were asked for */
  readonly copies: number;
  /** what the agent is asked to keep, from the conversation */
  readonly found?: FoundFocus | undefined;
  /** how often the focus was asked for */
  readonly foundAsked: number;
  /** time of the user's last key */
  readonly keyAt?: Millis;
  /** the agent's id of it */
  readonly conversation?: string | undefined;
  /** the last activity other than `unknown` */
  readonly activity?: Activity;
  /** what the agent asks in the open dialog */
  readonly asks?: string | undefined;
  /** the agent has finished a turn since the last attempt */
  readonly hasNews: boolean;
  /** the number after the last attempt; a different number is news as well */
  readonly tried?: Fill | undefined;
  /** attempts in a row that ended before the first key, and when the last of them started */
  readonly skips?: { readonly times: number; readonly from: Millis } | undefined;
  readonly last?: EndedCompaction;
  readonly givenUp?: TimedOutAttempt | undefined;
  /** when the last attempt by a strategy had begun whose outcome is reported: the agent may still take its session */
  readonly recordedAt?: Millis | undefined;
  /** name and version for the user, once known: `codex 0.154.0` */
  readonly agent?: string;
  /** time of the last step; long ago if the machine or the program was stopped */
  readonly lookedAt?: Millis;
  /** what the wrapper has to do now; of the last step only */
  readonly effects: readonly Effect[];
}

/** What the wrapper does on behalf of the core. */
export type Effect =
  | {
      readonly type: 'type-compact';
      readonly focus?: string | undefined;
      /** focus text from the conversation: no record of ctxwrap contains it */
      readonly found?: string | undefined;
      readonly isQueued: boolean;
      /** a draft in the prompt is stashed before */
      readonly stashes?: boolean;
      /** in place of the command */
      readonly strategy?: string | undefined;
      /** in place of keys */
      readonly channel?: ControlChannel | undefined;
    }
  /** takes back what is being typed, unless Enter was sent before; the event `typed` reports the result */
  | { readonly type: 'withdraw'; readonly reason: string }
  /** copies the session file; the event `copied` with the same id reports the result */
  | { readonly type: 'copy'; readonly id: number }
  /** reads from the conversation what must be kept; the event `focus-found` with the same id reports it */
  | { readonly type: 'find-focus'; readonly id: number }
  /** for the audit log and for the process that requested it */
  | { readonly type: 'ended'; readonly ended: EndedCompaction; readonly requestId?: string | undefined }
  /** the agent has ended to be started again with the shorter conversation, which a request has asked for */
  | { readonly type: 'restarting'; readonly requestId: string; readonly strategy?: string | undefined }
  /** a request that was refused without an attempt */
  | {
      readonly type: 'refused';
      readonly requestId: string;
      readonly reason: string;
      readonly isByKey?: boolean | undefined;
    };

/** The result of typing the command. */
export type TypeResult = { readonly evidence: readonly string[] } & (
  | {
      readonly kind: 'sent';
      readonly isQueued: boolean;
      readonly pendingSession?: PendingSession | undefined;
    }
  /** the typed text was not submitted, and was removed from the prompt; `isLeft`: the screen does not show that it is gone */
  | { readonly kind: 'withdrawn'; readonly reason: string; readonly isLeft?: boolean }
  /** no key was typed; `isStrategyLost`: the strategy cannot be used, and the agent's own command takes its place */
  | { readonly kind: 'skipped'; readonly reason: string; readonly isStrategyLost?: true }
  /** a strategy has found nothing to remove */
  | { readonly kind: 'nothing'; readonly reason: string }
);

/** The part of the session's state that compaction depends on. */
export interface SessionContext {
  readonly now: Millis;
  readonly activity: Activity;
  readonly activitySince: Millis;
  readonly place?: Place | undefined;
  /** of a number that may start a compaction; undefined if there is none */
  readonly tier: Tier | undefined;
  /** as counted by the agent; undefined for an estimate, or for a screen's number if a file gives numbers */
  readonly fill: Fill | undefined;
  /** when the number arrived */
  readonly fillSince: Millis | undefined;
  /** the number of the agent's last answer in its session file, and when the agent wrote it (wall clock) */
  readonly answer?: AnswerSize | undefined;
  /** at warn by the counted number, and at auto or above with the text added since */
  readonly isNearAuto: boolean;
  /** turns that the user has begun */
  readonly turns?: number;
  /** of the conversation, if known */
  readonly cache?: PromptCache | undefined;
  /** where the agent is in its work, if its records tell */
  readonly work?: Work | undefined;
  /** the number and its window are certain enough to start a compaction */
  readonly isCertain?: boolean;
  /** why a window that is displayed as full starts nothing */
  readonly doubt: Uncertainty | undefined;
  /** a session file reports compactions, so the screen is not needed for that */
  readonly fileTells: boolean;
}

export const startCompaction = (settings: CompactSettings, agent?: string): Compaction => ({
  settings,
  ...present({ agent }),
  mode: settings.mode,
  isProactive: settings.isProactive,
  phase: { kind: 'rest' },
  policy: noPolicy,
  hasNews: true,
  copies: 0,
  foundAsked: 0,
  effects: [],
});

/** A draft may be stashed: always, or because the user asks by the hotkey. */
export const mayStashNow = ({ settings, request }: Compaction): boolean =>
  settings.mayStash === true || (settings.stashesAsked === true && request?.isByKey === true);

export const enterPhase = (state: Compaction, phase: Phase): Compaction => ({ ...state, phase });

/**
 * Withdraws an attempt whose reason is gone: a countdown starts again if one is due, and the typed text is removed, which is no failure. A
 * request of the user stays open. After Enter nothing can be withdrawn.
 */
export const withdrawAttempt = (state: Compaction, reason: string): Compaction => {
  const { phase, effects } = state;
  switch (phase.kind) {
    case 'sent':
    case 'foreign':
      return state;
    case 'typing':
      if (phase.withdrawal !== undefined) return state;
      return {
        ...enterPhase(state, { ...phase, withdrawal: reason }),
        effects: [...effects, { type: 'withdraw', reason }],
      };
    default:
      return { ...enterPhase(state, { kind: 'rest' }), countdownLeftMs: undefined };
  }
};

/** Nothing is due any more. */
export const withoutEpisode = (state: Compaction): Compaction => ({
  ...state,
  episodeSince: undefined,
  episodeFill: undefined,
  givenUp: undefined,
  postponedAt: undefined,
  countdownLeftMs: undefined,
});

/**
 * True if this may be the conversation in which a strategy has told the agent to go on, without an answer so far: by its id, or while that is
 * not known (undefined).
 */
export const mayBeOurs = ({ phase }: Compaction, conversation: string | undefined): boolean =>
  phase.kind === 'sent' &&
  phase.pendingSession !== undefined &&
  (conversation ?? phase.pendingSession.id) === phase.pendingSession.id;

/** In another conversation, by its id; undefined while none is known. A strategy that has it replaced goes on. */
export const inConversation = (state: Compaction, conversation: string | undefined): Compaction => ({
  ...withoutEpisode(
    state.phase.kind === 'typing' || mayBeOurs(state, conversation)
      ? state
      : enterPhase(state, { kind: 'rest' }),
  ),
  tried: undefined,
  idleTurn: undefined,
  conversation,
  policy: startConversation(state.policy),
  hasNews: true,
});

/** The conversation may have left the screen: the result of its last compaction says nothing about the next conversation. */
export const outOfView = (state: Compaction): Compaction => {
  const { last: _, ...rest } = inConversation(state, undefined);
  return rest;
};

/** After a change of the model. The user may have chosen it for its larger window, so nothing is due any more. */
export const underAnotherModel = (state: Compaction): Compaction => ({
  ...withdrawAttempt(state, 'the model has changed'),
  episodeSince: undefined,
  episodeFill: undefined,
  policy: endEpisode(state.policy),
  hasNews: true,
  tried: undefined,
  skips: undefined,
});

/** Extracts what compaction depends on. Only a number that the agent has counted, in a certain window, may start a compaction. */
export const sessionContext = (session: Session, now: Millis): SessionContext => {
  const { fused, activity, activitySince, place, fileTells, cache, turns, contest, work, answer } = session;
  const number = fused?.counted ?? fused;
  const counted = number && isCounted(number, fileTells) ? number : undefined;
  return {
    now,
    activity,
    activitySince,
    place,
    tier: fused?.actingTier,
    fill: counted && fillOf(counted),
    fillSince: counted?.since,
    answer,
    isNearAuto: fused?.isNearAuto === true,
    turns,
    cache,
    work,
    isCertain: fused !== undefined && fused.actingTier !== undefined && uncertaintyOf(fused) === undefined,
    doubt: fused && doubtOf(fused, contest),
    fileTells,
  };
};

// Estimates drop when the agent counts them, and a screen can show an empty window when a compaction has only begun
// (docs/facts/codex.md#percentage-on-the-screen).
const isCounted = ({ reading }: FusedReading, fileTells: boolean): boolean =>
  reading.source === 'screen' ? !fileTells : reading.source !== 'estimate';

/** Why a number may start nothing: its window is assumed or uncertain, it is an estimate, or its sources disagree. */
export type Uncertainty = 'assumed' | 'window' | 'estimate' | 'sources';

/** Why a number displayed at auto or hard starts nothing. A disagreement of the sources counts only once it has lasted. */
const doubtOf = (fused: FusedReading, contest: Contest | undefined): Uncertainty | undefined => {
  const { tier, actingTier } = fused;
  const isFull = tier === 'auto' || tier === 'hard';
  if (!isFull || actingTier === 'auto' || actingTier === 'hard') return undefined;
  const doubt = uncertaintyOf(fused);
  return doubt === 'sources' && !contest?.isLasting ? undefined : doubt;
};

/** The uncertainty that has to be resolved first; a complete estimate stays an estimate in any window. */
export const uncertaintyOf = ({
  reading,
  raised,
  window,
  counted,
}: FusedReading): Uncertainty | undefined => {
  if (reading.source === 'estimate' && !counted) return 'estimate';
  if (window && !window.certain) return window.windowSource === 'default' ? 'assumed' : 'window';
  if (reading.source === 'estimate') return 'estimate';
  return raised ? 'sources' : undefined;
};
