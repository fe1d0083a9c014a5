import type { ScreenView, Signals } from '../core/screen-view.js';

/** An agent's own word on its state (facts/claude.md §5: `sessions/<pid>.json`). */
export interface AgentStatus {
  /** as the agent writes it: `idle`, `busy`, `waiting`, `shell` */
  readonly state: string;
  readonly waitingFor?: string;
}

/** Everything that witnesses the agent's state at one moment. */
export interface Seen {
  readonly screen: ScreenView;
  readonly signals: Signals;
  /** absent where the agent writes none, and in a replay */
  readonly status?: AgentStatus;
}
