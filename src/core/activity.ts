import { oneLine } from './one-line.js';

/**
 * What the agent is doing. Only `ready` allows keys of ours, so it needs positive evidence from all witnesses there are; whatever is
 * not understood is `unknown`.
 */
export type Activity = 'ready' | 'draft' | 'busy' | 'dialog' | 'compacting' | 'unknown' | 'dead';

const LONGEST = 200; // characters

/** What is asked, for whoever shows it: the words may be anybody's. Undefined where nothing is. */
export const askedIn = (activity: Activity, asks: string | undefined): string | undefined =>
  (activity === 'dialog' && asks !== undefined && oneLine(asks, LONGEST)) || undefined;

export interface ActivityReport {
  readonly activity: Activity;
  /** what speaks for it, as short facts: `title ✳`, `empty prompt row`, `status file: idle` */
  readonly witnesses: readonly string[];
  /** the agent's own word on its state was among them: OSC 7501, or a file of its own */
  readonly isTold?: true;
  /** in a dialog, what the agent says that it asks, in one line: `approve Bash: touch zz.txt` */
  readonly asks?: string;
}
