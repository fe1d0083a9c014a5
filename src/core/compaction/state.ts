import type { FusedReading } from '../fusion.js';
import type { Tier } from '../ladder.js';
import type { Millis, Activity } from '../reading.js';
import type { Session } from '../session.js';
import { type EndedCompaction, type Fill, fillOf } from './outcome.js';
import { type GateHold, noPolicy, type BlockReason, type Policy, type InvisibleReason } from './policy.js';

// What is known about compacting: what is under way, what was tried, and what the user wants.

/** `auto` types, `ask` proposes, `warn` shows; `off` observes nothing, so the core never sees it. */
export type Mode = 'auto' | 'ask' | 'warn' | 'off';

/** What does not change while a session runs. */
export interface CompactSettings {
  readonly mode: Mode;
  /** the runtime's own command is known; without one nothing is ever typed */
  readonly command?: string;
  /** how long the agent may take to begin, and to end, in milliseconds */
  readonly startMs: number;
  readonly finishMs: number;
  /** text that the agent is asked to keep, where its command takes one */
  readonly focus?: string;
  readonly mayStash?: boolean;
  readonly mayQueue?: boolean;
  /** text that came after a number at warn counts, too: with it the window can be at auto */
  readonly isProactive: boolean;
  /** the user has chosen `auto` in so many words: where they want no footer, nobody has to see the countdown */
  readonly mayTypeUnseen?: boolean;
}

/** Somebody asked for a compaction now. */
export interface CompactRequest {
  readonly id: string;
  readonly focus?: string;
  /** pauses and the breaker do not count */
  readonly force: boolean;
  /** by a key of the user's, which withdraws the request when it is pressed again */
  readonly isByKey?: boolean;
}

/** One that waits for a safe moment. */
export interface OpenRequest extends CompactRequest {
  readonly since: Millis;
}

/** An attempt that is under way. */
export interface Attempt {
  readonly startedAt: Millis;
  readonly isHard: boolean;
  /** nobody asked, and the number alone would not have started it */
  readonly isProactive: boolean;
  readonly request?: CompactRequest | undefined;
  readonly before?: Fill | undefined;
  readonly evidence: readonly string[];
}

/** An attempt of ours that time alone has ended: the agent may still tell that it worked. */
export interface TimedOutAttempt {
  readonly attempt: Attempt;
  /** when the command was sent */
  readonly sentAt: Millis;
}

export type Phase =
  /** nothing to do */
  | { readonly kind: 'rest' }
  /** the window looks full, by a number that may start nothing */
  | { readonly kind: 'doubted'; readonly doubt: Uncertainty }
  /** it would compact, but a key could do harm now */
  | { readonly kind: 'held'; readonly hold: GateHold; /** for this reason */ readonly since: Millis }
  /** it would compact, but enough was tried */
  | { readonly kind: 'blocked'; readonly block: BlockReason }
  /** it would compact, but only the user may say so */
  | { readonly kind: 'proposed' }
  | { readonly kind: 'countdown'; readonly until: Millis }
  /** the recipe is being typed */
  | { readonly kind: 'typing'; readonly attempt: Attempt }
  /** the command was sent */
  | {
      readonly kind: 'sent';
      readonly attempt: Attempt;
      readonly at: Millis;
      /** it is in the agent's queue, behind the turn that runs */
      readonly isQueued: boolean;
      /** when it was seen to begin, or the agent was seen to work on something */
      readonly begunAt?: Millis | undefined;
      /** since when it should have begun, with a prompt as empty as after a command that was taken */
      readonly slowAt?: Millis;
      /** the compaction itself was seen, so that its absence means something */
      readonly isSeen?: true;
      /** since when it is not seen any more, without a word on how it ended */
      readonly goneAt?: Millis | undefined;
      /** the agent's own words that it worked */
      readonly success?: string | undefined;
      /** when the number came that was there then: only another one tells of the compaction */
      readonly numberSince?: Millis | undefined;
    }
  /** a compaction that is not ours */
  | {
      readonly kind: 'foreign';
      readonly since: Millis;
      readonly before?: Fill | undefined;
      /** as in `sent` */
      readonly goneAt?: Millis | undefined;
      readonly success?: string | undefined;
      readonly numberSince?: Millis | undefined;
    };

