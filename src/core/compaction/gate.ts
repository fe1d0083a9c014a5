// Whether a key of ours could do harm now. Only an agent that has been ready for a while, with a user who is not typing, gets one.
import type { Activity } from '../activity.js';
import type { Millis } from '../reading.js';

const SETTLED_MS = 1_500;
const QUIET_MS = 3_000;

/** What is looked at before a key of ours. */
export interface GateView {
  readonly activity: Activity;
  readonly activitySince: Millis;
  /** the user's last key; undefined before the first */
  readonly keyAt?: Millis | undefined;
  /** a draft can be put aside by a key of the agent's, and the user allows it */
  readonly mayStash?: boolean | undefined;
  /** the agent queues a command that is given while it works, and the user allows it */
  readonly mayQueue?: boolean | undefined;
}

/** Why the gate is shut. `until` where only time is missing. */
export interface Hold {
  readonly why:
    | 'busy'
    | 'dialog'
    | 'draft'
    | 'compacting'
    | 'unknown'
    | 'dead'
    | 'settling'
    | 'typing'
    /** the countdown could not be seen */
    | 'unseen';
  readonly until?: Millis;
}

/** What holds us back; undefined when a key may be typed. */
export const holdOf = (view: GateView, now: Millis): Hold | undefined => {
  const { activity, activitySince, keyAt } = view;
  if (activity !== 'ready' && !isAllowed(view)) return { why: activity };
  const quietAt = keyAt === undefined ? now : keyAt + QUIET_MS;
  if (now < quietAt) return { why: 'typing', until: quietAt };
  const settledAt = activitySince + SETTLED_MS;
  return now < settledAt ? { why: 'settling', until: settledAt } : undefined;
};

const isAllowed = ({ activity, mayStash, mayQueue }: GateView): boolean =>
  (activity === 'draft' && mayStash === true) || (activity === 'busy' && mayQueue === true);
