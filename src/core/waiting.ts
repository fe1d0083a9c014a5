// Whether the first number is still on its way. After a turn without one there is nothing to wait for.
import type { Activity } from './activity.js';
import type { Millis } from './reading.js';

/** No number yet. */
export interface Waiting {
  readonly why: 'waiting';
  /** the user has pressed a key; agents are busy at their start, too */
  readonly isTyped?: true;
  /** the first turn is over */
  readonly turnEndedAt?: Millis;
}

const LATE_MS = 5_000; // a session file is found and read within two seconds of the end of a turn

export const afterKeys = (waiting: Waiting): Waiting => ({ ...waiting, isTyped: true });

export const afterActivity = (
  waiting: Waiting,
  { before, after }: { readonly before: Activity; readonly after: Activity },
  now: Millis,
): Waiting =>
  waiting.isTyped && before === 'busy' && after !== 'busy' && waiting.turnEndedAt === undefined
    ? { ...waiting, turnEndedAt: now }
    : waiting;

/** When the turn was over for too long; undefined while there was none. */
export const givenUpAt = ({ turnEndedAt }: Waiting): Millis | undefined =>
  turnEndedAt === undefined ? undefined : turnEndedAt + LATE_MS;