export interface Compaction {
  readonly settings: CompactSettings;
  readonly mode: Mode;
  readonly isProactive: boolean;
  /** what is wanted now rests on text that came after the last number */
  readonly isByText?: boolean | undefined;
  /** why a countdown could not be seen now; undefined where it can */
  readonly unseen?: InvisibleReason | undefined;
  readonly phase: Phase;
  readonly policy: Policy;
  /** since auto was reached, up to a compaction that worked, a window that is clearly emptier, or another conversation */
  readonly episodeSince?: Millis | undefined;
  /** how full the window was then */
  readonly episodeFill?: Fill | undefined;
  readonly request?: OpenRequest | undefined;
  /** the user wants nothing typed before, unless asked for */
  readonly postponedUntil?: Millis;
  /** the user's last key */
  readonly keyAt?: Millis;
  /** as the agent names it */
  readonly conversation?: string;
  /** the last activity that was more than `unknown` */
  readonly activity?: Activity;
  /** what it asks in the dialog that it is in */
  readonly asks?: string | undefined;
  /** the agent has taken a turn since the last attempt */
  readonly hasNews: boolean;
  /** the number that the last attempt left; another one is news, too */
  readonly tried?: Fill | undefined;
  /** attempts that ended before the first key, one after the other, and when the last of them began */
  readonly skips?: { readonly times: number; readonly from: Millis } | undefined;
  readonly last?: EndedCompaction;
  readonly givenUp?: TimedOutAttempt | undefined;
  /** as people know it, with its version once that is told: `codex 0.154.0` */
  readonly agent?: string;
  /** when the last step was; a long time ago when the machine or the program was stopped */
  readonly lookedAt?: Millis;
  /** what the shell has to do now; of the last step only */
  readonly effects: readonly Effect[];
}

/** What the shell does for the core. */
export type Effect =
  | { readonly type: 'type-compact'; readonly focus?: string | undefined; readonly isQueued: boolean }
  /** for the audit log, and for whoever asked */
  | { readonly type: 'ended'; readonly ended: EndedCompaction; readonly requestId?: string | undefined }
  /** asked for, and not even tried */
  | {
      readonly type: 'refused';
      readonly requestId: string;
      readonly reason: string;
      readonly isByKey?: boolean | undefined;
    };

/** How the typing of the command went. */
export type TypeResult = { readonly evidence: readonly string[] } & (
  | { readonly kind: 'sent'; readonly isQueued: boolean }
  /** what was typed was taken back */
  | { readonly kind: 'withdrawn'; readonly reason: string }
  /** no key was typed */
  | { readonly kind: 'skipped'; readonly reason: string }
);

/** What the rest of the session says at this moment. */
export interface SessionContext {
  readonly now: Millis;
  readonly activity: Activity;
  readonly activitySince: Millis;
  /** of a number that may start something; undefined when there is none */
  readonly tier: Tier | undefined;
  /** as the agent itself counted it; undefined where it is estimated, or read from a screen while a file tells */
  readonly fill: Fill | undefined;
  /** when the number came */
  readonly fillSince: Millis | undefined;
  /** counted at warn, and at auto or above with the text that came since */
  readonly isNearAuto: boolean;
  /** the window is shown as full, and this is why nothing may be started */
  readonly doubt: Uncertainty | undefined;
  /** a session file tells of compactions, so the screen need not */
  readonly fileTells: boolean;
}

export const startCompaction = (settings: CompactSettings, agent?: string): Compaction => ({
  settings,
  ...(agent === undefined ? {} : { agent }),
  mode: settings.mode,
  isProactive: settings.isProactive,
  phase: { kind: 'rest' },
  policy: noPolicy,
  hasNews: true,
  effects: [],
});

export const enterPhase = (state: Compaction, phase: Phase): Compaction => ({ ...state, phase });

/** What a session says that matters for compacting. Only a number that the agent counted in a certain window may start anything. */
export const sessionContext = (session: Session, now: Millis): SessionContext => {
  const { fused, activity, activitySince, fileTells } = session;
  const number = fused?.counted ?? fused;
  const counted = number && isCounted(number, fileTells) ? number : undefined;
  return {
    now,
    activity,
    activitySince,
    tier: fused?.actingTier,
    fill: counted && fillOf(counted),
    fillSince: counted?.since,
    isNearAuto: fused?.isNearAuto === true,
    doubt: fused && doubtOf(fused),
    fileTells,
  };
};

// Estimates fall when they are counted, and a screen can say that all is left while a compaction has only begun (facts/codex.md §2).
const isCounted = ({ reading }: FusedReading, fileTells: boolean): boolean =>
  reading.source === 'screen' ? !fileTells : reading.source !== 'estimate';

/** What is wrong with a number that starts nothing: its window is assumed or uncertain, it is an estimate, or sources differ. */
export type Uncertainty = 'assumed' | 'window' | 'estimate' | 'sources';

/** Why a number that is shown at auto or hard starts nothing. */
const doubtOf = (fused: FusedReading): Uncertainty | undefined => {
  const { tier, actingTier } = fused;
  const isFull = tier === 'auto' || tier === 'hard';
  return !isFull || actingTier === 'auto' || actingTier === 'hard' ? undefined : uncertaintyOf(fused);
};

/** What would have to be mended first; an estimate of everything stays one in any window. */
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
