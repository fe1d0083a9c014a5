import type { Millis } from '../core/reading.js';

/** What is known about the child when its session file is looked for. */
export interface Place {
  readonly childPid: number;
  readonly cwd: string;
  readonly home: string;
  readonly env: Env;
  /** when the child was started: older files that did not grow since are not its own */
  readonly startedAt: Millis;
  readonly now: Millis;
  /** when the user pressed Enter in the child's terminal last; undefined while never */
  readonly enteredAt?: Millis;
  /** the file that is followed now, for what shows only in the moment of a change */
  readonly currentPath?: string;
}

/** The environment of the child, as far as a runtime's own variables matter. */
export type Env = Readonly<Record<string, string | undefined>>;
