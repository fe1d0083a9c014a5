import type { WrittenHandoff } from './live-handoff.js';
import type { NativeTrigger } from './build-ladder.js';
import type { CopyResult } from './compaction/copy.js';
import type { Failure } from './compaction/outcome.js';
import type { InvisibleReason } from './compaction/policy.js';
import type { CompactRequest, CompactSettings, Mode, TypeResult } from './compaction/state.js';
import type { Work } from './conversation/work-progress.js';
import type { PlanLimit, PromptCache } from './economy.js';
import type { LadderChoice } from './ladder.js';
import type { SessionLimit } from './own-limit.js';
import type { ActivityReport, Millis, Reading, WindowClaim } from './reading.js';
import type { FoundConversation, View } from './shown-conversation.js';

/** How ctxwrap has shortened a conversation itself. */
export interface Shortening {
  readonly strategy: string;
  /** the user asked for it */
  readonly isManual: boolean;
  /** of an attempt to compact that it ends; absent for one that was asked for by itself */
  readonly startedAt?: Millis | undefined;
  /** the agent's id of the whole conversation, where it has one of its own */
  readonly from?: string | undefined;
}

/** A compaction recorded by the agent itself. */
export interface Boundary {
  /** `ctxwrap`: not the agent's record, but a conversation that ctxwrap has shortened itself */
  readonly initiator?: 'user' | 'agent' | 'ctxwrap';
  /** only of ctxwrap */
  readonly shortening?: Shortening;
  readonly preTokens?: number;
  readonly postTokens?: number;
  /** what is sent with every request (system prompt, tools), where the agent's estimates leave it out */
  readonly fixedTokens?: number;
  /** from the screen: the agent's own estimate of what is left, for display only */
  readonly saidTokens?: number;
  /** id of the agent's record */
  readonly uuid?: string;
  /** how long it took, according to the agent */
  readonly durationMs?: number;
  /** a compaction observed on the screen counts only without a session file; `log` if absent */
  readonly source?: 'log' | 'screen';
  /** what is wrong with the summary, if the record shows it; absent if nothing is, or it cannot be seen */
  readonly summary?: 'empty' | 'truncated' | 'longer';
  /** where the record begins in the session file, in bytes: what was there before is above; absent if unknown */
  readonly offset?: number;
  readonly at: Millis;
}

/** The agent's words about a compaction that changed nothing. */
export type CompactResult =
  | { readonly kind: 'noop'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly text: string }
  | { readonly kind: 'interrupted'; readonly by: string };

/** What a line of an agent's session file, its status file or its screen says about the window. */
export type Fact =
  | { readonly type: 'reading'; readonly reading: Reading }
  /** `text`: the summary, where the record of a session that ctxwrap has written looks like the agent's own: nothing else tells them apart */
  | { readonly type: 'boundary'; readonly boundary: Boundary; readonly text?: string }
  /** who requested the compaction of this time, for records that report it separately */
  | { readonly type: 'initiator'; readonly at: Millis; readonly initiator: 'user' | 'agent' }
  /** a compaction ended without success; reported once */
  | { readonly type: 'compact-result'; readonly result: CompactResult }
  /** the conversation was cut back or an older one was resumed: the last number is void, but nothing was compacted */
  | { readonly type: 'voided'; /** what the agent's record says is left */ readonly leftTokens?: number }
  /** text added to the conversation after the last number, in tokens by `estimateTokens` */
  | { readonly type: 'growth'; readonly tokens: number }
  /** the size of the window, or a change of the model */
  | { readonly type: 'window'; readonly claim: WindowClaim }
  /**
   * another conversation may have come into view, or a list of them; reported once. `isSame`: more is seen of the view that was reported
   * last
   */
  | { readonly type: 'view'; readonly view: View; readonly isSame?: true }
  /** from now on the agent runs another model */
  | {
      readonly type: 'model';
      /** absent if its name is not known */
      readonly model?: string;
      /** its window, if the agent reports that, too */
      readonly claim?: WindowClaim;
      /** not reported by the agent, but shown by a number or a window of another model */
      readonly isInferred?: true;
    }
  /** until when the prompt cache is warm */
  | { readonly type: 'cache'; readonly cache: PromptCache }
  /** where the agent is in its work, from its records; replaces the one before */
  | { readonly type: 'work'; readonly work: Work }
  /** a text that ctxwrap has given back is in the conversation: the agent has added it to a message */
  | { readonly type: 'context-added'; readonly at: Millis; readonly text: string }
  /** a message of the user's was refused, by a hook of the user's own, and what would have been added to it is gone with it */
  | { readonly type: 'message-refused'; readonly at: Millis }
  /** how much of the user's plan is used; contains all known limits */
  | { readonly type: 'limits'; readonly limits: readonly PlanLimit[] };

