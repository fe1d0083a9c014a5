import type { Activity } from './activity.js';
import type { Evidence } from './evidence.js';
import type { Flow } from './flow.js';
import type { Fused } from './fusion.js';
import type { LadderChoice } from './ladder.js';
import type { NativeTrigger } from './native.js';
import type { Millis } from './reading.js';
import type { Shown } from './shown.js';
import type { Waiting } from './waiting.js';
import type { Windows } from './windows.js';

/** Why there is no number. */
export type Blank =
  | Waiting // no turn yet in this conversation
  | { readonly why: 'pending' } // the last number is void, the next is not here yet
  | { readonly why: 'gone' } // the screen showed one and shows none any more, or a turn has brought none
  | { readonly why: 'unreadable'; readonly reason: string };

/** What has been understood of the agent in this wrap so far, besides its records. */
export interface Understood {
  /** its screen: it was more than `unknown` once */
  readonly screen: boolean;
  /** its own word on its state */
  readonly state: boolean;
}

/** The whole state of one wrap. */
export interface Session {
  readonly runtime: string;
  readonly native?: NativeTrigger;
  readonly ladder: LadderChoice;
  /** the agent's own id of the conversation */
  readonly sessionId?: string;
  /** as the agent's own records tell it */
  readonly agentVersion?: string;
  /** of the whole wrap, kept over `/clear` and resume */
  readonly compactions: number;
  readonly windows: Windows;
  readonly evidence: Evidence;
  /** what stands where a number would, while there is none */
  readonly blank: Blank;
  /** a session file tells, so the screen is not needed to tell of a compaction */
  readonly fileTells: boolean;
  /** a session file or a status line gives numbers: theirs is waited for after a compaction */
  readonly isAwaited: boolean;
  readonly flow: Flow;
  readonly activity: Activity;
  readonly witnesses: readonly string[];
  readonly activitySince: Millis;
  readonly understood: Understood;
  /** in a dialog, what the agent says that it asks; one line */
  readonly asks?: string | undefined;
  /** the number that counts; follows from the evidence */
  readonly fused?: Fused;
  /** the number in the footer, which may be a few seconds behind */
  readonly shown?: Shown;
  /** what the last step has to say to the log */
  readonly logged: readonly string[];
}
