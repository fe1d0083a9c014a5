/**
 * What the agent is doing. Only `ready` allows keys of ours, so it needs positive evidence from all witnesses there are; whatever is
 * not understood is `unknown`.
 */
export type Activity = 'ready' | 'draft' | 'busy' | 'dialog' | 'compacting' | 'unknown' | 'dead';

export interface ActivityReport {
  readonly activity: Activity;
  /** what speaks for it, as short facts: `title ✳`, `empty prompt row`, `status file: idle` */
  readonly witnesses: readonly string[];
}