/** Settings that the user can change during a session. */
export interface LiveSettings {
  readonly ladder: LadderChoice;
  /** absent if the agent's own window counts */
  readonly windowTokens?: number;
  readonly compact: CompactSettings;
}

/** All events of a session. */
export type Event =
  | Fact
  /**
   * the conversation in view was found: another one (`/clear`, `/new`, resume), or the first one. `isSame`: the same has another file
   */
  | ({ readonly type: 'session-changed'; readonly isSame?: true } & FoundConversation)
  /** the version of the agent that writes the session file */
  | { readonly type: 'agent-version'; readonly version: string }
  /** the session file cannot be read or has an unknown format; the reason is for the log */
  | { readonly type: 'source-problem'; readonly reason: string }
  | { readonly type: 'user-window'; readonly windowTokens: number }
  /** the window that the user assumes if nobody reports one */
  | { readonly type: 'assumed-window'; readonly windowTokens: number }
  /** the windows that were last known in other sessions, by model */
  | { readonly type: 'remembered-windows'; readonly claims: readonly WindowClaim[] }
  /** where the agent compacts by itself according to its settings; undefined if it does not */
  | { readonly type: 'own-compaction'; readonly trigger: NativeTrigger | undefined }
  /** the user has changed the configuration; contains all settings, not only the changed ones */
  | { readonly type: 'settings'; readonly settings: LiveSettings }
  /** the screen no longer shows a number, so the last one is not confirmed */
  | { readonly type: 'screen-blank' }
  | { readonly type: 'activity'; readonly report: ActivityReport }
  /** keys of the user were sent to the agent */
  | { readonly type: 'user-keys' }
  /** the user's Enter was held back, and the footer has to ask */
  | { readonly type: 'enter-held' }
  | { readonly type: 'mode'; readonly mode: Mode }
  /** a parent has chosen what compacts from now on: a strategy, or `auto`, the agent's own command */
  | { readonly type: 'strategy'; readonly strategy: string }
  /** the user has chosen by a key where the window is compacted at the latest; `isSaved`: it is in the user's file, too */
  | { readonly type: 'limit'; readonly limit: SessionLimit; readonly isSaved?: true }
  /** a handoff of the conversation was written */
  | { readonly type: 'handoff-ready'; readonly handoff: WrittenHandoff }
  /** the user switched proactive compaction by a key */
  | { readonly type: 'proactive'; readonly isProactive: boolean }
  /** why a countdown would not be visible now; undefined if it would, which is assumed before the first of these events */
  | { readonly type: 'visibility'; readonly unseen: InvisibleReason | undefined }
  /** the user postponed compaction; requests still count */
  | { readonly type: 'postpone' }
  /** the agent is told to go back to the whole conversation, as this session: it is about to change to it */
  | { readonly type: 'going-back'; readonly sessionId: string }
  /** the last compaction was taken back: the window is as full as before; `isOtherSession`: in another one, which has its own numbers */
  | { readonly type: 'undone'; readonly isOtherSession?: true }
  | { readonly type: 'compact-requested'; readonly request: CompactRequest }
  | { readonly type: 'compact-cancelled'; readonly id: string }
  /** a message for the user, displayed once */
  | {
      readonly type: 'notice';
      readonly text: string;
      readonly priority: number;
      /** it says more about the compaction that has just ended, and is displayed over its outcome */
      readonly isOfOutcome?: true;
      /** it answers a key of the user's: displayed at once, in place of an earlier answer, also over an outcome */
      readonly isAnswer?: true;
      /** it offers a key: displayed for longer, until there is anything else to say */
      readonly isOffer?: true;
    }
  /** the agent is about to be ended by its own command and started again with a shortened conversation, or is not any more */
  | { readonly type: 'restart-planned'; readonly isPlanned: boolean }
  /** the agent was started again, and does not have the conversation that was shortened for it, or does not show it */
  | {
      readonly type: 'restart-failed';
      readonly reason: string;
      /** of the window before, in the agent's tokens */
      readonly preTokens: number;
      readonly shortening: Shortening;
    }
  /** the agent's control channel cannot be used any more */
  | { readonly type: 'channel-closed' }
  /** the result of typing the agent's command, or of asking by its control channel */
  | { readonly type: 'typed'; readonly result: TypeResult }
  /** the session file was copied before a command is typed, or could not be */
  | { readonly type: 'copied'; readonly id: number; readonly result: CopyResult }
  /** what the conversation says must be kept; absent where nothing is known */
  | { readonly type: 'focus-found'; readonly id: number; readonly text?: string | undefined }
  /** the child has written output; a number that does not change for minutes of output is stale */
  | { readonly type: 'output' }
  /** the time of the last deadline has come */
  | { readonly type: 'alarm' };

/** Another conversation is in view from now on, or perhaps: what was begun in the one before has ended. */
export const leavesConversation = (event: Event): boolean =>
  (event.type === 'session-changed' || event.type === 'view') && event.isSame !== true;
