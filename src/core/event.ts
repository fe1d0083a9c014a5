import type { Millis, Reading } from './reading.js';

/** A compaction recorded by the agent itself. */
export interface Boundary {
  readonly initiator?: 'user' | 'agent';
  readonly preTokens?: number;
  readonly postTokens?: number;
  readonly at: Millis;
}

/** What a line of an agent's session file can say about the window. */
export type Fact =
  | { readonly type: 'reading'; readonly reading: Reading }
  | { readonly type: 'boundary'; readonly boundary: Boundary }
  /** the conversation was cut back or is an older one: the last number no longer holds, and nothing was compacted */
  | { readonly type: 'voided' };

/** Everything that happens to one wrap session. */
export type Event =
  | Fact
  /** the agent went to another conversation (`/clear`, `/new`, resume), or told us its first one */
  | { readonly type: 'session-changed'; readonly sessionId: string }
  /** the session file cannot be read or has a shape we do not know; the reason is for the log */
  | { readonly type: 'source-problem'; readonly reason: string }
  | { readonly type: 'user-window'; readonly windowTokens: number };
