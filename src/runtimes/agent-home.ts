// What an agent has on this machine beside its sessions, for `ctxwrap doctor`.
import type { Place } from './place.js';

/** Where an agent looks for its files. */
export type Homestead = Pick<Place, 'env' | 'home' | 'cwd'>;

export interface AgentHome {
  /** versions that the lab has played, the newest first; docs/agents.md has the same */
  readonly played: readonly string[];
  /** the window of its usual model, in tokens */
  readonly usualWindowTokens: number;
  /** the folder that holds its session files */
  readonly sessions: (where: Homestead) => string;
}
