import type { NativeTrigger } from './build-ladder.js';
import type { Failure } from './compaction/outcome.js';
import type { InvisibleReason } from './compaction/policy.js';
import type { CompactRequest, CompactSettings, Mode, TypeResult } from './compaction/state.js';
import type { LadderChoice } from './ladder.js';
import type { ActivityReport, Millis, Reading, WindowClaim } from './reading.js';

/** A compaction recorded by the agent itself. */
export interface Boundary {
  readonly initiator?: 'user' | 'agent';
  readonly preTokens?: number;
  readonly postTokens?: number;
  /** of the agent's record */
  readonly uuid?: string;
  /** how long it took, as the agent says */
  readonly durationMs?: number;
  /** a compaction seen on the screen counts only where no session file tells; `log` when absent */
  readonly source?: 'log' | 'screen';
  /** what is wrong with the summary, where the record shows it; absent where it is there, or cannot be seen */
  readonly summary?: 'empty' | 'truncated';
  readonly at: Millis;
}

/** The agent's own words on a compaction that changed nothing. */
export type CompactResult =
  | { readonly kind: 'noop'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly text: string }
  | { readonly kind: 'interrupted'; readonly by: string };

/** What a line of an agent's session file, its status file or its screen can say about the window. */
export type Fact =
  | { readonly type: 'reading'; readonly reading: Reading }
  | { readonly type: 'boundary'; readonly boundary: Boundary }
  /** who wanted the compaction that was told with this time, where the records say it later; it belongs to that boundary */
  | { readonly type: 'initiator'; readonly at: Millis; readonly initiator: 'user' | 'agent' }
  /** a compaction ended without success; once, when it is seen to end */
  | { readonly type: 'compact-result'; readonly result: CompactResult }
  /** the conversation was cut back or is an older one: the last number no longer holds, and nothing was compacted */
  | { readonly type: 'voided' }
  /** text that entered the conversation after the last number: tokens by `estimateTokens` */
  | { readonly type: 'growth'; readonly tokens: number }
  /** how large the window is, or that another model runs now */
  | { readonly type: 'window'; readonly claim: WindowClaim };

/** What the user can change while a session runs. */
export interface LiveSettings {
  readonly ladder: LadderChoice;
  /** absent where it is left to the agent */
  readonly windowTokens?: number;
  readonly compact: CompactSettings;
}

/** Everything that happens to one wrap session. */
export type Event =
  | Fact
  /** the agent went to another conversation (`/clear`, `/new`, resume), or told us its first one */
  | { readonly type: 'session-changed'; readonly sessionId: string }
  /** which version of the agent writes the session file */
  | { readonly type: 'agent-version'; readonly version: string }
  /** the session file cannot be read or has a shape we do not know; the reason is for the log */
  | { readonly type: 'source-problem'; readonly reason: string }
  | { readonly type: 'user-window'; readonly windowTokens: number }
  /** the user says how large the window may be, where nobody tells */
  | { readonly type: 'assumed-window'; readonly windowTokens: number }
  /** the agent's own settings say where it compacts by itself; undefined where it does not */
  | { readonly type: 'own-compaction'; readonly trigger: NativeTrigger | undefined }
  /** the user has changed what holds; all of it, not only what is new */
  | { readonly type: 'settings'; readonly settings: LiveSettings }
  /** the screen shows no number any more: the one it showed is not confirmed */
  | { readonly type: 'screen-blank' }
  | { readonly type: 'activity'; readonly report: ActivityReport }
  /** the user pressed keys, and they went to the agent */
  | { readonly type: 'user-keys' }
  | { readonly type: 'mode'; readonly mode: Mode }
  /** whether text that came after a number at warn counts; by a key */
  | { readonly type: 'proactive'; readonly isProactive: boolean }
  /** why a countdown could not be seen now; undefined where it can, as is taken for granted before the first of these */
  | { readonly type: 'sight'; readonly unseen: InvisibleReason | undefined }
  /** the user wants nothing typed for a while, unless asked for */
  | { readonly type: 'postpone' }
  | { readonly type: 'compact-requested'; readonly request: CompactRequest }
  | { readonly type: 'compact-cancelled'; readonly id: string }
  /** something of ours that the user should know, said once */
  | { readonly type: 'notice'; readonly text: string; readonly priority: number }
  /** how the typing of the agent's command went */
  | { readonly type: 'typed'; readonly result: TypeResult }
  /** the child has written; a number that stays the same while output flows for minutes is stale */
  | { readonly type: 'output' }
  /** the time that `deadline` named has come */
  | { readonly type: 'alarm' };
